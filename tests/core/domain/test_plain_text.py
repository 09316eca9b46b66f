"""Text from outside, cut to what can be shown."""

from __future__ import annotations

import pytest

from core.domain.plain_text import LONGEST, plain


@pytest.mark.parametrize("text", ["", "BTC/USDT", "x" * LONGEST, "two\nlines", "<img src='/dev/zero'>", "a 🕯 and 日本"])
def test_short_text_is_unchanged(text: str) -> None:
    assert plain(text) == text


def test_long_text_is_cut_with_a_mark() -> None:
    shown = plain("word " * 40_000)
    assert len(shown) <= LONGEST and shown.endswith("word…")
    assert plain("x" * 50, 20) == "x" * 19 + "…"


def test_lone_surrogates_are_removed() -> None:
    assert plain("a candle \ud83d") == "a candle ?"


def test_control_and_direction_characters_are_removed() -> None:
    assert plain("\x1b[2Jred\x07\u202egnp.exe\r\n\tnext") == "[2Jredgnp.exe\n\tnext"

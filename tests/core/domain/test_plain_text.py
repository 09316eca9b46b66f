"""Text from outside, cut to what can be shown."""

from __future__ import annotations

import pytest

from core.domain.plain_text import LONGEST, plain


@pytest.mark.parametrize("text", ["", "BTC/USDT", "x" * LONGEST, "two\nlines", "<img src='/dev/zero'>", "a 🕯 and 日本"])
def test_what_is_short_stays_as_it_is(text: str) -> None:
    assert plain(text) == text


def test_what_is_long_is_cut_and_says_so() -> None:
    shown = plain("word " * 40_000)
    assert len(shown) <= LONGEST and shown.endswith("word…")
    assert plain("x" * 50, 20) == "x" * 19 + "…"


def test_half_a_character_does_not_come_through() -> None:
    assert plain("a candle \ud83d") == "a candle ?"


def test_what_commands_a_terminal_or_turns_a_line_round_is_left_out() -> None:
    assert plain("\x1b[2Jred\x07\u202egnp.exe\r\n\tnext") == "[2Jredgnp.exe\n\tnext"

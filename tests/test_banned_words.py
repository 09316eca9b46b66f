"""The words of `tests.support.banned_words` do not occur in the code, the texts and the docs."""

from __future__ import annotations

from tests.support.banned_words import lines_with


def test_no_banned_word_is_left() -> None:
    left = [f"{name}:{number}: {line.strip()}" for name, number, line in lines_with()]
    assert left == [], "tests/support/banned_words.py says what to write instead"

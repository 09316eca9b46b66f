"""The words of `tests.support.banned_words` are gone from the code, the texts and the docs."""

from __future__ import annotations

from tests.support.banned_words import lines_with

TO_DO = (
    "tests/conftest.py", "tests/core/checkpoints", "tests/core/domain", "tests/core/forecast",
    "tests/core/logs", "tests/core/market", "tests/core/settings", "tests/core/storage", "tests/core/test_machine.py",
    "tests/desktop", "tests/hostile", "tests/sabotage", "tests/simulation", "tests/stranger",
    "tests/support", "tests/test_", "tests/venue",
)  # fmt: skip
"""Folders and files that are still to be rewritten."""


def test_no_banned_word_is_left() -> None:
    left = [f"{name}:{number}: {line.strip()}" for name, number, line in lines_with() if not name.startswith(TO_DO)]
    assert left == []

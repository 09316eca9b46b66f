"""The words of `tests.support.banned_words` are gone from the code, the texts and the docs."""

from __future__ import annotations

from tests.support.banned_words import lines_with

TO_DO = (
    "core/benchmark", "core/evaluation", "core/settings/tree.py",  # the key twin_age
    "core/market/history", "core/storage", "core/training",
    "models", "resources", "desktop/actions", "desktop/app", "desktop/chart", "desktop/checkpoints", "desktop/commands",
    "desktop/dialogs", "desktop/finder", "desktop/jobs", "desktop/layouts", "desktop/notifications", "desktop/panels",
    "desktop/services", "desktop/state", "desktop/ui", "desktop/window", "desktop/__init__.py", "docs/commands.md",
    "docs/keys.md", "docs/settings.md",
    "tests",
)  # fmt: skip
"""Folders and files that are still to be rewritten."""


def test_no_banned_word_is_left() -> None:
    left = [f"{name}:{number}: {line.strip()}" for name, number, line in lines_with() if not name.startswith(TO_DO)]
    assert left == []

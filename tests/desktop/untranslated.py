"""Which files of the window still speak English only. The list may only shrink: a test holds each file to it."""

from __future__ import annotations

from pathlib import Path

DESKTOP = Path(__file__).parents[2] / "desktop"
OF_THE_TERMINAL = ("benchmark", "commands")
"""Never translated."""

NOT_YET = frozenset(
    {
        "panels/accuracy.py",
        "panels/accuracy_details.py",
        "panels/accuracy_experts.py",
        "panels/accuracy_pages.py",
        "panels/accuracy_plots.py",
        "panels/accuracy_terms.py",
        "panels/accuracy_words.py",
        "panels/feed.py",
        "panels/feed_numbers.py",
        "panels/feed_tables.py",
        "panels/feed_words.py",
        "panels/online_gain.py",
        "panels/watchlist.py",
        "panels/watchlist_adder.py",
        "panels/watchlist_model.py",
        "panels/watchlist_table.py",
        "watch/quotes.py",
        "watch/symbol_lists.py",
    }
)


def is_not_yet(path: str) -> bool:
    """path: below the folder of `desktop`, with forward slashes."""
    return path in NOT_YET or path.split("/")[0] in OF_THE_TERMINAL

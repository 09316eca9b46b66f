"""Finds the entries that match the typed words, best first."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_FAR = 4
"""Rank of a word that is in an entry's details only."""


class EntryKind(StrEnum):
    ACTION = QT_TRANSLATE_NOOP("Finder", "Action")
    MARKET = QT_TRANSLATE_NOOP("Finder", "Market")
    INTERVAL = QT_TRANSLATE_NOOP("Finder", "Interval")
    CHECKPOINT = QT_TRANSLATE_NOOP("Finder", "Checkpoint")
    INDICATOR = QT_TRANSLATE_NOOP("Finder", "Indicator")
    SETTING = QT_TRANSLATE_NOOP("Finder", "Setting")

    @property
    def shown(self) -> str:
        return translate("Finder", self.value)


@dataclass(frozen=True, slots=True)
class Entry:
    """A command that can be found. details: shown search words, and its tooltip; more: hidden search words; reason: a
    sentence on why it is disabled."""

    kind: EntryKind
    text: str
    run: Callable[[], object]
    details: str = ""
    keys: str = ""
    is_enabled: bool = True
    more: str = ""
    reason: str = ""


def found(entries: Iterable[Entry], typed: str, most: int) -> Sequence[Entry]:
    """The entries with every typed word, best first, at most `most`; without words: the first ones.

    A word that equals the text, or its part before a slash, counts most, then one at its beginning or among the hidden
    words, then one at the beginning of a word in it, then one inside it; enabled entries come before disabled ones;
    equal ones keep their order.
    """
    words = typed.casefold().split()
    ranked = ((_rank(entry, words), entry) for entry in entries)
    fitting = [(rank + (not entry.is_enabled), entry) for rank, entry in ranked if rank is not None]
    return [entry for _, entry in sorted(fitting, key=lambda pair: pair[0])[:most]]


def _rank(entry: Entry, words: Sequence[str]) -> int | None:
    """The lowest rank is best; None if a word is missing."""
    text = entry.text.casefold()
    more = f"{entry.kind.shown} {entry.details} {entry.more}".casefold()
    hidden = frozenset(entry.more.casefold().split())
    ranks = [_rank_of_word(word, text, more, hidden) for word in words]
    known = [rank for rank in ranks if rank is not None]
    return 2 * sum(known) if len(known) == len(ranks) else None


def _rank_of_word(word: str, text: str, more: str, hidden: Container[str]) -> int | None:
    if text == word or text.startswith(f"{word}/"):
        return -1
    if text.startswith(word) or word in hidden:
        return 0
    if f" {word}" in text or f"/{word}" in text:
        return 1
    if word in text:
        return 2
    return _FAR if word in more else None

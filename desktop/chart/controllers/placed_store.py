"""Objects that the user places on the watched symbol: stored in SQLite, with undo and redo of every change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from core.domain.drawings import Drawing
from core.domain.price_lines import PriceLine
from core.storage.errors import StorageError
from desktop.state.database import WindowDatabase

Kept = PriceLine | Drawing
Key = tuple[type[Kept], int]
"""Type and number: each type has its own numbers."""
OfSort = TypeVar("OfSort")
One = TypeVar("One", PriceLine, Drawing)
_CHANGES_KEPT = 50


class Change(NamedTuple):
    """before is None: added; after is None: removed."""

    before: Kept | None
    after: Kept | None


def key_of(kept: Kept | None) -> Key | None:
    """None for an object that is not stored yet."""
    return None if kept is None or kept.number is None else (type(kept), kept.number)


class Book:
    """A change that cannot be stored is reported to `on_trouble` and dropped."""

    def __init__(self, database: WindowDatabase, on_trouble: Callable[[str], object]) -> None:
        self._database, self._on_trouble = database, on_trouble
        self._market: tuple[str, str] | None = None
        self._kept: dict[Key, Kept] = {}
        self._changes: list[Change] = []
        self._undone: list[Change] = []
        self._merges_with: Key | None = None

    def all(self, sort: type[OfSort]) -> tuple[OfSort, ...]:
        """In drawing order."""
        return tuple(each for each in self._kept.values() if isinstance(each, sort))

    @property
    def is_open(self) -> bool:
        return self._market is not None

    @property
    def can_undo(self) -> bool:
        return bool(self._changes)

    @property
    def can_redo(self) -> bool:
        """A new change clears the redo list."""
        return bool(self._undone)

    def open(self, venue: str, symbol: str) -> None:
        """Open another symbol's objects."""
        self._market = (venue, symbol)
        self._changes.clear()
        self._undone.clear()
        self._merges_with = None
        self._kept = {}
        for kind in (PriceLine, Drawing):
            try:
                self._keep(*self._store_of(kind).list(venue, symbol))
            except StorageError as error:
                self._on_trouble(str(error))

    def get(self, key: Key | None) -> Kept | None:
        return None if key is None else self._kept.get(key)

    def now(self, kept: One) -> One | None:
        """The current version of an object; None if it was removed."""
        found = self.get(key_of(kept))
        return found if isinstance(found, type(kept)) else None

    def put(self, kept: Kept, *, merges: bool = False) -> Kept | None:
        """Add or change one object. None if it could not be stored.

        merges: one of many small changes that are undone together.
        """
        before = self.get(key_of(kept))
        stored = self._store(kept)
        if stored is None:
            return None
        key = key_of(stored)
        if merges and self._changes and self._merges_with == key:
            before = self._changes.pop().before
        self._remember(Change(before, stored), key if merges else None)
        return stored

    def remove(self, kept: Kept) -> None:
        before = self.get(key_of(kept))
        if before is not None and self._delete(before):
            self._remember(Change(before, None), None)

    def undo(self, restored: Callable[[Kept], Kept]) -> Kept | None:
        """Undo the last change. `restored` adapts an object that is restored.

        Returns the restored object, or None.
        """
        if not self._changes:
            return None
        change = self._changes.pop()
        self._undone.append(change)
        return self._set(change.after, change.before, restored)

    def redo(self, restored: Callable[[Kept], Kept]) -> Kept | None:
        """Redo the last undone change; otherwise as `undo`."""
        if not self._undone:
            return None
        change = self._undone.pop()
        self._changes.append(change)
        return self._set(change.before, change.after, restored)

    def note(self, line: PriceLine) -> None:
        """Apply what the market did to a line, even if it cannot be stored: it has happened. It cannot be undone."""
        self._keep(line)
        for changes in (self._changes, self._undone):
            changes[:] = [
                Change(_with_market_changes(each.before, line), _with_market_changes(each.after, line))
                for each in changes
            ]
        self._store(line)

    def _store_of(self, kind: type[Kept]) -> Any:
        """The table of one type of object. Its methods raise StorageError."""
        return self._database.lines if kind is PriceLine else self._database.drawings

    def _set(self, there: Kept | None, wanted: Kept | None, restored: Callable[[Kept], Kept]) -> Kept | None:
        self._merges_with = None
        if wanted is not None:
            return self._store(restored(wanted))
        if there is not None:
            self._delete(there)
        return None

    def _remember(self, change: Change, merges_with: Key | None) -> None:
        self._changes = [*self._changes[1 - _CHANGES_KEPT :], change]
        self._undone.clear()
        self._merges_with = merges_with

    def _store(self, kept: Kept) -> Kept | None:
        if self._market is None:
            return None
        try:
            stored: Kept = self._store_of(type(kept)).put(*self._market, kept)
        except StorageError as error:
            self._on_trouble(str(error))
            return None
        self._keep(stored)
        return stored

    def _keep(self, *stored: Kept) -> None:
        self._kept.update((key, each) for each in stored if (key := key_of(each)) is not None)
        self._kept = dict(sorted(self._kept.items(), key=lambda item: item[1].created_at_ms))

    def _delete(self, kept: Kept) -> bool:
        assert kept.number is not None
        try:
            self._store_of(type(kept)).remove(kept.number)
        except StorageError as error:
            self._on_trouble(str(error))
            return False
        self._kept.pop((type(kept), kept.number), None)
        return True


def _with_market_changes(kept: Kept | None, line: PriceLine) -> Kept | None:
    """An object in the undo history, with the market's changes to the line since: all but what the user gave it."""
    if not isinstance(kept, PriceLine) or kept.number != line.number:
        return kept
    return replace(line, price=kept.price, text=kept.text)

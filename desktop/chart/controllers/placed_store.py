"""Objects that the user places on the watched symbol: stored in SQLite, with undo and redo of every change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from core.domain.drawings import Drawing
from core.domain.price_lines import PriceLine
from core.storage.errors import StorageError
from desktop.state.database import WindowDatabase

Storable = PriceLine | Drawing
Key = tuple[type[Storable], int]
"""Type and number: each type has its own numbers."""
Stored = TypeVar("Stored")
One = TypeVar("One", PriceLine, Drawing)
_MOST_CHANGES = 50


class Change(NamedTuple):
    """before is None: added; after is None: removed."""

    before: Storable | None
    after: Storable | None


def key_of(thing: Storable | None) -> Key | None:
    """The object's key; None if it is not stored yet."""
    return None if thing is None or thing.number is None else (type(thing), thing.number)


class PlacedStore:
    """A change that cannot be stored is reported to `on_trouble` and dropped."""

    def __init__(self, database: WindowDatabase, on_trouble: Callable[[str], object]) -> None:
        self._database, self._on_trouble = database, on_trouble
        self._market: tuple[str, str] | None = None
        self._objects: dict[Key, Storable] = {}
        self._changes: list[Change] = []
        self._undone: list[Change] = []
        """The opposites of undone changes."""
        self._merges_with: Key | None = None

    def all(self, thing_type: type[Stored]) -> tuple[Stored, ...]:
        """The objects of one type, in drawing order."""
        return tuple(each for each in self._objects.values() if isinstance(each, thing_type))

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
        self._market = (venue, symbol)
        self._changes.clear()
        self._undone.clear()
        self._merges_with = None
        self._objects = {}
        for kind in (PriceLine, Drawing):
            try:
                self._retain(*self._table_of(kind).list(venue, symbol))
            except StorageError as error:
                self._on_trouble(str(error))

    def get(self, key: Key | None) -> Storable | None:
        return None if key is None else self._objects.get(key)

    def now(self, thing: One) -> One | None:
        """The current version of an object; None if it was removed."""
        found = self.get(key_of(thing))
        return found if isinstance(found, type(thing)) else None

    def put(self, thing: Storable, *, merges: bool = False) -> Storable | None:
        """Add or change one object. None if it could not be stored.

        merges: this is one of many small changes that are undone together.
        """
        before = self.get(key_of(thing))
        stored = self._write(thing)
        if stored is None:
            return None
        key = key_of(stored)
        if merges and self._changes and self._merges_with == key:
            before = self._changes.pop().before
        self._remember(Change(before, stored), key if merges else None)
        return stored

    def remove(self, thing: Storable) -> None:
        before = self.get(key_of(thing))
        if before is not None and self._delete(before):
            self._remember(Change(before, None), None)

    def undo(self, restored: Callable[[Storable], Storable]) -> Storable | None:
        """Undo the last change. `restored` adapts an object that is restored.

        Returns the restored object, or None.
        """
        return self._revert(self._changes, self._undone, restored)

    def redo(self, restored: Callable[[Storable], Storable]) -> Storable | None:
        """Redo the last undone change; otherwise as `undo`."""
        return self._revert(self._undone, self._changes, restored)

    def note(self, line: PriceLine) -> None:
        """Apply the market's change to a line, even if it cannot be stored: it has happened, and cannot be undone."""
        self._retain(line)
        for changes in (self._changes, self._undone):
            changes[:] = [
                Change(_with_market_changes(each.before, line), _with_market_changes(each.after, line))
                for each in changes
            ]
        self._write(line)

    def _table_of(self, kind: type[Storable]) -> Any:
        """The table of one type of object. Its methods raise StorageError."""
        return self._database.lines if kind is PriceLine else self._database.drawings

    def _revert(
        self, changes: list[Change], reverted: list[Change], restored: Callable[[Storable], Storable]
    ) -> Storable | None:
        """Revert the last of `changes`, and add its opposite to `reverted`."""
        if not changes:
            return None
        change = changes.pop()
        reverted.append(Change(change.after, change.before))
        self._merges_with = None
        if change.before is not None:
            return self._write(restored(change.before))
        if change.after is not None:
            self._delete(change.after)
        return None

    def _remember(self, change: Change, merges_with: Key | None) -> None:
        self._changes = [*self._changes[1 - _MOST_CHANGES :], change]
        self._undone.clear()
        self._merges_with = merges_with

    def _write(self, thing: Storable) -> Storable | None:
        if self._market is None:
            return None
        try:
            stored: Storable = self._table_of(type(thing)).put(*self._market, thing)
        except StorageError as error:
            self._on_trouble(str(error))
            return None
        self._retain(stored)
        return stored

    def _retain(self, *stored: Storable) -> None:
        self._objects.update((key, each) for each in stored if (key := key_of(each)) is not None)
        self._objects = dict(sorted(self._objects.items(), key=lambda item: item[0][1]))

    def _delete(self, thing: Storable) -> bool:
        assert thing.number is not None
        try:
            self._table_of(type(thing)).remove(thing.number)
        except StorageError as error:
            self._on_trouble(str(error))
            return False
        self._objects.pop((type(thing), thing.number), None)
        return True


def _with_market_changes(thing: Storable | None, line: PriceLine) -> Storable | None:
    """An object in the undo history with the market's changes to the line since, but the user's own values."""
    if not isinstance(thing, PriceLine) or thing.number != line.number:
        return thing
    return replace(line, price=thing.price, text=thing.text)

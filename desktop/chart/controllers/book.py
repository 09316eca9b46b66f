"""What a user keeps on the watched symbol: stored in SQLite, changed here, and every change can be taken back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypeVar

from core.domain.drawings import Drawing
from core.domain.price_lines import PriceLine
from core.storage.errors import StorageError

Kept = PriceLine | Drawing
Key = tuple[type[Kept], int]
"""Numbers are given out by sort."""
OfSort = TypeVar("OfSort")
One = TypeVar("One", PriceLine, Drawing)
_CHANGES_KEPT = 50


class Store(Protocol):
    """Where things of one sort are kept. All methods raise StorageError."""

    def list(self, venue: str, symbol: str) -> list[Any]: ...

    def put(self, venue: str, symbol: str, kept: Any, /) -> Any: ...

    def remove(self, number: int, /) -> None: ...


class Change(NamedTuple):
    """None before: it was added; None after: it was removed."""

    before: Kept | None
    after: Kept | None


def key_of(kept: Kept | None) -> Key | None:
    """None for what is not stored yet."""
    return None if kept is None or kept.number is None else (type(kept), kept.number)


class Book:
    """A change that cannot be stored is reported to `on_trouble` and dropped."""

    def __init__(self, stores: Mapping[type[Kept], Callable[[], Store]], on_trouble: Callable[[str], object]) -> None:
        """stores: by the sort of thing that is kept there."""
        self._stores, self._on_trouble = stores, on_trouble
        self._market: tuple[str, str] | None = None
        self._kept: dict[Key, Kept] = {}
        self._changes: list[Change] = []
        self._undone: list[Change] = []
        self._merges_with: Key | None = None

    def all(self, sort: type[OfSort]) -> tuple[OfSort, ...]:
        """In the order in which they were drawn."""
        return tuple(each for each in self._kept.values() if isinstance(each, sort))

    @property
    def is_open(self) -> bool:
        """Whether there is a symbol on which these are."""
        return self._market is not None

    @property
    def can_undo(self) -> bool:
        return bool(self._changes)

    @property
    def can_redo(self) -> bool:
        """Nothing is done again over a newer change."""
        return bool(self._undone)

    def open(self, venue: str, symbol: str) -> None:
        """Show another symbol's."""
        self._market = (venue, symbol)
        self._changes.clear()
        self._undone.clear()
        self._merges_with = None
        self._kept = {}
        for store in self._stores.values():
            try:
                self._keep(*store().list(venue, symbol))
            except StorageError as error:
                self._on_trouble(str(error))

    def get(self, key: Key | None) -> Kept | None:
        return None if key is None else self._kept.get(key)

    def now(self, kept: One) -> One | None:
        """The same as it is now; None where it has been removed."""
        found = self.get(key_of(kept))
        return found if isinstance(found, type(kept)) else None

    def put(self, kept: Kept, *, merges: bool = False) -> Kept | None:
        """Add or change one. None where it could not be stored.

        merges: one of many small changes, which are taken back together.
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
        """Take one away."""
        before = self.get(key_of(kept))
        if before is not None and self._delete(before):
            self._remember(Change(before, None), None)

    def undo(self, renewed: Callable[[Kept], Kept]) -> Kept | None:
        """Take the last change back. `renewed` says how one that comes back is.

        Returns what is there again, None where nothing is.
        """
        if not self._changes:
            return None
        change = self._changes.pop()
        self._undone.append(change)
        return self._set(change.after, change.before, renewed)

    def redo(self, renewed: Callable[[Kept], Kept]) -> Kept | None:
        """Redo the last undone change; else as `undo`."""
        if not self._undone:
            return None
        change = self._undone.pop()
        self._changes.append(change)
        return self._set(change.before, change.after, renewed)

    def note(self, line: PriceLine) -> None:
        """Take over what the market did to a line, also where it cannot be stored: it has happened. Nobody can take
        that back."""
        self._keep(line)
        for changes in (self._changes, self._undone):
            changes[:] = [Change(_fated(each.before, line), _fated(each.after, line)) for each in changes]
        self._store(line)

    def _set(self, there: Kept | None, wanted: Kept | None, renewed: Callable[[Kept], Kept]) -> Kept | None:
        self._merges_with = None
        if wanted is not None:
            return self._store(renewed(wanted))
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
            stored: Kept = self._stores[type(kept)]().put(*self._market, kept)
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
            self._stores[type(kept)]().remove(kept.number)
        except StorageError as error:
            self._on_trouble(str(error))
            return False
        self._kept.pop((type(kept), kept.number), None)
        return True


def _fated(kept: Kept | None, line: PriceLine) -> Kept | None:
    """What is kept for undoing, with what the market has done to the line since."""
    if not isinstance(kept, PriceLine) or kept.number != line.number:
        return kept
    return replace(
        kept,
        crossed_at_ms=line.crossed_at_ms,
        crossed_within_ms=line.crossed_within_ms,
        is_armed=line.is_armed,
        direction=line.direction,
        watched_from_ms=line.watched_from_ms,
        known=line.known,
    )

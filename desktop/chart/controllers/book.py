"""What a user keeps on the watched symbol: stored in SQLite, changed here, and every change can be taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from core.storage.errors import StorageError

_CHANGES_KEPT = 50


class Dated(Protocol):
    """What can be kept."""

    @property
    def created_at_ms(self) -> int: ...


Kept = TypeVar("Kept", bound=Dated)


class Store(Protocol[Kept]):
    """Where it is kept. All methods raise StorageError."""

    def list(self, venue: str, symbol: str) -> list[Kept]: ...

    def put(self, venue: str, symbol: str, kept: Kept, /) -> Kept: ...

    def remove(self, number: int, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Change(Generic[Kept]):
    """None before: it was added; None after: it was removed. `order` tells which of several books' is the newest."""

    before: Kept | None
    after: Kept | None
    order: int


class Book(Generic[Kept]):
    """What cannot be stored is told to `on_trouble` and left as it was."""

    def __init__(
        self,
        open_store: Callable[[], Store[Kept]],
        number_of: Callable[[Kept], int | None],
        order: Iterator[int],
        on_trouble: Callable[[str], object],
    ) -> None:
        """order: shared by books whose changes are taken back together."""
        self._open_store, self._number_of, self._order, self._on_trouble = open_store, number_of, order, on_trouble
        self._market: tuple[str, str] | None = None
        self._kept: dict[int, Kept] = {}
        self._changes: list[Change[Kept]] = []
        self._undone: list[Change[Kept]] = []
        self._merges_with: int | None = None

    @property
    def all(self) -> tuple[Kept, ...]:
        """In the order in which they were drawn."""
        return tuple(self._kept.values())

    @property
    def is_open(self) -> bool:
        """Whether there is a symbol on which these are."""
        return self._market is not None

    @property
    def market(self) -> tuple[str, str] | None:
        """Venue and symbol."""
        return self._market

    @property
    def newest_change(self) -> int:
        """Its place among the changes of all books; -1 where nothing can be taken back."""
        return self._changes[-1].order if self._changes else -1

    @property
    def next_undone(self) -> int | None:
        """The place, among the changes of all books, of the one that was taken back last; None where there is none."""
        return self._undone[-1].order if self._undone else None

    def open(self, venue: str, symbol: str) -> None:
        """Show another symbol's."""
        self._market = (venue, symbol)
        self._changes.clear()
        self._undone.clear()
        self._merges_with = None
        try:
            self._kept = self._by_number(self._open_store().list(venue, symbol))
        except StorageError as error:
            self._kept = {}
            self._on_trouble(str(error))

    def get(self, number: int | None) -> Kept | None:
        return None if number is None else self._kept.get(number)

    def put(self, kept: Kept, *, merges: bool = False) -> Kept | None:
        """Add or change one. None where it could not be stored.

        merges: one of many small changes, which are taken back together.
        """
        before = self.get(self._number_of(kept))
        stored = self._store(kept)
        if stored is None:
            return None
        number = self._number_of(stored)
        if merges and self._changes and self._merges_with == number:
            before = self._changes.pop().before
        self._remember(before, stored, number if merges else None)
        return stored

    def remove(self, number: int) -> None:
        """Take one away."""
        before = self.get(number)
        if before is not None and self._delete(number):
            self._remember(before, None, None)

    def undo(self, renewed: Callable[[Kept], Kept] = lambda kept: kept) -> Kept | None:
        """Take the last change back. `renewed` says how one that comes back is.

        Returns what is there again, None where nothing is.
        """
        change = _moved(self._changes, self._undone)
        return None if change is None else self._set(change.after, change.before, renewed)

    def redo(self, renewed: Callable[[Kept], Kept] = lambda kept: kept) -> Kept | None:
        """Do again what was taken back last. `renewed` says how one that comes back is.

        Returns what is there again, None where nothing is.
        """
        change = _moved(self._undone, self._changes)
        return None if change is None else self._set(change.before, change.after, renewed)

    def _set(self, there: Kept | None, wanted: Kept | None, renewed: Callable[[Kept], Kept]) -> Kept | None:
        self._merges_with = None
        if wanted is not None:
            return self._store(renewed(wanted))
        number = None if there is None else self._number_of(there)
        if number is not None:
            self._delete(number)
        return None

    def _remember(self, before: Kept | None, after: Kept | None, merges_with: int | None) -> None:
        self._changes = [*self._changes[1 - _CHANGES_KEPT :], Change(before, after, next(self._order))]
        self._undone.clear()
        self._merges_with = merges_with

    def _store(self, kept: Kept) -> Kept | None:
        if self._market is None:
            return None
        try:
            stored = self._open_store().put(*self._market, kept)
        except StorageError as error:
            self._on_trouble(str(error))
            return None
        everything = self._by_number([*self._kept.values(), stored]).values()
        self._kept = self._by_number(sorted(everything, key=lambda each: each.created_at_ms))
        return stored

    def _delete(self, number: int) -> bool:
        try:
            self._open_store().remove(number)
        except StorageError as error:
            self._on_trouble(str(error))
            return False
        self._kept.pop(number, None)
        return True

    def _by_number(self, kept: Iterable[Kept]) -> dict[int, Kept]:
        return {number: each for each in kept if (number := self._number_of(each)) is not None}


def _moved(source: list[Change[Kept]], target: list[Change[Kept]]) -> Change[Kept] | None:
    """The newest of the one, which is the newest of the other from now on."""
    if not source:
        return None
    change = source.pop()
    target.append(change)
    return change

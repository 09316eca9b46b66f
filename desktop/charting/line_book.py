"""The lines of the watched symbol: kept in SQLite, changed here, and every change can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from core.market.price_lines import PriceLine
from core.storage.chart_lines import ChartLineStore
from core.storage.errors import StorageError

_CHANGES_KEPT = 50


@dataclass(frozen=True, slots=True)
class _Change:
    """None before: it was added; None after: it was removed."""

    before: PriceLine | None
    after: PriceLine | None


class LineBook:
    """What cannot be stored is told to `on_trouble` and left as it was, except for a crossing: that has happened."""

    def __init__(self, open_store: Callable[[], ChartLineStore], on_trouble: Callable[[str], object]) -> None:
        self._open_store, self._on_trouble = open_store, on_trouble
        self._market: tuple[str, str] | None = None
        self._lines: dict[int, PriceLine] = {}
        self._changes: list[_Change] = []
        self._merges_with: int | None = None

    @property
    def lines(self) -> tuple[PriceLine, ...]:
        """In the order in which they were drawn."""
        return tuple(self._lines.values())

    @property
    def is_open(self) -> bool:
        """Whether there is a symbol whose lines these are."""
        return self._market is not None

    @property
    def market(self) -> tuple[str, str] | None:
        """Venue and symbol of these lines."""
        return self._market

    @property
    def can_undo(self) -> bool:
        return bool(self._changes)

    def open(self, venue: str, symbol: str) -> None:
        """Show another symbol's lines."""
        self._market = (venue, symbol)
        self._changes.clear()
        self._merges_with = None
        try:
            self._lines = _by_number(self._open_store().list(venue, symbol))
        except StorageError as error:
            self._lines = {}
            self._on_trouble(str(error))

    def get(self, line_id: int | None) -> PriceLine | None:
        return None if line_id is None else self._lines.get(line_id)

    def put(self, line: PriceLine, *, merges: bool = False) -> PriceLine | None:
        """Add or change a line. None where it could not be stored.

        merges: one of many small changes of a line, which are taken back together.
        """
        before = self.get(line.line_id)
        stored = self._store(line)
        if stored is None:
            return None
        if merges and self._changes and self._merges_with == stored.line_id:
            before = self._changes.pop().before
        self._remember(_Change(before, stored), stored.line_id if merges else None)
        return stored

    def put_elsewhere(self, market: tuple[str, str], line: PriceLine) -> None:
        """Add a line to a market that is not shown any more. That cannot be taken back."""
        try:
            self._open_store().put(*market, line)
        except StorageError as error:
            self._on_trouble(str(error))

    def reword_elsewhere(self, market: tuple[str, str], line_id: int, text: str) -> None:
        """Write on a line of a market that is not shown any more; nothing where it has been removed."""
        try:
            store = self._open_store()
            for line in store.list(*market):
                if line.line_id == line_id:
                    store.put(*market, replace(line, text=text))
        except StorageError as error:
            self._on_trouble(str(error))

    def remove(self, line_id: int) -> None:
        """Take a line away."""
        before = self.get(line_id)
        if before is not None and self._delete(line_id):
            self._remember(_Change(before, None), None)

    def note(self, line: PriceLine) -> None:
        """Take over what the market did to a line; nobody can take that back."""
        assert line.line_id is not None
        self._lines[line.line_id] = line
        self._changes = [_Change(_fated(each.before, line), _fated(each.after, line)) for each in self._changes]
        self._store(line)

    def undo(self, renewed: Callable[[PriceLine], PriceLine]) -> PriceLine | None:
        """Take the last change back. `renewed` says how a line that comes back is watched.

        Returns the line that is there again, None where there is none.
        """
        if not self._changes:
            return None
        change = self._changes.pop()
        self._merges_with = None
        if change.before is not None:
            return self._store(renewed(change.before))
        if change.after is not None and change.after.line_id is not None:
            self._delete(change.after.line_id)
        return None

    def _remember(self, change: _Change, merges_with: int | None) -> None:
        self._changes = [*self._changes[1 - _CHANGES_KEPT :], change]
        self._merges_with = merges_with

    def _store(self, line: PriceLine) -> PriceLine | None:
        if self._market is None:
            return None
        try:
            stored = self._open_store().put(*self._market, line)
        except StorageError as error:
            self._on_trouble(str(error))
            return None
        assert stored.line_id is not None
        self._lines[stored.line_id] = stored
        self._lines = _by_number(sorted(self._lines.values(), key=lambda each: each.created_at_ms))
        return stored

    def _delete(self, line_id: int) -> bool:
        try:
            self._open_store().remove(line_id)
        except StorageError as error:
            self._on_trouble(str(error))
            return False
        self._lines.pop(line_id, None)
        return True


def _fated(kept: PriceLine | None, line: PriceLine) -> PriceLine | None:
    """What is kept for undoing, with what the market has done to the line since."""
    if kept is None or kept.line_id != line.line_id:
        return kept
    return replace(
        kept,
        crossed_at_ms=line.crossed_at_ms,
        is_armed=line.is_armed,
        direction=line.direction,
        watched_from_ms=line.watched_from_ms,
        known=line.known,
    )


def _by_number(lines: list[PriceLine]) -> dict[int, PriceLine]:
    return {line.line_id: line for line in lines if line.line_id is not None}

"""The lines of the watched symbol, and what the market does to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from core.market.price_lines import PriceLine
from core.storage.chart_lines import ChartLineStore
from core.storage.errors import StorageError
from desktop.chart.controllers.book import Book, Store


class LineBook(Book[PriceLine]):
    """A crossing is kept also where it cannot be stored: it has happened."""

    def __init__(
        self, open_store: Callable[[], ChartLineStore], order: Iterator[int], on_trouble: Callable[[str], object]
    ) -> None:
        def store() -> Store[PriceLine]:
            return open_store()

        super().__init__(store, lambda line: line.line_id, order, on_trouble)

    @property
    def lines(self) -> tuple[PriceLine, ...]:
        """In the order in which they were drawn."""
        return self.all

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

    def note(self, line: PriceLine) -> None:
        """Take over what the market did to a line; nobody can take that back."""
        assert line.line_id is not None
        self._kept[line.line_id] = line
        for changes in (self._changes, self._undone):
            changes[:] = [
                replace(each, before=_fated(each.before, line), after=_fated(each.after, line)) for each in changes
            ]
        self._store(line)


def _fated(kept: PriceLine | None, line: PriceLine) -> PriceLine | None:
    """What is kept for undoing, with what the market has done to the line since."""
    if kept is None or kept.line_id != line.line_id:
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

"""Which markets are shown, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

from core.domain.events import Estimate
from core.domain.venue_names import venue_name
from core.market.shown_names import name_order
from desktop.panels.accuracy.words import value_of
from desktop.panels.markets.row import Row


class Column(IntEnum):
    """Of the table, from the left."""

    MARKET = 0
    CHART = 1
    LAST = 2
    CHANGE = 3
    LEARNED = 4
    SKILL = 5
    GAIN = 6
    FEED = 7


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else value_of(estimate)


_VALUES: dict[Column, Callable[[Row], Any]] = {
    Column.MARKET: lambda row: name_order(row.market),
    Column.LAST: lambda row: row.last,
    Column.CHANGE: lambda row: row.change,
    Column.LEARNED: lambda row: float(not row.is_learned),
    Column.SKILL: lambda row: _value(row.known.skill),
    Column.GAIN: lambda row: _value(row.known.model_gain),
    Column.FEED: lambda row: row.state_words,
}
SORTABLE = tuple(_VALUES)


def matches(row: Row, text: str) -> bool:
    """Whether each word of the text is in the market's symbol, exchange, interval or state."""
    symbol = row.symbol.casefold()
    parts = (symbol, symbol.replace("/", ""), venue_name(row.market.venue), row.market.interval, row.state_words)
    whole = "\n".join(str(part).casefold() for part in parts)
    return all(word in whole for word in text.casefold().split())


def arranged(rows: Sequence[Row], text: str, column: Column | None, *, is_descending: bool) -> list[Row]:
    """The rows that match the text, by a column's values; None: in the list's order. Rows without a value are last in
    either direction, and equal ones stay in the list's order."""
    found = [row for row in rows if matches(row, text)]
    value = None if column is None else _VALUES.get(column)
    if value is None:
        return found
    known = [row for row in found if value(row) is not None]
    known.sort(key=value, reverse=is_descending)
    return known + [row for row in found if value(row) is None]

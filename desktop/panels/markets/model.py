"""The markets as a table for Qt, one row per market: its columns, which rows are shown, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal

from core.domain.candle import Market
from core.domain.events import Estimate
from core.domain.venue_names import venue_name
from core.market.shown_names import name_order
from desktop.panels.accuracy.words import value_of
from desktop.panels.markets.row import Row, proof_text, worth_text
from desktop.ui.tables import CENTRE, LEFT, RIGHT, NamedColumn, RowsModel
from desktop.ui.translation import translate


def _spoken_name(row: Row) -> str:
    name = f"{row.symbol}, {row.where} · {row.state_words}"
    return translate("Panels", "{0}, on the chart").format(name) if row.is_on_chart else name


def _spoken_chart(row: Row) -> str:
    if row.known.forecast is not None and row.known.candles:
        return translate("Panels", "{0} candles, {1} ghosts").format(
            len(row.known.candles), len(row.known.forecast.ghosts)
        )
    return translate("Panels", "no candles")


def _spoken_worth(words: str, estimate: Estimate | None) -> str:
    text, proof = words.format(worth_text(estimate)), proof_text(estimate)
    return f"{text}, {proof}" if proof else text


class Column(NamedColumn):
    """The columns of the table, from the left."""

    MARKET = (
        "Market",
        "Symbol; below it the exchange and the candle interval",
        lambda row: row.symbol,
        LEFT,
        _spoken_name,
    )
    CHART = (
        "Chart",
        "Markets of the run: the newest candles, and the ghosts with their 90 % band",
        lambda row: "",
        LEFT,
        _spoken_chart,
    )
    LAST = (
        "Last",
        "Last price, in the quote currency; below it how current it is",
        lambda row: row.price_text,
        RIGHT,
        lambda row: translate("Panels", "last price {0}").format(row.price_text),
    )
    CHANGE = (
        "Change",
        "Price change over the last 24 hours, as the exchange gives it",
        lambda row: row.change_text,
        RIGHT,
        lambda row: translate("Panels", "change {0}").format(row.change_text),
    )
    LEARNED = (
        "Learn",
        "Whether the model learns from the market. Click or Space: switch",
        lambda row: "",
        CENTRE,
        lambda row: row.learning_words,
    )
    SKILL = (
        "Skill",
        "How much better the ghosts' closes are than “no change”, with the 95 % interval in percent. Not proven while "
        "the interval includes 0. Green: the model has a proven part in it. Blue: the baselines alone, or a "
        "result of a replay or a simulation",
        lambda row: worth_text(row.known.skill),
        RIGHT,
        lambda row: _spoken_worth(translate("Panels", "skill of the ghosts {0}"), row.known.skill),
    )
    GAIN = (
        "Gain",
        "What the model adds to the baselines, close and range in equal parts, with the 95 % interval in percent",
        lambda row: worth_text(row.known.model_gain),
        RIGHT,
        lambda row: _spoken_worth(translate("Panels", "gain from the model {0}"), row.known.model_gain),
    )
    FEED = (
        "Feed",
        "What the feed of the market is doing, or how current its price is",
        lambda row: row.state_words,
        LEFT,
        lambda row: translate("Panels", "feed: {0}").format(row.state_words),
    )


def texts_below(row: Row) -> dict[Column, tuple[str, ...]]:
    """The possible second lines of each column's cell."""
    return {
        Column.MARKET: (row.where,),
        Column.LAST: (row.state_words, row.change_text),
        Column.SKILL: (proof_text(row.known.skill),),
        Column.GAIN: (proof_text(row.known.model_gain),),
    }


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


class MarketsModel(RowsModel[Row]):
    """Rows as they are shown. Changes are signalled cell by cell: for a range Qt repaints the row below it too."""

    members_changed = Signal()
    """Other markets are shown than before, in whichever order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(tuple(Column), parent, tooltip=Row.tooltip, key=lambda row: row.market)
        self._places: dict[Market, int] = {}

    def place_of(self, market: Market | None) -> int:
        """The number of its row; -1 if it is not shown."""
        return -1 if market is None else self._places.get(market, -1)

    def show(self, rows: Sequence[Row]) -> None:
        places = {row.market: number for number, row in enumerate(rows)}
        if list(places) == list(self._places):
            for row in rows:
                self.show_one(row)
        else:
            has_others = places.keys() != self._places.keys()
            self._places = places
            super().show(rows)
            if has_others:
                self.members_changed.emit()

    def show_one(self, row: Row) -> None:
        """Show this in the place of the row of the same market, if there is one."""
        number = self._places.get(row.market)
        if number is None or row == self.rows[number]:
            return
        former, now = _facts(self.rows[number]), _facts(row)
        self.rows[number] = row
        for column in Column:
            if now[column] != former[column]:
                self.dataChanged.emit(self.index(number, column), self.index(number, column))


def _facts(row: Row) -> tuple[object, ...]:
    """The data that each cell is painted from, in the order of the columns."""
    known, standing = row.known, row.standing
    chart = (known.candles, known.forming, known.forecast, row.is_uncertain)
    return (
        (standing.state, row.feed, row.is_on_chart),
        chart,
        (row.price_text, row.state_words, row.change_text, row.is_uncertain),
        (row.change_text, row.is_uncertain),
        (row.is_learned, known.is_learned),
        (known.skill, known.model_gain),
        known.model_gain,
        (row.state_words, standing, known.feed_sentence) if not row.is_usual else row.state_words,
    )

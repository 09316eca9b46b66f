"""The markets as a table for Qt, one row per market: its columns, which rows are shown, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from core.domain.candle import Market
from core.domain.events import Estimate
from core.domain.venue_names import venue_name
from core.market.shown_names import name_order
from desktop.panels.accuracy.words import value_of
from desktop.panels.markets.row import Row, proof_text, worth_text
from desktop.ui.plain_text import paragraphs
from desktop.ui.tables import Index, KeyedRowsModel, TitledColumn
from desktop.ui.translation import translate


class Column(TitledColumn):
    """Of the table, from the left."""

    MARKET = "Market", "Symbol; below it the exchange and the candle interval"
    CHART = (
        "Chart",
        "Markets of the run: the newest candles, and the ghosts with their 90 % band. Others: the closes of the last "
        "24 hours; the faint line is the price a day ago",
    )
    LAST = "Last", "Last price, in the quote currency; below it how current it is"
    CHANGE = (
        "Change",
        "Price change over the last 24 hours, accurate to 15 minutes; to 30 or 60 where the exchange has no shorter "
        "candles",
    )
    LEARNED = "Learn", "Whether the model learns from the market. Click or Space: switch"
    SKILL = (
        "Skill",
        "How much better the ghosts' closes are than “no change”, with the 95 % interval in percent. Not proven while "
        "the interval includes 0. Green: the model has a proven part in it. Blue: the simple rules alone, or a "
        "result of a replay or a simulation",
    )
    GAIN = (
        "Gain",
        "What the model adds to the simple rules, close and range in equal parts, with the 95 % interval in percent",
    )
    FEED = "Feed", "What the feed of the market is doing, or how current its price is"


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


ROW_ROLE = Qt.ItemDataRole.UserRole
_ON_THE_RIGHT = frozenset({Column.LAST, Column.CHANGE, Column.SKILL, Column.GAIN})


class MarketsModel(KeyedRowsModel[Row]):
    """Rows as they are shown. Changes are signalled cell by cell: for a range Qt repaints the row below it too."""

    members_changed = Signal()
    """Other markets are shown than before, in whichever order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__([column.title for column in Column], parent)
        self._places: dict[Market, int] = {}

    def place_of(self, market: Market | None) -> int:
        """The number of its row; -1 if it is not shown."""
        return -1 if market is None else self._places.get(market, -1)

    def key(self, row: Row) -> object:
        return row.market

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

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self.rows[index.row()], Column(index.column())
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return _text(row, column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return self.side(column)
            case Qt.ItemDataRole.ToolTipRole:
                return paragraphs(row.tooltip())
            case Qt.ItemDataRole.AccessibleTextRole:
                return _spoken(row, column)
        return row if role == ROW_ROLE else None

    def side(self, column: int) -> Qt.AlignmentFlag:
        if column == Column.LEARNED:
            return Qt.AlignmentFlag.AlignCenter
        side = Qt.AlignmentFlag.AlignRight if column in _ON_THE_RIGHT else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter

    def meaning(self, column: int) -> str:
        return Column(column).meaning


def _facts(row: Row) -> tuple[object, ...]:
    """What each cell is painted from, in the order of the columns."""
    known, standing = row.known, row.standing
    chart = (known.candles, known.forming, known.forecast, None if known.newest else row.closes, row.is_uncertain)
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


def cell_texts(row: Row) -> dict[Column, tuple[str, ...]]:
    """The first line of each cell that has texts, and what its second may be."""
    skill, gain = row.known.skill, row.known.model_gain
    return {
        Column.MARKET: (row.symbol, row.where),
        Column.LAST: (row.price_text, row.state_words, row.change_text),
        Column.CHANGE: (row.change_text,),
        Column.SKILL: (worth_text(skill), proof_text(skill)),
        Column.GAIN: (worth_text(gain), proof_text(gain)),
        Column.FEED: (row.state_words,),
    }


def _text(row: Row, column: Column) -> str:
    return cell_texts(row).get(column, ("",))[0]


def _spoken(row: Row, column: Column) -> str:
    known = row.known
    if column is Column.MARKET:
        name = f"{row.symbol}, {row.where} · {row.state_words}"
        return translate("Panels", "{0}, on the chart").format(name) if row.is_on_chart else name
    if column is Column.CHART:
        return _spoken_chart(row)
    if column is Column.LEARNED:
        return row.learning_words
    words = {
        Column.LAST: translate("Panels", "last price {0}"),
        Column.CHANGE: translate("Panels", "change {0}"),
        Column.SKILL: translate("Panels", "skill of the ghosts {0}"),
        Column.GAIN: translate("Panels", "gain from the model {0}"),
        Column.FEED: translate("Panels", "feed: {0}"),
    }[column]
    text = words.format(_text(row, column))
    proof = {Column.SKILL: proof_text(known.skill), Column.GAIN: proof_text(known.model_gain)}.get(column, "")
    return f"{text}, {proof}" if proof else text


def _spoken_chart(row: Row) -> str:
    if row.known.forecast is not None and row.known.candles:
        return translate("Panels", "{0} candles, {1} ghosts").format(
            len(row.known.candles), len(row.known.forecast.ghosts)
        )
    if not row.closes:
        return translate("Panels", "no prices for the last day")
    return translate("Panels", "{0} in 24 hours").format(row.change_text)

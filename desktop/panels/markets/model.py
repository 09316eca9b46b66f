"""The markets as a table for Qt: a row a market, with its price, its change, its day, and how far to believe them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QObject, Qt
from PySide6.QtGui import QColor

from core.domain.venue_names import venue_name
from core.domain.watchlist import WatchedMarket
from core.market.feeds.base import FeedState
from desktop.panels.feed.words import state_colour, state_within
from desktop.state.quotes import QuoteState, Standing, quote_word
from desktop.ui.formatting import (
    MISSING,
    decimals_of_prices,
    format_age,
    format_percent,
    format_price,
    format_time,
)
from desktop.ui.plain_text import paragraphs
from desktop.ui.tables import ROOT, Index
from desktop.ui.theme import Palette, Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

ROW_ROLE = Qt.ItemDataRole.UserRole
MARKET, DAY, LAST, CHANGE = range(4)
_TITLES = (
    QT_TRANSLATE_NOOP("Panels", "Market"),
    QT_TRANSLATE_NOOP("Panels", "24 h"),
    QT_TRANSLATE_NOOP("Panels", "Last"),
    QT_TRANSLATE_NOOP("Panels", "Change"),
)
_MEANINGS = (
    QT_TRANSLATE_NOOP("Panels", "Symbol; below it the exchange and the candle interval"),
    QT_TRANSLATE_NOOP("Panels", "Closes of the last 24 hours; the faint line is the price a day ago"),
    QT_TRANSLATE_NOOP("Panels", "Last price, in the quote currency; below it how current it is"),
    QT_TRANSLATE_NOOP("Panels", "Change of the price from a day ago, to a quarter of an hour"),
)
_UNCERTAIN = frozenset({QuoteState.OLD, QuoteState.NO_ANSWER, QuoteState.NOT_ASKED})


def all_state_words() -> tuple[str, ...]:
    """What `Row.state_words` may say, but for ages."""
    return *map(quote_word, QuoteState), *map(state_within, FeedState)


@dataclass(frozen=True)
class Row:
    """One market as it is shown. `chart_state`: of the live feed, where this market is on the chart."""

    market: WatchedMarket
    standing: Standing
    age_s: int | None
    is_on_chart: bool = False
    chart_state: FeedState | None = None

    @property
    def state_words(self) -> str:
        """``fresh``, ``4 min ago``, ``no answer``; of the market on the chart, how its feed does: ``live``."""
        state = self.standing.state
        if self.is_on_chart and state is not QuoteState.NO_MARKET and self.chart_state is not None:
            return state_within(self.chart_state)
        if self.is_uncertain and self.age_s is not None:
            return format_age(0, 1000 * max(10, self.age_s))
        return quote_word(state)

    @property
    def is_uncertain(self) -> bool:
        """Whether the price is older than it should be."""
        return self.standing.state in _UNCERTAIN

    @property
    def closes(self) -> tuple[float, ...]:
        """Of a day, with the last price at the end; empty where they are not known."""
        quote = self.standing.quote
        return () if quote is None or quote.day is None else (*quote.day.closes, quote.last)

    @property
    def day_ago(self) -> float | None:
        quote = self.standing.quote
        return None if quote is None or quote.day is None else quote.day.day_ago

    @property
    def change(self) -> float | None:
        """As a fraction."""
        return None if self.standing.quote is None else self.standing.quote.change

    @cached_property
    def price_text(self) -> str:
        quote = self.standing.quote
        if quote is None:
            return MISSING
        return format_price(quote.last, self.decimals)

    @cached_property
    def decimals(self) -> int | None:
        """As many as the market's prices have."""
        quote = self.standing.quote
        return None if quote is None else decimals_of_prices((*self.closes[-24:], quote.last))

    @property
    def change_text(self) -> str:
        return format_percent(self.change, 2, signed=True)

    @property
    def where(self) -> str:
        """``Binance · 1m``"""
        return f"{venue_name(self.market.venue)} · {self.market.interval}"

    def dot(self, palette: Palette) -> QColor:
        """The colour that goes with the words."""
        state = self.standing.state
        if self.is_on_chart:
            return state_colour(self.chart_state, palette)
        colours = {QuoteState.FRESH: palette.good, QuoteState.OLD: palette.warning, QuoteState.NO_ANSWER: palette.bad}
        return palette.bad if state is QuoteState.NO_MARKET else colours.get(state, palette.muted_text)


class MarketsModel(QAbstractTableModel):
    """Rows in the user's order. Changes are signalled cell by cell, so that the selection stays."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: list[Row] = []

    @property
    def rows(self) -> Sequence[Row]:
        return self._rows

    def show(self, rows: Sequence[Row]) -> None:
        """Show these instead."""
        if [row.market for row in rows] != [row.market for row in self._rows]:
            self.beginResetModel()
            self._rows = list(rows)
            self.endResetModel()
            return
        for number, row in enumerate(rows):
            self.show_one(number, row)

    def show_one(self, number: int, row: Row) -> None:
        """Show this in the place of one row, which is of the same market."""
        if row != self._rows[number]:
            self._rows[number] = row
            self.dataChanged.emit(self.index(number, 0), self.index(number, len(_TITLES) - 1))

    def repaint(self) -> None:
        """The palette changed."""
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(_TITLES) - 1))

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(_TITLES)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return (row.market.symbol, "", row.price_text, row.change_text)[index.column()]
            case Qt.ItemDataRole.TextAlignmentRole:
                side = Qt.AlignmentFlag.AlignLeft if index.column() == MARKET else Qt.AlignmentFlag.AlignRight
                return side | Qt.AlignmentFlag.AlignVCenter
            case Qt.ItemDataRole.ForegroundRole:
                return self._colour(row, index.column())
            case Qt.ItemDataRole.ToolTipRole:
                return paragraphs(_tooltip(row))
            case Qt.ItemDataRole.AccessibleTextRole:
                return _spoken(row, index.column())
        return row if role == ROW_ROLE else None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section in (LAST, CHANGE) else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        texts = {Qt.ItemDataRole.DisplayRole: _TITLES, Qt.ItemDataRole.ToolTipRole: _MEANINGS}.get(
            Qt.ItemDataRole(role)
        )
        return None if texts is None else translate("Panels", texts[section])

    def _colour(self, row: Row, column: int) -> QColor | None:
        palette = self._theme.palette
        if column in (LAST, CHANGE) and row.is_uncertain:
            return palette.muted_text
        if column == CHANGE and row.change:
            return palette.candle(rising=row.change > 0.0)
        return None


def _tooltip(row: Row) -> str:
    market = row.market
    name = translate("Panels", "{0}, {1} candles, {2}: {3}")
    lines = [name.format(market.symbol, market.interval, venue_name(market.venue), row.state_words)]
    quote = row.standing.quote
    if quote is not None:
        lines.append(translate("Panels", "{0} at {1}").format(row.price_text, format_time(quote.at_ms, seconds=True)))
    if row.day_ago is not None:
        day_ago = translate("Panels", "{0} from a day ago, when it was {1}")
        lines.append(day_ago.format(row.change_text, format_price(row.day_ago, row.decimals)))
    if row.is_on_chart:
        lines.append(translate("Panels", "On the chart: {0}.").format(state_within(row.chart_state)))
    return "\n".join((*lines, row.standing.sentence) if row.standing.sentence else lines)


def _spoken(row: Row, column: int) -> str:
    if column == MARKET:
        name = f"{row.market.symbol}, {row.where} · {row.state_words}"
        return translate("Panels", "{0}, on the chart").format(name) if row.is_on_chart else name
    if column == DAY and not row.closes:
        return translate("Panels", "no prices for the last day")
    text = {
        DAY: translate("Panels", "{0} in 24 hours"),
        LAST: translate("Panels", "last price {0}"),
        CHANGE: translate("Panels", "change {0}"),
    }[column]
    return text.format(row.price_text if column == LAST else row.change_text)

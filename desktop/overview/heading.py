"""The line above a chart of the Overview: the market, its price, what its ghosts are worth, and its feed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from core.domain.candle import Market
from core.domain.events import AccuracySummary
from core.domain.plain_text import plain
from core.market.shown_names import shown_symbol
from desktop.panels.accuracy.answers import Answers, Found, answers_of
from desktop.panels.accuracy.words import value_of
from desktop.panels.feed.words import HEALTHY_STATES, in_one_line, state_colour, state_word
from desktop.state.markets import MarketRow
from desktop.ui.formatting import format_percent
from desktop.ui.icons import tabular
from desktop.ui.plain_text import paragraphs
from desktop.ui.theme import Palette
from desktop.ui.translation import translate
from desktop.ui.words import with_venue

_DOT_PX, _GAP_PX, _MARGIN_PX = 8, 8, 6
_LONGEST_NAME = 40

Part = tuple[str, QColor]


@dataclass(frozen=True, slots=True)
class Heading:
    """The line's texts besides the price. Without room the feed is dropped, then the worth; but if the feed is in
    trouble, the worth first."""

    name: str
    worth: str
    worth_colour: QColor
    feed: str
    feed_colour: QColor
    is_in_trouble: bool
    tooltip: str


def heading(row: MarketRow, palette: Palette) -> Heading:
    answers = None if row.accuracy is None else answers_of(row.accuracy, None)
    feed = state_word(row.feed) if row.is_in_run else translate("Overview", "Stored candles")
    worth, worth_colour = "", palette.text
    if answers is not None and row.accuracy is not None:
        worth, worth_colour = _worth(answers, row.accuracy, palette)
    return Heading(
        name=name_of(row.market),
        worth=worth,
        worth_colour=worth_colour,
        feed=feed,
        feed_colour=state_colour(row.feed, palette),
        is_in_trouble=row.is_in_run and row.feed not in HEALTHY_STATES,
        tooltip=_tooltip(row, answers, feed),
    )


def name_of(market: Market) -> str:
    return f"{plain(shown_symbol(market.venue, market.symbol), _LONGEST_NAME)} {market.interval}"


def _worth(answers: Answers, accuracy: AccuracySummary, palette: Palette) -> Part:
    """``Ghosts +1.2 %``; empty while that is not proven. The verdict in words is in the tooltip only."""
    ghosts = answers.ghosts
    if ghosts.found not in (Found.YES, Found.NO):
        return "", palette.muted_text
    value = format_percent(value_of(accuracy.skill_close), 1, signed=True)
    return f"{ghosts.name} {value}", answers.colour(ghosts, palette)


def _tooltip(row: MarketRow, answers: Answers | None, feed: str) -> str:
    lines = [with_venue(f"{plain(row.market.symbol)} {row.market.interval}", row.market.venue)]
    if answers is not None:
        lines += [f"{answer.in_full}." for answer in answers.all()]
    if row.is_in_run and not row.is_learned:
        lines.append(translate("Overview", "The model does not learn from it."))
    lines.append(feed if row.feed is None or not row.feed_sentence else in_one_line(row.feed, row.feed_sentence))
    return "\n".join(lines)


class HeadingLine(QWidget):
    """The line is painted as a whole: labels would lay out all tiles with each price."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: Heading | None = None
        """None: an empty tile."""
        self.price = ""
        self.is_on_chart = False
        """Whether this market is the one on the large chart."""
        self._palette: Palette | None = None
        self._state: object = None
        self._set_fonts()

    def show_row(self, row: MarketRow | None, palette: Palette, *, is_on_chart: bool) -> None:
        """row: None empties the line."""
        described = None if row is None else replace(row, candles=(), forming=None, committed=None, first_forecast=None)
        state = (described, palette, is_on_chart)
        if state != self._state:  # usually only the price is new
            self._state, self._palette, self.is_on_chart = state, palette, is_on_chart
            self.shown = None if row is None else heading(row, palette)
            self.setToolTip("" if self.shown is None else paragraphs(self.shown.tooltip))
            self.update()

    def show_price(self, price: str) -> None:
        """price: the newest one; empty while it is unknown."""
        if price != self.price:
            self.price = price
            self.update()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.FontChange:
            self._set_fonts()
        super().changeEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(120, self.fontMetrics().height() + _MARGIN_PX)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def texts(self) -> list[str]:
        """The painted texts, from left to right, as many as fit."""
        shown = self.shown
        if shown is None:
            return []
        parts, room = self._parts(shown)
        name = self._bold_metrics.elidedText(shown.name, Qt.TextElideMode.ElideRight, room)
        return [name, *(text for text, _ in parts)]

    def paintEvent(self, event: QPaintEvent) -> None:
        shown, palette = self.shown, self._palette
        if shown is None or palette is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(shown.feed_colour)
        painter.drawEllipse(_MARGIN_PX, (self.height() - _DOT_PX) // 2, _DOT_PX, _DOT_PX)
        parts, room = self._parts(shown)
        left = _MARGIN_PX + _DOT_PX + _GAP_PX
        painter.setFont(self._bold)
        painter.setPen(palette.accent if self.is_on_chart else palette.text)
        name = self._bold_metrics.elidedText(shown.name, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRect(left, 0, room, self.height()), Qt.AlignmentFlag.AlignVCenter, name)
        painter.setFont(self._usual)
        right = self.width() - _MARGIN_PX
        for text, colour in reversed(parts):
            width = self._metrics.horizontalAdvance(text)
            painter.setPen(colour)
            painter.drawText(QRect(right - width, 0, width, self.height()), Qt.AlignmentFlag.AlignVCenter, text)
            right -= width + _GAP_PX
        painter.end()

    def _parts(self, shown: Heading) -> tuple[list[Part], int]:
        """The texts at the right, and the pixels that are left for the name."""
        palette = self._palette
        assert palette is not None, "it is shown with a palette"
        price = (self.price, palette.text)
        worth = (shown.worth, shown.worth_colour)
        feed = (shown.feed, palette.warning if shown.is_in_trouble else palette.muted_text)
        name_px = self._bold_metrics.horizontalAdvance(shown.name)
        choices = [[price, worth, feed], [price, feed] if shown.is_in_trouble else [price, worth], [price]]
        for choice in choices:
            parts = [part for part in choice if part[0]]
            used_px = sum(self._metrics.horizontalAdvance(text) + _GAP_PX for text, _ in parts)
            free_px = self.width() - 2 * _MARGIN_PX - _DOT_PX - _GAP_PX - used_px
            if free_px >= name_px:
                break
        return parts, max(free_px, 0)

    def _set_fonts(self) -> None:
        self._usual, self._bold = tabular(self.font()), tabular(self.font(), bold=True)
        self._metrics, self._bold_metrics = QFontMetrics(self._usual), QFontMetrics(self._bold)

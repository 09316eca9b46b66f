"""The painted cells of the table of markets."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen
from PySide6.QtWidgets import QTableView

from desktop.panels.markets.row import Row, change_colour, proof_text, worth_colour, worth_text
from desktop.panels.markets.small_chart import SmallCharts
from desktop.ui.icons import tabular
from desktop.ui.tables import RIGHT, PaintedCell, write_line
from desktop.ui.theme import Palette, Theme, mixed

DOT_PX, BAR_PX, PADDING_PX, CELL_MARGIN_PX = 8, 3, 5, 10
SWITCH_PX = (26, 14)
Lines = tuple[tuple[str, QColor], tuple[str, QColor]]
"""The texts of a cell's two lines, and their colours unless the row is selected."""


def small(font: QFont) -> QFont:
    """The font of a cell's second line."""
    return tabular(font, scale=0.87)


def draw_dot(painter: QPainter, left: float, middle: float, colour: QColor, ring: QColor | None) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen if ring is None else QPen(ring, 1.5))
    painter.setBrush(colour)
    painter.drawEllipse(QRectF(left, middle - DOT_PX / 2, DOT_PX, DOT_PX))


def halves(place: QRect, left: int, right: int) -> tuple[QRect, QRect]:
    """The two lines of a cell, between these edges."""
    width = right - left
    upper = QRect(left, place.top() + 2, width, place.height() // 2 - 1)
    return upper, QRect(left, place.center().y() + 1, width, place.height() // 2 - 2)


class MarketCell(PaintedCell):
    """The symbol; below it exchange and interval. A disc in the state's colour; a bar marks the chart's market."""

    def draw(self, painter: QPainter, place: QRect, row: Row, *, is_selected: bool) -> None:
        palette, font = self.theme.palette, painter.font()
        if row.is_on_chart:
            bar = palette.inverse_text if is_selected else palette.accent
            painter.fillRect(place.left(), place.top() + 3, BAR_PX, place.height() - 6, bar)
        left = place.left() + BAR_PX + PADDING_PX
        ring = palette.inverse_text if is_selected else None
        draw_dot(painter, left, place.top() + place.height() / 4 + 3, row.dot(palette), ring)
        upper, lower = halves(place, left + DOT_PX + PADDING_PX, place.right() - 2)
        painter.setFont(tabular(font, bold=row.is_on_chart))
        write_line(painter, upper, row.symbol, self.ink(is_selected=is_selected))
        painter.setFont(small(font))
        write_line(painter, lower, row.where, self.ink(is_selected=is_selected, is_faint=True))


class ChartCell(PaintedCell):
    """A copy of the small chart's picture."""

    def __init__(self, theme: Theme, view: QTableView) -> None:
        super().__init__(theme, view)
        self.charts = SmallCharts()

    def draw(self, painter: QPainter, place: QRect, row: Row, *, is_selected: bool) -> None:
        ratio = self.view.devicePixelRatioF()
        picture = self.charts.picture(row, place.size(), ratio, self.theme.palette, is_selected=is_selected)
        painter.drawPixmap(place.topLeft(), picture)


class NumberCell(PaintedCell):
    """Two lines at the right."""

    def __init__(self, theme: Theme, view: QTableView, lines: Callable[[Row, Palette], Lines]) -> None:
        super().__init__(theme, view)
        self._lines = lines

    def draw(self, painter: QPainter, place: QRect, row: Row, *, is_selected: bool) -> None:
        palette, font = self.theme.palette, painter.font()
        places = halves(place, place.left() + 2, place.right() - CELL_MARGIN_PX // 2 + 1)
        lines = self._lines(row, palette)
        for line, (text, colour), its_font in zip(places, lines, (font, small(font)), strict=True):
            if text:
                painter.setFont(its_font)
                write_line(painter, line, text, palette.inverse_text if is_selected else colour, RIGHT)


def price_lines(row: Row, palette: Palette, *, with_change: bool) -> Lines:
    """The last price; below it its reliability. with_change: the change instead, if the price is good."""
    price = row.price_text, palette.muted_text if row.is_uncertain else palette.text
    if with_change and row.is_usual and row.change is not None:
        return price, (row.change_text, change_colour(row, palette))
    return price, (row.state_words, palette.muted_text)


def change_lines(row: Row, palette: Palette) -> Lines:
    """The change of a day, on the line of the price."""
    colour = change_colour(row, palette)
    return (row.change_text, colour), ("", colour)


def worth_lines(row: Row, palette: Palette, *, is_of_model: bool) -> Lines:
    """A skill or a gain; below it what its interval proves."""
    estimate = row.known.model_gain if is_of_model else row.known.skill
    colour = worth_colour(row.known.accuracy, palette, is_of_model=is_of_model)
    return (worth_text(estimate), colour), (proof_text(estimate), palette.muted_text)


class SwitchCell(PaintedCell):
    """A switch; fainter while it is not in effect."""

    def draw(self, painter: QPainter, place: QRect, row: Row, *, is_selected: bool) -> None:
        palette = self.theme.palette
        width, height = SWITCH_PX
        box = QRectF(place.center().x() - width / 2 + 0.5, place.center().y() - height / 2 + 0.5, width, height)
        colour = palette.inverse_text if is_selected else palette.accent if row.is_learned else palette.outline
        ground = palette.accent if is_selected else palette.panel
        is_faint = row.is_learned and not row.known.is_learned
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colour, 1.4))
        filled = mixed(colour, ground, 0.4) if is_faint else colour
        painter.setBrush(filled if row.is_learned else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, height / 2, height / 2)
        knob = height - 6
        left = box.right() - knob - 3 if row.is_learned else box.left() + 3
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground if row.is_learned else colour)
        painter.drawEllipse(QRectF(left, box.top() + 3, knob, knob))


class FeedCell(PaintedCell):
    """The feed's state; if it is in trouble, also its message below, shortened."""

    def draw(self, painter: QPainter, place: QRect, row: Row, *, is_selected: bool) -> None:
        left, ring = place.left() + PADDING_PX, self.theme.palette.inverse_text if is_selected else None
        sentence = "" if row.is_usual else row.known.feed_sentence or row.standing.sentence
        upper, lower = halves(place, left + DOT_PX + PADDING_PX, place.right() - 2)
        upper = upper if sentence else QRect(upper.left(), place.top(), upper.width(), place.height())
        draw_dot(painter, left, upper.center().y() + 0.5, row.dot(self.theme.palette), ring)
        write_line(painter, upper, row.state_words, self.ink(is_selected=is_selected))
        painter.setFont(small(painter.font()))
        write_line(painter, lower, sentence, self.ink(is_selected=is_selected, is_faint=True))

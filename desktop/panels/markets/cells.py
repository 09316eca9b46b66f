"""The painted cells of the table of markets."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView, QWidget

from desktop.panels.markets.model import Column
from desktop.panels.markets.row import Row, change_colour, proof_text, worth_colour, worth_text
from desktop.panels.markets.small_chart import SmallCharts
from desktop.ui.icons import tabular
from desktop.ui.tables import ROW_ROLE, Index
from desktop.ui.theme import Palette, Theme, mixed

DOT_PX, BAR_PX, PADDING_PX, CELL_MARGIN_PX = 8, 3, 5, 10
SWITCH_PX = (26, 14)
_LEFT, _RIGHT = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight


def small(font: QFont) -> QFont:
    """Of a cell's second line."""
    return tabular(font, scale=0.87)


def ink(palette: Palette, *, is_selected: bool) -> tuple[QColor, QColor]:
    """Of a cell's first and of its second line: the selection's ground is the accent."""
    return (palette.inverse_text,) * 2 if is_selected else (palette.text, palette.muted_text)


class Cell(QStyledItemDelegate):
    """A cell whose ground is the style's, and what is on it our own."""

    def __init__(self, theme: Theme, parent: QTableView) -> None:
        super().__init__(parent)
        self.theme, self.table = theme, parent

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        # Without initStyleOption, which asks the model for eight roles a cell, the option has a ground and no text.
        widget: QWidget = option.widget  # type: ignore[attr-defined]  # PySide6's stubs lack these
        widget.style().drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, widget)
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)  # type: ignore[attr-defined]
        painter.save()
        row: Row = index.data(ROW_ROLE)
        self.draw(painter, QRect(option.rect), row, option.font, is_selected=is_selected)  # type: ignore[attr-defined]
        painter.restore()

    def draw(self, painter: QPainter, place: QRect, row: Row, font: QFont, *, is_selected: bool) -> None:
        """What is on the ground."""

    @staticmethod
    def write(
        painter: QPainter, place: QRect, text: str, font: QFont, colour: QColor, side: Qt.AlignmentFlag = _LEFT
    ) -> None:
        """One line, shortened with an ellipsis where there is no room for it."""
        painter.setFont(font)
        painter.setPen(colour)
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, side | Qt.AlignmentFlag.AlignVCenter, shown)

    @staticmethod
    def draw_dot(painter: QPainter, left: float, middle: float, colour: QColor, ring: QColor | None) -> None:
        """A disc in the colour of a state."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen if ring is None else QPen(ring, 1.5))
        painter.setBrush(colour)
        painter.drawEllipse(QRectF(left, middle - DOT_PX / 2, DOT_PX, DOT_PX))


def halves(place: QRect, left: int, right: int) -> tuple[QRect, QRect]:
    """The two lines of a cell, between these edges."""
    width = right - left
    upper = QRect(left, place.top() + 2, width, place.height() // 2 - 1)
    return upper, QRect(left, place.center().y() + 1, width, place.height() // 2 - 2)


class MarketCell(Cell):
    """The symbol; below it exchange and interval. A disc in the state's colour; a bar marks the chart's market."""

    def draw(self, painter: QPainter, place: QRect, row: Row, font: QFont, *, is_selected: bool) -> None:
        palette = self.theme.palette
        if row.is_on_chart:
            bar = palette.inverse_text if is_selected else palette.accent
            painter.fillRect(place.left(), place.top() + 3, BAR_PX, place.height() - 6, bar)
        left = place.left() + BAR_PX + PADDING_PX
        ring = palette.inverse_text if is_selected else None
        self.draw_dot(painter, left, place.top() + place.height() / 4 + 3, row.dot(palette), ring)
        upper, lower = halves(place, left + DOT_PX + PADDING_PX, place.right() - 2)
        first, second = ink(palette, is_selected=is_selected)
        self.write(painter, upper, row.symbol, tabular(font, bold=row.is_on_chart), first)
        self.write(painter, lower, row.where, small(font), second)


class ChartCell(Cell):
    """A copy of the small chart's picture."""

    def __init__(self, theme: Theme, parent: QTableView) -> None:
        super().__init__(theme, parent)
        self.charts = SmallCharts()

    def draw(self, painter: QPainter, place: QRect, row: Row, font: QFont, *, is_selected: bool) -> None:
        ratio = self.table.devicePixelRatioF()
        picture = self.charts.picture(row, place.size(), ratio, self.theme.palette, is_selected=is_selected)
        painter.drawPixmap(place.topLeft(), picture)


Line = tuple[str, QColor]


class NumberCell(Cell):
    """Two lines at the right."""

    def draw(self, painter: QPainter, place: QRect, row: Row, font: QFont, *, is_selected: bool) -> None:
        places = halves(place, place.left() + 2, place.right() - CELL_MARGIN_PX // 2 + 1)
        for line, (text, colour), its_font in zip(places, self.lines(row), (font, small(font)), strict=True):
            if text:
                ink = self.theme.palette.inverse_text if is_selected else colour
                self.write(painter, line, text, its_font, ink, _RIGHT)

    def lines(self, row: Row) -> tuple[Line, Line]:
        """The texts, and their colours where the row is not selected."""
        raise NotImplementedError


class PriceCell(NumberCell):
    """The last price; below it how far to believe it, or its change where that has no column and the price is good."""

    def lines(self, row: Row) -> tuple[Line, Line]:
        palette = self.theme.palette
        price = row.price_text, palette.muted_text if row.is_uncertain else palette.text
        if self.table.isColumnHidden(Column.CHANGE) and row.is_usual and row.change is not None:
            return price, (row.change_text, change_colour(row, palette))
        return price, (row.state_words, palette.muted_text)


class ChangeCell(NumberCell):
    """The change of a day, on the line of the price."""

    def lines(self, row: Row) -> tuple[Line, Line]:
        colour = change_colour(row, self.theme.palette)
        return (row.change_text, colour), ("", colour)


class WorthCell(NumberCell):
    """A skill or a gain; below it what its interval proves."""

    def __init__(self, theme: Theme, parent: QTableView, column: Column) -> None:
        super().__init__(theme, parent)
        self._column = column

    def lines(self, row: Row) -> tuple[Line, Line]:
        palette, is_of_model = self.theme.palette, self._column is Column.GAIN
        estimate = row.known.model_gain if is_of_model else row.known.skill
        colour = worth_colour(row.known.accuracy, palette, is_of_model=is_of_model)
        return (worth_text(estimate), colour), (proof_text(estimate), palette.muted_text)


class SwitchCell(Cell):
    """A switch; fainter where it is not in effect now."""

    def draw(self, painter: QPainter, place: QRect, row: Row, font: QFont, *, is_selected: bool) -> None:
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


class FeedCell(Cell):
    """What the feed does; below it, in trouble, its sentence, shortened."""

    def draw(self, painter: QPainter, place: QRect, row: Row, font: QFont, *, is_selected: bool) -> None:
        palette = self.theme.palette
        first, second = ink(palette, is_selected=is_selected)
        left, ring = place.left() + PADDING_PX, palette.inverse_text if is_selected else None
        sentence = "" if row.is_usual else row.known.feed_sentence or row.standing.sentence
        upper, lower = halves(place, left + DOT_PX + PADDING_PX, place.right() - 2)
        upper = upper if sentence else QRect(upper.left(), place.top(), upper.width(), place.height())
        self.draw_dot(painter, left, upper.center().y() + 0.5, row.dot(palette), ring)
        self.write(painter, upper, row.state_words, font, first)
        self.write(painter, lower, sentence, small(font), second)

"""The table of markets: its painted cells, and rows that the user moves."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from desktop.panels.markets.model import (
    CHANGE,
    DAY,
    LAST,
    MARKET,
    ROW_ROLE,
    MarketsModel,
    Row,
    all_state_words,
)
from desktop.ui.formatting import format_age
from desktop.ui.icons import tabular
from desktop.ui.interface_size import follow_interface_size
from desktop.ui.tables import Index, style_table
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

_DOT = 8
_BAR = 3
_PADDING = 5
_LEAST_MARKET, _LEAST_DAY, _MOST_DAY = 112, 44, 120
_CELL_MARGIN = 14
_WIDEST_AGE_MS = 59 * 60_000
_LEFT, _RIGHT = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight


class CellDelegate(QStyledItemDelegate):
    """A cell whose ground is the style's, and what is on it our own."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> tuple[QRect, Row, bool]:
        """Paint the cell without its text. Returns where it is, what it shows, and whether it is selected."""
        empty = QStyleOptionViewItem(option)
        self.initStyleOption(empty, index)
        empty.text = ""  # type: ignore[attr-defined]  # PySide6's stubs lack these
        widget = option.widget  # type: ignore[attr-defined]
        widget.style().drawControl(QStyle.ControlElement.CE_ItemViewItem, empty, painter, widget)
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)  # type: ignore[attr-defined]
        return QRect(option.rect), index.data(ROW_ROLE), is_selected  # type: ignore[attr-defined]

    @staticmethod
    def write(
        painter: QPainter, place: QRect, text: str, font: QFont, colour: QColor, side: Qt.AlignmentFlag = _LEFT
    ) -> None:
        """One line, shortened with an ellipsis where there is no room for it."""
        painter.setFont(font)
        painter.setPen(colour)
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, side | Qt.AlignmentFlag.AlignVCenter, shown)


def _halves(place: QRect, left: int, right: int) -> tuple[QRect, QRect]:
    """The two lines of a cell, between these edges."""
    width = right - left
    upper = QRect(left, place.top() + 2, width, place.height() // 2 - 1)
    return upper, QRect(left, place.center().y() + 1, width, place.height() // 2 - 2)


def _small(font: QFont) -> QFont:
    """Of a cell's second line."""
    return tabular(font, scale=0.87)


class MarketDelegate(CellDelegate):
    """The symbol; below it exchange and interval. A disc in the state's colour; a bar marks the chart's market."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        place, row, is_selected = self._ground(painter, option, index)
        palette = self._theme.palette
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if row.is_on_chart:
            bar = palette.inverse_text if is_selected else palette.accent  # the selection's ground is the accent
            painter.fillRect(place.left(), place.top() + 3, _BAR, place.height() - 6, bar)
        left = place.left() + _BAR + _PADDING
        painter.setPen(QPen(palette.inverse_text, 1.5) if is_selected else Qt.PenStyle.NoPen)
        painter.setBrush(row.dot(palette))
        middle = place.top() + place.height() / 4 + 3
        painter.drawEllipse(QRectF(left, middle - _DOT / 2, _DOT, _DOT))
        upper, lower = _halves(place, left + _DOT + _PADDING, place.right() - 2)
        font: QFont = option.font  # type: ignore[attr-defined]
        ink, faint = (palette.inverse_text,) * 2 if is_selected else (palette.text, palette.muted_text)
        self.write(painter, upper, row.market.symbol, tabular(font, bold=row.is_on_chart), ink)
        self.write(painter, lower, row.where, _small(font), faint)
        painter.restore()


class PriceDelegate(CellDelegate):
    """The last price; below it how far to believe it."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        place, row, is_selected = self._ground(painter, option, index)
        palette = self._theme.palette
        upper, lower = _halves(place, place.left() + 2, place.right() - _CELL_MARGIN // 2 + 1)
        font: QFont = option.font  # type: ignore[attr-defined]
        ink, faint = (palette.inverse_text,) * 2 if is_selected else (palette.text, palette.muted_text)
        painter.save()
        self.write(painter, upper, row.price_text, font, faint if row.is_uncertain else ink, _RIGHT)
        self.write(painter, lower, row.state_words, _small(font), faint, _RIGHT)
        painter.restore()


class SparkDelegate(CellDelegate):
    """The day's closes as a line over the faint one of a day ago; a dash where they are not known."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        place, row, is_selected = self._ground(painter, option, index)
        palette, closes = self._theme.palette, row.closes
        if len(closes) < 2:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room = QRectF(place).adjusted(_PADDING, 7, -_PADDING, -7)
        low, high = min(closes), max(closes)
        if row.day_ago is not None:
            low, high = min(low, row.day_ago), max(high, row.day_ago)
        colour = palette.muted_text
        if not row.is_uncertain and row.change:
            colour = palette.candle(rising=row.change > 0.0)
        if row.day_ago is not None:
            y = _height(row.day_ago, low, high, room)
            painter.setPen(QPen(palette.inverse_text if is_selected else palette.outline, 1.0, Qt.PenStyle.DotLine))
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
        painter.setPen(QPen(palette.inverse_text if is_selected else colour, 1.4))
        painter.drawPolyline(spark(closes, room, low, high))
        painter.restore()


def spark(closes: tuple[float, ...], room: QRectF, low: float, high: float) -> QPolygonF:
    """The closes as a line from the left edge of `room` to the right, `low` at its foot and `high` at its top."""
    step = room.width() / (len(closes) - 1)
    points = (QPointF(room.left() + i * step, _height(close, low, high, room)) for i, close in enumerate(closes))
    return QPolygonF(list(points))


def _height(price: float, low: float, high: float, room: QRectF) -> float:
    share = 0.5 if high <= low else (price - low) / (high - low)
    return room.bottom() - share * room.height()


class MarketsTable(QTableView):
    """`opened` and `dropped` carry the number of a row, `dropped` also where it is wanted.

    Rows are dragged without QDrag, whose own event loop would hold the window's tasks up.
    """

    opened = Signal(int)
    dropped = Signal(int, int)

    def __init__(self, model: MarketsModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._pressed: QPoint | None = None
        self._place = QPoint()
        self._held: int | None = None
        self.setModel(model)
        self.setItemDelegateForColumn(MARKET, MarketDelegate(theme, self))
        self.setItemDelegateForColumn(DAY, SparkDelegate(theme, self))
        self.setItemDelegateForColumn(LAST, PriceDelegate(theme, self))
        self._widest_word = 0
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        style_table(self, translate("Panels", "Watched markets"), several=False)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        header = self.horizontalHeader()
        header.setMinimumSectionSize(20)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        follow_interface_size(self, self._measure)
        model.modelReset.connect(self.fit_columns)
        model.dataChanged.connect(self.fit_columns)

    @property
    def held_row(self) -> int | None:
        """The row that is being dragged."""
        return self._held

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_columns()

    def _measure(self) -> None:
        self._widest_word = _widest(
            QFontMetrics(_small(self.font())), [*all_state_words(), format_age(0, _WIDEST_AGE_MS)]
        )
        self.verticalHeader().setDefaultSectionSize(2 * self.fontMetrics().height() + 6)
        self.fit_columns()

    def fit_columns(self) -> None:
        """Numbers as wide as they come, the price no narrower than any word below it; of the rest, the day gets a
        third, and goes where there is no room for it."""
        metrics, rows = (
            self.fontMetrics(),
            [self.model().index(i, 0).data(ROW_ROLE) for i in range(self.model().rowCount())],
        )
        last = max(
            self._widest_word, _widest(metrics, [translate("Panels", "Last"), *(row.price_text for row in rows)])
        )
        change = _widest(metrics, [translate("Panels", "Change"), "+10.00 %", *(row.change_text for row in rows)])
        rest = self.viewport().width() - last - change
        day = max(_LEAST_DAY, min(rest // 3, _MOST_DAY))
        is_shown = rest - day >= _LEAST_MARKET
        self.setColumnHidden(DAY, not is_shown)
        widths = {LAST: last, CHANGE: change, DAY: day, MARKET: max(rest - (day if is_shown else 0), 60)}
        for column, width in widths.items():
            self.setColumnWidth(column, width)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        is_left = event.button() is Qt.MouseButton.LeftButton
        self._pressed = event.position().toPoint() if is_left else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        if self._pressed is None or not event.buttons() & Qt.MouseButton.LeftButton:
            super().mouseMoveEvent(event)
            return
        far = (place - self._pressed).manhattanLength() >= QApplication.startDragDistance()
        if self._held is None and far and self.indexAt(self._pressed).isValid():
            self._held = self.indexAt(self._pressed).row()
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
        if self._held is not None:
            self.viewport().update()
            self._place = place

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        held, pressed = self._held, self._pressed
        self._let_go()
        if held is not None:
            target = self.row_at(event.position().toPoint())
            if target != held:
                self.dropped.emit(held, target)
            return
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        was_pressed_here = pressed is not None and self.indexAt(pressed).row() == index.row()
        if index.isValid() and was_pressed_here and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            self.opened.emit(index.row())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._held is not None:
            self._let_go()
        elif event.key() == Qt.Key.Key_Enter and self.currentIndex().isValid():
            self.opened.emit(self.currentIndex().row())
        else:
            super().keyPressEvent(event)

    def row_at(self, place: QPoint) -> int:
        """The row that a drop there is meant for: the first above all, the last below all."""
        count = self.model().rowCount()
        row = self.rowAt(place.y())
        return row if row >= 0 else 0 if place.y() < 0 else count - 1

    def paintEvent(self, event: object) -> None:
        super().paintEvent(event)  # type: ignore[arg-type]
        if self._held is None:
            return
        target = self.row_at(self._place)
        rectangle = self.visualRect(self.model().index(target, 0))
        y = rectangle.bottom() if target > self._held else rectangle.top()
        painter = QPainter(self.viewport())
        painter.setPen(QPen(self._theme.palette.accent, 2.0))
        painter.drawLine(0, y, self.viewport().width(), y)
        painter.end()

    def _let_go(self) -> None:
        self._held = self._pressed = None
        self.viewport().unsetCursor()
        self.viewport().update()


def _widest(metrics: QFontMetrics, texts: Sequence[str]) -> int:
    return max(metrics.horizontalAdvance(text) for text in texts) + _CELL_MARGIN

"""Rows of a name, a bar and a number, on one scale; painted, so that a deep model's layers cost little."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop.panels.gradients.layer_names import tight
from desktop.ui.formatting import is_number
from desktop.ui.icons import tabular
from desktop.ui.plain_text import show_tooltip
from desktop.ui.plots import exponent_text
from desktop.ui.theme import Theme

_ROW_PADDING = 3
_BAR_HEIGHT = 8
_GAP = 6
_SPARE = 2
_MARK = 10
_MOST_DECADES = 12
_SHARE_OF_NAMES = 0.56
_TICK_ROOM = 1.6


@dataclass(frozen=True, slots=True)
class Bar:
    """One row. `newest` is a thin mark beside the bar's value. is_marked: it has a fault."""

    title: str
    value: float | None
    text: str
    tooltip: str = ""
    newest: float | None = None
    is_marked: bool = False


class BarList(QWidget):
    """Bars from the left edge. is_log: of a logarithmic scale between whole decades, which is written underneath."""

    def __init__(self, theme: Theme, *, is_log: bool) -> None:
        super().__init__()
        self._theme = theme
        self._is_log = is_log
        self.bars: tuple[Bar, ...] = ()
        self._low, self._high = 0.0, 1.0
        self._hovered: int | None = None
        self.setFont(tabular(self.font()))
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_bars(self, bars: Sequence[Bar]) -> None:
        """Show these, from top to bottom, on a scale that holds all of them."""
        if len(bars) != len(self.bars):
            self.updateGeometry()
        self.bars = tuple(bars)
        self._low, self._high = self._scale()
        self.update()

    def in_words(self) -> str:
        """The rows from top to bottom, for those who do not see them."""
        return " ".join(f"{bar.title}: {bar.text}." for bar in self.bars)

    def sizeHint(self) -> QSize:
        scale = self._row_height() if self._is_log and self.bars else 0
        return QSize(240, len(self.bars) * self._row_height() + scale)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    def row_rect(self, index: int) -> QRect:
        return QRect(0, index * self._row_height(), self.width(), self._row_height())

    def rows_of_text(self) -> list[tuple[int, int]]:
        """Top and bottom of each row and of the scale, in px."""
        row = self._row_height()
        return [(top, top + row) for top in range(0, self.height(), row)]

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            index = self._index_at(event.pos().y())
            text = "" if index is None else self.bars[index].tooltip
            show_tooltip(event.globalPos(), text, self, None if index is None else self.row_rect(index))
            return True
        return super().event(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self._index_at(event.position().y()))
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)
        super().leaveEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left, right = self._columns()
        if self._is_log:
            self._paint_scale(painter, left, right)
        for index, bar in enumerate(self.bars):
            row = self.row_rect(index)
            if event.rect().intersects(row):
                self._paint_row(painter, bar, row, left, right, is_hovered=index == self._hovered)
        painter.end()

    def _paint_row(self, painter: QPainter, bar: Bar, row: QRect, left: int, right: int, *, is_hovered: bool) -> None:
        palette, metrics = self._theme.palette, self.fontMetrics()
        if is_hovered:
            painter.fillRect(row, palette.raised)
        colour = palette.warning if bar.is_marked else palette.text
        start = self._name_start()
        if bar.is_marked:
            # A pointer before the name: a colour alone is not for everyone.
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(palette.warning)
            y = row.center().y() + 0.5
            painter.drawPolygon(QPolygonF((QPointF(1, y - 4), QPointF(7, y), QPointF(1, y + 4))))
        room = left - _GAP - start
        name = bar.title if metrics.horizontalAdvance(bar.title) <= room else tight(bar.title)
        name = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(colour)
        painter.drawText(QRect(start, row.top(), room, row.height()), middle | Qt.AlignmentFlag.AlignLeft, name)
        painter.setPen(colour if is_number(bar.value) else palette.muted_text)
        text = QRect(right + _GAP, row.top(), self.width() - right - _GAP, row.height())
        painter.drawText(text, middle | Qt.AlignmentFlag.AlignRight, bar.text)
        self._paint_bar(painter, bar, row, left, right)

    def _paint_bar(self, painter: QPainter, bar: Bar, row: QRect, left: int, right: int) -> None:
        palette = self._theme.palette
        top = row.center().y() + 0.5 - _BAR_HEIGHT / 2
        share = self._share(bar.value)
        if share is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(palette.warning if bar.is_marked else palette.curves[0])
            painter.drawRoundedRect(QRectF(left, top, max(share * (right - left), 2.0), _BAR_HEIGHT), 1.5, 1.5)
        newest = self._share(bar.newest)
        if newest is not None:
            x = left + newest * (right - left)
            painter.fillRect(QRectF(x - 1.0, top - 2.0, 2.0, _BAR_HEIGHT + 4.0), palette.text)

    def _paint_scale(self, painter: QPainter, left: int, right: int) -> None:
        """A line at each decade that has room for its number."""
        palette, metrics = self._theme.palette, self.fontMetrics()
        decades = range(round(self._low), round(self._high) + 1)
        widest = max((metrics.horizontalAdvance(exponent_text(each)) for each in decades), default=1)
        most = max(int((right - left) / (widest * _TICK_ROOM)), 1)
        stride = max(math.ceil((len(decades) - 1) / most), 1)
        bottom = len(self.bars) * self._row_height()
        for decade in decades[::stride]:
            x = left + (decade - self._low) / (self._high - self._low) * (right - left)
            painter.fillRect(QRectF(x - 0.5, 0, 1, bottom), palette.border)
            text = exponent_text(decade)
            width = metrics.horizontalAdvance(text)
            place = QRectF(min(x - width / 2, self.width() - width), bottom, width + 1, self._row_height())
            painter.setPen(palette.muted_text)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)

    def _scale(self) -> tuple[float, float]:
        values = [value for bar in self.bars for value in (bar.value, bar.newest) if value is not None]
        values = [value for value in values if math.isfinite(value) and value > 0.0]
        if not self._is_log:
            return 0.0, max(values, default=1.0)
        high = math.ceil(math.log10(max(values, default=1.0)) - 1e-9)
        low = math.floor(math.log10(min(values, default=0.1)) - 1e-9)
        return float(max(low, high - _MOST_DECADES)), float(high)

    def _share(self, value: float | None) -> float | None:
        """The share of the bar's full length; None for nothing to draw. On a logarithmic scale, 0 has no length."""
        if value is None or not math.isfinite(value) or (self._is_log and value <= 0.0):
            return None
        place = math.log10(value) if self._is_log else value
        return min(max((place - self._low) / (self._high - self._low), 0.0), 1.0)

    def _columns(self) -> tuple[int, int]:
        """Left and right end of the bars' column."""
        metrics = self.fontMetrics()
        names = max((metrics.horizontalAdvance(bar.title) for bar in self.bars), default=0)
        texts = max((metrics.horizontalAdvance(bar.text) for bar in self.bars), default=0)
        room = self.width() - texts - 2 * _GAP
        if self._name_start() + names > _SHARE_OF_NAMES * room:
            names = max((metrics.horizontalAdvance(tight(bar.title)) for bar in self.bars), default=0)
        left = min(self._name_start() + names + _SPARE, round(_SHARE_OF_NAMES * self.width())) + _GAP
        return left, max(self.width() - texts - _GAP, left + 10)

    def _name_start(self) -> int:
        return _MARK if any(bar.is_marked for bar in self.bars) else 0

    def _row_height(self) -> int:
        return self.fontMetrics().height() + _ROW_PADDING

    def _index_at(self, y: float) -> int | None:
        index = int(y // self._row_height())
        return index if 0 <= index < len(self.bars) else None

    def _hover(self, index: int | None) -> None:
        if index != self._hovered:
            self._hovered = index
            self.update()

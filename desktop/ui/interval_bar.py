"""An interval's distance from its reference, on a fixed scale."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.domain.events import Estimate
from desktop.ui.theme import Theme


class IntervalBar(QWidget):
    """An interval, and a mark in the middle at its reference. Without an interval, the mark alone."""

    def __init__(self, theme: Theme, reach: float, parent: QWidget) -> None:
        """reach: half of the bar's width. Values beyond are cut at the bar's end."""
        super().__init__(parent)
        self._reach = reach
        self._theme = theme
        self.span: tuple[float, float] | None = None
        """Begin and end of the interval, as shares of the bar's width; None without an interval."""
        self._colour: QColor | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(60, 14)

    def minimumSizeHint(self) -> QSize:
        return QSize(28, 14)

    def show_estimate(self, estimate: Estimate, against: float | None, colour: QColor | None) -> None:
        self.span, self._colour = None, colour
        if against is not None and estimate.low is not None and estimate.high is not None:
            shares = ((end - against) / (2 * self._reach) + 0.5 for end in (estimate.low, estimate.high))
            low, high = (min(max(share, 0.0), 1.0) for share in shares)
            self.span = (low, high)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = self._theme.palette
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle, width = self.height() / 2, self.width() - 1
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(palette.border)
        painter.drawRoundedRect(QRectF(0, middle - 1.5, self.width(), 3), 1.5, 1.5)
        if self.span is not None:
            left, right = (share * width for share in self.span)
            painter.setBrush(self._colour or palette.muted_text)
            thickness = max(right - left, 3.0)
            painter.drawRoundedRect(QRectF((left + right - thickness) / 2, middle - 3, thickness, 6), 2, 2)
        painter.setPen(QPen(palette.text, 1.0))
        x = round(width / 2) + 0.5
        painter.drawLine(x, middle - 6, x, middle + 6)  # type: ignore[call-overload]
        painter.end()

"""The way back to the newest candle, while that is out of view."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget

from desktop.chart.panes.frame import Frame
from desktop.translation import translate

_MARGIN_PX = 10


class NewestButton(QToolButton):
    """Stands in the lower right corner of the prices."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setText(translate("Chart", "Newest »"))
        self.setToolTip(translate("Chart", "Go to the newest candle (End)"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.hide()

    def place(self, frame: Frame, *, is_needed: bool) -> None:
        """Show it in its corner of this frame, or hide it."""
        self.setVisible(is_needed)
        size = self.sizeHint()
        x = round(frame.layout.plot_right / frame.ratio) - size.width() - _MARGIN_PX
        y = round(frame.layout.main_bottom / frame.ratio) - size.height() - _MARGIN_PX
        self.setGeometry(x, y, size.width(), size.height())

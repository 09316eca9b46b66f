"""A page that scrolls down and never across."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QStyle, QWidget


class DownScrolling(QScrollArea):
    """`inside`, as wide as there is room. What is scrolled across shows half a number, which is another one: the area
    asks for the width that its page needs at the least instead, and who holds it cannot be made narrower."""

    def __init__(self, inside: QWidget, name: str) -> None:
        """name: what a screen reader calls it."""
        super().__init__()
        self.setAccessibleName(name)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(inside)
        for ground in (inside, self.viewport()):
            # An opaque child that covers a panel makes it count as not being on the screen.
            ground.setAutoFillBackground(False)

    def minimumSizeHint(self) -> QSize:
        hint = super().minimumSizeHint()
        inside = self.widget()
        if inside is None:
            return hint
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent, None, self)
        return QSize(max(inside.minimumSizeHint().width(), inside.minimumWidth()) + bar, hint.height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_done = super().eventFilter(watched, event)
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()  # a number that got longer needs more room
        return is_done

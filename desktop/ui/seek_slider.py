"""A slider that goes where one clicks, as those of media players do; Qt's goes a page into that direction."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QSlider, QStyle, QStyleOptionSlider, QWidget


class SeekSlider(QSlider):
    """Lies down. A press on the groove takes the handle there, and it can be dragged on from there at once."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        is_alone = event.button() is Qt.MouseButton.LeftButton and event.buttons() == Qt.MouseButton.LeftButton
        if not is_alone or self.minimum() == self.maximum() or self.handle_rect().contains(place):
            super().mousePressEvent(event)
            return
        self.setSliderDown(True)  # so that followers of its value are notified
        self.setSliderPosition(self._value_at(place))
        center = QPointF(self.handle_rect().center())
        taken = QMouseEvent(
            event.type(),
            center,
            self.mapToGlobal(center),
            event.button(),
            event.buttons(),
            event.modifiers(),
            event.pointingDevice(),
        )
        super().mousePressEvent(taken)  # as if it had been taken hold of there
        event.accept()

    def handle_rect(self) -> QRect:
        return self._rect_of(QStyle.SubControl.SC_SliderHandle)

    def _value_at(self, place: QPoint) -> int:
        """What the slider is at when the middle of its handle is there."""
        groove, handle = self._rect_of(QStyle.SubControl.SC_SliderGroove), self.handle_rect()
        along = place.x() - groove.x() - handle.width() // 2
        way = groove.width() - handle.width()
        is_turned = self.invertedAppearance() is not (self.layoutDirection() is Qt.LayoutDirection.RightToLeft)
        return QStyle.sliderValueFromPosition(self.minimum(), self.maximum(), along, way, is_turned)

    def _rect_of(self, part: QStyle.SubControl) -> QRect:
        return self.style().subControlRect(QStyle.ComplexControl.CC_Slider, self._option(), part, self)

    def _option(self) -> QStyleOptionSlider:
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        return option

"""Wheel and keys, as moves of the time scale."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QWheelEvent

from desktop.chart.axes.time_scale import TimeScale

_ZOOM_PER_DEGREE = 1.0015
_KEY_ZOOM = 1.25
_KEY_SHARE = 0.1

_MODIFIERS_OF_OTHERS = (
    Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
)


class Navigation:
    """Turns wheel and keys into moves. Each method says whether the view changed."""

    def __init__(self, scale: TimeScale) -> None:
        self._scale = scale

    def wheel(self, event: QWheelEvent) -> bool:
        """Zoom about the cursor; sideways, or with Shift, pan."""
        before = (self._scale.right, self._scale.spacing)
        turned = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or abs(turned.x()) > abs(turned.y()):
            self._pan_by(-(turned.x() or turned.y()) / self._scale.spacing)
        else:
            x = min(max(event.position().x(), 0.0), self._scale.width)
            self._scale.zoom_at(_ZOOM_PER_DEGREE ** turned.y(), x)
        return (self._scale.right, self._scale.spacing) != before

    def key(self, event: QKeyEvent) -> bool:
        """Carry out a key. False for a key that means nothing here, which then is another's."""
        action = self._actions().get(Qt.Key(event.key()))
        if action is None or event.modifiers() & _MODIFIERS_OF_OTHERS:
            return False
        action()
        return True

    def _actions(self) -> dict[Qt.Key, Callable[[], None]]:
        scale = self._scale
        page = scale.width / scale.spacing
        step = max(1.0, round(page * _KEY_SHARE))
        return {
            Qt.Key.Key_Left: lambda: self._pan_by(-step),
            Qt.Key.Key_Right: lambda: self._pan_by(step),
            Qt.Key.Key_PageUp: lambda: self._pan_by(-0.9 * page),
            Qt.Key.Key_PageDown: lambda: self._pan_by(0.9 * page),
            Qt.Key.Key_Home: scale.go_to_oldest,
            Qt.Key.Key_End: scale.go_to_newest,
            Qt.Key.Key_Up: lambda: self.zoom(_KEY_ZOOM),
            Qt.Key.Key_Plus: lambda: self.zoom(_KEY_ZOOM),
            Qt.Key.Key_Equal: lambda: self.zoom(_KEY_ZOOM),
            Qt.Key.Key_Down: lambda: self.zoom(1 / _KEY_ZOOM),
            Qt.Key.Key_Minus: lambda: self.zoom(1 / _KEY_ZOOM),
            Qt.Key.Key_Underscore: lambda: self.zoom(1 / _KEY_ZOOM),
        }

    def zoom(self, factor: float) -> None:
        """Zoom without a cursor to zoom about."""
        self._scale.zoom(factor)

    def _pan_by(self, candles: float) -> None:
        self._scale.pan_to(self._scale.right + candles)

"""A random user of mouse and keyboard, seeded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import shiboken6
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QGraphicsView, QWidget

from tests.torture.run import Act

KEYS = (
    *(Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown),
    *(Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_Plus, Qt.Key.Key_Minus, Qt.Key.Key_Equal, Qt.Key.Key_Underscore),
    *(Qt.Key.Key_Escape, Qt.Key.Key_Space, Qt.Key.Key_7, Qt.Key.Key_Period, Qt.Key.Key_Return, Qt.Key.Key_Tab),
    *(Qt.Key.Key_A, Qt.Key.Key_N, Qt.Key.Key_M, Qt.Key.Key_L, Qt.Key.Key_H, Qt.Key.Key_E, Qt.Key.Key_Z),
    *(Qt.Key.Key_F2, Qt.Key.Key_Delete, Qt.Key.Key_0, Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_3, Qt.Key.Key_4),
)
_MODIFIERS = (
    *(Qt.KeyboardModifier.NoModifier,) * 5,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
    *(Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier,) * 2,
)
_BUTTONS = (*(Qt.MouseButton.LeftButton,) * 6, Qt.MouseButton.RightButton, Qt.MouseButton.MiddleButton)
_BEYOND_PX = 120
LEFT, PLAIN = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def move_mouse(widget: QWidget, to: QPoint, held: Qt.MouseButton | None = None) -> None:
    """Sends the event directly: QTest does not move a mouse that it believes to be there already, in any window."""
    at, none, plain = QPointF(to), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    kind, there = QMouseEvent.Type.MouseMove, QPointF(widget.mapToGlobal(to))
    QApplication.sendEvent(widget, QMouseEvent(kind, at, there, none, held or none, plain))


class User:
    """Acts on one widget. Each method returns its description, for the log of a failure."""

    def __init__(self, random: np.random.Generator, widget: QWidget) -> None:
        self._random = random
        self._keys, self._widget = widget, widget.viewport() if isinstance(widget, QGraphicsView) else widget
        self._held: Qt.MouseButton | None = None

    def move(self) -> str:
        """Anywhere, including outside while a button is held."""
        at = self._place(_BEYOND_PX if self._held is not None else 0)
        move_mouse(self._widget, at, self._held)
        return f"move to {at.x()},{at.y()}"

    def press(self) -> str:
        if self._held is not None:
            return self.release()
        self._held = _BUTTONS[int(self._random.integers(len(_BUTTONS)))]
        at = self._place()
        QTest.mousePress(self._widget, self._held, self._modifier(), at)
        return f"press {self._held.name} at {at.x()},{at.y()}"

    def release(self) -> str:
        """At a random place, including outside."""
        if self._held is None:
            return "nothing to release"
        held, self._held = self._held, None
        at = self._place(_BEYOND_PX)
        QTest.mouseRelease(self._widget, held, Qt.KeyboardModifier.NoModifier, at)
        return f"release {held.name} at {at.x()},{at.y()}"

    def drag(self) -> str:
        """A complete drag in a few moves."""
        self.release()
        return self.drag_between(self._place(), self._place(_BEYOND_PX))

    def drag_between(self, start: QPoint, stop: QPoint) -> str:
        """Sometimes with Shift, which measures."""
        QTest.mousePress(self._widget, Qt.MouseButton.LeftButton, self._modifier(), start)
        for share in (0.2, 0.5, 0.8, 1.0):
            if not shiboken6.isValid(self._widget):
                return "drag, and it was gone"
            move_mouse(self._widget, start + (stop - start) * share, Qt.MouseButton.LeftButton)
        if shiboken6.isValid(self._widget):
            QTest.mouseRelease(self._widget, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, stop)
        return f"drag {start.x()},{start.y()} to {stop.x()},{stop.y()}"

    def double_click(self) -> str:
        at = self._place()
        QTest.mouseDClick(self._widget, _BUTTONS[int(self._random.integers(len(_BUTTONS)))], self._modifier(), at)
        return f"double click at {at.x()},{at.y()}"

    def wheel(self) -> str:
        """By a little, a notch, or far too much, along either axis."""
        at = QPointF(self._place())
        turn = int(self._random.choice([-2_400, -120, -15, 15, 120, 2_400]))
        turned = QPoint(0, turn) if self._random.random() < 0.8 else QPoint(turn, turn // 3)
        none, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
        there = QPointF(self._widget.mapToGlobal(at))
        event = QWheelEvent(at, there, QPoint(), turned, none, self._modifier(), phase, False)
        QApplication.sendEvent(self._widget, event)
        return f"wheel {turned.x()},{turned.y()} at {at.x():.0f},{at.y():.0f}"

    def context_menu(self) -> str:
        at = self._place()
        reason = QContextMenuEvent.Reason.Mouse
        QApplication.sendEvent(self._widget, QContextMenuEvent(reason, at, self._widget.mapToGlobal(at)))
        return "context menu"

    def leave(self) -> str:
        QApplication.sendEvent(self._widget, QEvent(QEvent.Type.Leave))
        return "leave"

    def key(self, target: Callable[[], QWidget] | None = None) -> str:
        """To this widget, or to the one that `target` returns."""
        key, modifier = KEYS[int(self._random.integers(len(KEYS)))], self._modifier()
        receiver = self._keys if target is None else target()
        name = type(receiver).__name__
        QTest.keyClick(receiver, key, modifier)
        return f"{modifier.name}+{key.name} to {name}"

    def acts(self) -> dict[Act, float]:
        """Mouse actions with their weights."""
        return {
            self.move: 0.25,
            self.press: 0.06,
            self.release: 0.06,
            self.drag: 0.02,
            self.double_click: 0.01,
            self.wheel: 0.05,
            self.context_menu: 0.005,
            self.leave: 0.005,
        }

    def rest(self) -> None:
        """Release the button."""
        self.release()

    def _place(self, beyond: int = 0) -> QPoint:
        width, height = self._widget.width(), self._widget.height()
        x = self._random.integers(-beyond, max(width + beyond, 1))
        y = self._random.integers(-beyond, max(height + beyond, 1))
        return QPoint(int(x), int(y))

    def _modifier(self) -> Qt.KeyboardModifier:
        return _MODIFIERS[int(self._random.integers(len(_MODIFIERS)))]

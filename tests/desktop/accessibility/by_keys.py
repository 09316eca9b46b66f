"""Keyboard navigation through a window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QMenu,
    QToolBar,
    QToolButton,
    QWidget,
)

from desktop.layouts.arrangements import is_behind
from tests.desktop.accessibility.controls import controls, described
from tests.desktop.whole_window import until

_MOST_STOPS = 120
_MOST_PARTS = 6
_MARGIN_PX = 4
_CONTROL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
_FEWEST_PIXELS = 8
_OF_DOCKS = ("qt_dockwidget_closebutton", "qt_dockwidget_floatbutton")


@dataclass(frozen=True)
class Walk:
    """The focused widget after each Tab, and those without a visible focus."""

    stops: list[QWidget]
    unseen: list[str]


async def in_front(window: QWidget) -> None:
    """Give it keyboard focus, and let it be painted."""
    window.activateWindow()
    await until(window.isActiveWindow, f"{described(window)} to be in front")
    QApplication.processEvents()


def gone_through(root: QWidget, key: Qt.Key = Qt.Key.Key_Tab) -> Iterator[QWidget]:
    """Press Tab until the focus is back where it began; the focused widget after each."""
    if root.focusWidget() is None:
        root.setFocus(Qt.FocusReason.OtherFocusReason)
    stops: list[QWidget] = []
    for _ in range(_MOST_STOPS):
        now = _next(key)
        if now is None and root.focusWidget() is not None:
            yield root.focusWidget()  # the only one
        if now is None or now in stops:
            return
        stops.append(now)
        yield now
    raise AssertionError(f"{_MOST_STOPS} Tabs do not come round in {described(root)}")


def walked(root: QWidget) -> Walk:
    """Press Tab until the focus is back where it began, comparing the window's picture each time."""
    stops: list[QWidget] = []
    unseen: list[str] = []
    before = _picture(root)
    for now in gone_through(root):
        after = _picture(root)
        if _changed(before, after, root, now) < _FEWEST_PIXELS:
            unseen.append(f"no visible keyboard focus: {described(now)}")
        stops.append(now)
        before = after
    return Walk(stops, unseen if len(stops) > 1 else [])


def _next(key: Qt.Key) -> QWidget | None:
    """The next focused widget; several Tabs where they move through parts, as of a date. None without another one."""
    held = QApplication.focusWidget()
    assert held is not None
    for _ in range(_MOST_PARTS):
        QTest.keyClick(held, key)
        if QApplication.focusWidget() is not held:
            return QApplication.focusWidget()
    return None


def wants_keys(widget: QWidget) -> bool:
    return bool(widget.focusPolicy().value & Qt.FocusPolicy.TabFocus.value) and widget.isEnabled()


def left_out(root: QWidget, stops: Iterable[QWidget]) -> list[str]:
    """Focusable controls that never got the focus."""
    reached = set(stops)
    met = reached | {stop.focusProxy() for stop in reached} - {None}
    wanted = [each for each in controls(root) if wants_keys(each) and not is_behind(each)]
    return [described(each) for each in wanted if not {each, each.focusProxy()} & met]


def _is_one_of_a_choice(button: QAbstractButton) -> bool:
    """Tab reaches only the checked one; the arrow keys reach the others."""
    group = button.group()
    return group is not None and group.exclusive() and group.checkedButton() is not None


def without_keys(root: QWidget) -> list[str]:
    """Buttons that Tab does not reach and whose action has neither a shortcut nor a menu entry."""
    menus = set(root.window().findChildren(QMenu)) | set(root.findChildren(QMenu))
    in_menus = {action for menu in menus for action in menu.actions()}
    buttons = [each for each in controls(root) if isinstance(each, QAbstractButton) and not wants_keys(each)]
    return [
        described(each)
        for each in buttons
        if each.isEnabled()
        and each.objectName() not in _OF_DOCKS
        and not _is_one_of_a_choice(each)
        and not _has_a_way(_action_of(each), in_menus)
    ]


def _action_of(button: QAbstractButton) -> QAction | None:
    if isinstance(button, QToolButton) and button.defaultAction() is not None:
        return button.defaultAction()
    bar = button.parentWidget()
    if isinstance(bar, QToolBar):
        return next((action for action in bar.actions() if bar.widgetForAction(action) is button), None)
    return None


def _has_a_way(action: QAction | None, in_menus: set[QAction]) -> bool:
    return action is not None and (not action.shortcut().isEmpty() or action in in_menus)


def _picture(root: QWidget) -> NDArray[np.uint8]:
    """The window as it is painted: rows, columns, channels."""
    QApplication.sendPostedEvents()
    image = root.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4).copy()


def _changed(before: NDArray[np.uint8], after: NDArray[np.uint8], root: QWidget, widget: QWidget) -> int:
    """How many pixels of the widget and its surroundings differ."""
    if before.shape != after.shape:
        return before.size
    area = widget.rect().translated(widget.mapTo(root, QPoint())) if widget is not root else widget.rect()
    area = area.adjusted(-_MARGIN_PX, -_MARGIN_PX, _MARGIN_PX, _MARGIN_PX).intersected(root.rect())
    rows, columns = slice(area.top(), area.bottom() + 1), slice(area.left(), area.right() + 1)
    return int((before[rows, columns] != after[rows, columns]).any(axis=-1).sum())


def complaints_of(root: QWidget) -> list[str]:
    """What cannot be done by keyboard."""
    walk = walked(root)
    return [*left_out(root, walk.stops), *walk.unseen, *without_keys(root)]

from __future__ import annotations

from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.paint_in_turn import PaintInTurn


class Painted(QWidget):
    """Notes which of its kind are painted at once: Qt paints all of a window in one event."""

    def __init__(self, log: list[Painted]) -> None:
        super().__init__()
        self._log = log

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self._log.append(self)


def test_each_is_painted_a_frame_after_the_one_before(qtbot: QtBot) -> None:
    window, log, seen = QWidget(), list[Painted](), list[int]()
    qtbot.addWidget(window)
    window.resize(400, 100)
    layout, widgets = QHBoxLayout(window), [Painted(log) for _ in range(4)]
    for each in widgets:
        layout.addWidget(each)
    painting = PaintInTurn(window)
    painting.hold(widgets[1:])
    painting.hold(widgets[1:3])
    painting._timer.timeout.connect(lambda: seen.append(len(log)))
    window.show()
    qtbot.waitUntil(lambda: len(log) >= 4)
    assert log == widgets and all(each.updatesEnabled() for each in widgets)
    assert seen == [1, 2, 3], "painted before each turn"


def test_what_was_deleted_has_no_turn(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    gone, left = QWidget(window), QWidget(window)
    painting = PaintInTurn(window)
    painting.hold([gone, left])
    gone.deleteLater()
    qtbot.waitUntil(left.updatesEnabled)
    assert not painting._timer.isActive()

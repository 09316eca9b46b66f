"""No dialog is larger than the screen; the rest can be scrolled to."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop.ui.dialog_parts import keep_on_screen, room_on_screen

ROOM = QSize(400, 300)


class LongForm(QDialog):
    """More and wider rows than fit the screen."""

    def __init__(self) -> None:
        super().__init__()
        self.edits = [QLineEdit() for _ in range(40)]
        form = QFormLayout()
        for number, edit in enumerate(self.edits):
            edit.setMinimumWidth(500)
            form.addRow(str(number), edit)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        layout = QVBoxLayout(self)
        layout.addLayout(form)
        layout.addWidget(self.buttons)


def test_a_dialog_larger_than_the_screen_scrolls_and_keeps_its_buttons(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("desktop.ui.dialog_parts.room_on_screen", lambda _dialog: ROOM)
    dialog = LongForm()
    qtbot.addWidget(dialog)
    keep_on_screen(dialog)
    dialog.show()
    assert dialog.size() == ROOM and dialog.minimumSizeHint().boundedTo(ROOM) == dialog.minimumSizeHint()
    place = QRect(dialog.buttons.mapTo(dialog, QPoint(0, 0)), dialog.buttons.size())
    assert dialog.rect().contains(place)
    (area,) = dialog.findChildren(QScrollArea)
    dialog.activateWindow()
    dialog.edits[0].setFocus()
    qtbot.waitUntil(dialog.edits[0].hasFocus)
    for edit in dialog.edits[:-1]:
        qtbot.keyClick(edit, Qt.Key.Key_Tab)
    assert dialog.edits[-1].hasFocus() and not dialog.edits[-1].visibleRegion().isEmpty()
    assert area.verticalScrollBar().value() > 0 and area.horizontalScrollBar().maximum() > 0


def test_a_dialog_that_fits_is_unchanged(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("desktop.ui.dialog_parts.room_on_screen", lambda _dialog: QSize(2000, 2000))
    dialog = LongForm()
    qtbot.addWidget(dialog)
    dialog.resize(600, 1200)
    keep_on_screen(dialog)
    assert dialog.size() == QSize(600, 1200) and not dialog.findChildren(QScrollArea)


def test_a_requested_size_is_limited_to_the_screen(qtbot: QtBot) -> None:
    dialog = QDialog()
    qtbot.addWidget(dialog)
    dialog.resize(5000, 100)
    dialog.setMinimumWidth(4000)
    keep_on_screen(dialog)
    assert dialog.width() == room_on_screen(dialog).width() < dialog.screen().availableGeometry().width()
    assert dialog.height() == 100


def test_a_dialog_may_be_higher_than_two_thirds_of_the_screen(qtbot: QtBot) -> None:
    """Regression: on a screen of 384 pixels Welcome lacked the height of a line, which lay over its buttons."""
    dialog = QDialog()
    qtbot.addWidget(dialog)
    wrapped = QLabel("A sentence that takes two lines here. " * 3, wordWrap=True)
    filler = QWidget()
    filler.setFixedSize(300, round(0.75 * dialog.screen().availableGeometry().height()))
    layout = QVBoxLayout(dialog)
    layout.addWidget(filler)
    layout.addWidget(wrapped)
    keep_on_screen(dialog)
    dialog.show()
    assert dialog.height() == dialog.sizeHint().height() > dialog.minimumSizeHint().height()
    assert wrapped.height() == wrapped.heightForWidth(wrapped.width())

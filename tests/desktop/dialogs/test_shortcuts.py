"""The shortcut sheet fits any screen, with each shortcut beside its action."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QSize
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from core.settings.window import AppearanceSettings
from desktop.actions import ActionId
from desktop.dialogs.shortcuts import ShortcutsDialog, chart_gestures, shortcut_lines
from desktop.ui.interface_size import set_font

LINES = (*shortcut_lines(ActionId), *chart_gestures())


Open = Callable[[QSize], ShortcutsDialog]


@pytest.fixture
def opened(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens it where there is so much room."""

    def open_it(room: QSize) -> ShortcutsDialog:
        monkeypatch.setattr("desktop.dialogs.shortcuts.room_on_screen", lambda _dialog: room)
        dialog = ShortcutsDialog(LINES)
        qtbot.addWidget(dialog)
        dialog.show()
        return dialog

    return open_it


def columns(dialog: ShortcutsDialog) -> int:
    """Counted where headings begin."""
    sections = {line.section for line in LINES}
    headings = [label for label in dialog.findChildren(QLabel) if label.text() in sections and label.font().bold()]
    assert len(headings) >= len(sections)
    return len({label.mapTo(dialog, QPoint(0, 0)).x() for label in headings})


@pytest.mark.parametrize("percent", [100, 150, 200, 300])
def test_it_fits_the_available_area_and_scrolls(qapp: QApplication, opened: Open, percent: int) -> None:
    set_font(qapp, AppearanceSettings(interface_percent=percent))
    room = QSize(1470, 828)
    dialog = opened(room)
    assert dialog.size().boundedTo(room) == dialog.size()
    assert dialog.minimumSizeHint().boundedTo(room) == dialog.minimumSizeHint()
    body, sight = dialog.area.widget(), dialog.area.viewport()
    assert body.height() <= sight.height() + dialog.area.verticalScrollBar().maximum()
    assert body.width() <= sight.width() + dialog.area.horizontalScrollBar().maximum()
    assert dialog.area.horizontalScrollBar().maximum() == 0 or columns(dialog) == 1


def test_it_has_fewer_columns_in_a_narrow_area(opened: Open) -> None:
    counts = [columns(opened(QSize(width, 700))) for width in (2000, 1000, 600)]
    assert counts == [3, 2, 1]


def test_shortcuts_are_next_to_their_actions(opened: Open) -> None:
    """Regression: the widest line of a column moved them 375 px away."""
    dialog = opened(QSize(2000, 700))
    sheet = dialog.area.widget()
    placed = {label.mapTo(sheet, QPoint(0, 0)).toTuple(): label for label in sheet.findChildren(QLabel)}
    in_order = [label for _place, label in sorted(placed.items(), key=lambda pair: (pair[0][1], pair[0][0]))]
    beside = list(pairwise(in_order))
    for section in {line.section for line in LINES}:
        lines = [line for line in LINES if line.section == section]
        widest = max(dialog.fontMetrics().horizontalAdvance(line.name) for line in lines)
        for line in lines:
            pairs = [(name, keys) for name, keys in beside if (name.text(), keys.text()) == (line.name, line.keys)]
            assert pairs, line
            assert any(0 < keys.x() - name.x() <= widest + 30 for name, keys in pairs), line

"""Every shortcut that a menu prints works wherever the focus is, and Escape ends the placing of a line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton, QWidget

from desktop.actions import ActionId, menu_actions
from desktop.app.composition import Application
from tests.desktop.whole_window import CATCH_UP, CandleGate, context, run_window, until

IN_MENUS = [action_id for action_id in menu_actions() if action_id.info.shortcut]
IN_TABLES = {ActionId.DELETE_LINE, ActionId.UNDO_LINE}
"""Remove and Undo of the table that has the focus come first."""
IN_TEXTS = {ActionId.DELETE_LINE, ActionId.UNDO_LINE, ActionId.REDO_LINE}
"""So do those of a text field."""


def replay_button(application: Application) -> QWidget:
    return next(each for each in application.charting.travel.bar.findChildren(QToolButton) if each.isVisible())


def table_of_markets(application: Application) -> QWidget:
    return application.window.panels.markets.table


def filter_of_events(application: Application) -> QWidget:
    application.window.show_dock(ActionId.SHOW_EVENTS)
    return application.window.panels.events.filter


def press(widget: QWidget, keys: str) -> None:
    combination: QKeyCombination = QKeySequence(keys)[0]
    QTest.keyClick(widget, combination.key(), combination.keyboardModifiers())


@pytest.mark.parametrize(
    ("place", "taken"), [(replay_button, set()), (table_of_markets, IN_TABLES), (filter_of_events, IN_TEXTS)]
)
def test_each_shortcut_of_a_menu_works(
    qapp: QApplication,
    tmp_path: Path,
    gate: CandleGate,
    idle_trainer: None,
    place: Callable[[Application], QWidget],
    taken: set[ActionId],
) -> None:
    async def story(application: Application) -> None:
        window, pressed = application.window, list[ActionId]()
        await until(lambda: application.chart.model.count >= CATCH_UP, "candles")
        await until(application.charting.travel.bar.isVisible, "the bar of the replay")
        focused = place(application)
        window.activateWindow()
        focused.setFocus()
        for action_id in IN_MENUS:
            record(window.shell.actions[action_id], pressed, action_id)
        for action_id in IN_MENUS:
            assert QApplication.focusWidget() is focused, action_id
            window.shell.actions[action_id].setEnabled(True)
            press(focused, action_id.info.shortcut)
        assert set(IN_MENUS) - set(pressed) == taken
        assert len(pressed) == len(set(pressed))

    run_window(qapp, context(tmp_path), story)


def record(action: QAction, pressed: list[ActionId], action_id: ActionId) -> None:
    """Nothing but this happens when it is triggered."""
    action.triggered.disconnect()
    action.triggered.connect(lambda: pressed.append(action_id))


def test_escape_ends_placing_wherever_the_focus_is(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None
) -> None:
    async def story(application: Application) -> None:
        window, placed = application.window, application.charting.tools.placed
        await until(lambda: application.chart.model.count >= CATCH_UP, "candles")
        await until(application.charting.travel.bar.isVisible, "the bar of the replay")
        for focused in (replay_button(application), table_of_markets(application), filter_of_events(application)):
            window.activateWindow()
            focused.setFocus()
            window.shell.actions[ActionId.DRAW_TREND_LINE].trigger()
            assert placed.placing is not None and application.chart.hasFocus(), "for the next keys"
            focused.setFocus()
            QTest.keyClick(focused, Qt.Key.Key_Escape)
            assert placed.placing is None

    run_window(qapp, context(tmp_path), story)

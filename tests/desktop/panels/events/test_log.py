from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from core.logs.reading import LogBook
from core.logs.writing import TRAINER_FILE, WINDOW_FILE
from desktop.panels.events.panel import EventsPanel
from desktop.panels.events.rows import EventKind
from desktop.state.run_state import RunState
from desktop.ui.theme import Theme
from tests.desktop import feed_scenario, scenario
from tests.desktop.conftest import shown_panel

LINES = (
    "2026-11-21T15:00:00.000Z INFO ghostcandle.feed: live: Live from Binance.\n"
    "2026-11-21T15:00:02.000Z WARNING ghostcandle: the list of the markets of kraken cannot be stored\n"
    "2026-11-21T15:00:04.000Z ERROR ghostcandle: An error in the window.\n"
    "Traceback (most recent call last):\n"
    "ValueError: a broken thing\n"
)
OF_TRAINER = "2026-11-21T15:00:03.000Z INFO ghostcandle.training: CPU threads measured: 4.\n"


@pytest.fixture
def panel(qtbot: QtBot, tmp_path: Path, state: RunState, theme: Theme) -> EventsPanel:
    panel = EventsPanel(state, LogBook(tmp_path), theme)
    shown_panel(qtbot, panel, 900, 240)
    panel.show_kind(EventKind.LOG)
    return panel


@pytest.fixture
def filled(panel: EventsPanel, tmp_path: Path) -> EventsPanel:
    (tmp_path / WINDOW_FILE).write_text(LINES)
    (tmp_path / TRAINER_FILE).write_text(OF_TRAINER)
    panel.refresh()
    return panel


def texts(panel: EventsPanel) -> list[str]:
    return [panel.model.index(row, 2).data() for row in range(panel.model.rowCount())]


def test_it_says_that_there_is_nothing(panel: EventsPanel) -> None:
    assert any("The log is empty" in label.text() for label in panel.findChildren(QLabel) if label.isVisible())


def test_the_newest_line_of_any_process_is_on_top(filled: EventsPanel) -> None:
    assert texts(filled)[:2] == ["An error in the window.", "CPU threads measured: 4."]
    parts = [filled.model.index(row, 1).data() for row in range(4)]
    assert parts == ["Program", "Training", "Program", "Feed"]


def test_a_new_line_is_shown_and_the_selection_stays(qtbot: QtBot, filled: EventsPanel, tmp_path: Path) -> None:
    filled.table.selectRow(1)
    with (tmp_path / WINDOW_FILE).open("a") as file:
        file.write("2026-11-21T15:00:09.000Z INFO ghostcandle: one more\n")
    filled.tick()
    filled.refresh_if_seen()
    assert texts(filled)[0] == "one more"
    assert [event.text for event in filled.selected()] == ["CPU threads measured: 4."]


def test_lines_are_filtered_by_level_and_text(qtbot: QtBot, filled: EventsPanel) -> None:
    filled.level.setFocus()
    qtbot.keyClick(filled.level, Qt.Key.Key_Down)
    filled.refresh_if_seen()
    assert len(texts(filled)) == 2 and filled.count.text() == "2 of 4"
    qtbot.keyClicks(filled.filter, "kraken STORED")
    filled.refresh_if_seen()
    assert texts(filled) == ["the list of the markets of kraken cannot be stored"]
    qtbot.keyClicks(filled.filter, "xyz")
    filled.refresh_if_seen()
    assert texts(filled) == []
    assert any("No event matches" in label.text() for label in filled.findChildren(QLabel) if label.isVisible())


def test_the_traceback_is_beside_it_and_is_copied(qtbot: QtBot, filled: EventsPanel) -> None:
    assert not filled.details.isVisible()
    place = filled.table.visualRect(filled.model.index(0, 2)).center()
    qtbot.mouseClick(filled.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert filled.details.isVisible() and "ValueError: a broken thing" in filled.details.toPlainText()
    qtbot.keyClick(filled.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert "error Program: An error in the window.\nTraceback" in QGuiApplication.clipboard().text()


def test_important_are_incidents_the_feeds_events_and_grave_lines(filled: EventsPanel, state: RunState) -> None:
    state.apply(scenario.incidents()[1])
    feed_scenario.connected(state)
    filled.show_kind(None)
    sources = [filled.model.index(row, 1).data() for row in range(filled.model.rowCount())]
    assert sorted(sources) == ["Feed", "Feed", "Feed", "Program", "Program", "Training"]
    times = [event.at_ms for event in filled.model.rows]
    assert times == sorted(times, reverse=True)

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from core.domain.events import Incident, Severity
from core.domain.incident_kinds import IncidentKind
from core.logs.reading import LogBook
from desktop.panels.events.panel import EventsPanel
from desktop.panels.events.rows import EventKind
from desktop.state.incident_history import INCIDENTS_KEPT
from desktop.state.run_state import RunState
from desktop.ui.formatting import format_time
from desktop.ui.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel


@pytest.fixture
def panel(qtbot: QtBot, tmp_path: Path, state: RunState, theme: Theme) -> EventsPanel:
    panel = EventsPanel(state, LogBook(tmp_path), theme)
    shown_panel(qtbot, panel, 800, 240)
    panel.show_kind(EventKind.INCIDENT)
    return panel


def show_incidents(panel: EventsPanel, state: RunState) -> None:
    for incident in scenario.incidents():
        state.apply(incident)
    panel.refresh()


def click_row(qtbot: QtBot, panel: EventsPanel, row: int) -> None:
    position = panel.table.visualRect(panel.model.index(row, 2)).center()
    qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=position)


def test_it_says_that_nothing_went_wrong(panel: EventsPanel) -> None:
    assert "No incidents." in [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def test_the_newest_is_on_top_and_its_story_beside_it(qtbot: QtBot, panel: EventsPanel, state: RunState) -> None:
    show_incidents(panel, state)
    assert "signal 9" in panel.model.index(0, 2).data() and not panel.details.isVisible()
    click_row(qtbot, panel, 0)
    story = panel.details.toPlainText()
    assert panel.details.isVisible() and "signal 9" in story and "started again" in story and "20 steps" in story


def test_a_cut_row_is_elided_by_whole_words_and_complete_in_the_details(panel: EventsPanel, state: RunState) -> None:
    """At 1280x720 the list has some 500 pixels."""
    long = replace(scenario.incidents()[0], what_happened="The loss was 123456789.5, 3.1 times that of before. " * 4)
    state.apply(long)
    panel.refresh()
    panel.table.selectRow(0)
    assert long.what_happened in panel.details.toPlainText().replace("\N{NO-BREAK SPACE}", " ")
    delegate, index = panel.table.itemDelegateForColumn(2), panel.model.index(0, 2)
    for width in range(440, 900, 7):
        panel.resize(width, 180)
        panel.layout().activate()
        option = QStyleOptionViewItem()
        panel.table.initViewItemOption(option)
        option.rect = panel.table.visualRect(index)
        delegate.initStyleOption(option, index)
        *whole, last = option.text.split(" ")
        assert last == "…" and long.what_happened.startswith(" ".join(whole)) and len(whole) > 1


def test_copy_takes_the_complete_details(qtbot: QtBot, panel: EventsPanel, state: RunState) -> None:
    show_incidents(panel, state)
    click_row(qtbot, panel, 1)
    qtbot.keyClick(panel.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text()
    assert "A gradient was not finite." in copied and "step 11941, total norm nan" in copied


def test_the_selection_stays_on_its_incident_when_another_arrives(
    qtbot: QtBot, panel: EventsPanel, state: RunState
) -> None:
    show_incidents(panel, state)
    click_row(qtbot, panel, 1)
    state.apply(replace(scenario.incidents()[0], at_ms=scenario.NOW_MS))
    panel.refresh()
    assert [event.origin.kind for event in panel.selected()] == ["training.skipped"]
    assert panel.model.rowCount() == 4


def test_the_selection_stays_on_one_of_two_at_the_same_moment(
    qtbot: QtBot, panel: EventsPanel, state: RunState
) -> None:
    refused = replace(scenario.incidents()[0], kind=IncidentKind.CHALLENGER_REFUSED, at_ms=scenario.NOW_MS - 60_000)
    for name in ("gru", "tcn"):
        state.apply(replace(refused, what_happened=f"The stored state of the challenger {name} does not fit it."))
    panel.refresh()
    click_row(qtbot, panel, 0)
    state.apply(replace(scenario.incidents()[0], at_ms=scenario.NOW_MS))
    panel.refresh()
    assert ["tcn" in event.text for event in panel.selected()] == [True]


def test_it_follows_a_state_that_drops_the_oldest(panel: EventsPanel, state: RunState) -> None:
    for index in range(INCIDENTS_KEPT + 5):
        state.apply(replace(scenario.incidents()[0], at_ms=index))
        if index % 100 == 0:
            panel.refresh()
    panel.refresh()
    assert panel.model.rowCount() == INCIDENTS_KEPT


def spike(count: int) -> Incident:
    """This occurrence of one episode, as the trainer reports it."""
    text = f"The loss of step {count} was more than 8 times its running median."
    last_at_ms = None if count == 1 else scenario.NOW_MS + count * 60_000
    sentences = (text, "The step was done as usual.", "Nothing.")
    return Incident(scenario.RUN, scenario.NOW_MS, Severity.INFO, "loss spike", *sentences, "", last_at_ms, count)


def test_an_episode_is_one_row_that_counts_and_keeps_its_selection(
    qtbot: QtBot, panel: EventsPanel, state: RunState
) -> None:
    show_incidents(panel, state)
    for count in range(1, 4):
        state.apply(spike(count))
        panel.refresh()
    assert panel.model.rowCount() == 4
    assert panel.model.index(0, 2).data().startswith("3 times: The loss of step 3 ")
    click_row(qtbot, panel, 0)
    for count in range(4, 60):
        state.apply(spike(count))
        panel.refresh()
    assert [event.origin.count for event in panel.selected()] == [59] and panel.model.rowCount() == 4
    first, last = (format_time(scenario.NOW_MS + shift * 60_000, seconds=True) for shift in (0, 59))
    assert panel.details.toPlainText().startswith(f"{first} to {last}, 59 times, ")


def test_a_continued_episode_moves_to_the_top_and_keeps_the_selection(
    qtbot: QtBot, panel: EventsPanel, state: RunState
) -> None:
    state.apply(spike(1))
    show_incidents(panel, state)
    click_row(qtbot, panel, 1)
    (chosen,) = panel.selected()
    state.apply(spike(2))
    panel.refresh()
    assert panel.model.index(0, 2).data().startswith("2 times")
    assert [event.origin for event in panel.selected()] == [chosen.origin] and panel.model.rowCount() == 4


def test_an_episode_from_record_and_trainer_is_listed_once(panel: EventsPanel, state: RunState) -> None:
    state.apply(spike(7))
    state.add_incidents([spike(5)])
    panel.refresh()
    assert panel.model.rowCount() == 1 and state.incidents == (spike(7),)

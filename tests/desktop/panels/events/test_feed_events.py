from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from core.logs.reading import LogBook
from core.market.feeds.base import FeedState, FeedStatus, RejectedMessage
from desktop.panels.events.panel import EventsPanel
from desktop.panels.events.rows import EventKind
from desktop.state.run_state import RunState
from desktop.ui.theme import Theme
from tests.desktop import feed_scenario, scenario
from tests.desktop.conftest import shown_panel


@pytest.fixture
def panel(qtbot: QtBot, tmp_path: Path, state: RunState, theme: Theme) -> EventsPanel:
    panel = EventsPanel(state, LogBook(tmp_path), theme)
    shown_panel(qtbot, panel, 900, 240)
    panel.show_kind(EventKind.FEED)
    return panel


def sentences(panel: EventsPanel) -> list[str]:
    return [panel.model.index(row, 2).data() for row in range(panel.model.rowCount())]


def test_events_are_listed_newest_first_with_gaps_corrections_and_rejected_messages(
    panel: EventsPanel, state: RunState
) -> None:
    feed_scenario.eventful(state)
    panel.refresh()
    events = sentences(panel)
    assert len(events) == 12 and sum("Rejected" in each for each in events) == 5
    assert any("none of the 3 candles" in each for each in events) and any("corrected" in each for each in events)
    assert events[-1].startswith("Connecting: Requesting")
    times = [event.at_ms for event in panel.model.rows]
    assert times == sorted(times, reverse=True)


def test_a_new_line_keeps_the_selection(panel: EventsPanel, state: RunState) -> None:
    feed_scenario.connected(state)
    panel.refresh()
    panel.table.selectRow(1)
    state.markets.on_feed_event(
        state.market, FeedStatus(FeedState.RECONNECTING, "The connection was cut.", scenario.NOW_MS)
    )
    panel.refresh()
    (index,) = panel.table.selectionModel().selectedRows()
    assert index.row() == 2 and "Fetching" in panel.model.index(index.row(), 2).data()


def test_rejected_messages_are_shown_and_copied_raw(qtbot: QtBot, panel: EventsPanel, state: RunState) -> None:
    feed_scenario.eventful(state)
    panel.refresh()
    panel.table.selectRow(next(row for row, text in enumerate(sentences(panel)) if "Rejected" in text))
    assert panel.details.isVisible() and feed_scenario.RAW in panel.details.toPlainText()
    panel.table.setFocus()
    qtbot.keyClick(panel.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text()
    assert feed_scenario.RAW in copied and "time off the grid" in copied


def test_a_flood_of_rejected_messages_is_counted_and_its_newest_are_listed(panel: EventsPanel, state: RunState) -> None:
    for number in range(5_000):
        state.feed_record.add_report(RejectedMessage(number, f"reason {number % 7}", feed_scenario.RAW * 10))
        if number % 500 == 0:
            panel.refresh()
    panel.refresh()
    assert panel.model.rowCount() == 100 and panel.feed.numbers.values["Messages rejected"].text() == "5,000"


def test_the_feeds_numbers_are_beside_its_events_alone(panel: EventsPanel) -> None:
    assert panel.feed.isVisible()
    panel.show_kind(EventKind.INCIDENT)
    assert not panel.feed.isVisible()

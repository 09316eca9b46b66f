from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.clock import ManualClock
from core.market.feeds.base import FeedState, FeedStatus, RejectedMessage
from core.settings.tree import MarketSettings
from desktop.actions import ActionId
from desktop.panels.feed.panel import FeedPanel
from desktop.state.run_state import RunState
from desktop.ui.formatting import MISSING
from desktop.ui.theme import Theme
from tests.desktop import feed_scenario, scenario
from tests.desktop.conftest import shown_panel


@pytest.fixture
def panel(qtbot: QtBot, state: RunState, theme: Theme) -> FeedPanel:
    panel = FeedPanel(state, theme)
    shown_panel(qtbot, panel, 880, 200)
    panel.refresh()
    return panel


def values(panel: FeedPanel) -> dict[str, str]:
    return {name: label.text() for name, label in panel.numbers.values.items()}


def sentences(panel: FeedPanel) -> list[str]:
    return [panel.changes.index(row, 1).data() for row in range(panel.changes.rowCount())]


def test_before_the_first_word_nothing_is_made_up(panel: FeedPanel) -> None:
    assert panel.state_word.text() == "No feed yet"
    known = {"Candles corrected", "Candles missing", "Messages rejected"}
    assert {name for name, text in values(panel).items() if text == MISSING} == set(values(panel)) - known
    assert not panel.try_again.isVisible() and not panel.use_next.isVisible()


def test_a_live_feed_in_words_and_numbers_with_units(panel: FeedPanel, state: RunState) -> None:
    feed_scenario.eventful(state)
    panel.refresh()
    assert panel.state_word.text() == "Live" and "12 min" in panel.since.text()
    assert "14 candles back-filled" in panel.sentence.text()
    assert panel.market.text() == "Binance · BTC/USDT 1m"
    shown = values(panel)
    assert (shown["Request time"], shown["Clock offset"], shown["Close delay"]) == ("84 ms", "−212 ms", "412 ms")
    assert (shown["Last message"], shown["Last trade"]) == ("just now", "7 s ago")
    assert (shown["Reconnect attempts"], shown["Candles back-filled"], shown["Candles missing"]) == ("2", "14", "3")


def test_a_clock_that_is_ahead_has_a_plus(panel: FeedPanel, state: RunState) -> None:
    feed_scenario.eventful(state)
    state.feed_record.add_report(replace(feed_scenario.vitals(), clock_offset_ms=37.0))
    panel.refresh()
    assert values(panel)["Clock offset"] == "+37 ms"


def test_ages_grow_while_nothing_comes(panel: FeedPanel, state: RunState, clock: ManualClock) -> None:
    feed_scenario.eventful(state)
    panel.refresh()
    clock.advance_ms(120_000)
    panel.tick()
    assert values(panel)["Last trade"] == "2 min ago" and "14 min" in panel.since.text()


def test_a_wait_is_counted_down_while_somebody_looks(panel: FeedPanel, state: RunState, clock: ManualClock) -> None:
    feed_scenario.connected(state)
    at_ms = clock.now_ms()
    state.apply(FeedStatus(FeedState.RECONNECTING, feed_scenario.CANNOT_REACH, at_ms, retry_at_ms=at_ms + 4_000))
    panel.refresh()
    shown = [panel.sentence.text()]
    for _ in range(4):
        clock.advance_ms(1_000)
        panel.tick()
        shown.append(panel.sentence.text())
    assert [text.rpartition("Next try ")[2] for text in shown] == ["in 4 s.", "in 3 s.", "in 2 s.", "in 1 s.", "now."]
    assert sentences(panel)[0] == f"{feed_scenario.CANNOT_REACH} Next try in 4 s.", "what was said then stays"


def test_in_an_outage_the_count_of_tries_goes_up_beside_each_sentence(panel: FeedPanel, state: RunState) -> None:
    feed_scenario.connected(state)
    state.feed_record.add_report(feed_scenario.vitals(reconnects=0))
    shown = []
    for _ in range(3):
        state.apply(FeedStatus(FeedState.RECONNECTING, feed_scenario.CANNOT_REACH, scenario.NOW_MS))
        panel.refresh()
        shown.append(values(panel)["Reconnect attempts"])
    assert shown == ["0", "1", "2"], "the first try is yet to come when the break is told"


def test_what_happened_is_told_newest_first_with_holes_and_corrections(panel: FeedPanel, state: RunState) -> None:
    feed_scenario.eventful(state)
    panel.refresh()
    told = sentences(panel)
    assert len(told) == 7
    assert any("none of the 3 candles" in each for each in told) and any("corrected" in each for each in told)
    assert told[-1].startswith("Requesting") and "cannot be reached" in told[3]


@pytest.mark.parametrize("width", [660, 880, 1400])
def test_each_sentence_in_view_is_shown_to_its_end(panel: FeedPanel, state: RunState, width: int) -> None:
    for number in range(60):
        state.apply(FeedStatus(FeedState.RECONNECTING, f"{feed_scenario.CANNOT_REACH} {number}", scenario.NOW_MS))
    panel.refresh()
    panel.resize(width, 260)
    table = panel.changes_table
    for place in (0, 400):
        table.verticalScrollBar().setValue(place)
        rows = range(table.rowAt(0), table.rowAt(table.viewport().height() - 1) + 1)
        assert len(rows) >= 3
        assert all(table.rowHeight(row) >= table.sizeHintForRow(row) for row in rows)


def test_a_new_line_leaves_the_selection_where_it_is(panel: FeedPanel, state: RunState) -> None:
    feed_scenario.connected(state)
    panel.refresh()
    panel.changes_table.selectRow(1)
    state.apply(FeedStatus(FeedState.RECONNECTING, "The connection was cut.", scenario.NOW_MS))
    panel.refresh()
    (index,) = panel.changes_table.selectionModel().selectedRows()
    assert index.row() == 2 and "Fetching" in panel.changes.index(index.row(), 1).data()


def test_rejected_messages_are_read_and_copied_as_they_came(qtbot: QtBot, panel: FeedPanel, state: RunState) -> None:
    feed_scenario.eventful(state)
    panel.refresh()
    assert "(5)" in panel.lists.tabText(1)
    assert "price not above zero 2×" in panel.reasons.text()
    panel.lists.tabBar().setFocus()
    qtbot.keyClick(panel.lists.tabBar(), Qt.Key.Key_Right)
    panel.rejected_table.setFocus()
    qtbot.keyClick(panel.rejected_table, Qt.Key.Key_Down)
    assert feed_scenario.RAW in panel.raw.toPlainText() and "price not above zero" in panel.raw.toPlainText()
    qtbot.keyClick(panel.rejected_table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert feed_scenario.RAW in QGuiApplication.clipboard().text()


def test_a_flood_of_rejected_messages_leaves_the_panel_quick(panel: FeedPanel, state: RunState) -> None:
    for number in range(5_000):
        state.feed_record.add_report(RejectedMessage(number, f"reason {number % 7}", feed_scenario.RAW * 10))
        if number % 500 == 0:
            panel.refresh()
    panel.refresh()
    assert panel.rejected.rowCount() == 100 and values(panel)["Messages rejected"] == "5,000"


@pytest.mark.parametrize("key", [Qt.Key.Key_Space])
def test_a_refused_feed_offers_the_next_venue_and_another_try(
    qtbot: QtBot, panel: FeedPanel, state: RunState, key: Qt.Key
) -> None:
    feed_scenario.refused(state)
    panel.refresh()
    assert panel.use_next.text() == "Use Kraken" and panel.try_again.isVisible()
    with qtbot.waitSignal(panel.venue_requested) as asked:
        qtbot.mouseClick(panel.use_next, Qt.MouseButton.LeftButton)
    assert asked.args == ["kraken"]
    with qtbot.waitSignal(panel.try_again_requested):
        qtbot.keyClick(panel.try_again, key)


def test_where_the_order_holds_no_other_venue_none_is_offered(panel: FeedPanel, state: RunState) -> None:
    feed_scenario.refused(state)
    state.feed_record.asked = replace(MarketSettings(), fallback_venues=("binance",))
    panel.refresh()
    assert panel.try_again.isVisible() and not panel.use_next.isVisible()


def test_the_keyboard_reaches_everything(qtbot: QtBot, panel: FeedPanel, state: RunState) -> None:
    feed_scenario.refused(state)
    panel.refresh()
    with qtbot.waitActive(panel):
        panel.activateWindow()
    panel.use_next.setFocus()
    reached = set()
    for _ in range(12):
        reached.add(QGuiApplication.focusObject())
        QTest.keyClick(panel, Qt.Key.Key_Tab)
    assert {panel.use_next, panel.try_again, panel.lists.tabBar(), panel.changes_table} <= reached


def test_in_a_narrow_and_low_dock_all_of_it_lies_behind_tabs(panel: FeedPanel, state: RunState) -> None:
    feed_scenario.eventful(state)
    panel.refresh()
    for size, titles in (
        ((400, 200), ["Now", "Changes", "Rejected (5)"]),
        ((400, 500), ["Changes", "Rejected (5)"]),
        ((880, 200), ["Changes", "Rejected (5)"]),
        ((400, 200), ["Now", "Changes", "Rejected (5)"]),
    ):
        panel.resize(*size)
        panel.refresh()
        assert [panel.lists.tabText(number) for number in range(panel.lists.count())] == titles
        assert panel.state_word.isVisible() and panel.numbers.isVisible()
        panel.lists.setCurrentIndex(panel.lists.count() - 1)
        assert panel.rejected_table.isVisible() and panel.actions_of_panel[ActionId.FEED_COPY].isEnabled()
        panel.lists.setCurrentIndex(0)


@pytest.mark.parametrize("width", [720, 780, 870, 1200])
def test_beside_the_lists_no_number_has_to_be_scrolled_for(panel: FeedPanel, state: RunState, width: int) -> None:
    feed_scenario.eventful(state)
    state.apply(FeedStatus(FeedState.RECONNECTING, f"{feed_scenario.CANNOT_REACH} {'And on. ' * 6}", scenario.NOW_MS))
    panel.resize(width, 185)
    panel.refresh()
    QApplication.processEvents()  # a layout of layouts
    lowest = max(label.mapTo(panel, label.rect().bottomLeft()).y() for label in panel.numbers.values.values())
    assert lowest < panel.height() and panel.numbers.height() >= panel.numbers.sizeHint().height()


@pytest.mark.parametrize("width", [300, 500, 639, 640, 1200])
def test_it_is_no_wider_than_its_dock(qtbot: QtBot, panel: FeedPanel, state: RunState, width: int) -> None:
    feed_scenario.eventful(state)
    panel.resize(width, 500)
    panel.refresh()
    assert panel.minimumSizeHint().width() <= 300
    for label in panel.numbers.values.values():
        assert label.mapTo(panel, label.rect().topRight()).x() <= width


def test_no_tooltip_of_a_number_shows_its_markup(qtbot: QtBot, state: RunState, theme: Theme) -> None:
    panel = FeedPanel(state, theme)
    shown_panel(qtbot, panel, 880, 300)
    tooltips = [label.toolTip() for label in (*panel.numbers.names.values(), *panel.numbers.values.values())]
    assert tooltips and all("&lt;" not in tooltip and tooltip.count("<p>") <= 1 for tooltip in tooltips)

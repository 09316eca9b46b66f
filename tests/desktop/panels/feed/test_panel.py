from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
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


def test_before_the_first_report_all_values_are_dashes(panel: FeedPanel) -> None:
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


def test_ages_grow_without_events(panel: FeedPanel, state: RunState, clock: ManualClock) -> None:
    feed_scenario.eventful(state)
    panel.refresh()
    clock.advance_ms(120_000)
    panel.tick()
    assert values(panel)["Last trade"] == "2 min ago" and "14 min" in panel.since.text()


def test_a_wait_is_counted_down_while_visible(panel: FeedPanel, state: RunState, clock: ManualClock) -> None:
    feed_scenario.connected(state)
    at_ms = clock.now_ms()
    state.markets.on_feed_event(
        state.market, FeedStatus(FeedState.RECONNECTING, feed_scenario.CANNOT_REACH, at_ms, retry_at_ms=at_ms + 4_000)
    )
    panel.refresh()
    shown = [panel.sentence.text()]
    for _ in range(4):
        clock.advance_ms(1_000)
        panel.tick()
        shown.append(panel.sentence.text())
    assert [text.rpartition("Next try ")[2] for text in shown] == ["in 4 s.", "in 3 s.", "in 2 s.", "in 1 s.", "now."]
    assert sentences(panel)[0] == f"{feed_scenario.CANNOT_REACH} Next try in 4 s.", "the recorded message stays"


def test_in_an_outage_each_message_increases_the_number_of_tries(panel: FeedPanel, state: RunState) -> None:
    feed_scenario.connected(state)
    state.feed_record.add_report(feed_scenario.vitals(reconnects=0))
    shown = []
    for _ in range(3):
        state.markets.on_feed_event(
            state.market, FeedStatus(FeedState.RECONNECTING, feed_scenario.CANNOT_REACH, scenario.NOW_MS)
        )
        panel.refresh()
        shown.append(values(panel)["Reconnect attempts"])
    assert shown == ["0", "1", "2"], "the first try follows the report of the outage"


def test_events_are_listed_newest_first_with_gaps_and_corrections(panel: FeedPanel, state: RunState) -> None:
    feed_scenario.eventful(state)
    panel.refresh()
    events = sentences(panel)
    assert len(events) == 7
    assert any("none of the 3 candles" in each for each in events) and any("corrected" in each for each in events)
    assert events[-1].startswith("Requesting") and "cannot be reached" in events[3]


@pytest.mark.parametrize("width", [660, 880, 1400])
def test_visible_messages_are_not_cut(panel: FeedPanel, state: RunState, width: int) -> None:
    for number in range(60):
        state.markets.on_feed_event(
            state.market, FeedStatus(FeedState.RECONNECTING, f"{feed_scenario.CANNOT_REACH} {number}", scenario.NOW_MS)
        )
    panel.refresh()
    panel.resize(width, 260)
    table = panel.changes_table
    for place in (0, 400):
        table.verticalScrollBar().setValue(place)
        rows = range(table.rowAt(0), table.rowAt(table.viewport().height() - 1) + 1)
        assert len(rows) >= 3
        assert all(table.rowHeight(row) >= table.sizeHintForRow(row) for row in rows)


def test_a_new_line_keeps_the_selection(panel: FeedPanel, state: RunState) -> None:
    feed_scenario.connected(state)
    panel.refresh()
    panel.changes_table.selectRow(1)
    state.markets.on_feed_event(
        state.market, FeedStatus(FeedState.RECONNECTING, "The connection was cut.", scenario.NOW_MS)
    )
    panel.refresh()
    (index,) = panel.changes_table.selectionModel().selectedRows()
    assert index.row() == 2 and "Fetching" in panel.changes.index(index.row(), 1).data()


def test_rejected_messages_are_shown_and_copied_raw(qtbot: QtBot, panel: FeedPanel, state: RunState) -> None:
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


def test_a_flood_of_rejected_messages_does_not_slow_the_panel(panel: FeedPanel, state: RunState) -> None:
    for number in range(5_000):
        state.feed_record.add_report(RejectedMessage(number, f"reason {number % 7}", feed_scenario.RAW * 10))
        if number % 500 == 0:
            panel.refresh()
    panel.refresh()
    assert panel.rejected.rowCount() == 100 and values(panel)["Messages rejected"] == "5,000"


def test_a_refused_feed_offers_the_next_venue_and_a_retry(qtbot: QtBot, panel: FeedPanel, state: RunState) -> None:
    feed_scenario.refused(state)
    panel.refresh()
    assert panel.use_next.text() == "Use Kraken" and panel.try_again.isVisible()
    with qtbot.waitSignal(panel.venue_requested) as asked:
        qtbot.mouseClick(panel.use_next, Qt.MouseButton.LeftButton)
    assert asked.args == ["kraken"]
    with qtbot.waitSignal(panel.try_again_requested):
        qtbot.keyClick(panel.try_again, Qt.Key.Key_Space)


def test_without_another_venue_in_the_order_none_is_offered(panel: FeedPanel, state: RunState) -> None:
    feed_scenario.refused(state)
    state.feed_record.asked = replace(MarketSettings(), fallback_venues=("binance",))
    panel.refresh()
    assert panel.try_again.isVisible() and not panel.use_next.isVisible()


def test_a_small_dock_uses_tabs(panel: FeedPanel, state: RunState) -> None:
    feed_scenario.eventful(state)
    panel.refresh()
    for size, titles in (
        ((400, 200), ["Now", "Events", "Rejected (5)"]),
        ((400, 500), ["Events", "Rejected (5)"]),
        ((880, 200), ["Events", "Rejected (5)"]),
        ((400, 200), ["Now", "Events", "Rejected (5)"]),
    ):
        panel.resize(*size)
        panel.refresh()
        assert [panel.lists.tabText(number) for number in range(panel.lists.count())] == titles
        assert panel.state_word.isVisible() and panel.numbers.isVisible()
        panel.lists.setCurrentIndex(panel.lists.count() - 1)
        assert panel.rejected_table.isVisible() and panel.actions_of_panel[ActionId.FEED_COPY].isEnabled()
        panel.lists.setCurrentIndex(0)


@pytest.mark.parametrize("width", [720, 780, 870, 1200])
def test_no_number_needs_scrolling_beside_the_lists(panel: FeedPanel, state: RunState, width: int) -> None:
    feed_scenario.eventful(state)
    state.markets.on_feed_event(
        state.market,
        FeedStatus(FeedState.RECONNECTING, f"{feed_scenario.CANNOT_REACH} {'And on. ' * 6}", scenario.NOW_MS),
    )
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

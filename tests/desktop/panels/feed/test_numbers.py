from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.domain.clock import ManualClock
from core.market.feeds.base import FeedState, FeedStatus
from core.settings.tree import MarketSettings
from desktop.panels.feed.numbers import FeedNumbers
from desktop.state.run_state import RunState
from desktop.ui.formatting import MISSING
from desktop.ui.theme import Theme
from tests.desktop import feed_scenario, scenario
from tests.desktop.conftest import shown_panel


@pytest.fixture
def panel(qtbot: QtBot, state: RunState, theme: Theme) -> FeedNumbers:
    panel = FeedNumbers(state, theme)
    shown_panel(qtbot, panel, 880, 200)
    panel.refresh()
    return panel


def values(panel: FeedNumbers) -> dict[str, str]:
    return {name: label.text() for name, label in panel.numbers.values.items()}


def test_before_the_first_report_all_values_are_dashes(panel: FeedNumbers) -> None:
    assert panel.state_word.text() == "No feed yet"
    known = {"Candles corrected", "Candles missing", "Messages rejected"}
    assert {name for name, text in values(panel).items() if text == MISSING} == set(values(panel)) - known
    assert not panel.try_again.isVisible() and not panel.use_next.isVisible()


def test_a_live_feed_in_words_and_numbers_with_units(panel: FeedNumbers, state: RunState) -> None:
    feed_scenario.eventful(state)
    panel.refresh()
    assert "price not above zero 2×" in panel.reasons.text() and panel.reasons.isVisible()
    assert panel.state_word.text() == "Live" and "12 min" in panel.since.text()
    assert "14 candles back-filled" in panel.sentence.text()
    assert panel.market.text() == "Binance · BTC/USDT 1m"
    shown = values(panel)
    assert (shown["Request time"], shown["Clock offset"], shown["Close delay"]) == ("84 ms", "−212 ms", "412 ms")
    assert (shown["Last message"], shown["Last trade"]) == ("just now", "7 s ago")
    assert (shown["Reconnect attempts"], shown["Candles back-filled"], shown["Candles missing"]) == ("2", "14", "3")


def test_a_clock_that_is_ahead_has_a_plus(panel: FeedNumbers, state: RunState) -> None:
    feed_scenario.eventful(state)
    state.feed_record.add_report(replace(feed_scenario.vitals(), clock_offset_ms=37.0))
    panel.refresh()
    assert values(panel)["Clock offset"] == "+37 ms"


def test_ages_grow_without_events(panel: FeedNumbers, state: RunState, clock: ManualClock) -> None:
    feed_scenario.eventful(state)
    panel.refresh()
    clock.advance_ms(120_000)
    panel.show_times(clock.now_ms())
    assert values(panel)["Last trade"] == "2 min ago" and "14 min" in panel.since.text()


def test_a_wait_is_counted_down_while_visible(panel: FeedNumbers, state: RunState, clock: ManualClock) -> None:
    feed_scenario.connected(state)
    at_ms = clock.now_ms()
    state.markets.on_feed_event(
        state.market, FeedStatus(FeedState.RECONNECTING, feed_scenario.CANNOT_REACH, at_ms, retry_at_ms=at_ms + 4_000)
    )
    panel.refresh()
    shown = [panel.sentence.text()]
    for _ in range(4):
        clock.advance_ms(1_000)
        panel.show_times(clock.now_ms())
        shown.append(panel.sentence.text())
    assert [text.rpartition("Next try ")[2] for text in shown] == ["in 4 s.", "in 3 s.", "in 2 s.", "in 1 s.", "now."]


def test_in_an_outage_each_message_increases_the_number_of_tries(panel: FeedNumbers, state: RunState) -> None:
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


def test_a_refused_feed_offers_the_next_venue_and_a_retry(qtbot: QtBot, panel: FeedNumbers, state: RunState) -> None:
    feed_scenario.refused(state)
    panel.refresh()
    assert panel.use_next.text() == "Use Kraken" and panel.try_again.isVisible()
    with qtbot.waitSignal(panel.venue_requested) as asked:
        qtbot.mouseClick(panel.use_next, Qt.MouseButton.LeftButton)
    assert asked.args == ["kraken"]
    with qtbot.waitSignal(panel.try_again_requested):
        qtbot.keyClick(panel.try_again, Qt.Key.Key_Space)


def test_without_another_venue_in_the_order_none_is_offered(panel: FeedNumbers, state: RunState) -> None:
    feed_scenario.refused(state)
    state.feed_record.asked = replace(MarketSettings(), fallback_venues=("binance",))
    panel.refresh()
    assert panel.try_again.isVisible() and not panel.use_next.isVisible()


@pytest.mark.parametrize("width", [300, 500, 640, 1200])
def test_it_is_no_wider_than_its_dock(panel: FeedNumbers, state: RunState, width: int) -> None:
    feed_scenario.eventful(state)
    panel.resize(width, 500)
    panel.refresh()
    assert panel.minimumSizeHint().width() <= 300
    for label in panel.numbers.values.values():
        assert label.mapTo(panel, label.rect().topRight()).x() <= width


def test_no_tooltip_of_a_number_shows_its_markup(panel: FeedNumbers) -> None:
    tooltips = [label.toolTip() for label in (*panel.numbers.names.values(), *panel.numbers.values.values())]
    assert tooltips and all("&lt;" not in tooltip and tooltip.count("<p>") <= 1 for tooltip in tooltips)

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from core.domain.candle import Candle, Interval, Market
from core.domain.clock import ManualClock
from core.domain.events import EventBatch, FirstForecast
from core.market.feeds.base import CatchUpProgress, FeedState, FeedStatus
from desktop.state.markets import CANDLES_KEPT, MarketRow, MarketsState
from desktop.state.run_state import RunState
from tests.desktop import scenario

MINUTE = Interval.parse("1m")
A, B, C = (Market("binance", symbol, MINUTE) for symbol in ("AAA/USDT", "BBB/USDT", "CCC/USDT"))
CANDLES = scenario.market(80)


@pytest.fixture
def markets(qapp: object) -> MarketsState:
    markets = MarketsState()
    markets.set_list((A, B))
    markets.set_universe((B, C))
    markets.set_run(B, "run-b")
    markets.set_run(C, "run-c")
    return markets


def changes(markets: MarketsState) -> list[Market]:
    changed: list[Market] = []
    markets.changed.connect(changed.append)
    return changed


def test_rows_are_those_that_only_the_run_has_then_those_of_the_list(qtbot: QtBot, markets: MarketsState) -> None:
    assert [row.market for row in markets.rows()] == [C, A, B]
    assert [row.is_in_run for row in markets.rows()] == [True, False, True]
    with qtbot.waitSignal(markets.listed):
        markets.set_list((B, A))
    assert [row.market for row in markets.rows()] == [C, B, A]
    with qtbot.assertNotEmitted(markets.listed):
        markets.set_list((B, A))
    assert markets.row(Market("kraken", "X/EUR", MINUTE)) == MarketRow(Market("kraken", "X/EUR", MINUTE))


def test_markets_that_only_the_run_has_are_in_the_order_of_their_numbers(markets: MarketsState) -> None:
    simulated = [Market("simulated", f"SIM-{number}", MINUTE) for number in (1, 10, 2)]
    markets.set_universe(simulated)
    assert [row.market.symbol for row in markets.rows()] == ["SIM-1", "SIM-2", "SIM-10", "AAA/USDT", "BBB/USDT"]


def test_an_event_changes_the_row_of_its_run_and_no_other(markets: MarketsState) -> None:
    changed = changes(markets)
    forecast = replace(scenario.forecast(CANDLES), run_id="run-c")
    status = replace(scenario.status(), run_id="run-b")
    for event in (forecast, status, replace(forecast, run_id="another")):
        markets.apply(event)
    assert markets.row(C).forecast == forecast and markets.row(B).forecast is None
    assert markets.row(B).accuracy == status.accuracy and markets.row(B).skill == status.accuracy.skill_close
    assert markets.row(B).position_ms == status.position_ms
    assert changed == [C, B]
    markets.apply(forecast)
    assert changed == [C, B], "nothing is different"


def test_the_forecast_that_reaches_furthest_is_kept(markets: MarketsState) -> None:
    older, newer = (replace(scenario.forecast(CANDLES[:end]), run_id="run-b") for end in (-1, len(CANDLES)))
    markets.apply(FirstForecast(replace(newer, run_id="", is_by_simple_rules=True)))
    markets.apply(older)
    assert markets.row(B).forecast is not None and markets.row(B).forecast.is_by_simple_rules
    markets.apply(newer)
    assert markets.row(B).forecast == newer
    markets.apply(FirstForecast(replace(newer, run_id="", is_by_simple_rules=True)))
    assert markets.row(B).forecast == newer, "it is committed"


def test_a_market_that_leaves_the_run_keeps_what_its_ghosts_were_worth_and_nothing_else(markets: MarketsState) -> None:
    markets.add_closed(B, CANDLES)
    markets.take_feed(B, FeedStatus(FeedState.LIVE, "It is live.", 0))
    markets.apply(replace(scenario.forecast(CANDLES), run_id="run-b"))
    markets.apply(replace(scenario.status(), run_id="run-b"))
    accuracy, position_ms = markets.row(B).accuracy, markets.row(B).position_ms
    markets.set_universe((A,))
    assert markets.row(B) == MarketRow(B, accuracy=accuracy, position_ms=position_ms)
    assert [row.market for row in markets.rows()] == [A, B], "what is nowhere listed is forgotten"
    markets.apply(replace(scenario.forecast(CANDLES), run_id="run-b"))
    assert markets.row(B).forecast is None


def test_another_run_of_a_market_does_not_inherit_the_formers_scores(markets: MarketsState) -> None:
    markets.apply(replace(scenario.status(), run_id="run-b"))
    markets.apply(scenario.ready("run-new"))
    assert markets.row(B).run_id == "run-new" and markets.row(B).accuracy is None
    assert markets.market_of("run-b") is None and markets.market_of("run-new") == B


def test_a_forming_candle_ends_with_its_close(markets: MarketsState) -> None:
    changed = changes(markets)
    markets.add_closed(B, CANDLES[:-1])
    markets.set_forming(B, CANDLES[-1])
    assert markets.row(B).newest == CANDLES[-1]
    markets.add_closed(B, CANDLES[-1:])
    assert markets.row(B).forming is None and markets.row(B).candles == tuple(CANDLES[-CANDLES_KEPT:])
    assert markets.row(B).decimals == 2, "as the prices of the closed ones"
    markets.set_forming(B, CANDLES[-2])
    assert markets.row(B).forming is None, "it has closed"
    assert changed == [B, B, B]


def test_a_feeds_progress_is_not_its_status(markets: MarketsState) -> None:
    markets.take_feed(B, FeedStatus(FeedState.RECONNECTING, "It is gone.", 0))
    markets.take_feed(B, CatchUpProgress(3, 4))
    assert (markets.row(B).feed, markets.row(B).feed_sentence) == (FeedState.RECONNECTING, "It is gone.")
    markets.take_feed(Market("kraken", "X/EUR", MINUTE), FeedStatus(FeedState.LIVE, "", 0))
    assert len(markets.rows()) == 3


@given(st.lists(st.lists(st.integers(0, 200), max_size=70), max_size=6))
def test_the_newest_candles_do_not_depend_on_the_order_of_arrival(parts: list[list[int]]) -> None:
    markets = MarketsState()
    markets.set_list((A,))
    for part in parts:
        markets.add_closed(A, [Candle(number, 1.0, 1.0, 1.0, 1.0, 1.0) for number in sorted(part)])
    expected = sorted({number for part in parts for number in part})[-CANDLES_KEPT:]
    assert [candle.open_time_ms for candle in markets.row(A).candles] == expected


def test_the_windows_state_passes_on_the_events_of_all_runs(qapp: object) -> None:
    state = RunState(ManualClock(scenario.NOW_MS))
    state.markets.set_universe((A, B))
    state.markets.set_run(B, "run-b")
    state.apply(scenario.ready("run-a"))
    forecast = replace(scenario.forecast(CANDLES), run_id="run-b")
    state.apply(EventBatch((forecast,)))
    assert state.forecast is None and state.markets.row(B).forecast == forecast


def test_an_opened_market_is_known_until_it_leaves_the_run(markets: MarketsState) -> None:
    markets.set_opened({B})
    assert [row.market for row in markets.rows() if row.is_opened] == [B]
    markets.set_universe((C,))
    assert not markets.row(B).is_opened

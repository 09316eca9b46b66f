from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from core.domain.candle import Candle, Interval, Market
from core.market.feeds.base import CatchUpProgress, FeedState, FeedStatus
from desktop.state.markets import CANDLES_KEPT, MarketRow, MarketsState
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


def test_an_event_changes_the_row_of_its_market_and_no_other(markets: MarketsState) -> None:
    changed = changes(markets)
    forecast = replace(scenario.forecast(CANDLES), run_id="run-c")
    status = scenario.market_status(B, "run-b")
    markets.add_forecast(C, forecast)
    markets.set_status(status)
    assert markets.row(C).forecast == forecast and markets.row(B).forecast is None
    assert markets.row(B).accuracy == status.accuracy and markets.row(B).skill == status.accuracy.skill_close
    assert markets.row(B).position_ms == status.position_ms
    assert changed == [C, B]
    markets.add_forecast(C, forecast)
    assert changed == [C, B], "nothing is different"


def test_the_forecast_that_reaches_furthest_is_kept(markets: MarketsState) -> None:
    older, newer = (replace(scenario.forecast(CANDLES[:end]), run_id="run-b") for end in (-1, len(CANDLES)))
    first = replace(newer, run_id="", is_by_simple_rules=True)
    markets.add_first_forecast(B, first)
    markets.add_forecast(B, older)
    assert markets.row(B).forecast is not None and markets.row(B).forecast.is_by_simple_rules
    markets.add_forecast(B, newer)
    assert markets.row(B).forecast == newer
    markets.add_first_forecast(B, first)
    assert markets.row(B).forecast == newer, "it is committed"


def test_a_market_that_leaves_the_run_keeps_what_its_ghosts_were_worth_and_nothing_else(markets: MarketsState) -> None:
    markets.add_closed(B, CANDLES)
    markets.on_feed_event(B, FeedStatus(FeedState.LIVE, "It is live.", 0))
    forecast, status = replace(scenario.forecast(CANDLES), run_id="run-b"), scenario.market_status(B, "run-b")
    markets.add_forecast(B, forecast)
    markets.set_status(status)
    markets.set_universe((A,))
    assert markets.row(B) == MarketRow(B, status=status)
    assert [row.market for row in markets.rows()] == [A, B], "what is nowhere listed is forgotten"
    markets.add_forecast(C, forecast)
    assert markets.row(C) == MarketRow(C), "it is in neither list nor run"


def test_another_run_of_a_market_does_not_inherit_the_formers_scores(markets: MarketsState) -> None:
    markets.set_status(scenario.market_status(B, "run-b"))
    markets.set_run(B, "run-new")
    assert markets.row(B).run_id == "run-new" and markets.row(B).accuracy is None


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


@pytest.mark.parametrize("state", FeedState)
def test_a_market_has_caught_up_once_its_feed_no_longer_fetches_the_past(
    markets: MarketsState, state: FeedState
) -> None:
    status = FeedStatus(state, "", 0)
    markets.on_feed_event(B, status)
    assert markets.row(B).has_caught_up is (state not in (FeedState.CONNECTING, FeedState.CATCHING_UP))
    assert markets.row(B).feed_status == status


def test_progress_is_kept_until_it_is_over_or_its_feed_is(markets: MarketsState) -> None:
    for event in (
        CatchUpProgress(10, 10),
        *(FeedStatus(state, "", 0) for state in (FeedState.FAILED, FeedState.ENDED)),
    ):
        markets.on_feed_event(B, CatchUpProgress(3, 10))
        assert markets.row(B).catch_up == CatchUpProgress(3, 10)
        markets.on_feed_event(B, event)
        assert markets.row(B).catch_up is None


def test_a_feeds_progress_is_not_its_status(markets: MarketsState) -> None:
    markets.on_feed_event(B, FeedStatus(FeedState.RECONNECTING, "It is gone.", 0))
    markets.on_feed_event(B, CatchUpProgress(3, 4))
    assert (markets.row(B).feed, markets.row(B).feed_sentence) == (FeedState.RECONNECTING, "It is gone.")
    markets.on_feed_event(Market("kraken", "X/EUR", MINUTE), FeedStatus(FeedState.LIVE, "", 0))
    assert len(markets.rows()) == 3


@given(st.lists(st.lists(st.integers(0, 200), max_size=70), max_size=6))
def test_the_newest_candles_do_not_depend_on_the_order_of_arrival(parts: list[list[int]]) -> None:
    markets = MarketsState()
    markets.set_list((A,))
    for part in parts:
        markets.add_closed(A, [Candle(number, 1.0, 1.0, 1.0, 1.0, 1.0) for number in sorted(part)])
    expected = sorted({number for part in parts for number in part})[-CANDLES_KEPT:]
    assert [candle.open_time_ms for candle in markets.row(A).candles] == expected


def test_an_opened_market_is_known_until_it_leaves_the_run(markets: MarketsState) -> None:
    markets.set_opened({B})
    assert [row.market for row in markets.rows() if row.is_opened] == [B]
    markets.set_universe((C,))
    assert not markets.row(B).is_opened

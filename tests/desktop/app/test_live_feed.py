"""The composed window over a live exchange on 127.0.0.1: markets are learned together, and switched between."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.domain.candle import Interval
from core.domain.watchlist import WatchedMarket
from core.market.feeds.base import FeedState
from core.settings.window import WatchlistSettings
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.app.context import Context
from tests.desktop import watch_scenario
from tests.desktop.whole_window import context, run_window, step_of, until
from tests.support.exchange.many import ManyMarkets
from tests.support.loopback_exchange import AcceleratedClock, LoopbackExchange, loopback_thread
from tests.support.tape import generated_tape

pytestmark = pytest.mark.venue

SECOND = Interval.parse("1s")
ROWS = (WatchedMarket("binance", "BTC/USDT", "1s"), WatchedMarket("binanceus", "BTC/USDT", "1s"))


@contextmanager
def an_exchange() -> Iterator[LoopbackExchange]:
    clock = AcceleratedClock(time.time_ns() // 1_000_000, 4.0)
    exchange = LoopbackExchange(generated_tape(SECOND, clock(), 200, future=4_000), clock)
    with loopback_thread(exchange):
        yield exchange


def over(exchange: LoopbackExchange, root: Path) -> Context:
    chosen = context(root, feed="live", venue="binance", symbol="BTC/USDT", interval="1s", file=None)
    settings = dataclasses.replace(chosen.settings, watchlist=WatchlistSettings(markets=ROWS))
    return dataclasses.replace(chosen, settings=settings, urls=exchange.urls)


def state_of(application: Application) -> FeedState | None:
    status = application.state.feed_record.status
    return None if status is None else status.state


def test_a_click_in_the_list_switches_the_market_and_resumes_its_run(qapp: QApplication, tmp_path: Path) -> None:
    async def story(application: Application) -> None:
        state, record = application.state, application.state.feed_record
        application.window.show_dock(ActionId.SHOW_MARKETS)
        await until(lambda: step_of(application) > 5, "training on the first market")
        first, reached = state.run_id, step_of(application)
        watch_scenario.click_row(application.window.panels.markets, 1)
        await until(lambda: record.market == ROWS[1].market, "the second market")
        await until(lambda: state.run_id not in (None, first) and step_of(application) > 5, "a separate run")
        second = state.run_id
        assert application.settings.current.market.venue == "binanceus"
        watch_scenario.click_row(application.window.panels.markets, 0)
        await until(lambda: record.market == ROWS[0].market, "the first market again")
        await until(lambda: state.trainer is not None and state.run_id == first, "its own run")
        assert state.trainer is not None and state.trainer.step >= reached - 1, "it continues from its last step"
        await until(lambda: step_of(application) > reached, "more of it")
        QTest.keyClick(application.window.panels.markets.table, Qt.Key.Key_Down)
        QTest.keyClick(application.window.panels.markets.table, Qt.Key.Key_Enter)
        await until(lambda: state.trainer is not None and state.run_id == second, "the second's run again")

    with an_exchange() as exchange:
        run_window(qapp, over(exchange, tmp_path), story)


def test_the_last_of_several_clicked_markets_is_shown(qapp: QApplication, tmp_path: Path) -> None:
    """Regression: a click on the market that was being opened was ignored, also if another was clicked after it."""

    async def story(application: Application) -> None:
        state, record = application.state, application.state.feed_record
        application.window.show_dock(ActionId.SHOW_MARKETS)
        await until(lambda: step_of(application) > 5, "training on the first market")
        run = state.run_id
        watch_scenario.click_row(application.window.panels.markets, 0)
        assert not application.runs.is_opening and state.run_id == run, "the one on the chart is there already"
        watch_scenario.click_row(application.window.panels.markets, 1)
        await until(lambda: record.market is None, "the first market's end")
        watch_scenario.click_row(application.window.panels.markets, 0)
        watch_scenario.click_row(application.window.panels.markets, 1)
        await until(lambda: record.market is not None and not application.runs.is_opening, "a market")
        assert record.market == ROWS[1].market

    with an_exchange() as exchange:
        run_window(qapp, over(exchange, tmp_path), story)


def test_several_markets_of_an_exchange_are_learned_over_one_connection(qapp: QApplication, tmp_path: Path) -> None:
    symbols = ("BTC/USDT", "ETH/USDT", "SOL/USDT")
    clock = AcceleratedClock(time.time_ns() // 1_000_000, 4.0)
    tapes = [generated_tape(SECOND, clock(), 200, seed=seed, future=4_000) for seed in range(3)]
    exchange = ManyMarkets(dict(zip(symbols, tapes, strict=True)), clock)
    rows = tuple(WatchedMarket("binance", symbol, "1s", is_learned=True) for symbol in symbols)
    live: dict[str, list[int]] = {symbol: [] for symbol in symbols}

    async def story(application: Application) -> None:
        state = application.state
        state.markets.closed.connect(
            lambda market, candles: live[market.symbol].extend(candle.open_time_ms for candle in candles)
        )

        def scored() -> list[int]:
            return [] if state.status is None else [each.accuracy.live_scored for each in state.status.markets]

        await until(lambda: len(scored()) == 3 and min(scored()) >= 3, "live forecasts of each, scored")
        assert exchange.sockets == 1, "one connection for all of them"
        worker, run = application.trainer.worker, state.run_id
        application.market_choice.watch(rows[2])
        assert application.trainer.worker is worker and state.run_id not in (None, run)
        assert state.feed is not None and state.feed.state is FeedState.LIVE, "its own feed's state"
        newest = len(live["SOL/USDT"])
        await until(lambda: len(live["SOL/USDT"]) > newest + 2, "its next candles")
        assert application.series is not None
        assert application.series[-1].open_time_ms == live["SOL/USDT"][-1]

    with loopback_thread(exchange):
        chosen = over(exchange, tmp_path)
        settings = dataclasses.replace(chosen.settings, watchlist=WatchlistSettings(markets=rows))
        run_window(qapp, dataclasses.replace(chosen, settings=settings), story)
    for times_ms in live.values():
        assert times_ms == sorted(set(times_ms)), "each candle once"

"""The exchange feed on other loops and beside other threads: what the window and the headless run need of it."""

from __future__ import annotations

import asyncio
import time
import urllib.request

import pytest

from core.clock import SystemClock
from core.market.candle import Interval, Market
from core.market.feeds.base import FeedState
from core.market.feeds.exchange import ExchangeFeed, ExchangeTimes
from core.market.feeds.urls import ExchangeUrls
from tests.support.feeds import Heard, hear
from tests.support.loopback_exchange import AcceleratedClock, LoopbackExchange, loopback_process, loopback_thread
from tests.support.tape import generated_tape

pytestmark = pytest.mark.venue

SECOND = Interval.parse("1s")
MARKET = Market("binance", "BTC/USDT", SECOND)
TIMES = ExchangeTimes(first_look_s=0.02, retry_s=0.02)


def a_feed(urls: ExchangeUrls) -> ExchangeFeed:
    return ExchangeFeed(MARKET, SystemClock(), catch_up=5, urls=urls, times=TIMES)


def an_exchange() -> LoopbackExchange:
    clock = AcceleratedClock(time.time_ns() // 1_000_000, speed=5.0)
    return LoopbackExchange(generated_tape(SECOND, clock(), history=20, future=600), clock, push_s=0.02)


def test_it_runs_on_the_loop_of_the_window() -> None:
    import PySide6.QtCore  # noqa: F401, PLC0415 - qasync takes the binding that is imported first
    import qasync  # noqa: PLC0415 - as above
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415 - as above

    exchange = an_exchange()
    application = QApplication.instance() or QApplication([])
    with loopback_thread(exchange) as control, qasync.QEventLoop(application) as loop:
        cuts = 0

        def cut_once(heard: Heard) -> bool:
            nonlocal cuts
            if len(heard.live) == 2 and not cuts:
                cuts += 1
                control(exchange.cut)
            return FeedState.RECONNECTING in heard.states and len(heard.live) >= 4

        heard = loop.run_until_complete(hear(a_feed(exchange.urls), until=cut_once, within_s=60.0))
    assert heard.steps_ms() == {SECOND.duration_ms}
    assert heard.candles == [exchange.tape.candle(time_ms) for time_ms in heard.open_times()]


def test_it_runs_against_an_exchange_in_another_process_that_is_told_to_cut() -> None:
    with loopback_process("--speed", "5", "--history", "30") as urls:
        cut = urllib.request.Request(urls.public.replace("/api/v3", "/control/cut"), method="POST")

        def cut_once(heard: Heard) -> bool:
            if len(heard.live) == 2 and FeedState.RECONNECTING not in heard.states:
                with urllib.request.urlopen(cut, timeout=60.0) as answer:
                    assert answer.status == 200
            return FeedState.RECONNECTING in heard.states and len(heard.live) >= 4

        heard = asyncio.run(hear(a_feed(urls), until=cut_once, within_s=60.0))
    assert heard.steps_ms() == {SECOND.duration_ms}

"""The exchange feed on other event loops and beside other threads, as the window and the headless run use it."""

from __future__ import annotations

import asyncio
import urllib.request
from collections.abc import Callable

import pytest

from core.domain.candle import Interval, Market
from core.domain.clock import SystemClock
from core.market.feeds.base import FeedState
from core.market.feeds.exchange import ExchangeFeed
from core.market.feeds.venue import ExchangeUrls
from tests.support.exchange.clock import wall_ms
from tests.support.feeds import RecordedEvents, record_events
from tests.support.loopback_exchange import LoopbackExchange, loopback_process, loopback_thread
from tests.support.tape import generated_tape

pytestmark = pytest.mark.venue

SECOND = Interval.parse("1s")
MARKET = Market("binance", "BTC/USDT", SECOND)


def a_feed(urls: ExchangeUrls) -> ExchangeFeed:
    return ExchangeFeed(MARKET, SystemClock(), catch_up=5, urls=urls)


def test_the_feed_runs_on_the_event_loop_of_the_window() -> None:
    import PySide6.QtCore  # noqa: F401, PLC0415 - qasync takes the binding that is imported first
    import qasync  # noqa: PLC0415 - as above
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415 - as above

    exchange = LoopbackExchange(generated_tape(SECOND, wall_ms(), history=20, future=600))
    application = QApplication.instance() or QApplication([])
    with loopback_thread(exchange) as control, qasync.QEventLoop(application) as loop:
        received = loop.run_until_complete(
            record_events(a_feed(exchange.urls), until=after_one(lambda: control(exchange.cut)))
        )
    assert received.steps_ms() == {SECOND.duration_ms}
    assert received.candles == [exchange.tape.candle(time_ms) for time_ms in received.open_times()]


def test_feed_survives_disconnects_by_an_exchange_in_another_process() -> None:
    with loopback_process("--history", "30") as urls:
        request = urllib.request.Request(urls.public.replace("/api/v3", "/control/cut"), method="POST")

        def cut() -> None:
            with urllib.request.urlopen(request, timeout=60.0) as answer:
                assert answer.status == 200

        received = asyncio.run(record_events(a_feed(urls), until=after_one(cut)))
    assert received.steps_ms() == {SECOND.duration_ms}


def after_one(cut: Callable[[], None]) -> Callable[[RecordedEvents], bool]:
    """Cut when a candle has come live; it is over when another one has, after the break."""
    cuts = 0

    def is_over(received: RecordedEvents) -> bool:
        nonlocal cuts
        if received.live and not cuts:
            cuts += 1
            cut()
        return FeedState.RECONNECTING in received.states and len(received.live) >= 2

    return is_over

"""The threads behind the watchlist: they live while they are wanted, and leave nothing behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from core.clock import ManualClock, SystemClock
from core.market.feeds.ticker_poller import PollEvent, PollTimes, Quoted
from core.market.symbols import FRESH_MS, SymbolCache, SymbolList
from desktop.watch.loop_thread import LoopThread
from desktop.watch.quote_feed import QuoteFeed
from desktop.watch.symbol_lists import SymbolLists
from tests.support.loopback_tickers import LoopbackTickers

KEYS = [("binance", "BTC/USDT"), ("binance", "ETH/USDT")]
TIMES = PollTimes(every_s=0.2, request_s=2.0)


class Listener(QObject):
    """Remembers what came, and on which thread."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[PollEvent] = []
        self.threads: set[threading.Thread] = set()

    def take(self, event: PollEvent) -> None:
        self.events.append(event)
        self.threads.add(threading.current_thread())

    def symbols(self) -> set[str]:
        return {symbol for event in self.events if isinstance(event, Quoted) for symbol in event.quotes}


@pytest.fixture
def feed(qapp: object, exchange: LoopbackTickers) -> Iterator[QuoteFeed]:
    feed = QuoteFeed(SystemClock(), exchange.urls, TIMES)
    feed.watch(KEYS)
    yield feed
    assert feed.close()


@pytest.mark.venue
def test_prices_reach_the_windows_thread_only_while_they_are_wanted(
    qtbot: QtBot, feed: QuoteFeed, exchange: LoopbackTickers
) -> None:
    listener = Listener()
    feed.told.connect(listener.take)
    assert not feed.is_polling and not exchange.requests, "nothing is asked for before somebody looks"
    feed.set_wanted(True)
    qtbot.waitUntil(lambda: listener.symbols() == {"BTC/USDT", "ETH/USDT"}, timeout=15_000)
    assert listener.threads == {threading.current_thread()}
    feed.set_wanted(False)
    qtbot.waitUntil(lambda: not feed.is_polling, timeout=5_000)
    asked = len(exchange.requests)
    qtbot.wait(500)
    assert len(exchange.requests) == asked
    feed.watch(KEYS[:1])
    listener.events.clear()
    feed.set_wanted(True)
    qtbot.waitUntil(lambda: listener.symbols() == {"BTC/USDT"}, timeout=15_000)


@pytest.mark.venue
def test_a_dock_that_flickers_ends_with_one_thread_or_none(qtbot: QtBot, feed: QuoteFeed) -> None:
    for is_wanted in (True, False) * 10:
        feed.set_wanted(is_wanted)
    qtbot.waitUntil(lambda: not feed.is_polling, timeout=5_000)
    for is_wanted in (*(True, False) * 10, True):
        feed.set_wanted(is_wanted)
    listener = Listener()
    feed.told.connect(listener.take)
    qtbot.waitUntil(lambda: bool(listener.events), timeout=15_000)


def test_one_that_is_stopped_twice_tidies_up_to_the_end(qtbot: QtBot, qapp: object) -> None:
    told: list[str] = []
    is_stopped_again = threading.Event()

    async def work() -> None:
        try:
            told.append("begun")
            await asyncio.Event().wait()
        finally:
            told.append("tidying")
            while not is_stopped_again.is_set():  # noqa: ASYNC110 - another thread says it
                await asyncio.sleep(0)
            for _ in range(10):
                await asyncio.sleep(0)
            told.append("tidy")

    owner = QObject()
    thread = LoopThread(work, "tidy", owner)
    thread.start()
    qtbot.waitUntil(lambda: told == ["begun"])
    thread.stop()
    qtbot.waitUntil(lambda: "tidying" in told)
    thread.stop()
    is_stopped_again.set()
    assert thread.stop_and_wait()
    assert told == ["begun", "tidying", "tidy"]


def test_an_error_of_a_thread_is_told_on_the_windows_thread(qtbot: QtBot, qapp: object) -> None:
    async def fail() -> None:
        raise ValueError("no such thing")

    owner, heard = QObject(), Listener()
    thread = LoopThread(fail, "failing", owner)
    thread.failed.connect(heard.take)
    with qtbot.waitSignal(thread.finished):
        thread.start()
    qtbot.waitUntil(lambda: heard.events == ["ValueError: no such thing"])  # type: ignore[comparison-overlap]
    assert heard.threads == {threading.current_thread()}


def test_a_thread_that_is_stopped_before_it_runs_ends_at_once(qapp: object) -> None:
    async def never() -> None:
        await asyncio.Event().wait()

    owner = QObject()
    thread = LoopThread(never, "never", owner)
    thread.stop()
    thread.start()
    assert thread.stop_and_wait() and not thread.call(print)


@pytest.fixture
def lists(qapp: object, exchange: LoopbackTickers, tmp_path: Path, clock: ManualClock) -> Iterator[SymbolLists]:
    lists = SymbolLists(SymbolCache(tmp_path), clock, exchange.urls)
    yield lists
    assert lists.close()


@pytest.mark.venue
def test_a_list_is_fetched_once_kept_and_fetched_anew_when_it_is_old(
    qtbot: QtBot, lists: SymbolLists, exchange: LoopbackTickers, tmp_path: Path, clock: ManualClock
) -> None:
    with qtbot.waitSignal(lists.ready, timeout=15_000) as first:
        lists.request("binance")
        lists.request("binance")
    listed = first.args[0]
    assert listed == SymbolList("binance", ("BTC/USDT", "ETH/USDT"), clock.now_ms())
    with qtbot.waitSignal(lists.ready, timeout=100):
        lists.request("binance")
    assert exchange.asked("/exchangeInfo") == 1
    assert SymbolCache(tmp_path).load("binance") == listed
    clock.advance_ms(FRESH_MS)
    exchange.prices["SOL/USDT"] = 1.0
    answers: list[SymbolList] = []
    lists.ready.connect(answers.append)
    lists.request("binance")
    assert answers == [listed], "the old one serves until the new one has come"
    qtbot.waitUntil(lambda: len(answers) == 2, timeout=15_000)
    assert "SOL/USDT" in answers[1].symbols


@pytest.mark.venue
def test_what_cannot_be_fetched_is_said_and_may_be_asked_for_again(
    qtbot: QtBot, lists: SymbolLists, exchange: LoopbackTickers
) -> None:
    exchange.answer(451)
    with qtbot.waitSignal(lists.failed, timeout=15_000) as failed:
        lists.request("binance")
    assert failed.args[0] == "binance" and "451" in failed.args[1]
    exchange.resume()
    qtbot.waitUntil(lambda: not lists._threads)
    with qtbot.waitSignal(lists.ready, timeout=15_000):
        lists.request("binance")

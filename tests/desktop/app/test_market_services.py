"""The markets' threads and the window's use of their events, with a fake poller and exchange."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.clock import ManualClock
from core.domain.watchlist import WatchedMarket
from core.market.feeds.base import FeedState, FeedStatus
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.ticker_poller import MarketKey, PollEvent, PollTrouble, Quoted
from core.market.feeds.tickers import Quote
from core.market.feeds.trouble import VenueError
from core.market.symbols import FRESH_MS, SymbolCache, SymbolList
from core.settings.tree import Settings
from core.settings.window import WatchlistSettings
from core.storage.folder import DataFolder
from desktop.actions import ActionId
from desktop.app.market_services import MarketServices
from desktop.services.loop_thread import LoopThread
from desktop.services.quote_feed import QuoteFeed
from desktop.services.symbol_lists import SymbolLists
from desktop.state.quotes import QuoteState
from tests.desktop import feed_scenario
from tests.desktop.conftest import MakeBench

ROWS = (WatchedMarket("binance", "BTC/USDT", "1m"), WatchedMarket("kraken", "XBT/EUR", "1m"))
KEYS = (("binance", "BTC/USDT"), ("kraken", "XBT/EUR"))


class FakePoller:
    """Runs the test's actions on the polling thread."""

    def __init__(
        self, _clock: object, _urls: object, tell: Callable[[PollEvent], None], *_rest: object, **_more: object
    ):
        self.tell = tell
        self.runs: list[threading.Thread] = []
        self.running = self.most = 0
        self.watched: list[tuple[MarketKey, ...]] = []
        self.tried_again: list[tuple[str, threading.Thread]] = []

    def watch(self, keys: tuple[MarketKey, ...]) -> None:
        self.watched.append(tuple(keys))

    def try_again(self, venue: str) -> None:
        self.tried_again.append((venue, threading.current_thread()))

    async def run(self) -> None:
        self.runs.append(threading.current_thread())
        self.running += 1
        self.most = max(self.most, self.running)
        self.tell(Quoted("binance", {"BTC/USDT": Quote(64_000.0, 1_000)}, {}))
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            self.running -= 1


@pytest.fixture
def poller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("desktop.services.quote_feed.TickerPoller", FakePoller)


def of(feed: QuoteFeed) -> FakePoller:
    assert isinstance(feed._poller, FakePoller)
    return feed._poller


@pytest.fixture
def thread(qapp: object) -> Iterator[LoopThread]:
    thread = LoopThread("asking")
    yield thread
    assert thread.close()


@pytest.fixture
def feed(thread: LoopThread, poller: None, clock: ManualClock) -> QuoteFeed:
    feed = QuoteFeed(clock, None, thread)
    feed.watch(KEYS)
    return feed


def test_prices_reach_the_windows_thread_only_while_wanted(qtbot: QtBot, feed: QuoteFeed) -> None:
    receivers: list[threading.Thread] = []
    feed.poll_event_received.connect(lambda _event: receivers.append(threading.current_thread()))
    assert not of(feed).runs, "no request before the dock is visible"
    feed.set_wanted(True)
    qtbot.waitUntil(lambda: len(receivers) == 1)
    assert receivers == [threading.current_thread()] and of(feed).runs[0] is not threading.current_thread()
    assert of(feed).watched == [KEYS]
    feed.watch(KEYS[:1])
    qtbot.waitUntil(lambda: of(feed).watched == [KEYS, KEYS[:1]])
    feed.set_wanted(False)
    qtbot.waitUntil(lambda: not of(feed).running)
    feed.set_wanted(True)
    qtbot.waitUntil(lambda: len(receivers) == 2)
    assert of(feed).watched[-1] == KEYS[:1]


def test_toggling_the_dock_leaves_at_most_one_poller(qtbot: QtBot, feed: QuoteFeed) -> None:
    for is_wanted in (*(True, False) * 10, True):
        feed.set_wanted(is_wanted)
        QApplication.processEvents()
    qtbot.waitUntil(lambda: of(feed).running == 1)
    feed.set_wanted(False)
    qtbot.waitUntil(lambda: not of(feed).running)
    assert of(feed).most == 1


def test_a_retry_runs_on_the_polling_thread_if_there_is_one(qtbot: QtBot, feed: QuoteFeed) -> None:
    feed.try_again("binance")
    assert of(feed).tried_again == [("binance", threading.current_thread())]
    feed.set_wanted(True)
    qtbot.waitUntil(lambda: bool(of(feed).runs))
    feed.try_again("kraken")
    qtbot.waitUntil(lambda: len(of(feed).tried_again) == 2)
    assert of(feed).tried_again[1] == ("kraken", of(feed).runs[0])


class Exchange:
    """Its list of markets, or the error that it answers, once it may answer."""

    def __init__(self, clock: ManualClock) -> None:
        self.symbols, self.trouble, self.asked = ("BTC/USDT", "ETH/USDT"), "", 0
        self.may_answer = threading.Event()
        self.may_answer.set()
        self._clock = clock

    async def fetch(self, venue: str, *_rest: object) -> SymbolList:
        self.asked += 1
        self.may_answer.wait()
        if self.trouble == "odd":
            raise ValueError("an odd answer")
        if self.trouble:
            raise VenueError(self.trouble)
        return SymbolList(venue, self.symbols, self._clock.now_ms())


@pytest.fixture
def exchange(monkeypatch: pytest.MonkeyPatch, clock: ManualClock) -> Exchange:
    made = Exchange(clock)
    monkeypatch.setattr("desktop.services.symbol_lists.fetch_symbols", made.fetch)
    return made


@pytest.fixture
def lists(thread: LoopThread, exchange: Exchange, tmp_path: Path, clock: ManualClock) -> SymbolLists:
    return SymbolLists(SymbolCache(tmp_path), clock, None, thread, RateLimitHolds(clock))


def test_a_list_is_cached_and_fetched_again_once_stale(
    qtbot: QtBot, lists: SymbolLists, exchange: Exchange, tmp_path: Path, clock: ManualClock
) -> None:
    fetching: list[str] = []
    lists.fetching.connect(fetching.append)
    exchange.may_answer.clear()  # an answer already in the cache would end the second request at once
    with qtbot.waitSignal(lists.ready) as first:
        lists.request("binance")
        lists.request("binance")
        exchange.may_answer.set()
    listed = first.args[0]
    assert listed == SymbolList("binance", ("BTC/USDT", "ETH/USDT"), clock.now_ms())
    assert fetching == ["binance", "binance"] and exchange.asked == 1
    answers: list[SymbolList] = []
    lists.ready.connect(answers.append)
    lists.request("binance")
    assert answers == [listed] and exchange.asked == 1
    assert SymbolCache(tmp_path).load("binance") == listed and lists.known("binance") == listed.symbols
    clock.advance_ms(FRESH_MS)
    exchange.symbols = ("SOL/USDT",)
    lists.request("binance")
    assert answers == [listed, listed], "the old one serves until the new one has come"
    qtbot.waitUntil(lambda: len(answers) == 3)
    assert answers[2].symbols == ("SOL/USDT",)


@pytest.mark.parametrize(("trouble", "said"), [("It answers 451.", "It answers 451."), ("odd", "an odd answer")])
def test_a_failed_fetch_is_reported_and_can_be_retried(
    qtbot: QtBot, lists: SymbolLists, exchange: Exchange, caplog: pytest.LogCaptureFixture, trouble: str, said: str
) -> None:
    exchange.trouble = trouble
    with qtbot.waitSignal(lists.failed) as failed:
        lists.request("binance")
    assert failed.args[0] == "binance" and said in failed.args[1]
    exchange.trouble = ""
    with qtbot.waitSignal(lists.ready):
        lists.request("binance")


def test_the_dock_gets_prices_and_retries_on_the_feed_or_the_user(
    qtbot: QtBot, make_bench: MakeBench, exchange: Exchange, poller: None, tmp_path: Path
) -> None:
    bench = make_bench(settings=Settings(watchlist=WatchlistSettings(markets=ROWS)))
    window, panel, state = bench.window, bench.window.panels.markets, bench.state
    window.docks[ActionId.SHOW_MARKETS].close()
    watching = MarketServices(bench.shell.settings, panel, state, DataFolder(tmp_path), bench.clock, None)
    played, quotes = of(watching.quotes), state.quotes
    try:
        feed_scenario.connected(state)
        assert played.tried_again[-1:] == [("binance", threading.current_thread())], "its feed went live"
        played.tried_again.clear()
        window.show_dock(ActionId.SHOW_MARKETS)
        qtbot.waitUntil(lambda: panel.model.index(0, 2).data() == "64,000.00")
        assert played.watched[-1] == KEYS
        played.tell(PollTrouble("binance", "It answers 451.", bench.clock.now_ms() + 900_000))
        assert quotes.standing(KEYS[0], bench.clock.now_ms(), is_polled=True).state is QuoteState.NO_ANSWER
        for feed_state in (FeedState.RECONNECTING, FeedState.LIVE, FeedState.LIVE):
            state.markets.on_feed_event(state.market, FeedStatus(feed_state, "Reported.", bench.clock.now_ms()))
        qtbot.waitUntil(lambda: bool(played.tried_again))
        watching.try_again()
        qtbot.waitUntil(lambda: [venue for venue, _thread in played.tried_again] == ["binance", "binance"])
        only = replace(window.shell.settings.current, watchlist=WatchlistSettings(markets=ROWS[1:]))
        window.shell.settings.change(only)
        qtbot.waitUntil(lambda: played.watched[-1] == KEYS[1:])
        exchange.trouble = "It answers 451."
        panel.adder.symbols_wanted.emit("binance")
        qtbot.waitUntil(lambda: "451" in panel.note.text())
        exchange.trouble = ""
        with qtbot.waitSignal(watching.lists.ready):
            panel.adder.symbols_wanted.emit("binance")
        assert (DataFolder(tmp_path).symbols / "binance.json").exists()
    finally:
        asyncio.run(watching.close())
    assert not played.running


def test_a_list_that_is_being_parsed_holds_up_no_price(
    qtbot: QtBot, make_bench: MakeBench, poller: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, parsed = make_bench(settings=Settings(watchlist=WatchlistSettings(markets=ROWS))), threading.Event()

    async def fetch(venue: str, *_rest: object) -> SymbolList:
        parsed.wait()
        return SymbolList(venue, ("BTC/USDT",), bench.clock.now_ms())

    monkeypatch.setattr("desktop.services.symbol_lists.fetch_symbols", fetch)
    panel = bench.window.panels.markets
    watching = MarketServices(bench.shell.settings, panel, bench.state, DataFolder(tmp_path), bench.clock, None)
    try:
        watching.lists.request("binance")
        with qtbot.waitSignal(watching.quotes.poll_event_received):
            watching.quotes.set_wanted(True)
    finally:
        parsed.set()
        asyncio.run(watching.close())

"""The poller of listed prices through the real ccxt, against an exchange in memory, on virtual time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import replace
from random import Random

import pytest

from core.domain.backoff import Backoff
from core.market.feeds.ticker_poller import MarketKey, PollEvent, PollTimes, PollTrouble, Quoted, TickerPoller
from core.market.feeds.tickers import Quote
from tests.support.exchange.clock import loop_s
from tests.support.loopback_tickers import CHANGE_PERCENT, LoopbackTickers
from tests.support.virtual_network import loop_time

FAST = PollTimes(every_s=0.1, request_s=2.0, hopeless_s=0.3)
PATIENT = replace(FAST, hopeless_s=900.0)
PRICES = {"BTC/USDT": 64_000.0, "ETH/USDT": 3_200.0}
BINANCE = [("binance", symbol) for symbol in PRICES]


def an_exchange() -> LoopbackTickers:
    return LoopbackTickers(PRICES, loop_time().now_ms)


class ReceivedEvents:
    """Events from the poller, and a way to wait for them."""

    def __init__(self) -> None:
        self.events: list[PollEvent] = []
        self._came = asyncio.Event()

    def add(self, event: PollEvent) -> None:
        self.events.append(event)
        self._came.set()

    @property
    def quotes(self) -> dict[MarketKey, Quote]:
        quoted = (event for event in self.events if isinstance(event, Quoted))
        return {(event.venue, symbol): quote for event in quoted for symbol, quote in event.quotes.items()}

    @property
    def troubles(self) -> list[PollTrouble]:
        return [event for event in self.events if isinstance(event, PollTrouble)]

    async def until(self, condition: Callable[[], bool], within_s: float = 60.0) -> None:
        async with asyncio.timeout(within_s):
            while not condition():
                self._came.clear()
                await self._came.wait()


@contextlib.asynccontextmanager
async def polling(
    exchange: LoopbackTickers, keys: Iterable[MarketKey] = BINANCE, times: PollTimes = FAST
) -> AsyncIterator[tuple[TickerPoller, ReceivedEvents]]:
    received = ReceivedEvents()
    poller = TickerPoller(
        loop_time(), exchange.urls, received.add, times, lambda: Backoff(first_s=0.05, longest_s=0.2, random=Random(1))
    )
    poller.watch(keys)
    task = asyncio.create_task(poller.run())
    try:
        yield poller, received
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def has_prices(received: ReceivedEvents, keys: Iterable[MarketKey] = BINANCE) -> Callable[[], bool]:
    return lambda: all(key in received.quotes for key in keys)


async def test_prices_and_changes_are_the_exchanges_with_one_request_a_round() -> None:
    async with an_exchange() as exchange, polling(exchange) as (_, received):
        await received.until(has_prices(received))
        for (_, symbol), quote in received.quotes.items():
            assert quote.last == PRICES[symbol] and quote.change == pytest.approx(CHANGE_PERCENT / 100.0)
        exchange.prices["BTC/USDT"] = 65_000.0
        await received.until(lambda: received.quotes[("binance", "BTC/USDT")].last == 65_000.0)
        assert exchange.asked("/exchangeInfo") == 2 and exchange.asked("/ticker/24hr") >= 2
        assert len(exchange.requests) == exchange.asked("/exchangeInfo") + exchange.asked("/ticker/24hr")


async def test_an_unknown_symbol_is_named_and_the_others_have_prices() -> None:
    keys = [*BINANCE, ("binance", "NO/SUCH")]
    async with an_exchange() as exchange, polling(exchange, keys) as (_, received):
        await received.until(has_prices(received))
        named = [event.unknown for event in received.events if isinstance(event, Quoted) and event.unknown]
        assert "NO/SUCH" in named[0]["NO/SUCH"] and "Binance" in named[0]["NO/SUCH"]
        assert not received.troubles


async def test_an_unknown_symbol_is_requested_once_and_stays_reported() -> None:
    keys = [*BINANCE, ("binance", "NO/SUCH")]

    def asked(exchange: LoopbackTickers) -> int:
        return sum("NOSUCH" in request for request in exchange.requests)

    async with an_exchange() as exchange, polling(exchange, keys) as (poller, received):
        await received.until(has_prices(received))
        received.events.clear()
        await received.until(lambda: len(received.events) >= 4)
        assert asked(exchange) == 1, "not again in each round"
        assert all("NO/SUCH" in event.unknown for event in received.events if isinstance(event, Quoted))
        poller.watch(BINANCE)
        await received.until(lambda: isinstance(received.events[-1], Quoted) and not received.events[-1].unknown)
        poller.watch(keys)
        await received.until(lambda: asked(exchange) == 2)


async def test_a_symbol_listed_later_is_found() -> None:
    keys = [*BINANCE, ("binance", "SOL/USDT")]

    times = replace(FAST, unknown_every_s=0.5)
    async with an_exchange() as exchange, polling(exchange, keys, times) as (_, received):
        await received.until(has_prices(received))
        exchange.prices["SOL/USDT"] = 150.0
        await received.until(lambda: ("binance", "SOL/USDT") in received.quotes)
        last = received.events[-1]
        assert isinstance(last, Quoted) and not last.unknown


async def test_a_delisted_symbol_is_named_and_the_others_keep_their_prices() -> None:
    async with an_exchange() as exchange, polling(exchange, times=PATIENT) as (_, received):
        await received.until(has_prices(received))
        del exchange.prices["ETH/USDT"]
        exchange.prices["BTC/USDT"] = 65_000.0
        await received.until(lambda: received.quotes[("binance", "BTC/USDT")].last == 65_000.0)
        last = received.events[-1]
        assert isinstance(last, Quoted) and "ETH/USDT" in last.unknown["ETH/USDT"]
        assert [trouble.venue for trouble in received.troubles] == ["binance"]


async def test_a_wait_after_a_permanent_error_ends_when_something_changes() -> None:
    async with (
        an_exchange() as exchange,
        polling(exchange, times=PATIENT) as (poller, received),
    ):
        await received.until(has_prices(received))
        exchange.answer(451)
        await received.until(lambda: bool(received.troubles))
        exchange.resume()
        asked = len(exchange.requests)
        received.events.clear()
        await asyncio.sleep(PATIENT.hopeless_s - 10.0)
        assert len(exchange.requests) == asked, "nothing is asked for in vain"
        poller.try_again("binance")
        await received.until(lambda: bool(received.quotes))


async def test_a_wait_requested_by_the_exchange_is_not_ended_by_a_change() -> None:
    async with (
        an_exchange() as exchange,
        polling(exchange, times=PATIENT) as (poller, received),
    ):
        await received.until(has_prices(received))
        exchange.answer(429, retry_after_s=20)
        await received.until(lambda: bool(received.troubles))
        exchange.resume()
        asked, began_s = len(exchange.requests), loop_s()
        received.events.clear()
        poller.try_again("binance")
        await received.until(lambda: bool(received.quotes))
        assert loop_s() - began_s >= 19.5
        assert len(exchange.requests) > asked


@pytest.mark.parametrize(("status", "word"), [(429, "fewer requests"), (418, "banned this address")])
async def test_retry_after_is_honoured(status: int, word: str) -> None:
    async with an_exchange() as exchange, polling(exchange) as (poller, received):
        await received.until(has_prices(received))
        exchange.answer(status, retry_after_s=30)
        await received.until(lambda: bool(received.troubles))
        exchange.resume()
        asked, began_s = len(exchange.requests), loop_s()
        assert word in received.troubles[0].sentence
        poller.watch(BINANCE[:1])  # even a change of the list does not shorten what the exchange asked for
        received.events.clear()
        await received.until(lambda: bool(received.quotes))
        assert loop_s() - began_s >= 29.5
        assert len(exchange.requests) > asked


async def test_network_loss_is_reported_with_growing_pauses_until_it_recovers() -> None:
    async with an_exchange() as exchange, polling(exchange) as (_, received):
        await received.until(has_prices(received))
        exchange.refuse()
        await received.until(lambda: len(received.troubles) >= 3)
        assert "Binance" in received.troubles[0].sentence
        exchange.resume()
        received.events.clear()
        await received.until(lambda: bool(received.quotes))
        assert exchange.asked("/exchangeInfo") == 2, "what is known of the markets outlives the connection"


async def test_a_failing_exchange_does_not_affect_the_others() -> None:
    keys = [*BINANCE, ("no_exchange", "BTC/USDT")]
    async with an_exchange() as exchange, polling(exchange, keys) as (_, received):
        await received.until(lambda: bool(received.troubles) and has_prices(received)())
        assert {trouble.venue for trouble in received.troubles} == {"no_exchange"}
        assert "not an exchange" in received.troubles[0].sentence


async def test_removed_markets_are_not_requested() -> None:
    async with (
        an_exchange() as exchange,
        polling(exchange, BINANCE[:1]) as (poller, received),
    ):
        await received.until(has_prices(received, BINANCE[:1]))
        poller.watch(BINANCE[1:])
        await received.until(has_prices(received, BINANCE[1:]))
        exchange.requests.clear()
        received.events.clear()
        await received.until(lambda: len(received.events) >= 2)
        assert exchange.requests and not any("BTCUSDT" in each for each in exchange.requests)
        poller.watch(())
        await asyncio.sleep(0)


async def test_an_early_poll_waits_for_its_turn() -> None:
    """A dock that is shown and hidden again and again asks no more often than one that stays."""

    times = PollTimes(every_s=30.0, request_s=2.0)
    async with an_exchange() as exchange:
        received = ReceivedEvents()
        poller = TickerPoller(loop_time(), exchange.urls, received.add, times)
        poller.watch(BINANCE)
        for _ in range(4):
            task = asyncio.create_task(poller.run())
            await received.until(has_prices(received)) if not received.quotes else await asyncio.sleep(0.02)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        assert exchange.asked("/ticker/24hr") == 1

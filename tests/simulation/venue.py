"""The exchange side of the simulation: a `Venue` whose network is a heap of timers with the faults of the toxics."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import ccxt

from core.domain.candle import Candle
from core.market.aggregate import Trade
from core.market.feeds.trouble import HttpResponse, VenueError, explain
from core.market.feeds.venue import Kline, Refused, Updates
from tests.simulation.market import EPOCH_MS, MINUTE, STEP_MS, SimulatedMarket
from tests.simulation.toxics import Toxic, Toxics
from tests.simulation.virtual_time import VirtualTime

_NAME = "Simulated"
_PUSH_MS = 10_000
_REQUEST_S = 10.0
PAGE_ROWS = 200
_LOST_AFTER_MS = 1_500
"""A message that should have gone out so long ago went to a computer that slept, if it did; else it was busy."""
Message = Kline | Trade | Refused


class SimulatedExchange:
    """State shared by all connections: the market, the time, the faults."""

    def __init__(self, random: Random, market: SimulatedMarket, time: VirtualTime, toxics: Toxics) -> None:
        self.random = random
        self.market = market
        self.time = time
        self.toxics = toxics
        self.reports_close = random.random() < 0.7
        self.tells_trades = random.random() < 0.8
        self.venues: list[SimulatedVenue] = []
        self.asked_s: list[float] = []
        """When each request was made, by the monotonic clock."""
        self.waits_s: list[tuple[float, float]] = []
        """Start and end of the waits it requested."""

    def wrong(self) -> dict[str, Any]:
        return self.toxics.at(self.time.true_ms())

    def connect(self) -> SimulatedVenue:
        self.venues.append(SimulatedVenue(self))
        return self.venues[-1]


async def suffer_moments(exchanges: Sequence[SimulatedExchange]) -> None:
    """Let the toxics that are moments happen at theirs. exchanges: one for each market of the same connection."""
    first = exchanges[0]
    for toxic in first.toxics.moments:
        await asyncio.sleep(max(0.0, (toxic.from_ms - first.time.true_ms()) / 1000.0))
        match toxic.kind:
            case "sleep":
                first.time.fall_asleep(toxic.asleep_ms)
            case "clock set":
                first.time.wall_offset_ms = round((toxic.strength - 0.5) * 7_200_000)
            case "busy":
                first.time.loop.stay_busy(toxic.busy_s)
        for exchange in exchanges:
            if exchange.venues:
                exchange.venues[-1].suffer(toxic)


class SimulatedVenue:
    """One connection. Keeps to `core.market.feeds.venue.Venue`."""

    name = _NAME
    page_rows = PAGE_ROWS
    listed_rows = farthest_rows = None
    has_consecutive_ids = True
    has_stream = True

    def __init__(self, exchange: SimulatedExchange) -> None:
        self._exchange = exchange
        self._inbox = Updates()
        self._waiter: asyncio.Future[None] | None = None
        self._failure: VenueError | None = None
        self._pumping: asyncio.Task[None] | None = None
        self._is_closed = self._is_deaf = False

    @property
    def reports_close(self) -> bool:
        return self._exchange.reports_close

    @property
    def is_streaming(self) -> bool:
        return self._pumping is not None and self._failure is None

    async def open(self, older: SimulatedVenue | None) -> None:
        assert older is None or older._is_closed, "a connection is closed before the next one is opened"
        await self._request()

    async def server_ms(self) -> int:
        await self._request()
        return self._exchange.time.true_ms()

    async def candles(self, since_ms: int) -> list[Candle]:
        await self._request()
        wrong, time = self._exchange.wrong(), self._exchange.time
        behind_ms = round(20_000 * wrong["older copy"].strength) if "older copy" in wrong else 0
        now_ms = time.true_ms() - behind_ms
        first_ms = -(-since_ms // STEP_MS) * STEP_MS
        times = range(max(first_ms, EPOCH_MS - 40 * STEP_MS), now_ms + 1, STEP_MS)
        rows = [row for row in (self._exchange.market.listed(each, now_ms) for each in times) if row is not None]
        await self._delay()
        return [self._spoiled(row) if "corrupt list" in wrong else row for row in rows[:PAGE_ROWS]]

    async def updates(self, timeout_s: float) -> Updates:
        assert not self._is_closed, "a closed connection gets no requests"
        if self._pumping is None:
            if "outage" in self._exchange.wrong():
                raise explain(ccxt.NetworkError("no route"), _NAME, HttpResponse())
            self._pumping = asyncio.ensure_future(self._pump())
        if self._inbox.is_empty and not self._inbox.refused and not self._inbox.is_ending and self._failure is None:
            await self._wait(timeout_s)
        updates, self._inbox = self._inbox, Updates()
        if not updates.messages and self._failure is not None:
            raise self._failure
        return updates

    async def close(self) -> None:
        self._is_closed = True
        if self._pumping is not None:
            self._pumping.cancel()
            await asyncio.gather(self._pumping, return_exceptions=True)

    def suffer(self, toxic: Toxic) -> None:
        """What a moment does to this connection."""
        match toxic.kind:
            case "sleep" if toxic.strength > 0.5:
                self.go_deaf()
            case "disconnect":
                self.cut()
            case "shutdown":
                self.announce_the_end()

    def cut(self) -> None:
        """The network drops the stream."""
        if self._pumping is not None:
            self._pumping.cancel()
            self._failure = explain(ccxt.NetworkError("1006"), _NAME, HttpResponse(), is_stream=True)
            self._wake()

    def go_deaf(self) -> None:
        """The stream stays open, and nothing comes through it any more."""
        self._is_deaf = True

    def announce_the_end(self) -> None:
        self._inbox.is_ending = True
        self._wake()

    async def _wait(self, timeout_s: float) -> None:
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        timer = loop.call_later(timeout_s, self._wake)
        try:
            await self._waiter
        finally:
            timer.cancel()
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _request(self) -> None:
        """The common path of every request. Raises VenueError."""
        self._exchange.asked_s.append(self._exchange.time.monotonic_s())
        await self._delay()
        wrong = self._exchange.wrong()
        if "outage" in wrong:
            raise explain(ccxt.NetworkError("no route"), _NAME, HttpResponse())
        if "deaf requests" in wrong:
            await asyncio.sleep(_REQUEST_S)
            raise explain(ccxt.RequestTimeout("late"), _NAME, HttpResponse())
        if "status" in wrong and self._exchange.random.random() < 0.7:
            status = wrong["status"].status
            headers = {"Retry-After": str(round(wrong["status"].strength * 20))} if status in (418, 429) else {}
            refusal = explain(ccxt.ExchangeNotAvailable("refused"), _NAME, HttpResponse(status, headers))
            now_s = self._exchange.time.monotonic_s()
            self._exchange.waits_s.append((now_s, now_s + refusal.wait_s * refusal.is_demanded))
            raise refusal

    async def _delay(self) -> None:
        wrong = self._exchange.wrong()
        if "slow requests" in wrong:
            await asyncio.sleep(self._exchange.random.uniform(0.0, 4.0) * wrong["slow requests"].strength)
        else:
            await asyncio.sleep(0.02)

    async def _pump(self) -> None:
        """The stream, as long as it is connected."""
        time = self._exchange.time
        async for at_ms, message in self._messages():
            if at_ms >= time.woke_ms or time.true_ms() - at_ms <= _LOST_AFTER_MS:
                self._send(message)

    async def _messages(self) -> AsyncIterator[tuple[int, Message]]:
        """Trades at their times, the open candle every ten seconds, the closing message a moment after its time."""
        time, market = self._exchange.time, self._exchange.market
        now_ms = time.true_ms()
        while True:
            tick_ms = (now_ms // _PUSH_MS + 1) * _PUSH_MS
            for trade in market.traded_between(now_ms, tick_ms) if self._exchange.tells_trades else []:
                await self._until(trade.time_ms)
                yield trade.time_ms, trade
            await self._until(tick_ms)
            before_ms = tick_ms - STEP_MS
            if tick_ms % STEP_MS == 0 and (closed := market.first_version(before_ms)) is not None:
                yield tick_ms, Kline(closed, is_closed=self.reports_close)
            forming = market.forming(tick_ms)
            if forming is not None:
                yield tick_ms, Kline(forming)
            now_ms = tick_ms

    async def _until(self, at_ms: int) -> None:
        delay_s = (at_ms - self._exchange.time.true_ms()) / 1000.0
        if delay_s > 0.0:
            await asyncio.sleep(delay_s)

    def _send(self, message: Message) -> None:
        wrong, random = self._exchange.wrong(), self._exchange.random
        if self._is_lost(message, wrong):
            return
        if "corrupt" in wrong and random.random() < 0.5:
            message = self._corrupted(message)
        delay_s = 0.0
        if "latency" in wrong:
            delay_s += random.uniform(0.0, 3.0) * wrong["latency"].strength
        if "reorder" in wrong:
            delay_s += random.choice((0.0, 0.0, 12.0 * wrong["reorder"].strength))
        if "late trades" in wrong and isinstance(message, Trade):
            delay_s += random.uniform(0.0, 20.0)
        for _ in range(2 if "duplicate" in wrong and random.random() < 0.5 else 1):
            self._arrive_in(delay_s, message)

    def _is_lost(self, message: Message, wrong: dict[str, Any]) -> bool:
        if "stall" in wrong and wrong["stall"].strength > 0.5:
            self.go_deaf()
        if self._is_deaf or "stall" in wrong or "outage" in wrong:
            return True
        if isinstance(message, Trade) and "stalled trades" in wrong:
            return True
        if isinstance(message, Kline) and ("stalled candles" in wrong or (message.is_closed and "no closing" in wrong)):
            return True
        return "drop" in wrong and self._exchange.random.random() < wrong["drop"].strength

    def _arrive_in(self, delay_s: float, message: Message) -> None:
        if delay_s:
            asyncio.get_running_loop().call_later(delay_s, self._arrive, message)
        else:
            self._arrive(message)

    def _arrive(self, message: Message) -> None:
        if self._is_closed:
            return
        self._inbox.messages += 1
        match message:
            case Kline():
                self._inbox.klines.append(message)
            case Trade():
                self._inbox.trades.append(message)
            case Refused():
                self._inbox.refused.append(message)
        self._wake()

    def _corrupted(self, message: Message) -> Message:
        """Unreadable, nonsense, or undetectably wrong."""
        random = self._exchange.random
        if isinstance(message, Kline):
            spoiled = replace(message, candle=self._spoiled(message.candle))
            return random.choice((Refused("half a message", '{"e":"kli'), spoiled, replace(message, is_closed=True)))
        assert isinstance(message, Trade)
        return random.choice(
            (
                Refused("half a message", '{"e":"tra'),
                replace(message, price=math.nan),
                replace(message, price=message.price * 1000.0),
                replace(message, price=message.price * 1.01),
                replace(message, time_ms=message.time_ms + 10_000_000),
                replace(message, trade_id=10**15),
            )
        )

    def _spoiled(self, candle: Candle) -> Candle:
        random = self._exchange.random
        if random.random() < 0.8:
            return candle
        return random.choice(
            (
                replace(candle, close=math.nan),
                replace(candle, high=candle.low * 0.9),
                replace(candle, volume=-1.0),
                replace(candle, open_time_ms=candle.open_time_ms // 1000),
                replace(candle, open_time_ms=candle.open_time_ms + 7),
                replace(candle, open_time_ms=candle.open_time_ms + 3_000 * STEP_MS),
                replace(
                    candle, close=(candle.high + candle.low) / 2.0, volume=candle.volume * random.uniform(0.5, 1.5)
                ),
            )
        )


def closed_until(now_ms: int) -> int:
    """The opening time of the newest candle that is over."""
    return MINUTE.open_time_ms(now_ms) - STEP_MS

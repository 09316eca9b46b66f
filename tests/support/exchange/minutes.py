"""Drives exchanges whose shortest candle is a minute."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import ccxt.pro

from core.domain.candle import Interval, Market
from core.domain.clock import Clock
from core.market.feeds.exchange import ExchangeFeed
from core.market.feeds.timing import ExchangeTimes
from tests.support.exchange.clock import AcceleratedClock, FastClock
from tests.support.exchange.coinbase import CoinbaseExchange
from tests.support.exchange.kraken import KrakenExchange
from tests.support.exchange.server import LoopbackExchange
from tests.support.tape import generated_tape
from tests.support.virtual_network import loop_time

MINUTE = Interval.parse("1m")
SPEED = 40.0
"""Faster, and a busy computer would seem to have slept."""
TIMES = ExchangeTimes(
    first_look_s=0.6,
    grace_s=3.0,
    patience_s=120.0,
    retry_s=0.02,
    silence_s=1_200.0,
    vitals_s=0.05,
    check_s=30.0,
    check_every_s=30.0,
    confirm_s=10.0,
    slept_s=600.0,
)
"""Where the feed waits it does so in real seconds, where it looks at its clock in fast ones."""
SERVERS: dict[str, type[KrakenExchange | CoinbaseExchange]] = {"kraken": KrakenExchange, "coinbase": CoinbaseExchange}


@dataclass(frozen=True, slots=True)
class ServedVenue:
    """An exchange, not started yet, and the clock to watch it by."""

    market: Market
    exchange: LoopbackExchange
    clock: Clock
    times: ExchangeTimes

    def feed(self, catch_up: int, limit: int | None = None) -> ExchangeFeed:
        return ExchangeFeed(self.market, self.clock, catch_up, limit, self.exchange.urls, self.times)


def minute_venue(venue: str, history: int = 60) -> ServedVenue:
    """On the running loop's time. venue: ``kraken`` or ``coinbase``. history: closed candles that it has at first."""
    clock = loop_time()
    tape = generated_tape(MINUTE, clock.now_ms(), history, future=100)
    exchange = SERVERS[venue](tape, clock.now_ms, push_s=1.0)
    return ServedVenue(Market(venue, "BTC/USD", MINUTE), exchange, clock, ExchangeTimes())


def fast_venue(venue: str, history: int = 60) -> ServedVenue:
    """The same on a real loop, where a minute takes a second and a half."""
    clock = AcceleratedClock(time.time_ns() // 1_000_000, SPEED)
    tape = generated_tape(MINUTE, clock(), history, future=600)
    exchange = SERVERS[venue](tape, clock, push_s=0.01)
    return ServedVenue(Market(venue, "BTC/USD", MINUTE), exchange, FastClock(clock), TIMES)


@contextlib.contextmanager
def without_a_pace(venue: str) -> Iterator[None]:
    """ccxt keeps a second or so between two requests to these exchanges, which is a whole candle here."""
    kind = getattr(ccxt.pro, venue)
    describe = kind.describe

    def hurried(exchange: Any) -> Any:
        return exchange.deep_extend(describe(exchange), {"rateLimit": 1})

    kind.describe = hurried
    try:
        yield
    finally:
        kind.describe = describe

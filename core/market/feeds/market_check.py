"""Checks that an exchange has a market, before the running one is stopped for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from core.domain.candle import Market
from core.domain.clock import Clock
from core.domain.venue_names import venue_name
from core.market.feeds.ccxt_objects import not_at
from core.market.feeds.rate_limits import RateLimitHold
from core.market.feeds.tickers import TickerSource
from core.market.feeds.trouble import VenueError
from core.market.feeds.venue import ExchangeUrls
from core.market.symbols import SymbolCache, SymbolList, fetch_symbols

_REQUEST_S = 8.0
_ASKED_S = 2.0 * _REQUEST_S
_LISTED_S = 4.0
"""Time limit for a listed market, whose interval alone is checked: without an answer it is opened."""
_NAMES_S = 15.0
"""Time limit for the list of similar names; without it none are suggested."""


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a market is not opened, as a sentence. is_certain: False if the exchange was unreachable."""

    sentence: str
    is_certain: bool


async def check_market(
    market: Market,
    cache: SymbolCache,
    urls: ExchangeUrls | None,
    clock: Clock,
    hold: RateLimitHold,
    on_asking: Callable[[], object] = lambda: None,
) -> Objection | None:
    """None if the exchange has this market, and candles of its interval.

    cache: a market listed there is opened even if the exchange does not answer. on_asking: called before a request is
    sent. Parsing the response may take seconds: await it on a loop that serves nothing but such checks.
    """
    source: TickerSource | None = None
    listed = cache.load(market.venue)
    is_listed = listed is not None and market.symbol in listed.symbols
    try:
        source = TickerSource(market.venue, urls, _REQUEST_S, hold)
        source.require_interval(market.interval)
        on_asking()
        async with asyncio.timeout(_LISTED_S if is_listed else _ASKED_S):
            unknown = await source.learn([market.symbol])
            if not unknown:
                await source.require_candles(market.symbol, market.interval)
                return None
        listed = await _newest(market.venue, listed, cache, urls, clock, hold)
        return Objection(not_at(source.name, market.symbol, listed.symbols if listed else ()), is_certain=True)
    except TimeoutError:
        return None if is_listed else _not_known(f"{venue_name(market.venue)} did not answer in time.", market)
    except VenueError as trouble:
        if trouble.is_final and not trouble.is_of_venue:
            return Objection(str(trouble), is_certain=True)
        return None if is_listed else _not_known(str(trouble), market)
    finally:
        if source is not None:
            await source.close()


async def _newest(
    venue: str,
    listed: SymbolList | None,
    cache: SymbolCache,
    urls: ExchangeUrls | None,
    clock: Clock,
    hold: RateLimitHold,
) -> SymbolList | None:
    if listed is not None and listed.is_fresh(clock.now_ms()):
        return listed
    try:
        async with asyncio.timeout(_NAMES_S):
            newest = await fetch_symbols(venue, urls, clock, hold)
    except (VenueError, TimeoutError):
        return listed
    cache.save(newest)
    return newest


def _not_known(trouble: str, market: Market) -> Objection:
    name = venue_name(market.venue)
    return Objection(f"{trouble} So it is not known whether {name} has {market.symbol}.", is_certain=False)

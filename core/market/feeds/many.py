"""The feeds of several markets, which are learned from together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from core.domain.candle import FILE_VENUE, Interval, Market
from core.domain.clock import Clock
from core.market.feeds.backoff import Backoff
from core.market.feeds.base import Feed, FeedError
from core.market.feeds.exchange import ExchangeFeed
from core.market.feeds.rate_limits import RateLimitHolds, RequestGate
from core.market.feeds.replay import ReplayFeed, StoredFeed
from core.market.feeds.shared_connection import SharedConnection
from core.market.feeds.simulated import SimulatedFeed, seed_of
from core.market.feeds.step_order import StepOrder
from core.market.feeds.timing import ExchangeTimes
from core.market.feeds.urls import ExchangeUrls
from core.market.shown_names import fingerprint_of, shown_market, shown_symbol


def open_feeds(
    markets: Sequence[Market],
    clock: Clock,
    *,
    catch_up: int = 1000,
    limit: int | None = None,
    speed: float | None = None,
    urls: ExchangeUrls | None = None,
    times: ExchangeTimes | None = None,
    fallback_venues: Sequence[str] = (),
    holds: RateLimitHolds | None = None,
    make_backoff: Callable[[], Backoff] = Backoff,
) -> dict[Market, Feed]:
    """One feed for each market, in the given order; each is what it is alone, and ends and fails alone.

    Markets of one exchange share one connection and one queue of requests. Simulated ones take their steps in the given
    order: all of them need to be iterated until they are closed. speed: of simulated markets, in candles a second. The
    rest is as in `ExchangeFeed`, for each. Raises FeedError.
    """
    times, holds = times or ExchangeTimes(), holds or RateLimitHolds(clock)
    simulated = [market for market in markets if market.is_simulated]
    order = StepOrder(len(simulated))

    def open_one(market: Market) -> Feed:
        if market.is_simulated:
            place = simulated.index(market)
            return SimulatedFeed(market.interval, _seed(market), clock, speed, catch_up, limit, order, place)
        if market.venue == FILE_VENUE:
            return StoredFeed(market, clock)
        gate = gates[market.venue, market.interval]
        connect = partial(gate.connect, market) if isinstance(gate, SharedConnection) else None
        return ExchangeFeed(
            market, clock, catch_up, limit, urls, times, make_backoff(), fallback_venues, open_venue=connect, gate=gate
        )

    gates = _gates(markets, holds, urls, times)
    return {market: open_one(market) for market in markets}


def play_together(feeds: Sequence[Feed]) -> None:
    """Keep the replays among these at one time, whatever holes their files have and wherever they begin: none gives a
    candle before all earlier ones of the others. All of them need to be iterated until they are closed. Raises
    FeedError if two hold the same candles."""
    replays = [feed for feed in feeds if isinstance(feed, ReplayFeed)]
    require_different_candles((shown_symbol(FILE_VENUE, feed.market.symbol), feed.market) for feed in replays)
    paced = [feed for feed in replays if feed.pace is not None]
    order = StepOrder(len(paced))
    until_ms = max((feed.at_once_until_ms for feed in paced), default=0)
    for place, feed in enumerate(paced):
        feed.join(order, place, until_ms)


def require_different_candles(named: Iterable[tuple[str, Market]]) -> None:
    """Files with their names. Raises FeedError, in a sentence, if two hold the same candles."""
    names: dict[str, str] = {}
    for name, market in named:
        fingerprint = fingerprint_of(market)
        if fingerprint in names:
            both = f"{names[fingerprint]} and {name} hold the same candles, which would count twice."
            raise FeedError(f"{both} Give one of them.")
        names[fingerprint] = name


def _gates(
    markets: Sequence[Market], holds: RateLimitHolds, urls: ExchangeUrls | None, times: ExchangeTimes
) -> dict[tuple[str, Interval], RequestGate]:
    """What the requests to each exchange pass: of several markets a shared connection."""
    groups: dict[tuple[str, Interval], list[Market]] = {}
    for market in markets:
        groups.setdefault((market.venue, market.interval), []).append(market)
    return {
        key: SharedConnection(group, holds.of(key[0]), urls, times) if len(group) > 1 else holds.of(key[0])
        for key, group in groups.items()
    }


def _seed(market: Market) -> int:
    seed = seed_of(market)
    if seed is None:
        raise FeedError(f"{shown_market(market)} is no simulated market: their names are SIM- and a number.")
    return seed

"""The choice of the feed: as set, or with ``auto`` the exchange if it answers, else the sample."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Interval, Market
from core.domain.clock import Clock
from core.market.feeds.base import Feed, FeedError
from core.market.feeds.exchange import ExchangeFeed, probe
from core.market.feeds.inside_feed import with_insides
from core.market.feeds.many import open_feeds
from core.market.feeds.rate_limits import RateLimitHold, RateLimitHolds
from core.market.feeds.replay import ReplayFeed, StoredFeed, replay_name, sample_feed
from core.market.feeds.replay_speed import WATCHABLE_SPEED
from core.market.feeds.simulated import SimulatedFeed, seed_of
from core.market.feeds.venue import ExchangeUrls
from core.market.history.candle_file import CandleFile, read_candle_file
from core.market.history.candle_table import Watch
from core.market.history.insides import add_insides, joined
from core.market.shown_names import SAMPLE_MARKET, fingerprint_of, newest_replay, shown_market, shown_symbol
from core.settings.tree import MarketSettings

_PROBE_S = 4.0


@dataclass(frozen=True, slots=True)
class BuiltFeed:
    """A feed, and a sentence for the banner if it is not the requested one."""

    feed: Feed
    notice: str | None = None


async def build_feed(
    settings: MarketSettings,
    *,
    seed: int | None,
    clock: Clock,
    limit: int | None = None,
    urls: ExchangeUrls | None = None,
    is_known: Callable[[Market], bool] = lambda market: False,
    last_simulated: Callable[[], Market | None] = lambda: None,
    holds: RateLimitHolds | None = None,
    watch: Watch = lambda done, total: None,
    is_watched: bool = False,
) -> BuiltFeed:
    """Build the feed of `settings.feed`. limit: the largest number of candles it yields.

    is_known: whether candles of a market are stored already. If so its exchange is retried; else the sample is shown.
    is_watched: a user sees a replay, which then always has a pace.
    seed: of the simulated market, unless its symbol names one. last_simulated: the one to continue if neither does;
    None: a new one. holds: shared with everything else that sends requests to exchanges. watch: as in
    `read_candle_table`, called on another thread while the file of a replay is read.

    Raises FeedError or CandleFileError with a sentence for the user.
    """
    hold = (holds or RateLimitHolds(clock)).of(settings.venue)
    match settings.feed:
        case "replay":
            return await _replay(settings, clock, limit, watch, is_known, is_watched=is_watched)
        case "sample":
            speed = _replay_speed(settings, limit, is_watched=is_watched)
            return BuiltFeed(_sample(settings, clock, limit, is_known, speed))
        case "simulate":
            return BuiltFeed(_simulated(settings, seed, last_simulated, clock, limit))
        case "live":
            return BuiltFeed(_exchange(settings, clock, limit, urls, hold))
        case "stored":
            market = market_of(settings)
            if not is_known(market):
                raise FeedError(
                    f"No candles of {shown_market(market)} are stored. Import some, or choose another market."
                )
            return BuiltFeed(StoredFeed(market, clock))
    return await _live_or_sample(settings, clock, limit, urls, is_known, hold)


def open_as_set(
    markets: Sequence[Market],
    settings: MarketSettings,
    clock: Clock,
    limit: int | None,
    urls: ExchangeUrls | None,
    holds: RateLimitHolds | None = None,
) -> dict[Market, Feed]:
    """The feeds of several markets, of exchanges or simulated, all as `settings` has it for one. See `open_feeds`."""
    return open_feeds(
        markets,
        clock,
        catch_up=settings.catch_up_candles,
        limit=limit,
        speed=_simulated_speed(settings, limit),
        urls=urls,
        fallback_venues=settings.fallback_venues,
        holds=holds,
        asks_finer=settings.asks_finer,
    )


def market_of(settings: MarketSettings) -> Market:
    """The stored, simulated or exchange's market of the settings. Raises FeedError."""
    venue = SIMULATED_VENUE if settings.feed == "simulate" else settings.venue
    try:
        return Market(venue, settings.symbol, Interval.parse(settings.interval))
    except ValueError as error:
        raise FeedError(f"{error}.") from error


async def _live_or_sample(
    settings: MarketSettings,
    clock: Clock,
    limit: int | None,
    urls: ExchangeUrls | None,
    is_known: Callable[[Market], bool],
    hold: RateLimitHold,
) -> BuiltFeed:
    feed = _exchange(settings, clock, limit, urls, hold)
    problem = await probe(feed.market, urls, _PROBE_S, clock, hold)
    if problem is None:
        return BuiltFeed(feed)
    if is_known(feed.market):
        if problem.is_absent:  # the feed reports it, and a retry would not help
            return BuiltFeed(feed)
        return BuiltFeed(feed, f"{problem} The stored candles are shown. Retrying automatically.")
    notice = (
        f"{problem} Showing the included sample instead: hourly EUR/USD candles of 2017, not today's market. "
        "Choose the market again to retry."
    )
    return BuiltFeed(_sample(settings, clock, limit, is_known, WATCHABLE_SPEED), notice)


def _sample(
    settings: MarketSettings, clock: Clock, limit: int | None, is_known: Callable[[Market], bool], speed: float | None
) -> ReplayFeed:
    named = settings.replayed_as if settings.feed == "sample" else None
    symbol = named or newest_replay(SAMPLE_MARKET, is_known).symbol
    return sample_feed(clock, speed, settings.catch_up_candles, limit, symbol)


def _exchange(
    settings: MarketSettings, clock: Clock, limit: int | None, urls: ExchangeUrls | None, hold: RateLimitHold
) -> Feed:
    feed = ExchangeFeed(
        market_of(settings),
        clock,
        catch_up=settings.catch_up_candles,
        limit=limit,
        urls=urls,
        fallback_venues=settings.fallback_venues,
        gate=hold,
    )
    return with_insides(feed, urls, hold, clock) if settings.asks_finer else feed


async def _replay(
    settings: MarketSettings,
    clock: Clock,
    limit: int | None,
    watch: Watch,
    is_known: Callable[[Market], bool],
    *,
    is_watched: bool,
) -> BuiltFeed:
    """The replay of the file; if the settings name one that it cannot continue, its stored candles."""
    if not settings.file:
        raise FeedError("A replay needs a candle file: name one with --file, or in the market dialog.")
    path, named = Path(settings.file), settings.replayed_as
    stored = None if named is None else Market(FILE_VENUE, named, Interval.parse(settings.interval))
    is_stored = stored is not None and is_known(stored)
    if stored is not None and is_stored and not await asyncio.to_thread(path.exists):
        return _stored_instead(stored, clock, f"{path} is not there any more")
    file = await asyncio.to_thread(_file, path, settings, watch)
    first = Market(FILE_VENUE, replay_name(path, file), file.interval)
    if stored is not None and is_stored and fingerprint_of(stored) != fingerprint_of(first):
        return _stored_instead(stored, clock, f"{path} has other candles by now")
    symbol = named or newest_replay(first, is_known).symbol
    speed = _replay_speed(settings, limit, is_watched=is_watched)
    return BuiltFeed(ReplayFeed(file, symbol, clock, speed, settings.catch_up_candles, limit))


def _stored_instead(market: Market, clock: Clock, reason: str) -> BuiltFeed:
    notice = (
        f"{reason}, so the replay of {shown_symbol(market.venue, market.symbol)} cannot continue. Its stored candles "
        "are shown. If the file has been moved, choose it with File › Choose market › Replay a file."
    )
    return BuiltFeed(StoredFeed(market, clock), notice)


def _replay_speed(settings: MarketSettings, limit: int | None, *, is_watched: bool) -> float | None:
    """Candles a second, 0 for as fast as possible; None: all at once."""
    if not is_watched:
        return settings.speed or None
    return WATCHABLE_SPEED if settings.speed is None and limit is None else settings.speed


def _file(path: Path, settings: MarketSettings, watch: Watch) -> CandleFile:
    file = read_candle_file(path, watch)
    if settings.joined_to is not None:
        file = joined(file, Interval.parse(settings.joined_to))
    if settings.inside is not None:
        finer = Path(settings.inside)
        file = add_insides(file, read_candle_file(finer, watch), finer.name)
    return file


def _simulated(
    settings: MarketSettings,
    seed: int | None,
    last_simulated: Callable[[], Market | None],
    clock: Clock,
    limit: int | None,
) -> SimulatedFeed:
    market = market_of(settings)
    named = seed_of(market)
    if named is not None:
        seed = named
    elif seed is None:
        last = last_simulated()
        seed = None if last is None else seed_of(last)
    seed = secrets.randbits(31) if seed is None else seed
    speed = _simulated_speed(settings, limit)
    return SimulatedFeed(market.interval, seed, clock, speed, settings.catch_up_candles, limit)


def _simulated_speed(settings: MarketSettings, limit: int | None) -> float | None:
    """Candles a second; None: in real time."""
    return settings.speed or (0.0 if limit is not None else None)

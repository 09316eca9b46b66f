"""The feeds of several markets that are learned together, and the connection shared by an exchange's feeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from core.domain.backoff import Backoff
from core.domain.candle import FILE_VENUE, Interval, Market
from core.domain.clock import Clock
from core.market.feeds.base import Feed, FeedError
from core.market.feeds.ccxt_session import CcxtSession, CcxtVenue
from core.market.feeds.exchange import ExchangeFeed
from core.market.feeds.inside_feed import with_insides
from core.market.feeds.rate_limits import RateLimitHold, RateLimitHolds, RequestGate, RequestQueue
from core.market.feeds.replay import ReplayFeed, StoredFeed
from core.market.feeds.replay_speed import ReplayPace, StepOrder
from core.market.feeds.simulated import SimulatedFeed, seed_of
from core.market.feeds.timing import ExchangeTimes
from core.market.feeds.trouble import VenueError
from core.market.feeds.venue import ExchangeUrls
from core.market.shown_names import fingerprint_of, shown_market, shown_symbol

_MOST_ASKED = 10
"""Markets of which insides are asked for, each with one more request at a close."""
_RENEWED_AFTER_S = 600.0
"""Age after which a connection with messages of other markets, but none of one, is replaced; twice as much each time
after. That interrupts the others, and may not help."""


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
    asks_finer: bool = False,
    make_backoff: Callable[[], Backoff] = Backoff,
) -> dict[Market, Feed]:
    """One feed for each market, in order, each as if it were alone; it ends and fails alone.

    Markets of one exchange share one connection and one queue of requests. Simulated markets step in the given order:
    all must be iterated until they are closed. speed: simulated candles a second. asks_finer: ask for the inside of
    their candles too, unless they are so many that an exchange's limits would be felt. The other arguments are as in
    `ExchangeFeed`, for each. Raises FeedError.
    """
    times, holds = times or ExchangeTimes(), holds or RateLimitHolds(clock)
    simulated = [market for market in markets if market.is_simulated]
    order = StepOrder(len(simulated))

    def feed_of(market: Market) -> Feed:
        if market.is_simulated:
            seed, place = seed_of(market), simulated.index(market)
            if seed is None:
                raise FeedError(f"{shown_market(market)} is no simulated market: their names are SIM- and a number.")
            return SimulatedFeed(market.interval, seed, clock, speed, catch_up, limit, order, place)
        if market.venue == FILE_VENUE:
            return StoredFeed(market, clock)
        gate = gates[market.venue, market.interval]
        connect = partial(gate.connect, market) if isinstance(gate, SharedConnection) else None
        feed = ExchangeFeed(
            market, clock, catch_up, limit, urls, times, make_backoff(), fallback_venues, open_venue=connect, gate=gate
        )
        has_room = asks_finer and len(markets) <= _MOST_ASKED
        return with_insides(feed, urls, holds.of(market.venue), clock) if has_room else feed

    gates = _gates(markets, holds, urls, times)
    return {market: feed_of(market) for market in markets}


def play_together(feeds: Sequence[Feed]) -> None:
    """Keep the replays among these at one time, whatever their files' holes and beginnings: none emits a candle before
    the others' earlier ones. They have the first one's speed, and a step is a time at which any has a candle. All must
    be iterated until they are closed. Raises FeedError if two hold the same candles."""
    replays = [feed for feed in feeds if isinstance(feed, ReplayFeed)]
    require_different_candles((shown_symbol(FILE_VENUE, feed.market.symbol), feed.market) for feed in replays)
    paced = [(feed, feed.pace.speed) for feed in replays if feed.pace is not None]
    if paced:
        until_ms = max(feed.warm_up_until_ms for feed, _ in paced)
        pace = ReplayPace(paced[0][1], [feed.candles for feed, _ in paced], until_ms)
        for place, (feed, _) in enumerate(paced):
            feed.join(pace, place, until_ms)


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
    """The gate of the requests to each exchange: for several markets a shared connection."""
    groups: dict[tuple[str, Interval], list[Market]] = {}
    for market in markets:
        groups.setdefault((market.venue, market.interval), []).append(market)
    return {
        key: SharedConnection(group, holds.of(key[0]), urls, times) if len(group) > 1 else holds.of(key[0])
        for key, group in groups.items()
    }


class SharedConnection(RequestQueue):
    """One connection to an exchange for several markets, whose requests go through it one at a time.

    Each market's `ExchangeFeed` has it as its `gate`, and `connect` as its `open_venue`.

    A market that fails alone comes back to the same session. What ends the session ends it for all, and the first feed
    that connects again opens the next one.
    """

    def __init__(
        self, markets: Sequence[Market], hold: RateLimitHold, urls: ExchangeUrls | None, times: ExchangeTimes
    ) -> None:
        """markets: all of one exchange and one interval."""
        super().__init__(hold)
        self._markets = markets
        self._urls = urls
        self._times = times
        self._session: CcxtSession | None = None
        self._renewed_after_s = _RENEWED_AFTER_S

    def connect(self, market: Market) -> CcxtVenue:
        """The venue of a market, on the current session or a new one. Raises VenueError."""
        if self._session is None or self._session.is_over:
            absent = set() if self._session is None else self._session.absent
            symbols = [each.symbol for each in self._markets if each == market or each.symbol not in absent]
            self._session = CcxtSession(market.venue, symbols, market.interval, self._urls, self._times.request_s)
            self._session.absent |= absent
        return CcxtVenue(market, self._urls, self._times.request_s, self._session)

    def record(self, trouble: VenueError) -> None:
        """Take note of an error that ended a market's venue, and end the others' if it concerns their socket."""
        super().record(trouble)
        session = self._session
        if session is None or session.is_over:
            return
        is_dead = trouble.is_silence and session.quiet_s >= self._times.silence_s / 2.0
        if is_dead or (trouble.is_of_socket and session.age_s >= self._times.steady_s):
            session.fail(trouble)
        elif trouble.is_silence and session.age_s >= self._renewed_after_s:
            self._renewed_after_s *= 2.0
            sentence = f"The connection to {session.name} is being renewed, as it brings nothing of one market."
            session.fail(VenueError(sentence, is_planned=True))

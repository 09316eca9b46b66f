"""Polls the listed markets' prices: one task per exchange, each with its own backoff, under one supervisor."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.domain.backoff import Backoff
from core.domain.clock import Clock
from core.domain.plain_text import plain
from core.domain.venue_names import venue_name
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.tickers import Quote, TickerSource
from core.market.feeds.timing import happens_within
from core.market.feeds.trouble import VenueError
from core.market.feeds.venue import ExchangeUrls

MarketKey = tuple[str, str]
"""An exchange's ccxt id and a symbol."""

_log = logging.getLogger("ghostcandle.feed")


@dataclass(frozen=True, slots=True)
class PollTimes:
    """Poll intervals, in seconds."""

    every_s: float = 5.0
    request_s: float = 10.0
    hopeless_s: float = 900.0
    """Time before a retry after a final error: the user may have changed the network."""
    unknown_every_s: float = 3600.0
    """Time between two requests for a symbol that the exchange does not have: it may be listed later."""
    renew_s: float = 20 * 3600.0
    """The exchange's object is replaced after so long: the memory of ccxt's objects grows."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """New prices of one exchange, by symbol; `unknown` has a sentence for each symbol it does not have."""

    venue: str
    quotes: Mapping[str, Quote]
    unknown: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PollTrouble:
    """An exchange without prices: a sentence with the reason, and the time of the next attempt."""

    venue: str
    sentence: str
    next_try_ms: int


PollEvent = Quoted | PollTrouble


@dataclass(slots=True)
class _Venue:
    """The state of an exchange across its ccxt objects, so that nothing is requested again or too often."""

    symbols: tuple[str, ...] = ()
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when `symbols` or `hold_until_s` has changed."""
    markets: tuple[Mapping[str, Any], ...] = ()
    polled_s: float | None = None
    unknown: dict[str, tuple[float, str]] = field(default_factory=dict)
    """Symbols that the exchange does not have: when each is requested again, and the sentence."""
    hold_until_s: float = 0.0
    """Our own backoff; waits that the exchange demands are in its `RateLimitHold`."""


class TickerPoller:
    """`run` polls until it is cancelled, and may be run again later. Everything else happens on its loop."""

    def __init__(
        self,
        clock: Clock,
        urls: ExchangeUrls | None,
        notify: Callable[[PollEvent], None],
        times: PollTimes | None = None,
        make_backoff: Callable[[], Backoff] = Backoff,
        holds: RateLimitHolds | None = None,
    ) -> None:
        """notify: called on the loop that `run` is awaited on. holds: shared with everything else that sends
        requests."""
        self._clock = clock
        self._urls = urls
        self._notify = notify
        self._times = times or PollTimes()
        self._make_backoff = make_backoff
        self._holds = holds or RateLimitHolds(clock)
        self._venues: dict[str, _Venue] = {}
        self._list_changed = asyncio.Event()

    def watch(self, keys: Iterable[MarketKey]) -> None:
        """Poll these from now on."""
        by_venue: dict[str, dict[str, None]] = {}
        for name, symbol in keys:
            by_venue.setdefault(name, {})[symbol] = None
            self._venues.setdefault(name, _Venue())
        for name, venue in self._venues.items():
            venue.symbols = tuple(by_venue.get(name, ()))
            venue.unknown = {symbol: entry for symbol, entry in venue.unknown.items() if symbol in venue.symbols}
            venue.woken.set()
        self._list_changed.set()

    def try_again(self, name: str) -> None:
        """End our own backoff for this exchange. A wait that the exchange demands still holds."""
        if name in self._venues:
            self._venues[name].hold_until_s = 0.0
            self._venues[name].woken.set()

    async def run(self) -> None:
        """Keep one task per exchange of the list."""
        tasks: dict[str, asyncio.Task[None]] = {}
        try:
            while True:
                self._list_changed.clear()
                for name, venue in list(self._venues.items()):
                    if venue.symbols and name not in tasks:
                        venue.woken.clear()
                        tasks[name] = asyncio.create_task(self._keep_polling(name, venue))
                    elif not venue.symbols and name in tasks:
                        await _end([tasks.pop(name)])
                await self._list_changed.wait()
        finally:
            await _end(tasks.values())

    async def _keep_polling(self, name: str, venue: _Venue) -> None:
        """Poll one exchange, across all errors."""
        backoff = self._make_backoff()
        while True:
            hold = self._holds.of(name)
            while (left_s := max(venue.hold_until_s - self._clock.monotonic_s(), hold.left_s)) > 0.0:
                venue.woken.clear()
                await happens_within(venue.woken, left_s)
            try:
                await self._poll(name, venue, backoff)
            except VenueError as trouble:
                if trouble.is_absent:  # a market was delisted: learn again which ones there are
                    venue.markets = ()
                is_hopeless = trouble.is_final and not trouble.is_absent
                wait_s = self._times.hopeless_s if is_hopeless else backoff.next_s(trouble.wait_s)
                self._hold(name, venue, str(trouble), wait_s)
            except Exception as error:  # ccxt is third-party code: one odd response must not end the polling
                _log.exception("the prices of %s could not be requested", name)
                reason = f"{type(error).__name__}: {plain(str(error))}"
                sentence = f"The prices of {venue_name(name)} could not be read ({reason})."
                self._hold(name, venue, sentence, backoff.next_s(self._times.every_s))

    def _hold(self, name: str, venue: _Venue, sentence: str, wait_s: float) -> None:
        venue.hold_until_s = self._clock.monotonic_s() + wait_s
        self._notify(PollTrouble(name, sentence, self._clock.now_ms() + round(wait_s * 1000.0)))

    async def _poll(self, name: str, venue: _Venue, backoff: Backoff) -> None:
        """Poll with one exchange object, until the first error or until it is due for replacement."""
        source = TickerSource(name, self._urls, self._times.request_s, self._holds.of(name), venue.markets)
        renew_at_s = self._clock.monotonic_s() + self._times.renew_s
        try:
            while self._clock.monotonic_s() < renew_at_s:
                await self._until_due(venue)
                symbols, venue.polled_s = venue.symbols, self._clock.monotonic_s()
                await self._learn(venue, source, symbols)
                unknown = {symbol: venue.unknown[symbol][1] for symbol in symbols if symbol in venue.unknown}
                quotes = await source.quotes([symbol for symbol in symbols if symbol not in unknown], self._clock)
                self._notify(Quoted(name, quotes, unknown))
                backoff.reset()
        finally:
            await source.close()

    async def _learn(self, venue: _Venue, source: TickerSource, symbols: Iterable[str]) -> None:
        """Learn the markets of these symbols; unknown ones are requested again only after a long time."""
        now_s = self._clock.monotonic_s()
        due = [symbol for symbol in symbols if symbol not in venue.unknown or now_s >= venue.unknown[symbol][0]]
        missing = await source.learn(due)
        venue.markets = source.markets
        for symbol in due:
            venue.unknown.pop(symbol, None)
        venue.unknown |= {symbol: (now_s + self._times.unknown_every_s, words) for symbol, words in missing.items()}

    async def _until_due(self, venue: _Venue) -> None:
        """Wait for the next round; a change of the list shortens the wait, but not below one second."""
        if venue.polled_s is None:
            return
        since_s = self._clock.monotonic_s() - venue.polled_s
        await happens_within(venue.woken, max(0.0, self._times.every_s - since_s))
        venue.woken.clear()
        least_s = min(1.0, self._times.every_s)
        await asyncio.sleep(max(0.0, least_s - (self._clock.monotonic_s() - venue.polled_s)))


async def _end(tasks: Iterable[asyncio.Task[None]]) -> None:
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)

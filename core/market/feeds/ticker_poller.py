"""Polls the listed markets' prices: one task per exchange, each with its own backoff, under one supervisor."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.domain.clock import Clock
from core.domain.plain_text import plain
from core.domain.venue_names import venue_name
from core.market.feeds.interruptible_wait import happens_within
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.tickers import DayOfPrices, Quote, TickerSource
from core.market.feeds.timing import Backoff
from core.market.feeds.trouble import VenueError
from core.market.feeds.urls import ExchangeUrls

MarketKey = tuple[str, str]
"""An exchange's ccxt id and a symbol."""

_log = logging.getLogger("ghostcandle.feed")


@dataclass(frozen=True, slots=True)
class PollTimes:
    """Poll intervals, in seconds."""

    every_s: float = 5.0
    day_every_s: float = 300.0
    """Between two requests for a market's day of prices."""
    request_s: float = 10.0
    hopeless_s: float = 900.0
    """Before a retry after a final error: the user may have changed the network."""
    unknown_every_s: float = 3600.0
    """Between two requests for a symbol that the exchange does not have: it may be listed later."""
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
    """An exchange gives no prices: a sentence with the reason, and the time of the next attempt."""

    venue: str
    sentence: str
    next_try_ms: int


PollEvent = Quoted | PollTrouble


@dataclass(slots=True)
class _Known:
    """State kept across sources, so that nothing is requested again or too often."""

    markets: tuple[Mapping[str, Any], ...] = ()
    polled_s: float | None = None
    days: dict[str, tuple[float, DayOfPrices | None]] = field(default_factory=dict)
    prices: dict[str, Quote] = field(default_factory=dict)
    unknown: dict[str, tuple[float, str]] = field(default_factory=dict)
    """Symbols that the exchange does not have: when each is requested again, and the sentence."""
    hold_until_s: float = 0.0
    """Our own backoff; waits that the exchange demands are in its `RateLimitHold`."""

    def day(self, symbol: str) -> DayOfPrices | None:
        return self.days[symbol][1] if symbol in self.days else None

    def sentences(self, symbols: Iterable[str]) -> dict[str, str]:
        """The sentences for symbols that the exchange does not have."""
        return {symbol: self.unknown[symbol][1] for symbol in symbols if symbol in self.unknown}


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
        self._symbols: dict[str, tuple[str, ...]] = {}
        self._known: dict[str, _Known] = {}
        self._changes: dict[str, asyncio.Event] = {}
        self._retries: dict[str, asyncio.Event] = {}
        self._list_changed: asyncio.Event | None = None

    def watch(self, keys: Iterable[MarketKey]) -> None:
        """Poll these from now on."""
        by_venue: dict[str, dict[str, None]] = {}
        for venue, symbol in keys:
            by_venue.setdefault(venue, {})[symbol] = None
        self._symbols = {venue: tuple(symbols) for venue, symbols in by_venue.items()}
        for venue, known in self._known.items():  # a symbol that is added again is requested again
            kept = self._symbols.get(venue, ())
            known.unknown = {symbol: entry for symbol, entry in known.unknown.items() if symbol in kept}
        for event in (self._list_changed, *self._changes.values()):
            if event is not None:
                event.set()

    def try_again(self, venue: str) -> None:
        """End our own backoff for this exchange. A wait that the exchange demands still holds."""
        if venue in self._known:
            self._known[venue].hold_until_s = 0.0
        if venue in self._retries:
            self._retries[venue].set()

    async def run(self) -> None:
        """Keep one task per exchange of the list."""
        changed = self._list_changed = asyncio.Event()
        tasks: dict[str, asyncio.Task[None]] = {}
        try:
            while True:
                changed.clear()
                for venue in set(tasks) - set(self._symbols):
                    await _end([tasks.pop(venue)])
                for venue in self._symbols:
                    if venue not in tasks:
                        self._changes[venue], self._retries[venue] = asyncio.Event(), asyncio.Event()
                        tasks[venue] = asyncio.create_task(self._keep_polling(venue))
                await changed.wait()
        finally:
            self._list_changed = None
            self._changes.clear()
            self._retries.clear()
            await _end(tasks.values())

    async def _keep_polling(self, venue: str) -> None:
        """Poll one exchange, across all errors."""
        backoff, known = self._make_backoff(), self._known.setdefault(venue, _Known())
        while True:
            await self._wait_out(venue, known)
            try:
                await self._poll(venue, known, backoff)
            except VenueError as trouble:
                if trouble.is_absent:  # a market was delisted: learn again which ones there are
                    known.markets = ()
                is_hopeless = trouble.is_final and not trouble.is_absent
                wait_s = self._times.hopeless_s if is_hopeless else backoff.next_s(trouble.wait_s)
                self._hold(venue, known, str(trouble), wait_s)
            except Exception as error:  # ccxt is third-party code: one odd response must not end the polling
                _log.exception("the prices of %s could not be requested", venue)
                reason = f"{type(error).__name__}: {plain(str(error))}"
                sentence = f"The prices of {venue_name(venue)} could not be read ({reason})."
                self._hold(venue, known, sentence, backoff.next_s(self._times.every_s))

    async def _wait_out(self, venue: str, known: _Known) -> None:
        """Wait until our own backoff and the exchange's rate limit are over."""
        hold, retry = self._holds.of(venue), self._retries[venue]
        while (left_s := max(known.hold_until_s - self._clock.monotonic_s(), hold.left_s)) > 0.0:
            retry.clear()
            await happens_within(retry, left_s)

    def _hold(self, venue: str, known: _Known, sentence: str, wait_s: float) -> None:
        known.hold_until_s = self._clock.monotonic_s() + wait_s
        self._notify(PollTrouble(venue, sentence, self._clock.now_ms() + round(wait_s * 1000.0)))

    async def _poll(self, venue: str, known: _Known, backoff: Backoff) -> None:
        """Poll with one exchange object, until the first error or until it is due for replacement."""
        source = TickerSource(venue, self._urls, self._times.request_s, self._holds.of(venue), known.markets)
        renew_at_s = self._clock.monotonic_s() + self._times.renew_s
        try:
            while self._clock.monotonic_s() < renew_at_s:
                await self._until_due(venue, known)
                symbols = self._symbols.get(venue, ())
                known.polled_s = self._clock.monotonic_s()
                await self._learn(known, source, symbols)
                unknown = known.sentences(symbols)
                asked = [symbol for symbol in symbols if symbol not in unknown]
                prices = await source.last_prices(asked)
                now_ms = self._clock.now_ms()
                quotes = {symbol: Quote(price, now_ms, known.day(symbol)) for symbol, price in prices.items()}
                known.prices.update(quotes)
                self._notify(Quoted(venue, quotes, unknown))
                backoff.reset()
                await self._days(venue, known, source, asked)
        finally:
            await source.close()

    async def _learn(self, known: _Known, source: TickerSource, symbols: Iterable[str]) -> None:
        """Learn the markets of these symbols; unknown ones are requested again only after a long time."""
        now_s = self._clock.monotonic_s()
        due = [symbol for symbol in symbols if symbol not in known.unknown or now_s >= known.unknown[symbol][0]]
        missing = await source.learn(due)
        known.markets = source.markets
        for symbol in due:
            known.unknown.pop(symbol, None)
        known.unknown |= {symbol: (now_s + self._times.unknown_every_s, words) for symbol, words in missing.items()}

    async def _until_due(self, venue: str, known: _Known) -> None:
        """Wait for the next round; a change of the list shortens the wait, but not below one second."""
        if known.polled_s is None:
            return
        changed = self._changes[venue]
        since_s = self._clock.monotonic_s() - known.polled_s
        await happens_within(changed, max(0.0, self._times.every_s - since_s))
        changed.clear()
        least_s = min(1.0, self._times.every_s)
        await asyncio.sleep(max(0.0, least_s - (self._clock.monotonic_s() - known.polled_s)))

    async def _days(self, venue: str, known: _Known, source: TickerSource, symbols: Iterable[str]) -> None:
        """Request due days of prices: one per round, and more while there is time."""
        began_s = self._clock.monotonic_s()
        until_s = began_s + self._times.every_s
        due = [symbol for symbol in symbols if symbol not in known.days or began_s >= known.days[symbol][0]]
        for number, symbol in enumerate(due):
            now_s = self._clock.monotonic_s()
            if number and now_s >= until_s:
                return
            known.days[symbol] = (now_s + self._times.day_every_s, known.day(symbol))
            day = await _day_or_none(source, symbol)
            if day is None:
                continue
            known.days[symbol] = (now_s + self._times.day_every_s, day)
            if symbol in known.prices:
                known.prices[symbol] = replace(known.prices[symbol], day=day)
                self._notify(Quoted(venue, {symbol: known.prices[symbol]}, {}))


async def _day_or_none(source: TickerSource, symbol: str) -> DayOfPrices | None:
    """None if only this market's candles are unavailable. Raises VenueError for the exchange's errors and limits."""
    try:
        return await source.day(symbol)
    except VenueError as trouble:
        if (trouble.is_final and not trouble.is_absent) or trouble.wait_s > 0.0:
            raise
        _log.info("no day of prices of %s: %s", symbol, trouble)
        return None


async def _end(tasks: Iterable[asyncio.Task[None]]) -> None:
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)

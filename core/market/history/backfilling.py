"""Fetches only the missing candles of a market's history from its exchange.

Every page is stored before the next is requested, and the missing candles are computed from the stored ones: so it can
be stopped at any time, in any way, and continues from there. Candles that the exchange does not have are requested
twice, then recorded and not requested again. A hole at the beginning of an answer counts as one only if the exchange
also lists a candle before it: some list only their newest, whatever is requested.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from core.domain.backoff import Backoff
from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.domain.spans import TimeSpan, candles_in, without
from core.market.feeds.reach import reachable_rows
from core.market.feeds.server_clock import ServerClock
from core.market.feeds.trouble import VenueError
from core.market.feeds.venue import OpenVenue, Venue
from core.market.history.column_checks import check_columns
from core.market.history.errors import HistoryError
from core.market.history.import_plan import HistoryWriter
from core.market.history.utc_times import first_on_grid, moment_text
from core.storage.candles import CandleStore, StoredColumns
from core.storage.holes import HoleStore

_MOST_TRIES = 12
_GRACE_MS = 2_000
_NEWEST = 10
"""Newest candles requested to learn when they open."""
_LONG_WAIT_S = 3.0
_SYNC_EVERY_S = 600.0


class BackfillListener(Protocol):
    """Receives progress."""

    def notify(self, sentence: str) -> None: ...

    def show(self, done: int, total: int) -> None:
        """`done` missing candles are stored, or known not to exist."""
        ...


@dataclass(frozen=True, slots=True)
class BackfillReport:
    """The result.

    wanted: missing candles; stored: fetched ones; absent: candles that the exchange turned out not to have; all_absent:
    including earlier known ones; left: still missing, because rejected or out of reach; out_of_reach: the part of
    `left` beyond the exchange's list.
    """

    span: TimeSpan
    wanted: int
    stored: int
    absent: int
    left: int
    out_of_reach: int
    all_absent: int
    requests: int
    rejected: dict[str, int]


@dataclass(slots=True)
class Backfill:
    """One market's backfill, run once. `store` and `holes` read the database of `writer`."""

    market: Market
    store: CandleStore
    holes: HoleStore
    writer: HistoryWriter
    clock: Clock
    open_venue: OpenVenue
    listener: BackfillListener
    backoff: Backoff = field(default_factory=Backoff)
    _time: ServerClock = field(init=False)
    _venue: Venue | None = None
    _older: Venue | None = None
    _tries: int = 0
    _requests: int = 0
    stored: int = 0
    """The number of candles fetched and stored."""
    _absent: int = 0
    _out_of_reach: int = 0
    _was_unfit: bool = False
    _listed_from_ms: int = 2**62
    """The oldest candle in an answer so far."""
    _lacks_until_ms: int = -1
    """The end of the newest span that turned out to be out of reach."""
    _rejected: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._time = ServerClock(self.clock, self.market.interval)

    async def run(self, since_ms: int, until_ms: int | None = None, *, retries_absent: bool = False) -> BackfillReport:
        """Fetch the missing candles of since..until (default: now).

        retries_absent: also request candles that the exchange is known not to have. Raises HistoryError after too many
        errors of the exchange, and StorageError; earlier pages are stored. May be cancelled.
        """
        try:
            span = await self._closed_span(since_ms, until_ms)
            known = [] if retries_absent else self.holes.of_exchange(self.market, span)
            wanted = self._missing(span, known)
            await self._settle(wanted)
        finally:
            await self._close()
        interval = self.market.interval
        left = candles_in(self._missing(span, self.holes.of_exchange(self.market, span)), interval)
        return BackfillReport(
            span=span,
            wanted=candles_in(wanted, interval),
            stored=self.stored,
            absent=self._absent,
            left=left,
            out_of_reach=self._out_of_reach,
            all_absent=candles_in(self.holes.missing(self.market, span), interval) - left,
            requests=self._requests,
            rejected=dict(self._rejected),
        )

    async def _closed_span(self, since_ms: int, until_ms: int | None) -> TimeSpan:
        """The span from the first candle that opens at or after `since_ms` to the last closed one."""
        interval = self.market.interval
        await self._learn_grid(since_ms)
        await self._connected()
        forming_ms = self._time.forming_ms()
        stop_ms = forming_ms if self._time.now_ms() - forming_ms >= _GRACE_MS else forming_ms - interval.duration_ms
        phase_ms = forming_ms % interval.duration_ms
        if until_ms is not None:
            stop_ms = min(stop_ms, first_on_grid(until_ms, interval, phase_ms))
        first_ms = first_on_grid(max(0, since_ms), interval, phase_ms)
        if first_ms >= stop_ms:
            raise HistoryError(
                f"Between {moment_text(since_ms)} and {moment_text(until_ms or stop_ms)} UTC no candle of "
                f"{interval} is over, so there is nothing to fetch."
            )
        return TimeSpan(first_ms, stop_ms)

    async def _learn_grid(self, since_ms: int) -> None:
        """Learn when days and weeks open, which the exchange decides, from stored candles or a response. Before its
        first candle there are none, so the newest are requested then."""
        if not self._time.grid.is_own:
            return
        stored = self.store.newest(self.market, 1)
        if stored:
            self._time.grid.place(stored[0].open_time_ms)
        elif not (await self._request(since_ms))[0]:
            await self._request(self.clock.now_ms() - _NEWEST * self.market.interval.duration_ms)

    def _missing(self, span: TimeSpan, known: list[TimeSpan]) -> list[TimeSpan]:
        return without(self.holes.missing(self.market, span), known)

    async def _settle(self, missing: list[TimeSpan]) -> None:
        interval = self.market.interval
        total = candles_in(missing, interval)
        self.listener.show(0, total)
        while missing := await self._reachable(missing):
            first_ms = missing[0].first_ms
            found, covered = await self._page(missing, first_ms)
            self._store(found, missing)
            missing = without(missing, [covered])
            self.listener.show(total - candles_in(missing, interval), total)

    async def _oldest_ms(self) -> int:
        """The oldest candle that may be requested."""
        rows = reachable_rows(await self._connected())
        return 0 if rows is None else self._time.forming_ms() - rows * self.market.interval.duration_ms

    async def _reachable(self, missing: list[TimeSpan]) -> list[TimeSpan]:
        """The spans that may be requested. The others are counted."""
        if not missing:
            return missing
        reachable = without(missing, [TimeSpan(0, await self._oldest_ms())])
        interval = self.market.interval
        self._out_of_reach += candles_in(missing, interval) - candles_in(reachable, interval)
        return reachable

    async def _page(self, missing: list[TimeSpan], first_ms: int) -> tuple[dict[int, Candle], TimeSpan]:
        """Candles by opening time, and how far the exchange's answer reaches. Holes in it are noted after two equal
        answers: one may be incomplete."""
        found, covered = await self._request(first_ms)
        if covered.stop_ms <= first_ms:
            return {}, covered  # refused as too old
        begins_ms = min(found, default=covered.stop_ms)
        if begins_ms > first_ms and not await self._lists_before(first_ms, is_empty=not found):
            covered = TimeSpan(begins_ms, covered.stop_ms)
            self._lacks_until_ms = begins_ms
        absent = self._absent_of(missing, found, covered)
        if absent:
            again, covered_again = await self._request(absent[0].first_ms)
            found |= again
            covered = TimeSpan(
                max(covered.first_ms, covered_again.first_ms), min(covered.stop_ms, covered_again.stop_ms)
            )
            absent = self._absent_of(missing, found, covered)
        stop_ms = max(covered.stop_ms, first_ms + self.market.interval.duration_ms)
        unlisted = self._absent_of(missing, found, TimeSpan(first_ms, min(covered.first_ms, stop_ms)))
        self._out_of_reach += candles_in(unlisted, self.market.interval)
        if absent:
            self.writer.put_holes(self.market, absent, self.clock.now_ms())
            self._absent += candles_in(absent, self.market.interval)
        return found, TimeSpan(first_ms, stop_ms)

    async def _lists_before(self, first_ms: int, *, is_empty: bool) -> bool:
        """Whether the exchange lists candles before a time from which on it lists none.

        is_empty: its answer was empty. That is trusted, as its answers begin where requested, unless it also lacks
        stored candles before that time.
        """
        if self._listed_from_ms < first_ms:
            return True
        if first_ms == self._lacks_until_ms:
            return False
        page_ms = (await self._connected()).page_rows * self.market.interval.duration_ms
        before = TimeSpan(max(0, await self._oldest_ms(), first_ms - page_ms), first_ms)
        if before.first_ms >= first_ms:
            return False
        has_stored = self.holes.missing(self.market, before) != [before]
        if is_empty and not has_stored:
            return True
        found, _ = await self._request(before.first_ms)
        return min(found) < first_ms if found else not has_stored

    def _absent_of(self, missing: list[TimeSpan], found: dict[int, Candle], covered: TimeSpan) -> list[TimeSpan]:
        step_ms = self.market.interval.duration_ms
        there = [TimeSpan(time_ms, time_ms + step_ms) for time_ms in sorted(found)]
        beyond = [TimeSpan(0, covered.first_ms), TimeSpan(covered.stop_ms, 2**62)]
        return without(missing, [*there, *beyond])

    def _store(self, found: dict[int, Candle], missing: list[TimeSpan]) -> None:
        """Store those that are missing, in one transaction."""
        times = np.array(sorted(found), dtype=np.int64)
        if not times.size:
            return
        firsts = np.array([span.first_ms for span in missing])
        stops = np.array([span.stop_ms for span in missing])
        places = np.searchsorted(firsts, times, side="right") - 1
        is_missing = (places >= 0) & (times < stops[np.maximum(places, 0)])
        times = times[is_missing]
        rows = [found[int(time)] for time in times]
        numbers = [(row.open, row.high, row.low, row.close, row.volume) for row in rows]
        values = np.array(numbers, dtype=np.float64).reshape(-1, 5).T
        phase_ms = int(firsts[0]) % self.market.interval.duration_ms
        checked = check_columns(StoredColumns(times, values), self.market.interval, phase_ms)
        self._rejected.update({why.value: count for why, count in checked.rejected.items()})
        if len(checked.columns):
            self.stored += self.writer.put(self.market, checked.columns, replaces=False)

    async def _request(self, since_ms: int) -> tuple[dict[int, Candle], TimeSpan]:
        """A page, and the time that it covers. Retries after temporary errors."""
        while True:
            try:
                venue = await self._connected()
                self._requests += 1
                if self._time.age_s > _SYNC_EVERY_S:
                    await self._sync(venue)
                rows = await venue.candles(since_ms)
            except VenueError as trouble:
                if trouble.is_too_old and reachable_rows(venue) is not None:
                    return {}, TimeSpan(since_ms, since_ms)
                await self._wait_out(trouble)
                continue
            self._time.learn(rows)
            if self._is_unfit(venue, rows):
                continue
            self._tries = 0
            self.backoff.reset()
            interval = self.market.interval
            covered = TimeSpan(since_ms, since_ms + venue.page_rows * interval.duration_ms)
            if rows:
                self._listed_from_ms = min(self._listed_from_ms, rows[0].open_time_ms)
                covered = TimeSpan(since_ms, interval.close_time_ms(rows[-1].open_time_ms))
            return {row.open_time_ms: row for row in rows}, covered

    def _is_unfit(self, venue: Venue, rows: list[Candle]) -> bool:
        """Whether a response has no candles of the interval. Raises HistoryError the second time in a row."""
        unfit = self._time.grid.refusal(venue.name, [row.open_time_ms for row in rows])
        if unfit is not None and self._was_unfit:
            raise HistoryError(unfit)
        self._was_unfit = unfit is not None
        return self._was_unfit

    async def _connected(self) -> Venue:
        """The open venue; after an error, a new one."""
        while self._venue is None:
            try:
                self._venue = await self._opened()
            except VenueError as trouble:
                await self._wait_out(trouble)
        return self._venue

    async def _opened(self) -> Venue:
        venue = self.open_venue()
        try:
            await venue.open(self._older)
            await self._sync(venue)
        except BaseException:
            await venue.close()
            raise
        return venue

    async def _sync(self, venue: Venue) -> None:
        sent_s = self.clock.monotonic_s()
        self._time.set(await venue.server_ms(), sent_s)

    async def _wait_out(self, trouble: VenueError) -> None:
        """Raises HistoryError if waiting does not help, or did not help often enough."""
        self._tries += 1
        if trouble.is_final or self._tries > _MOST_TRIES:
            kept = "The candles so far are stored; the same command continues from there." if self.stored else ""
            raise HistoryError(f"{trouble} {kept}".strip()) from trouble
        await self._close()
        wait_s = self.backoff.next_s(trouble.wait_s)
        if self._tries > 1 or wait_s >= _LONG_WAIT_S:
            self.listener.notify(f"{trouble} Next try in {wait_s:.0f} s.")
        await asyncio.sleep(wait_s)

    async def _close(self) -> None:
        if self._venue is not None:
            self._older, self._venue = self._venue, None
            await self._older.close()

"""The closed candles that a feed has passed on: its position, the newest candles and holes, and which of them to
compare again; and the counts in the feed's numbers. Both cover all connections since the market was chosen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from operator import attrgetter

from core.domain.candle import Candle, Interval
from core.market.feeds.base import ClosedCandle, CorrectedCandle, FeedEvent, FeedVitals, MissingCandles, StoredCandles
from core.market.feeds.forming import FormingCandles
from core.market.feeds.server_clock import ServerClock
from core.market.feeds.timing import ExchangeTimes
from core.market.feeds.venue import Updates

REMEMBERED = 256
"""Candles kept for comparison."""
_MOST_REMEMBERED = 1_024
"""Candles with comparisons outstanding are kept longer: a computer may sleep for a night."""
_LOOKED_BACK = 5
"""Candles compared after an interruption."""
_CHECKS = 2
_MOST_UNREADABLE = 3
"""Lists with a rejected row in a candle's place that do not count as comparisons; a row may stay unreadable."""
_TOLERANCE = 1e-9
"""Relative: stream and list of an exchange may format the same number differently."""
_numbers = attrgetter("open_time_ms", "open", "high", "low", "close", "volume")


@dataclass(slots=True)
class _Passed:
    """A candle as it was passed on (None: a hole), and how often it was compared since."""

    candle: Candle | None
    checks: int = 0
    doubt: Candle | None = None
    unreadable: int = 0
    """How many lists may have had a rejected row in its place."""

    @property
    def is_done(self) -> bool:
        return self.checks >= _CHECKS and self.doubt is None


class CandleLedger:
    """Passes closed candles on, each once and in order. Shared by successive connections."""

    def __init__(self, interval: Interval, times: ExchangeTimes, limit: int | None = None) -> None:
        """limit: closed candles passed on in all."""
        self._interval = interval
        self._times = times
        self._limit = limit
        self._position_ms: int | None = None
        self.is_known = False
        """Whether the subscriber has the candle at the position, so that a hole after it counts."""
        self._passed: dict[int, _Passed] = {}
        self._open: dict[int, _Passed] = {}
        """Candles with outstanding comparisons, to avoid a search over all."""
        self.yielded = 0
        self.corrected = 0
        self.missing = 0

    @property
    def position_ms(self) -> int:
        """The opening time of the newest candle that the subscriber has, or that is skipped."""
        assert self._position_ms is not None, "set by the first connection"
        return self._position_ms

    @property
    def is_placed(self) -> bool:
        return self._position_ms is not None

    @property
    def is_full(self) -> bool:
        return self._limit is not None and self.yielded >= self._limit

    def place(self, position_ms: int, *, is_known: bool) -> None:
        """Begin after `position_ms`. is_known: the subscriber has that candle, so that a hole after it counts."""
        self._position_ms, self.is_known = position_ms, is_known

    def skip_to(self, position_ms: int) -> None:
        """Skip earlier candles: they were not requested, so they are not reported as missing."""
        if position_ms > self.position_ms:
            self.place(position_ms, is_known=False)

    def undo_future_position(self, forming_ms: int) -> None:
        """Undo a position in the future, set while the exchange's clock was wrong, if nothing was passed on there."""
        if not self.is_placed or self.is_known or self.position_ms < forming_ms:
            return
        passed = [time_ms for time_ms in self._passed if time_ms < forming_ms]
        self._position_ms, self.is_known = max(passed, default=None), bool(passed)

    def seed(self, known: StoredCandles) -> None:
        """Compare the subscriber's stored candles too. To be called before anything is passed on."""
        passed: dict[int, Candle | None] = dict.fromkeys(known.missing_ms)
        passed |= {candle.open_time_ms: candle for candle in known.candles}
        for open_time_ms in sorted(passed)[-REMEMBERED:]:
            self._open[open_time_ms] = self._passed[open_time_ms] = _Passed(passed[open_time_ms])

    def pass_on(self, candle: Candle, is_live: bool) -> Iterator[FeedEvent]:
        """The candle, preceded by the hole before it, if any. Nothing beyond the limit."""
        if self.is_full or candle.open_time_ms <= self.position_ms:
            return
        hole = self._hole_before(candle.open_time_ms)
        self._position_ms, self.is_known = candle.open_time_ms, True
        self._remember(candle.open_time_ms, candle)
        self.yielded += 1
        if hole is not None:
            yield hole
        yield ClosedCandle(candle, is_live)

    def _hole_before(self, open_time_ms: int) -> MissingCandles | None:
        step_ms = self._interval.duration_ms
        first_ms = self.position_ms + step_ms
        count = (open_time_ms - first_ms) // step_ms
        if not self.is_known or count <= 0:
            return None
        for time_ms in range(max(first_ms, open_time_ms - REMEMBERED * step_ms), open_time_ms, step_ms):
            self._remember(time_ms, None)
        self.missing += count
        return MissingCandles(first_ms, count)

    def _remember(self, open_time_ms: int, candle: Candle | None) -> None:
        self._open[open_time_ms] = self._passed[open_time_ms] = _Passed(candle)
        oldest_ms = next(iter(self._passed))
        if len(self._passed) > (_MOST_REMEMBERED if oldest_ms in self._open else REMEMBERED):
            del self._passed[oldest_ms]
            self._open.pop(oldest_ms, None)

    def look_back_ms(self) -> int:
        """Start of the first request after an interruption: a few candles before the position, if they are
        remembered, else the one at the position. One of them in the answer shows that the exchange's list goes back
        that far."""
        times = list(self._passed)[-_LOOKED_BACK:]
        return times[0] if times else self.position_ms

    def due_from_ms(self, now_ms: int) -> int | None:
        """The oldest candle due for comparison; None if none is."""
        due = (time_ms for time_ms, passed in self._open.items() if self._is_due(time_ms, passed, now_ms))
        return min(due, default=None)

    @property
    def has_doubts(self) -> bool:
        """Whether a difference was seen once and needs to be confirmed."""
        return any(passed.doubt is not None for passed in self._open.values())

    def _is_due(self, time_ms: int, passed: _Passed, now_ms: int) -> bool:
        return passed.doubt is not None or passed.checks < self._checks_due(time_ms, now_ms)

    def _checks_due(self, time_ms: int, now_ms: int) -> int:
        """How many comparisons a candle should have had by now."""
        step_ms, times = self._interval.duration_ms, self._times
        age_ms = now_ms - time_ms - step_ms
        again_ms = max(times.check_again_candles * step_ms, 1000.0 * times.check_again_s)
        return _CHECKS if age_ms >= again_ms else int(age_ms >= 1000.0 * times.check_s)

    def compare(
        self, rows: list[Candle], now_ms: int, since_ms: int, *, is_complete: bool = True
    ) -> list[CorrectedCandle]:
        """Compare the exchange's current closed candles, ascending, requested from `since_ms` on. A difference that is
        seen twice is a correction. is_complete: no row of the response was rejected."""
        found = [self._compared(row) for row in rows if row.open_time_ms in self._passed]
        last_ms = rows[-1].open_time_ms if rows else since_ms
        there = {row.open_time_ms for row in rows}
        for time_ms, passed in self._open.items():
            if not since_ms <= time_ms <= last_ms or passed.checks >= self._checks_due(time_ms, now_ms):
                continue
            # One response is one comparison, however late: after an interruption an exchange's data may be stale.
            if is_complete or time_ms in there or passed.unreadable >= _MOST_UNREADABLE:
                passed.checks += 1
            else:
                passed.unreadable += 1
        self._open = {time_ms: passed for time_ms, passed in self._open.items() if not passed.is_done}
        corrections = [each for each in found if each is not None]
        self.corrected += len(corrections)
        return corrections

    def _compared(self, row: Candle) -> CorrectedCandle | None:
        passed = self._passed[row.open_time_ms]
        if passed.candle is not None and _is_same(passed.candle, row):
            passed.doubt = None
            return None
        if passed.doubt is None or not _is_same(passed.doubt, row):
            passed.doubt = row
            self._open[row.open_time_ms] = passed
            return None
        before, was_missing = passed.candle or row, passed.candle is None
        passed.candle, passed.doubt = row, None
        return CorrectedCandle(row, before, was_missing)


def _is_same(one: Candle, other: Candle) -> bool:
    return all(math.isclose(a, b, rel_tol=_TOLERANCE) for a, b in zip(_numbers(one), _numbers(other), strict=True))


@dataclass(slots=True)
class FeedCounters:
    """Counters of one feed, by the names that `FeedVitals` has for them."""

    messages: int = 0
    trades: int = 0
    rejected: int = 0
    reconnects: int = 0
    back_filled: int = 0
    late_trades: int = 0
    lost_trades: int = 0
    last_message_ms: int | None = None
    last_trade_ms: int | None = None
    request_ms: float | None = None
    close_delay_ms: float | None = None

    def count(self, updates: Updates, now_ms: int) -> None:
        self.messages += updates.messages
        self.trades += len(updates.trades)
        if updates.messages:
            self.last_message_ms = now_ms
        if updates.trades:
            self.last_trade_ms = now_ms

    def end(self, forming: FormingCandles) -> None:
        """Add the trade counts of a closed connection to the totals."""
        self.late_trades += forming.late_trades
        self.lost_trades += forming.lost_trades

    def vitals(
        self, venue: str, now_ms: int, clock: ServerClock, ledger: CandleLedger, forming: FormingCandles
    ) -> FeedVitals:
        counted = replace(self)
        counted.end(forming)
        missing, corrected, offset_ms = ledger.missing, ledger.corrected, clock.offset_ms
        return FeedVitals(
            now_ms, venue, missing=missing, corrected=corrected, clock_offset_ms=offset_ms, **asdict(counted)
        )

"""What a feed has passed on: the position, the last candles, the holes between them, and what is compared again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

from core.domain.candle import Candle, Interval
from core.market.feeds.base import ClosedCandle, CorrectedCandle, FeedEvent, Known, MissingCandles
from core.market.feeds.patience import ExchangeTimes

REMEMBERED = 256
"""Candles that are kept to be compared again."""
_MOST_REMEMBERED = 1_024
"""Those that were not compared as often as they should be are kept longer: a computer may sleep for a night."""
_LOOKED_BACK = 5
"""Candles that are compared after a break."""
_CHECKS = 2
_TOLERANCE = 1e-9
"""Relative: the stream and the list of an exchange may print the same number with other digits."""
_numbers = attrgetter("open_time_ms", "open", "high", "low", "close", "volume")


@dataclass(slots=True)
class _Passed:
    """A candle as it was passed on, or None for a hole, and how often it was compared since."""

    candle: Candle | None
    checks: int = 0
    doubt: Candle | None = None

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to compare."""
        return self.checks >= _CHECKS and self.doubt is None


class Ledger:
    """Passes closed candles on, each once and in order. Outlives connections."""

    def __init__(self, interval: Interval, times: ExchangeTimes, limit: int | None = None) -> None:
        """limit: closed candles passed on in all."""
        self._interval = interval
        self._times = times
        self._limit = limit
        self._position_ms: int | None = None
        self._is_anchored = False
        self._passed: dict[int, _Passed] = {}
        self._open: dict[int, _Passed] = {}
        """Of these, the few that are to be compared again some day, so that not all have to be looked at."""
        self.yielded = 0
        self.corrected = 0
        self.missing = 0

    @property
    def position_ms(self) -> int:
        """The opening time of the newest candle that the subscriber has, or is not to have."""
        assert self._position_ms is not None, "set when the first connection stands"
        return self._position_ms

    @property
    def is_placed(self) -> bool:
        return self._position_ms is not None

    @property
    def is_known(self) -> bool:
        """Whether the subscriber has the candle at the position, so that what follows it is missed."""
        return self._is_anchored

    @property
    def is_full(self) -> bool:
        """Whether the limit is reached."""
        return self._limit is not None and self.yielded >= self._limit

    def place(self, position_ms: int, *, is_known: bool) -> None:
        """Begin after `position_ms`. is_known: the subscriber has that candle, so that a hole after it is one."""
        self._position_ms, self._is_anchored = position_ms, is_known

    def skip_to(self, position_ms: int) -> None:
        """Leave out what lies before: it was never asked for, so it is not said to be missing."""
        if position_ms > self.position_ms:
            self.place(position_ms, is_known=False)

    def come_back(self, forming_ms: int) -> None:
        """From a place in the future, where nothing was passed on: the exchange's clock was wrong when it led there."""
        if not self.is_placed or self.is_known or self.position_ms < forming_ms:
            return
        passed = [time_ms for time_ms in self._passed if time_ms < forming_ms]
        self._position_ms, self._is_anchored = max(passed, default=None), bool(passed)

    def seed(self, known: Known) -> None:
        """Compare also what the subscriber has from an earlier time. Before anything is passed on."""
        passed: dict[int, Candle | None] = dict.fromkeys(known.missing_ms)
        passed |= {candle.open_time_ms: candle for candle in known.candles}
        for open_time_ms in sorted(passed)[-REMEMBERED:]:
            self._open[open_time_ms] = self._passed[open_time_ms] = _Passed(passed[open_time_ms])

    def pass_on(self, candle: Candle, is_live: bool) -> Iterator[FeedEvent]:
        """The candle, and before it the hole that the exchange has, if there is one. Nothing beyond the limit."""
        if self.is_full or candle.open_time_ms <= self.position_ms:
            return
        hole = self._hole_before(candle.open_time_ms)
        self._position_ms, self._is_anchored = candle.open_time_ms, True
        self._remember(candle.open_time_ms, candle)
        self.yielded += 1
        if hole is not None:
            yield hole
        yield ClosedCandle(candle, is_live)

    def _hole_before(self, open_time_ms: int) -> MissingCandles | None:
        step_ms = self._interval.duration_ms
        first_ms = self.position_ms + step_ms
        count = (open_time_ms - first_ms) // step_ms
        if not self._is_anchored or count <= 0:
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
        """From where a request after a break begins: a few candles before the position, where they are remembered."""
        times = list(self._passed)[-_LOOKED_BACK:]
        return times[0] if times else self.position_ms + self._interval.duration_ms

    def due_from_ms(self, now_ms: int) -> int | None:
        """The oldest candle that is to be compared now; None where none is."""
        due = (time_ms for time_ms, passed in self._open.items() if self._is_due(time_ms, passed, now_ms))
        return min(due, default=None)

    @property
    def has_doubts(self) -> bool:
        """Whether a difference was seen once and waits to be confirmed."""
        return any(passed.doubt is not None for passed in self._open.values())

    def _is_due(self, time_ms: int, passed: _Passed, now_ms: int) -> bool:
        return passed.doubt is not None or passed.checks < self._checks_due(time_ms, now_ms)

    def _checks_due(self, time_ms: int, now_ms: int) -> int:
        """How many comparisons a candle should have had."""
        step_ms, times = self._interval.duration_ms, self._times
        age_ms = now_ms - time_ms - step_ms
        again_ms = max(times.check_again_candles * step_ms, 1000.0 * times.check_again_s)
        return _CHECKS if age_ms >= again_ms else int(age_ms >= 1000.0 * times.check_s)

    def compare(self, rows: list[Candle], now_ms: int, since_ms: int) -> list[CorrectedCandle]:
        """Closed candles as the exchange has them now, ascending, the answer to what was asked from `since_ms` on. A
        difference that is seen twice is a correction."""
        found = [self._compared(row) for row in rows if row.open_time_ms in self._passed]
        self._count_checks(since_ms, rows[-1].open_time_ms if rows else since_ms, now_ms)
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

    def _count_checks(self, first_ms: int, last_ms: int, now_ms: int) -> None:
        """One answer is one comparison, however late it comes: after a break an exchange may still be behind itself."""
        for time_ms, passed in self._open.items():
            if first_ms <= time_ms <= last_ms and passed.checks < self._checks_due(time_ms, now_ms):
                passed.checks += 1


def _is_same(one: Candle, other: Candle) -> bool:
    return all(math.isclose(a, b, rel_tol=_TOLERANCE) for a, b in zip(_numbers(one), _numbers(other), strict=True))

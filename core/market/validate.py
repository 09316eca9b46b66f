"""What is accepted as a candle. Corrupt data is worse than no data: a model learns whatever it is given."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from core.market.candle import Candle, Interval

LARGEST_JUMP = 10.0
_EARLIEST_MS = 0
_LATEST_MS = 4_102_444_800_000
"""The year 2100. Microseconds taken for milliseconds land far beyond it, seconds in January 1970."""
_SMALLEST_SECONDS = 1_000_000_000
_SECONDS_MS = 31_536_000_000
"""A year after the epoch: no market was on record then, but a time in seconds looks like it."""


class RejectionReason(StrEnum):
    """Why a candle was rejected."""

    NOT_FINITE = "not a number"
    PRICE = "price not above zero"
    SHAPE = "high or low does not enclose open and close"
    VOLUME = "negative volume"
    GRID = "time off the grid"
    TIME_UNIT = "time in another unit"
    JUMP = "price jumped tenfold"


@dataclass(frozen=True, slots=True)
class Rejection:
    """One rejected candle, in a sentence for the log and the feed panel."""

    reason: RejectionReason
    sentence: str


class Validator:
    """Checks candles of one interval in the order in which they come, and counts what it rejects."""

    def __init__(self, interval: Interval, phase_ms: int = 0) -> None:
        """phase_ms: how far opening times lie off the epoch's grid; stock sessions need not begin on it."""
        self._interval = interval
        self._phase_ms = phase_ms % interval.duration_ms
        self._last_close: float | None = None
        self._suspect_close: float | None = None
        self.rejected: Counter[RejectionReason] = Counter()

    def check(self, candle: Candle) -> Rejection | None:
        """None where the candle is accepted, else why not. The chart shows a gap in its place."""
        reason = self._own_problem(candle) or self._jump(candle)
        self._suspect_close = candle.close if reason is RejectionReason.JUMP else None
        if reason is None:
            self._last_close = candle.close
            return None
        self.rejected[reason] += 1
        return Rejection(reason, f"The candle of {candle.open_time_ms} was rejected: {reason.value} ({candle}).")

    def check_forming(self, candle: Candle) -> Rejection | None:
        """The same for a candle that is still open; it does not become the measure of the next one's jump."""
        reason = self._own_problem(candle) or self._jump(candle)
        if reason is None:
            return None
        self.rejected[reason] += 1
        return Rejection(reason, f"The forming candle was rejected: {reason.value} ({candle}).")

    def check_correction(self, candle: Candle) -> Rejection | None:
        """The same for one that replaces a candle of long ago: what came after it is no measure of its price."""
        reason = self._own_problem(candle)
        if reason is None:
            return None
        self.rejected[reason] += 1
        return Rejection(reason, f"The correction was rejected: {reason.value} ({candle}).")

    def _own_problem(self, candle: Candle) -> RejectionReason | None:
        return problem_of(candle, self._interval, self._phase_ms)

    def _jump(self, candle: Candle) -> RejectionReason | None:
        """A tenfold jump is a broken message; two candles in a row that agree on it are a market (a split, say)."""
        if self._last_close is None or is_near(candle.close, self._last_close):
            return None
        agrees = self._suspect_close is not None and is_near(candle.close, self._suspect_close)
        return None if agrees else RejectionReason.JUMP


def problem_of(candle: Candle, interval: Interval, phase_ms: int = 0) -> RejectionReason | None:
    """What is wrong with a candle by itself: its numbers, its shape, its time. None where it is sound."""
    return _shape_problem(candle) or _time_problem(candle.open_time_ms, interval, phase_ms)


def _shape_problem(candle: Candle) -> RejectionReason | None:
    prices = (candle.open, candle.high, candle.low, candle.close)
    if not all(map(math.isfinite, (*prices, candle.volume))):
        return RejectionReason.NOT_FINITE
    if min(prices) <= 0.0:
        return RejectionReason.PRICE
    if candle.high < max(prices) or candle.low > min(prices):
        return RejectionReason.SHAPE
    return RejectionReason.VOLUME if candle.volume < 0.0 else None


def _time_problem(open_time_ms: int, interval: Interval, phase_ms: int) -> RejectionReason | None:
    if not _EARLIEST_MS <= open_time_ms < _LATEST_MS or _looks_like_seconds(open_time_ms):
        return RejectionReason.TIME_UNIT
    off = (open_time_ms - phase_ms) % interval.duration_ms
    return RejectionReason.GRID if off else None


def is_near(close: float, other: float) -> bool:
    """Whether two prices are less than a tenfold jump apart."""
    return 1.0 / LARGEST_JUMP < close / other < LARGEST_JUMP


def time_is_in_another_unit(times_ms: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where times cannot be milliseconds: before 1970, after 2100, or what looks like seconds."""
    looks_like_seconds = (times_ms >= _SMALLEST_SECONDS) & (times_ms < _SECONDS_MS)
    return (times_ms < _EARLIEST_MS) | (times_ms >= _LATEST_MS) | looks_like_seconds


def _looks_like_seconds(open_time_ms: int) -> bool:
    return _SMALLEST_SECONDS <= open_time_ms < _SECONDS_MS

"""Validation of candles. Corrupt data is worse than no data: the model would learn it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import DAY_MS, Candle, Interval

LARGEST_JUMP = 10.0
LOWEST_PRICE, HIGHEST_PRICE = 1e-18, 1e18
"""Tokens have units of 1e-18 and trade at 1e-12; the largest quotes, a bitcoin in rials, have 12 digits."""
LARGEST_VOLUME = 1e24
"""Supplies of 1e18 tokens exist, and some were traded whole within a day; 1e24 is a million times that."""
LARGEST_RANGE = 1e9
"""High over low. Ether fell 3,000-fold within a second (GDAX, 2017), Luna 10,000,000-fold within a week (2022)."""
_EARLIEST_MS = -5_364_662_400_000
"""The year 1800: indices of shares are known from about then."""
LATEST_MS = 4_102_444_800_000
"""The year 2100. Microseconds read as milliseconds lie far beyond it, seconds in January 1970."""
_SMALLEST_SECONDS = 1_000_000_000
_SECONDS_MS = 31_536_000_000
"""A year after the epoch: only days were recorded then, but a time in seconds looks like it."""
_SUMMER_MS = 3_600_000
_LOCAL_FROM_MS = 2 * _SUMMER_MS
"""Candles of this length and longer may follow a local clock with summer time."""


class RejectionReason(StrEnum):
    NOT_FINITE = "not a number"
    PRICE = "price not above zero"
    SHAPE = "high or low does not enclose open and close"
    VOLUME = "negative volume"
    PRICE_SIZE = "price outside 1e-18 to 1e18"
    VOLUME_SIZE = "volume above 1e24"
    RANGE = "high more than a billion times the low"
    GRID = "time off the grid"
    TIME_UNIT = "time in another unit"
    JUMP = "price jumped tenfold"


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a candle was rejected, with a sentence for the log and the Events panel."""

    reason: RejectionReason
    sentence: str


class Validator:
    """Checks candles of one interval in order of arrival."""

    def __init__(self, interval: Interval, phase_ms: int = 0, *, has_summer_time: bool = False) -> None:
        """phase_ms: how far opening times lie off the epoch's grid; stock sessions may begin off it. has_summer_time:
        long candles may open an hour from there."""
        self._interval = interval
        self._phase_ms = phase_ms % interval.duration_ms
        self._has_summer_time = has_summer_time and interval.duration_ms >= _LOCAL_FROM_MS
        self._last_close: float | None = None
        self._suspect_close: float | None = None

    def check(self, candle: Candle) -> Rejection | None:
        """None if the candle is accepted, else the reason. The chart shows a gap in its place."""
        reason = self._own_problem(candle) or self._jump(candle)
        self._suspect_close = candle.close if reason is RejectionReason.JUMP else None
        if reason is None:
            self._last_close = candle.close
        return _rejection(reason, f"The candle of {candle.open_time_ms}", candle)

    def check_forming(self, candle: Candle) -> Rejection | None:
        """Check a candle that is still open; its price is not the reference for the next jump."""
        return _rejection(self._own_problem(candle) or self._jump(candle), "The forming candle", candle)

    def check_correction(self, candle: Candle) -> Rejection | None:
        """Check a replacement for an old candle: without the jump test, as later prices are no evidence about it."""
        return _rejection(self._own_problem(candle), "The correction", candle)

    def _own_problem(self, candle: Candle) -> RejectionReason | None:
        problem = problem_of(candle, self._interval, self._phase_ms)
        if problem is not RejectionReason.GRID or not self._has_summer_time:
            return problem
        others = (self._phase_ms - _SUMMER_MS, self._phase_ms + _SUMMER_MS)
        return None if any(problem_of(candle, self._interval, phase) is None for phase in others) else problem

    def _jump(self, candle: Candle) -> RejectionReason | None:
        """A tenfold jump is a broken message; two consecutive candles that agree on it are real (a split, say)."""
        if self._last_close is None or is_near(candle.close, self._last_close):
            return None
        agrees = self._suspect_close is not None and is_near(candle.close, self._suspect_close)
        return None if agrees else RejectionReason.JUMP


def _rejection(reason: RejectionReason | None, what: str, candle: Candle) -> Rejection | None:
    return None if reason is None else Rejection(reason, f"{what} was rejected: {reason.value} ({candle}).")


def problem_of(candle: Candle, interval: Interval, phase_ms: int = 0) -> RejectionReason | None:
    """The fault of a single candle: in its numbers, its shape or its time. None if it is valid."""
    return problem_of_numbers(candle) or _time_problem(candle.open_time_ms, interval, phase_ms)


def problem_of_numbers(candle: Candle) -> RejectionReason | None:
    """`problem_of` without the time. Only candles that pass may be stored."""
    prices = (candle.open, candle.high, candle.low, candle.close)
    if not all(map(math.isfinite, (*prices, candle.volume))):
        return RejectionReason.NOT_FINITE
    if min(prices) <= 0.0:
        return RejectionReason.PRICE
    if candle.high < max(prices) or candle.low > min(prices):
        return RejectionReason.SHAPE
    if candle.volume < 0.0:
        return RejectionReason.VOLUME
    return _size_problem(candle)


def number_faults(values: NDArray[np.float64]) -> tuple[tuple[RejectionReason, NDArray[np.bool_]], ...]:
    """`problem_of_numbers` for columns: open, high, low, close, volume, shape (5, n). The first fault counts."""
    prices, high, low, volume = values[:4], values[1], values[2], values[4]
    least: NDArray[np.float64] = prices.min(axis=0, initial=np.inf)
    most: NDArray[np.float64] = prices.max(axis=0, initial=-np.inf)
    is_odd = np.asarray(~np.isfinite(values).all(axis=0))
    return (
        (RejectionReason.NOT_FINITE, is_odd),
        (RejectionReason.PRICE, least <= 0.0),
        (RejectionReason.SHAPE, (high < most) | (low > least)),
        (RejectionReason.VOLUME, volume < 0.0),
        (RejectionReason.PRICE_SIZE, (least < LOWEST_PRICE) | (most > HIGHEST_PRICE)),
        (RejectionReason.VOLUME_SIZE, volume > LARGEST_VOLUME),
        (RejectionReason.RANGE, low < high / LARGEST_RANGE),
    )


def _size_problem(candle: Candle) -> RejectionReason | None:
    """Numbers outside any market's range: their squares and ratios overflow."""
    if candle.low < LOWEST_PRICE or candle.high > HIGHEST_PRICE:
        return RejectionReason.PRICE_SIZE
    if candle.volume > LARGEST_VOLUME:
        return RejectionReason.VOLUME_SIZE
    return RejectionReason.RANGE if candle.low < candle.high / LARGEST_RANGE else None


def _time_problem(open_time_ms: int, interval: Interval, phase_ms: int) -> RejectionReason | None:
    looks_like_seconds = _SMALLEST_SECONDS <= open_time_ms < _SECONDS_MS and interval.duration_ms < DAY_MS
    if not _EARLIEST_MS <= open_time_ms < LATEST_MS or looks_like_seconds:
        return RejectionReason.TIME_UNIT
    off = (open_time_ms - phase_ms) % interval.duration_ms
    return RejectionReason.GRID if off else None


def is_near(close: float, other: float) -> bool:
    """Whether two prices are less than a tenfold jump apart."""
    return 1.0 / LARGEST_JUMP < close / other < LARGEST_JUMP


def time_is_in_another_unit(times_ms: NDArray[np.int64], interval: Interval) -> NDArray[np.bool_]:
    """A mask of times that cannot be milliseconds: before 1800, after 2100, or probably seconds."""
    looks_like_seconds = (times_ms >= _SMALLEST_SECONDS) & (times_ms < _SECONDS_MS)
    if interval.duration_ms >= DAY_MS:
        looks_like_seconds = np.zeros(times_ms.shape, np.bool_)
    return (times_ms < _EARLIEST_MS) | (times_ms >= LATEST_MS) | looks_like_seconds

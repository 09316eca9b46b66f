"""How much taller candles were than forecast, by the time of day.

Volatility has a pattern within the day (Andersen and Bollerslev, Intraday periodicity and volatility persistence in
financial markets, Journal of Empirical Finance 1997). Forecasts know part of it. What they missed so far is a ridge
regression on the first terms of a Fourier series, as there. Each day counts once, however many candles it has: they are
not independent, and one day cannot tell its hours from chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import DAY_MS, Interval
from core.domain.quantities import SMALLEST_RANGE, FloatArray

MOST_LEARNED = 4000
"""The newest ones are learned from."""
_HARMONICS = np.arange(1, 5)
_DOUBT_DAYS = 10.0
"""Days on which nothing was missed, before the first."""
_DOUBT_OF_MEAN = 1e-3
"""Hardly any: whatever is missed at all times is the calibration's concern, and no part of the result."""


@dataclass(frozen=True, slots=True, eq=False)
class PastHeights:
    """Of n forecasts, ascending.

    taller: [n, H], log(mean height of the next 1, 2, ..., H candles / as forecast), a height being log(high / low). NaN
    if not all of these candles are known, or they came with a hole. terms: [n, 1 + terms], of the time of day.
    """

    origin_open_time_ms: NDArray[np.int64]
    taller: FloatArray
    terms: FloatArray
    interval: Interval

    def stretch(self, origin_open_time_ms: int) -> FloatArray:
        """By which factor the next 1, 2, ..., H candles after this one are usually taller than forecast at this time of
        day, rather than at others: [H]. All 1 before the first outcome, and always for the next candle alone: one
        candle ahead forecasts know the time of day as well as this does.

        Only forecasts whose candles had all closed with this one count.
        """
        step_ms, stretch = self.interval.duration_ms, np.ones(self.taller.shape[1])
        known = self._known(origin_open_time_ms - stretch.size * step_ms)
        if known.size and step_ms < DAY_MS:
            terms, taller, times = self.terms[known], self.taller[known], self.origin_open_time_ms[known]
            days = (times[-1] - times[0] + step_ms) / DAY_MS
            weight = 2.0 * days / known.size  # a term's mean square is 1/2
            doubt = np.diag([_DOUBT_OF_MEAN, *[_DOUBT_DAYS] * (terms.shape[1] - 1)])
            found = np.linalg.solve(weight * terms.T @ terms + doubt, weight * terms.T @ taller)
            now = _terms(np.array([origin_open_time_ms]), self.interval)[0]
            stretch[1:] = np.exp(now[1:] @ found[1:, 1:])
        return stretch

    def _known(self, until_ms: int) -> NDArray[np.int64]:
        """The rows of those among the newest forecasts up to this origin whose candles are known."""
        stop = int(np.searchsorted(self.origin_open_time_ms, until_ms, side="right"))
        newest = np.arange(max(0, stop - MOST_LEARNED), stop)
        known: NDArray[np.int64] = newest[np.isfinite(self.taller[newest, 0])]
        return known


def past_heights(
    origin_open_time_ms: NDArray[np.int64],
    log_ranges: FloatArray,
    open_time_ms: NDArray[np.int64],
    prices: FloatArray,
    interval: Interval,
) -> PastHeights:
    """origin_open_time_ms: [n], ascending. log_ranges: [n, H], the medians that were forecast. open_time_ms: [m], and
    prices: [4, m], of the candles: open, high, low and close."""
    horizons = log_ranges.shape[1]
    due_ms = origin_open_time_ms[:, None] + interval.duration_ms * np.arange(1, horizons + 1)
    targets = np.searchsorted(open_time_ms, due_ms)
    is_whole = np.isin(due_ms, open_time_ms).all(axis=1)
    heights = np.maximum(np.log(prices[1] / prices[2]), SMALLEST_RANGE)[targets[is_whole]]
    taller = np.full(log_ranges.shape, np.nan)
    taller[is_whole] = np.log(heights.cumsum(axis=1) / np.exp(log_ranges[is_whole]).cumsum(axis=1))
    return PastHeights(origin_open_time_ms, taller, _terms(origin_open_time_ms, interval), interval)


def _terms(origin_open_time_ms: NDArray[np.int64], interval: Interval) -> FloatArray:
    """Of the time at which the next candle opens: [n, 1 + terms], the first one constant."""
    next_ms = origin_open_time_ms + interval.duration_ms
    phase = 2.0 * np.pi * (next_ms % DAY_MS)[:, None] / DAY_MS * _HARMONICS
    terms: FloatArray = np.concatenate([np.ones((len(phase), 1)), np.sin(phase), np.cos(phase)], axis=1)
    return terms

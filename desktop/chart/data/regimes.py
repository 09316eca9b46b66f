"""The market regime at each candle of a run, and what the model forecast for the next one: read in blocks from the
newest back, updated by events."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.candle_series import CandleSeries
from core.domain.events import ForecastMade
from core.domain.regimes import Regime, RegimeProbabilities
from core.storage.record_reader import RecordReader

_BLOCK = 2048
"""Candles per block: reading one takes about 3 ms."""
_REGIMES = tuple(Regime)
_NOW, _NEXT, _HAS_NEXT = slice(3), slice(3, 6), slice(6, 7)
_COLUMNS = 7
"""Of the sums: the regimes at a candle, the model's forecast of the next one, and whether there is one."""


@dataclass(frozen=True, eq=False)
class RegimeView:
    """Visible groups of candles with a known regime, ascending. first: [n], the index of each group's first candle;
    means: [n, 3], of the probabilities of its candles, in the order of `Regime`; forecasts: [n, 3], the means of what
    the model forecast at these candles for the ones after them, NaN where it gave none."""

    first: NDArray[np.int64]
    means: NDArray[np.float64]
    forecasts: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.first)


class RegimeTrack:
    """Regimes of one run. Painting and mouse handling use only what is loaded; missing blocks are queued, and
    `load_next` reads them from idle time. Without a reader, only events fill it.

    Stored as running sums: the mean of a group of any size takes two lookups, so a million visible candles cost no more
    than a thousand.
    """

    def __init__(self, block: int = _BLOCK) -> None:
        self._block = block
        self.on_wanted: Callable[[], None] = lambda: None
        """Called when something has to be read."""
        self.version = 0
        """Increases with every visible change."""
        self.begin(None)

    def begin(self, reader: RecordReader | None) -> None:
        """Start with another run, or none."""
        self._reader = reader
        self.forget()

    def forget(self) -> None:
        """Drop everything that can be read again."""
        self._count = 0
        self._times = np.empty(_BLOCK, dtype=np.int64)
        self._sums = np.zeros((_BLOCK + 1, _COLUMNS))
        """Sums over the candles before each row, and over all."""
        self._is_whole = self._reader is None
        self._wanted_ms: int | None = None
        self.version += 1

    @property
    def is_waiting(self) -> bool:
        """Whether `load_next` has work."""
        return self._wanted_ms is not None

    @property
    def has_forecasts(self) -> bool:
        """Whether the model forecast any regime that is loaded."""
        return bool(self._sums[self._count, _HAS_NEXT] > 0.0)

    def add(self, made: ForecastMade) -> None:
        """Add the regime of a new forecast. After a crash the same candle may come again with the same values."""
        count, time_ms = self._count, made.origin_open_time_ms
        if made.conditions is None or (count and time_ms <= self._times[count - 1]):
            return
        if count == len(self._times):
            room = max(_BLOCK, count)
            self._times = np.concatenate([self._times, np.empty(room, dtype=np.int64)])
            self._sums = np.concatenate([self._sums, np.zeros((room, _COLUMNS))])
        following = (0.0,) * 4 if made.next_regime is None else (*astuple(made.next_regime), 1.0)
        self._times[count] = time_ms
        self._sums[count + 1] = self._sums[count] + (*astuple(made.conditions), *following)
        self._count += 1
        self.version += 1

    def at(self, time_ms: int) -> RegimeProbabilities | None:
        """The regime at the candle that opened at this time; None if unknown, or not read yet."""
        found = self._values(time_ms)
        return None if found is None else RegimeProbabilities(*found[_NOW].tolist())

    def next_after(self, time_ms: int) -> RegimeProbabilities | None:
        """What the model forecast at this candle's close for the next candle; None as for `at`, or if it gave none."""
        found = self._values(time_ms)
        return None if found is None or not found[_HAS_NEXT] else RegimeProbabilities(*found[_NEXT].tolist())

    def _values(self, time_ms: int) -> NDArray[np.float64] | None:
        self._want(time_ms)
        row = int(np.searchsorted(self._times[: self._count], time_ms))
        is_known = row < self._count and self._times[row] == time_ms
        return self._sums[row + 1] - self._sums[row] if is_known else None

    def view(self, series: CandleSeries, first: int, stop: int, group: int) -> RegimeView:
        """The regimes of the candles first..stop - 1 of a series with the run's interval, in groups of `group` that
        begin at multiples of it. Reads nothing: see `load_next`."""
        starts = np.arange(first // group * group, stop, group)
        if not len(starts):
            return RegimeView(starts, *np.empty((2, 0, len(_REGIMES))))
        times = series.open_time_ms
        self._want(int(times[starts[0]]))
        after = int(times[min(int(starts[-1]) + group, len(times)) - 1]) + 1
        rows = np.searchsorted(self._times[: self._count], np.append(times[starts], after))
        counts = np.diff(rows)
        known = counts > 0
        totals = (self._sums[rows[1:]] - self._sums[rows[:-1]])[known]
        given = np.round(totals[:, _HAS_NEXT])
        forecasts = totals[:, _NEXT] / np.where(given > 0.0, given, np.nan)
        return RegimeView(starts[known], totals[:, _NOW] / counts[known, None], forecasts)

    def load_next(self) -> bool:
        """Read one block. True if more is queued. Raises StorageError."""
        if self._reader is None or self._wanted_ms is None:
            return False
        rows = self._reader.conditions(int(self._times[0]) if self._count else sys.maxsize, self._block)
        self._is_whole = len(rows) < self._block
        if len(rows):
            has_next = ~np.isnan(rows.next_regimes[:, :1])
            columns = np.concatenate([rows.regimes, np.nan_to_num(rows.next_regimes), has_next], axis=1)
            older = np.concatenate([np.zeros((1, _COLUMNS)), np.cumsum(columns, axis=0)])
            self._times = np.concatenate([rows.open_time_ms, self._times[: self._count]])
            self._sums = np.concatenate([older, older[-1] + self._sums[1 : self._count + 1]])
            self._count += len(rows)
            self.version += 1
        if self._is_whole or self._times[0] <= self._wanted_ms:
            self._wanted_ms = None
        return self.is_waiting

    def _want(self, time_ms: int) -> None:
        """Queue everything from this time on."""
        if not self._is_whole and not (self._count and self._times[0] <= time_ms):
            self._wanted_ms = min(time_ms, self._wanted_ms or time_ms)
            self.on_wanted()

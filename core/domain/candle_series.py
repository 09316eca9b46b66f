"""Closed candles of one market as columns, in ascending time. The result does not depend on the order of arrival."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from math import isfinite
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Candle, Interval
from core.domain.pyramid import COLUMNS, Pyramid

_FIRST_CAPACITY = 1024
_SPARE_SHARE = 8
"""A series built from columns reserves an eighth more, so that the first appends do not copy everything."""
_SCANNED_AT_MOST = 16_384
"""Candles, or cells of the pyramid, of which the extremes are found in some microseconds."""
_CHANGES_KEPT = 4_096
_CHANGED_ONE_BY_ONE = 32

TimeArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Change = tuple[int, int]
"""The opening times of the first and the last candle that changed."""

T = TypeVar("T", bound=np.generic)


class CandleSeries:
    """Growable columns. Appending is amortised O(log N); inserting a late candle moves those after it.

    Views returned by properties are read-only and valid until the next change. A number that is not finite raises
    ValueError. The pyramid is built on first use, so a short series never pays for one.
    """

    def __init__(self, interval: Interval) -> None:
        self.interval = interval
        self._size = 0
        self._time = np.empty(_FIRST_CAPACITY, dtype=np.int64)
        self._values = np.empty((len(COLUMNS), _FIRST_CAPACITY), dtype=np.float64)
        self._pyramid: Pyramid | None = None
        self.version = 0
        """Incremented by every change."""
        self._changes: deque[Change] = deque(maxlen=_CHANGES_KEPT)

    @classmethod
    def from_columns(cls, interval: Interval, open_time_ms: TimeArray, values: FloatArray) -> CandleSeries:
        """A series of n candles, copied from times, shape (n,), and open, high, low, close, volume, shape (5, n).

        Raises ValueError if the times do not ascend, a number is not finite, or the shapes do not fit.
        """
        _check(open_time_ms, values)
        backwards = np.flatnonzero(np.diff(open_time_ms) <= 0)
        if backwards.size:
            place = int(backwards[0]) + 1
            raise ValueError(
                f"opening times ascend, but candle {place} opens at {open_time_ms[place]} ms "
                f"and the one before it at {open_time_ms[place - 1]} ms"
            )
        series = cls(interval)
        size = open_time_ms.size
        series._reserve(size + size // _SPARE_SHARE)
        series._append(open_time_ms, values)
        return series

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int) -> Candle:
        if not -self._size <= index < self._size:
            raise IndexError(f"candle {index} of {self._size}")
        position = index % self._size
        return Candle(int(self._time[position]), *self._values[:, position].tolist())

    def __iter__(self) -> Iterator[Candle]:
        return (self[index] for index in range(self._size))

    @property
    def open_time_ms(self) -> TimeArray:
        return self._view(self._time)

    @property
    def open(self) -> FloatArray:
        return self._view(self._values[0])

    @property
    def high(self) -> FloatArray:
        return self._view(self._values[1])

    @property
    def low(self) -> FloatArray:
        return self._view(self._values[2])

    @property
    def close(self) -> FloatArray:
        return self._view(self._values[3])

    @property
    def volume(self) -> FloatArray:
        return self._view(self._values[4])

    def index_at(self, open_time_ms: int) -> int | None:
        """The index of the candle that opened at this time, or None."""
        index = self.insertion_index(open_time_ms)
        found = index < self._size and int(self._time[index]) == open_time_ms
        return index if found else None

    def insertion_index(self, open_time_ms: int) -> int:
        """How many candles opened before this time."""
        return int(np.searchsorted(self._time[: self._size], open_time_ms))

    @property
    def values(self) -> FloatArray:
        """open, high, low, close, volume; shape (5, candles)."""
        view = self._values[:, : self._size]
        view.flags.writeable = False
        return view

    def level(self, number: int) -> FloatArray:
        """open, high, low, close, volume of every 2**number candles, shape (5, ceil(candles / 2**number)).

        Counted from candle 0; the last cell may hold fewer.
        """
        if number == 0:
            return self.values
        view = self.build_pyramid().level(self._base(), number)[:]
        view.flags.writeable = False
        return view

    def extremes(self, first: int, stop: int) -> tuple[float, float] | None:
        """The lowest low and the highest high of the candles first..stop - 1; None if there are none."""
        if first >= stop:
            return None
        number = ((stop - first) // _SCANNED_AT_MOST).bit_length()
        begin, end = -(-first >> number), stop >> number
        parts = (
            self.values[1:3, first : begin << number],
            self.level(number)[1:3, begin:end],
            self.values[1:3, end << number : stop],
        )
        lows, highs = zip(*((part[1].min(), part[0].max()) for part in parts if part.size), strict=True)
        return float(min(lows)), float(max(highs))

    def build_pyramid(self) -> Pyramid:
        """Build the pyramid now, on this thread, instead of on first use. O(N)."""
        if self._pyramid is None:
            self._pyramid = Pyramid(self._base(), self._time.shape[0])
        return self._pyramid

    def changes_since(self, version: int) -> list[Change] | None:
        """The changes after that version, in order; None if they are no longer in the log."""
        count = self.version - version
        if not 0 <= count <= len(self._changes):
            return None
        return list(islice(self._changes, len(self._changes) - count, None))

    def add(self, candle: Candle) -> None:
        """Append, insert or replace one candle, by its opening time."""
        numbers = (candle.open, candle.high, candle.low, candle.close, candle.volume)
        if not all(map(isfinite, numbers)):
            raise ValueError(f"a candle holds finite numbers only, was {candle}")
        is_last = self._size == 0 or candle.open_time_ms > int(self._time[self._size - 1])
        index = self._size if is_last else self.insertion_index(candle.open_time_ms)
        is_new = index == self._size or int(self._time[index]) != candle.open_time_ms
        if is_new:
            self._open(index)
            self._time[index] = candle.open_time_ms
        self._values[:, index] = numbers
        if self._pyramid is not None:
            if is_new and index < self._size - 1:
                self._pyramid.rebuild(self._base(), index)
            else:
                self._pyramid.change(self._base(), index)
        self._note(candle.open_time_ms, candle.open_time_ms)

    def extend(self, candles: Iterable[Candle]) -> None:
        """Add many; of two with the same opening time the later one wins."""
        given = list(candles)
        if len(given) == 1:
            self.add(given[0])
            return
        times = np.array([one.open_time_ms for one in given], dtype=np.int64)
        rows = [(one.open, one.high, one.low, one.close, one.volume) for one in given]
        self.extend_columns(times, np.array(rows, dtype=np.float64).reshape(-1, len(COLUMNS)).T)

    def extend_columns(self, open_time_ms: TimeArray, values: FloatArray) -> None:
        """Add n candles in any order, given as in `from_columns`; for equal opening times the later wins.

        Raises ValueError if a number is not finite or the shapes do not fit; the series is unchanged then.
        """
        _check(open_time_ms, values)
        if open_time_ms.size == 0:
            return
        times, values = _ascending(open_time_ms, values)
        if self._size == 0 or times[0] > self._time[self._size - 1]:
            self._append(times, values)
        else:
            self._merge(times, values)

    def _append(self, times: TimeArray, values: FloatArray) -> None:
        """Append ascending candles that all open after the last one."""
        first, size = self._size, self._size + times.size
        if times.size == 0:
            return
        self._reserve(size)
        self._time[first:size], self._values[:, first:size] = times, values
        self._size = size
        if self._pyramid is not None:
            self._pyramid.rebuild(self._base(), first)
        self._note(int(times[0]), int(times[-1]))

    def _merge(self, times: TimeArray, values: FloatArray) -> None:
        places = np.searchsorted(self._time[: self._size], times)
        is_known = places < self._size
        is_known[is_known] = self._time[places[is_known]] == times[is_known]
        self._replace(places[is_known], values[:, is_known])
        if not is_known.all():
            self._insert(places[~is_known], times[~is_known], values[:, ~is_known])
        self._note(int(times[0]), int(times[-1]))

    def _replace(self, places: NDArray[np.intp], values: FloatArray) -> None:
        self._values[:, places] = values
        if self._pyramid is None or places.size == 0:
            return
        if places.size > _CHANGED_ONE_BY_ONE:
            self._pyramid.rebuild(self._base(), int(places[0]), int(places[-1]) + 1)
            return
        for place in places.tolist():
            self._pyramid.change(self._base(), place)

    def _insert(self, places: NDArray[np.intp], times: TimeArray, values: FloatArray) -> None:
        """Insert candles; `places` are their ascending indices in the series as it is now."""
        first, size = int(places[0]), self._size + times.size
        moved = np.s_[first : self._size]
        joined_times = np.insert(self._time[moved], places - first, times)
        joined_values = np.insert(self._values[:, moved], places - first, values, axis=1)
        self._reserve(size)
        self._time[first:size], self._values[:, first:size] = joined_times, joined_values
        self._size = size
        if self._pyramid is not None:
            self._pyramid.rebuild(self._base(), first)

    def _note(self, first_ms: int, last_ms: int) -> None:
        self._changes.append((first_ms, last_ms))
        self.version += 1

    def _open(self, index: int) -> None:
        """Make room for one candle at an index."""
        self._reserve(self._size + 1)
        if index < self._size:
            self._time[index + 1 : self._size + 1] = self._time[index : self._size].copy()
            self._values[:, index + 1 : self._size + 1] = self._values[:, index : self._size].copy()
        self._size += 1

    def _base(self) -> FloatArray:
        return self._values[:, : self._size]

    def _reserve(self, size: int) -> None:
        capacity = self._time.shape[0]
        if size <= capacity:
            return
        larger = max(size, capacity * 2)
        time, values = np.empty(larger, np.int64), np.empty((len(COLUMNS), larger), np.float64)
        time[: self._size] = self._time[: self._size]
        values[:, : self._size] = self._values[:, : self._size]
        self._time, self._values = time, values

    def _view(self, column: NDArray[T]) -> NDArray[T]:
        view = column[: self._size]
        view.flags.writeable = False
        return view


class PastSeries(CandleSeries):
    """A series as of an earlier time: a read-only view of another one's first candles, of which none is copied. New
    candles are added to the whole series.

    Moving forwards or back costs O(log N); followers of its changes only compute the added candles, or the newest.
    """

    def __init__(self, whole: CandleSeries) -> None:
        super().__init__(whole.interval)
        self._whole, self._followed = whole, -1

    def show(self, whole: CandleSeries, count: int) -> None:
        """Show the first `count` candles of a series. Call it again after that series has changed."""
        both = min(count, self._size)
        changes = whole.changes_since(self._followed) if whole is self._whole else None
        is_same = changes is not None and all(whole.insertion_index(first_ms) >= both for first_ms, _ in changes)
        former, self._size = self._size, count
        self._whole, self._followed, self.interval = whole, whole.version, whole.interval
        self._time, self._values = whole._time, whole._values
        if not is_same:
            self._pyramid = None
            self._changes.clear()
            self.version += 1  # the first changed candle is unknown
        elif former != count:
            self._resize(former, count)

    def _resize(self, former: int, count: int) -> None:
        """Cells after the newest candle aggregated candles that have been removed or added since."""
        first = max(min(former, count - 1), 0)
        if self._pyramid is not None:
            self._pyramid.rebuild(self._base(), first)
        if count:
            self._note(int(self._time[first]), int(self._time[count - 1]))
        else:
            self._changes.clear()
            self.version += 1


def _check(open_time_ms: TimeArray, values: FloatArray) -> None:
    if open_time_ms.ndim != 1 or values.shape != (len(COLUMNS), open_time_ms.size):
        raise ValueError(
            f"n candles are times of shape (n,) and values of shape ({len(COLUMNS)}, n), "
            f"were {open_time_ms.shape} and {values.shape}"
        )
    if not np.isfinite(values).all():
        place = int(np.flatnonzero(~np.isfinite(values).all(axis=0))[0])
        raise ValueError(f"a candle holds finite numbers only; the candle of {open_time_ms[place]} ms does not")


def _ascending(times: TimeArray, values: FloatArray) -> tuple[TimeArray, FloatArray]:
    """Sort by time; for equal times the last candle wins."""
    if (np.diff(times) > 0).all():
        return times, values
    order = np.argsort(times, kind="stable")
    times = times[order]
    is_last = np.append(times[1:] != times[:-1], True)
    return times[is_last], values[:, order[is_last]]

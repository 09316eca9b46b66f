"""Closed candles of one market, as columns, in ascending time; the final state depends on no order of arrival."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.market.candle import Candle, Interval

_COLUMNS = ("open", "high", "low", "close", "volume")
_FIRST_CAPACITY = 1024
_CHANGES_KEPT = 4_096

Change = tuple[int, int]
"""The opening times of the first and the last candle that changed."""

T = TypeVar("T", bound=np.generic)


class CandleSeries:
    """Growable columns. Appending is amortised O(1); a candle that came late is inserted in O(N).

    Views returned by properties are read-only and valid until the next change.
    """

    def __init__(self, interval: Interval) -> None:
        self.interval = interval
        self._size = 0
        self._time = np.empty(_FIRST_CAPACITY, dtype=np.int64)
        self._values = np.empty((len(_COLUMNS), _FIRST_CAPACITY), dtype=np.float64)
        self._version = 0
        self._changes: deque[Change] = deque(maxlen=_CHANGES_KEPT)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int) -> Candle:
        if not -self._size <= index < self._size:
            raise IndexError(f"candle {index} of {self._size}")
        position = index % self._size
        numbers = (float(value) for value in self._values[:, position])
        return Candle(int(self._time[position]), *numbers)

    def __iter__(self) -> Iterator[Candle]:
        return (self[index] for index in range(self._size))

    @property
    def version(self) -> int:
        """Grows with every change."""
        return self._version

    @property
    def open_time_ms(self) -> NDArray[np.int64]:
        return self._view(self._time)

    @property
    def open(self) -> NDArray[np.float64]:
        return self._view(self._values[0])

    @property
    def high(self) -> NDArray[np.float64]:
        return self._view(self._values[1])

    @property
    def low(self) -> NDArray[np.float64]:
        return self._view(self._values[2])

    @property
    def close(self) -> NDArray[np.float64]:
        return self._view(self._values[3])

    @property
    def volume(self) -> NDArray[np.float64]:
        return self._view(self._values[4])

    def index_at(self, open_time_ms: int) -> int | None:
        """The index of the candle that opened at this time, or None."""
        index = self.insertion_index(open_time_ms)
        found = index < self._size and int(self._time[index]) == open_time_ms
        return index if found else None

    def insertion_index(self, open_time_ms: int) -> int:
        """How many candles opened before this time."""
        return int(np.searchsorted(self._time[: self._size], open_time_ms))

    def changes_since(self, version: int) -> list[Change] | None:
        """What changed after that version, in order; None where that was too long ago to be remembered."""
        count = self._version - version
        if not 0 <= count <= len(self._changes):
            return None
        return list(islice(self._changes, len(self._changes) - count, None))

    def gap_indices(self) -> NDArray[np.int64]:
        """Indices of candles before which at least one candle is missing."""
        steps = np.diff(self._time[: self._size])
        return np.flatnonzero(steps > self.interval.duration_ms).astype(np.int64) + 1

    def add(self, candle: Candle) -> None:
        """Append, insert or replace one candle, by its opening time."""
        if self._size == 0 or candle.open_time_ms > int(self._time[self._size - 1]):
            self._reserve(self._size + 1)
            self._write(self._size, candle)
            self._size += 1
        else:
            self._place(candle)
        self._changes.append((candle.open_time_ms, candle.open_time_ms))
        self._version += 1

    def extend(self, candles: Iterable[Candle]) -> None:
        """Add many; of two with the same opening time the later one given stays."""
        for candle in candles:
            self.add(candle)

    def _place(self, candle: Candle) -> None:
        index = self.insertion_index(candle.open_time_ms)
        if int(self._time[index]) != candle.open_time_ms:
            self._reserve(self._size + 1)
            self._time[index + 1 : self._size + 1] = self._time[index : self._size].copy()
            self._values[:, index + 1 : self._size + 1] = self._values[:, index : self._size].copy()
            self._size += 1
        self._write(index, candle)

    def _write(self, index: int, candle: Candle) -> None:
        self._time[index] = candle.open_time_ms
        self._values[:, index] = (candle.open, candle.high, candle.low, candle.close, candle.volume)

    def _reserve(self, size: int) -> None:
        capacity = self._time.shape[0]
        if size <= capacity:
            return
        larger = max(size, capacity * 2)
        time, values = np.empty(larger, np.int64), np.empty((len(_COLUMNS), larger), np.float64)
        time[: self._size] = self._time[: self._size]
        values[:, : self._size] = self._values[:, : self._size]
        self._time, self._values = time, values

    def _view(self, column: NDArray[T]) -> NDArray[T]:
        view = column[: self._size]
        view.flags.writeable = False
        return view

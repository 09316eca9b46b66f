"""One indicator's values along a candle series, updated at minimal cost."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

import numpy as np

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries, FloatArray
from core.indicators.columns import Columns
from core.indicators.spec import IndicatorSpec
from core.indicators.technical import TechnicalAnalysis
from core.indicators.vwap import VolumeWeightedPrice

_FIRST_CAPACITY = 1024
_LARGE_BYTES = 1 << 22

_SHIFT = 6
_GROUP = 1 << _SHIFT


class Extremes:
    """Minimum and maximum over any range of columns, by groups of 64, over all rows of an array [row, n]. The owner
    passes it to every method, and reports its changes.

    A changed column costs one group, and a query one comparison per group: some microseconds for a million columns. A
    group with a NaN is NaN: a queried range must have none.
    """

    def __init__(self) -> None:
        self._groups: FloatArray = np.empty((2, 0))
        """Low and high of each group, with spare room; the last group may be shorter."""

    def change(self, rows: FloatArray, first: int, stop: int) -> None:
        """Columns first..stop - 1 have changed, or are new."""
        if first >= stop:
            return
        self._reserve(-(-rows.shape[1] >> _SHIFT))
        begin, end = first >> _SHIFT, -(-stop >> _SHIFT)
        below = rows[:, begin << _SHIFT : end << _SHIFT]
        places = np.arange(0, below.shape[1], _GROUP)
        with np.errstate(invalid="ignore"):  # in columns not computed yet
            self._groups[0, begin:end] = np.minimum.reduceat(below, places, axis=1).min(axis=0)
            self._groups[1, begin:end] = np.maximum.reduceat(below, places, axis=1).max(axis=0)

    def between(self, rows: FloatArray, first: int, stop: int) -> tuple[float, float]:
        """The minimum and maximum of columns first..stop - 1, of which there must be one and none may be NaN."""
        begin, end = -(-first >> _SHIFT), stop >> _SHIFT
        if begin >= end:
            return float(rows[:, first:stop].min()), float(rows[:, first:stop].max())
        edges = (rows[:, first : begin << _SHIFT], rows[:, end << _SHIFT : stop])
        lows, highs = self._groups[:, begin:end]
        there = [(lows, highs), *((edge, edge) for edge in edges if edge.size)]
        return min(float(low.min()) for low, _ in there), max(float(high.max()) for _, high in there)

    def _reserve(self, count: int) -> None:
        former = self._groups
        if former.shape[1] < count:
            self._groups = np.empty((2, count + count // 4 + 1))
            self._groups[:, : former.shape[1]] = former


class Calculation(Protocol):
    """An indicator's computation for `IndicatorSeries`. It fills the series' table [row, candle], from the first candle
    to the newest."""

    @property
    def rows(self) -> int:
        """Rows of the table."""

    @property
    def outputs(self) -> int:
        """How many of the last rows are shown."""

    @property
    def first_defined(self) -> int:
        """The index of the first candle with values; NaN before it, and only there."""

    def resume(self, first: int) -> int:
        """The index from which to fill the table again after the candles from `first` on have changed."""

    def fill(self, candles: Columns, table: FloatArray, first: int) -> None:
        """Write the table's columns from `first` to the newest candle's, at least one; `first` is the end of the last
        call, or the result of `resume`."""

    def preview(self, candles: CandleSeries, table: FloatArray, forming: Candle) -> tuple[float, ...]:
        """The outputs of a candle after all others, which are not stored. The table is filled up to there, and has a
        spare column."""


OUR_OWN: Mapping[str, Callable[[IndicatorSpec], Calculation]] = {"vwap": VolumeWeightedPrice}
"""The indicators without functions of TA-Lib, by kind."""


def calculation_for(spec: IndicatorSpec) -> Calculation:
    """The computation of an indicator."""
    return OUR_OWN.get(spec.kind, TechnicalAnalysis)(spec)


class IndicatorSeries:
    """Growable rows of values, one column per candle.

    The values equal a new series over the same candles, bit by bit, however the candles arrived. An appended candle
    costs the same after a thousand candles and after a million. A replaced or inserted candle recomputes the candles
    after it if it is among the last few hundred, else all. Candles must be finite, which `core.domain.candle_faults`
    ensures. A million candles take 2 to 50 milliseconds: a caller that cannot wait runs the result of `begin` on
    another thread, instead of calling `sync`.
    """

    def __init__(self, spec: IndicatorSpec, candles: CandleSeries, *, is_computed: bool = True) -> None:
        """is_computed: compute the values now, not only at the first `sync` or `begin`."""
        self.spec = spec
        self._candles = candles
        self._calculation = calculation_for(spec)
        self._size = 0
        self._version = 0
        self._first_missing = 0
        self.is_working = False
        """Whether the function returned by `begin` has not been called or has not finished."""
        self._table = np.empty((self._calculation.rows, _FIRST_CAPACITY))
        self._extremes = Extremes()
        if is_computed:
            self.sync()

    def __len__(self) -> int:
        """The number of candles with values."""
        return self._size

    @property
    def values(self) -> FloatArray:
        """Read-only [output, n], the outputs in the registry's order, as of the last `sync`; valid until the next.
        NaN before `first_defined`, and nowhere else."""
        view = self._shown()
        view.flags.writeable = False
        return view

    @property
    def first_defined(self) -> int:
        """The index of the first candle with values, after the warm-up."""
        return self._calculation.first_defined

    @property
    def is_current(self) -> bool:
        """Whether the values are up to date with the candles."""
        return self._version == self._candles.version and self._first_missing == self._size

    def count_missing(self) -> int:
        """The number of candles whose values need to be computed. Computes nothing."""
        self._note_changes()
        return self._size - self._first_missing

    def sync(self) -> bool:
        """Update the values from the candles. Returns whether anything had changed."""
        if self.is_current:
            return False
        self.begin()()
        return True

    def begin(self) -> Callable[[], None]:
        """A function that computes all missing values of the current candles, to be called once, on any thread. While
        `is_working`, nothing else may be called here. Candles that change meanwhile are updated afterwards."""
        self._note_changes()
        self.is_working = True
        return partial(self._work, Columns.of_series(self._candles))

    def _work(self, candles: Columns) -> None:
        try:
            if self._first_missing < self._size:
                self._calculation.fill(candles, self._table, self._first_missing)
            self._extremes.change(self._shown(), self._first_missing, self._size)
            self._first_missing = self._size
        finally:
            self.is_working = False

    def preview(self, forming: Candle) -> tuple[float, ...]:
        """The outputs if this candle closed as it is; NaN in the warm-up. Nothing is stored.

        Raises ValueError unless it comes after the newest closed candle.
        """
        self.sync()
        if self._size and forming.open_time_ms <= int(self._candles.open_time_ms[-1]):
            raise ValueError(
                f"The candle of {forming.open_time_ms} is not forming: a newer or the same one has closed."
            )
        self._reserve(self._size + 1)
        return self._calculation.preview(self._candles, self._table, forming)

    def extent(self, first: int, stop: int) -> tuple[float, float] | None:
        """The lowest and highest value of all outputs over candles [first, stop), as of the last `sync`; None without
        values."""
        begin, end = max(first, self.first_defined), min(stop, self._size)
        return None if begin >= end else self._extremes.between(self._shown(), begin, end)

    def _shown(self) -> FloatArray:
        return self._table[-self._calculation.outputs :, : self._size]

    def _note_changes(self) -> None:
        """Take over the number of candles, and find the first one to compute."""
        if self._version == self._candles.version:
            return
        size = len(self._candles)
        self._reserve(size + 1)
        changes = self._candles.changes_since(self._version)
        if changes is None:
            first_changed = 0
        else:
            first_changed = self._candles.insertion_index(min(first_ms for first_ms, _ in changes))
        first = min(first_changed, self._first_missing, size)
        self._first_missing = self._calculation.resume(first)
        self._size, self._version = size, self._candles.version

    def _reserve(self, size: int) -> None:
        if size <= self._table.shape[1]:
            return
        # With spare room, or the first candle after loading a long history would copy all of it.
        table = _new_table(self._table.shape[0], size + size // 4 + _FIRST_CAPACITY)
        table[:, : self._size] = self._table[:, : self._size]
        self._table = table


def _new_table(rows: int, columns: int) -> FloatArray:
    size = rows * columns * np.dtype(np.float64).itemsize
    if size < _LARGE_BYTES:
        return np.empty((rows, columns))
    # For this size NumPy requests pages of 2 MB. Linux clears each on its first write, those of all rows at the same
    # time: that took up to 45 ms. With pages of 4 KB the cost is spread over the writes.
    if sys.platform == "win32":
        memory = mmap.mmap(-1, size)
    else:
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(memory, np.float64).reshape(rows, columns)

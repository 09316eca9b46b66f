"""One indicator's values beside a candle series, brought up to date in the cheapest way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.indicators.calculations import calculation_for
from core.indicators.columns import Columns
from core.indicators.spec import IndicatorSpec
from core.market.candle import Candle
from core.market.series import CandleSeries

FloatArray = NDArray[np.float64]

_FIRST_CAPACITY = 1024


class IndicatorSeries:
    """Growable rows of values, one column a candle.

    However the candles came, the values are the same, bit by bit, as those of a new series over the same candles. An
    appended candle costs O(period) at most; one that was replaced or inserted costs a recomputation from there on, up
    to where its effect ends: a period later (SMA, Bollinger), with the session (VWAP), else with the newest candle.
    Candles must be finite; `core.market.validate` sees to that.
    """

    def __init__(self, spec: IndicatorSpec, candles: CandleSeries) -> None:
        self.spec = spec
        self._candles = candles
        self._calculation = calculation_for(spec)
        self._size = 0
        self._version = 0
        self._extent: tuple[float, float] | None = None
        self._extent_key: tuple[int, int, int] | None = None
        self._table = np.empty((self._calculation.rows, _FIRST_CAPACITY))
        self.sync()

    def __len__(self) -> int:
        """For how many candles there are values."""
        return self._size

    @property
    def values(self) -> FloatArray:
        """Read-only [output, n], the outputs in the registry's order, as of the last `sync`; valid until the next.
        NaN before `first_defined`, and nowhere else."""
        view = self._table[-self._calculation.outputs :, : self._size]
        view.flags.writeable = False
        return view

    @property
    def first_defined(self) -> int:
        """The index of the first candle that has values; the warm-up is before it."""
        return self._calculation.first_defined

    def sync(self) -> bool:
        """Bring the values up to date with the candles. Says whether anything had changed."""
        if self._version == self._candles.version:
            return False
        self._replace(*self._unchanged())
        self._version = self._candles.version
        return True

    def preview(self, forming: Candle) -> tuple[float, ...]:
        """What the outputs would be if this candle closed as it is; NaN in the warm-up. Nothing is kept of it.

        Raises ValueError where it does not come after the newest closed candle.
        """
        self.sync()
        if self._size and forming.open_time_ms <= int(self._candles.open_time_ms[-1]):
            raise ValueError(
                f"The candle of {forming.open_time_ms} is not forming: a newer or the same one has closed."
            )
        close_before = float(self._candles.close[-1]) if self._size else np.nan
        # The column after the last one is free: its content is never shown, and the next sync writes over it.
        self._reserve(self._size + 1)
        self._calculation.load(Columns.of_candle(forming, close_before), self._table[:, self._size : self._size + 1])
        self._calculation.compute(self._table, self._size, self._size + 1)
        return tuple(self._table[-self._calculation.outputs :, self._size].tolist())

    def extent(self, first: int, stop: int) -> tuple[float, float] | None:
        """The lowest and highest value of all outputs over candles [first, stop); None where there is none."""
        key = (self._version, first, stop)
        if key != self._extent_key:  # asked for with each tick, and changed by a closed candle or another view only
            self._extent, self._extent_key = self._scanned(first, stop), key
        return self._extent

    def _scanned(self, first: int, stop: int) -> tuple[float, float] | None:
        begin, end = max(first, self.first_defined), min(stop, self._size)
        if begin >= end:
            return None
        shown = self._table[-self._calculation.outputs :, begin:end]
        return float(shown.min()), float(shown.max())

    def _unchanged(self) -> tuple[int, int]:
        """How many candles at the beginning, and how many at the end, are as they were at the last look."""
        changes = self._candles.changes_since(self._version)
        if changes is None:
            return 0, 0
        first_ms, last_ms = min(first for first, _ in changes), max(last for _, last in changes)
        return self._candles.insertion_index(first_ms), len(self._candles) - self._candles.insertion_index(last_ms + 1)

    def _replace(self, first: int, unchanged_at_end: int) -> None:
        """Make anew what comes from the candles after the first `first` and before the last `unchanged_at_end`."""
        size = len(self._candles)
        self._reserve(size + 1)
        stop = size - unchanged_at_end
        if unchanged_at_end and size != self._size:
            self._table[:, stop:size] = self._table[:, self._size - unchanged_at_end : self._size].copy()
        until = min(size, self._calculation.reach(self._candles.open_time_ms, stop))
        self._size = size
        self._calculation.load(Columns.of_series(self._candles, first, until), self._table[:, first:until])
        self._calculation.compute(self._table, first, until)

    def _reserve(self, size: int) -> None:
        if size <= self._table.shape[1]:
            return
        # With room to spare, or the first candle after a long history was loaded would pay for copying it.
        table = np.empty((self._table.shape[0], size + size // 4 + _FIRST_CAPACITY))
        table[:, : self._size] = self._table[:, : self._size]
        self._table = table

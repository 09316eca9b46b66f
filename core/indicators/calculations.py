"""The arithmetic of each indicator, over a table of rows [row, candle] that its series keeps.

The last rows are what is shown, those before them are what goes on from candle to candle. Where each begins and how
it is seeded is as TA-Lib does it (its function reference, https://ta-lib.org/functions/, and its C source), except
where a docstring says otherwise; docs/indicators.md has the formulas.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from core.indicators.columns import Columns
from core.indicators.recursion import ExponentialAverage
from core.indicators.sessions import session_end_ms, session_numbers, sums_within_sessions
from core.indicators.spec import Anchor, IndicatorKind, IndicatorSpec, Source
from core.indicators.windows import window_means, window_means_and_squares

FloatArray = NDArray[np.float64]

_VANISHED = np.finfo(np.float64).tiny / np.finfo(np.float64).eps
"""Below this, averages of gains and losses have lost digits: the price has been flat for thousands of candles."""


class Calculation(Protocol):
    """What `IndicatorSeries` asks of an indicator."""

    @property
    def rows(self) -> int:
        """Rows of the table."""
        ...

    @property
    def outputs(self) -> int:
        """How many of them, the last ones, are shown."""
        ...

    @property
    def first_defined(self) -> int:
        """The index of the first candle with values; NaN before it, and nowhere after it."""
        ...

    def reach(self, times_ms: NDArray[np.int64], stop: int) -> int:
        """Up to which index values change when candles before `stop` changed; at least `stop`, beyond the end too."""
        ...

    def load(self, columns: Columns, part: FloatArray) -> None:
        """Write what comes from each candle alone into this part of the table: [row, len(columns)]."""
        ...

    def compute(self, table: FloatArray, first: int, stop: int) -> None:
        """Write the rest from index `first` up to `stop`, given all before `first` and what `load` wrote."""
        ...


@dataclass(frozen=True, slots=True)
class SimpleAverage:
    """SMA: the mean of the newest `period` values; first at index period - 1."""

    period: int
    source: Source
    rows: ClassVar[int] = 2
    outputs: ClassVar[int] = 1

    @property
    def first_defined(self) -> int:
        return self.period - 1

    def reach(self, times_ms: NDArray[np.int64], stop: int) -> int:
        return stop + self.period - 1

    def load(self, columns: Columns, part: FloatArray) -> None:
        part[0] = columns.source(self.source)

    def compute(self, table: FloatArray, first: int, stop: int) -> None:
        table[1, first : min(self.first_defined, stop)] = np.nan
        begin = max(first, self.first_defined)
        if begin < stop:
            table[1, begin:stop] = window_means(table[0, begin - self.period + 1 : stop], self.period)


@dataclass(frozen=True, slots=True)
class BollingerBands:
    """Upper band, mean, lower band; the deviation is that of the population (divided by n). First at period - 1."""

    period: int
    deviations: float
    source: Source
    rows: ClassVar[int] = 4
    outputs: ClassVar[int] = 3

    @property
    def first_defined(self) -> int:
        return self.period - 1

    def reach(self, times_ms: NDArray[np.int64], stop: int) -> int:
        return stop + self.period - 1

    def load(self, columns: Columns, part: FloatArray) -> None:
        part[0] = columns.source(self.source)

    def compute(self, table: FloatArray, first: int, stop: int) -> None:
        table[1:, first : min(self.first_defined, stop)] = np.nan
        begin = max(first, self.first_defined)
        if begin < stop:
            means, squares = window_means_and_squares(table[0, begin - self.period + 1 : stop], self.period)
            distance = self.deviations * np.sqrt(squares / self.period)
            table[1:, begin:stop] = means + distance, means, means - distance


@dataclass(frozen=True, slots=True)
class ExponentialMovingAverage:
    """EMA with a weight of 2 / (period + 1), seeded by the mean of the first `period` values, at index period - 1."""

    period: int
    source: Source
    rows: ClassVar[int] = 2
    outputs: ClassVar[int] = 1

    @property
    def first_defined(self) -> int:
        return self.period - 1

    def reach(self, times_ms: NDArray[np.int64], stop: int) -> int:
        return times_ms.size

    def load(self, columns: Columns, part: FloatArray) -> None:
        part[0] = columns.source(self.source)

    def compute(self, table: FloatArray, first: int, stop: int) -> None:
        average = ExponentialAverage(_span_weight(self.period), 0, self.first_defined)
        average.fill(lambda begin, end: table[0, begin:end], table[1], first, stop)


@dataclass(frozen=True, slots=True)
class RelativeStrength:
    """RSI by Wilder's averages of gains and losses (weight 1 / period), seeded by the mean of the first `period`
    changes, at index period. Where there is neither gain nor loss it is 50; TA-Lib says 0 there."""

    period: int
    source: Source
    rows: ClassVar[int] = 4
    outputs: ClassVar[int] = 1

    @property
    def first_defined(self) -> int:
        return self.period

    def reach(self, times_ms: NDArray[np.int64], stop: int) -> int:
        return times_ms.size

    def load(self, columns: Columns, part: FloatArray) -> None:
        part[0] = columns.source(self.source)

    def compute(self, table: FloatArray, first: int, stop: int) -> None:
        average = ExponentialAverage(1.0 / self.period, 1, self.period)
        average.fill(lambda begin, end: _rises(table[0], begin, end), table[1], first, stop)
        average.fill(lambda begin, end: _falls(table[0], begin, end), table[2], first, stop)
        gains, both = table[1, first:stop], table[1, first:stop] + table[2, first:stop]
        with np.errstate(divide="ignore", invalid="ignore"):
            strength = 100.0 * (gains / both)
        table[3, first:stop] = np.where(both < _VANISHED, 50.0, strength)


@dataclass(frozen=True, slots=True)
class ConvergenceDivergence:
    """MACD: the line (fast EMA - slow EMA), its EMA as the signal, and line - signal. Both averages are seeded at
    index slow - 1, each by the mean of its own period up to there; all three begin with the signal."""

    fast: int
    slow: int
    signal: int
    source: Source
    rows: ClassVar[int] = 7
    outputs: ClassVar[int] = 3

    @property
    def first_defined(self) -> int:
        return self.slow + self.signal - 2

    def reach(self, times_ms: NDArray[np.int64], stop: int) -> int:
        return times_ms.size

    def load(self, columns: Columns, part: FloatArray) -> None:
        part[0] = columns.source(self.source)

    def compute(self, table: FloatArray, first: int, stop: int) -> None:
        source, fast, slow, line, shown, signal, histogram = table
        seeded = self.slow - 1
        for period, average in ((self.fast, fast), (self.slow, slow)):
            smooth = ExponentialAverage(_span_weight(period), self.slow - period, seeded)
            smooth.fill(lambda begin, end: source[begin:end], average, first, stop)
        line[first:stop] = fast[first:stop] - slow[first:stop]
        smooth = ExponentialAverage(_span_weight(self.signal), seeded, self.first_defined)
        smooth.fill(lambda begin, end: line[begin:end], signal, first, stop)
        histogram[first:stop] = line[first:stop] - signal[first:stop]
        shown[first:stop] = line[first:stop]
        shown[first : min(self.first_defined, stop)] = np.nan


@dataclass(frozen=True, slots=True)
class AverageTrueRange:
    """ATR by Wilder's average of the true range (weight 1 / period), seeded by the mean of the first `period` true
    ranges that have a close before them, at index period."""

    period: int
    rows: ClassVar[int] = 2
    outputs: ClassVar[int] = 1

    @property
    def first_defined(self) -> int:
        return self.period

    def reach(self, times_ms: NDArray[np.int64], stop: int) -> int:
        return times_ms.size

    def load(self, columns: Columns, part: FloatArray) -> None:
        part[0] = columns.true_range()

    def compute(self, table: FloatArray, first: int, stop: int) -> None:
        average = ExponentialAverage(1.0 / self.period, 1, self.period)
        average.fill(lambda begin, end: table[0, begin:end], table[1], first, stop)


@dataclass(frozen=True, slots=True)
class VolumeWeightedPrice:
    """VWAP of (high + low + close) / 3 since the session began, from the first candle on. As long as nothing was
    traded in a session it is the candle's own price; TA-Lib has no VWAP."""

    anchor: Anchor
    rows: ClassVar[int] = 4
    outputs: ClassVar[int] = 1
    first_defined: ClassVar[int] = 0

    def reach(self, times_ms: NDArray[np.int64], stop: int) -> int:
        if stop == 0:
            return 0
        return int(np.searchsorted(times_ms, session_end_ms(int(times_ms[stop - 1]), self.anchor)))

    def load(self, columns: Columns, part: FloatArray) -> None:
        session, traded, volume, price = part
        session[:] = session_numbers(columns.open_time_ms, self.anchor)
        price[:] = columns.source(Source.HLC3)
        volume[:] = columns.volume
        np.multiply(price, volume, out=traded)

    def compute(self, table: FloatArray, first: int, stop: int) -> None:
        session, sums, price = table[0, first:stop], table[1:3, first:stop], table[3, first:stop]
        if first < stop and first > 0 and session[0] == table[0, first - 1]:
            sums[:, 0] += table[1:3, first - 1]
        sums_within_sessions(sums, session)
        np.divide(sums[0], sums[1], out=price, where=sums[1] > 0.0)


def calculation_for(spec: IndicatorSpec) -> Calculation:
    """The arithmetic of what the specification asks for."""
    source = spec.source or Source.CLOSE
    match spec.kind:
        case IndicatorKind.SMA:
            return SimpleAverage(int(spec.number("period")), source)
        case IndicatorKind.EMA:
            return ExponentialMovingAverage(int(spec.number("period")), source)
        case IndicatorKind.BOLLINGER:
            return BollingerBands(int(spec.number("period")), spec.number("deviations"), source)
        case IndicatorKind.VWAP:
            return VolumeWeightedPrice(Anchor(str(spec.parameters()["anchor"])))
        case IndicatorKind.RSI:
            return RelativeStrength(int(spec.number("period")), source)
        case IndicatorKind.MACD:
            fast, slow, signal = (int(spec.number(name)) for name in ("fast", "slow", "signal"))
            return ConvergenceDivergence(fast, slow, signal, source)
        case IndicatorKind.ATR:
            return AverageTrueRange(int(spec.number("period")))


def _span_weight(period: int) -> float:
    return 2.0 / (period + 1)


def _rises(values: FloatArray, first: int, stop: int) -> FloatArray:
    """How far each value from index `first` up to `stop` lies above the one before it; 0 where it does not."""
    return np.maximum(np.diff(values[first - 1 : stop]), 0.0)


def _falls(values: FloatArray, first: int, stop: int) -> FloatArray:
    """The same for how far it lies below."""
    return np.maximum(-np.diff(values[first - 1 : stop]), 0.0)

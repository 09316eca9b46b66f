"""Indicators by TA-Lib: https://ta-lib.org.

Its functions compute all candles at once, in a few nanoseconds each. Its streams keep a function's state after a
candle, so that the next one, or the forming one, costs the same after a thousand or a million candles, and has the same
bits.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries, FloatArray
from core.indicators.columns import Columns, number
from core.indicators.registry import INDICATORS, Call
from core.indicators.spec import IndicatorSpec

if TYPE_CHECKING:
    from types import ModuleType

_STEP_BACK = 256
"""A saved state lies this many candles before the newest, for corrections of the last ones."""
_SCANNED_AT_ONCE = 40_000_000
"""Candles times period, for functions whose cost per candle is the period."""
_FED_FOR_ONE_AT_ONCE = 256
"""A stream takes up to this many times as long per candle as a function over all candles."""
_VECTORS = np.zeros(64)
"""NumPy's exp of it leaves the processor's vector registers clean. If Qt's painting has left their upper halves in use,
TA-Lib's streams of exponential averages were measured at 100 ns per candle instead of 2."""


@dataclass(frozen=True, slots=True)
class _BoundCall:
    """A call of TA-Lib with the user's values."""

    @classmethod
    def of(cls, call: Call, values: Mapping[str, Any]) -> _BoundCall:
        source = str(values.get("source", ""))
        inputs = tuple(source if name == "source" else name for name in call.inputs)
        arguments = (values[each] if isinstance(each, str) else each for each in call.arguments)
        return cls(call.function, inputs, tuple(arguments))

    function: str
    inputs: tuple[str, ...]
    arguments: tuple[float, ...]

    def compute(self, candles: Columns) -> tuple[FloatArray, ...]:
        """Compute all outputs, [n] each."""
        function = getattr(_library(), self.function)
        return _outputs(function(*(candles.column(name) for name in self.inputs), *self.arguments))

    def open(self, candles: Columns) -> tuple[Any, tuple[FloatArray, ...]]:
        """Open a stream after these candles, and compute all outputs. Raises InsufficientHistory."""
        stream = getattr(_library().stream, self.function)
        np.exp(_VECTORS)
        opened, found = stream.open_and_fill(*(candles.column(name) for name in self.inputs), *self.arguments)
        return opened, _outputs(found)

    def peek(self, stream: Any, forming: Candle) -> tuple[float, ...]:
        """Compute the outputs of a stream if this candle came next."""
        found = stream.peek(*(number(forming, name) for name in self.inputs))
        return found if isinstance(found, tuple) else (found,)

    def feed(self, stream: Any, candles: Columns) -> tuple[FloatArray, ...]:
        """Feed these candles to a stream, and compute all outputs, [n] each."""
        given = (candles.column(name).tolist() for name in self.inputs)
        found: Iterable[Any] = map(stream.update, *given)
        count, value = len(candles), stream.value
        if not isinstance(value, tuple):
            return (np.fromiter(found, np.float64, count),)
        flat = np.fromiter(chain.from_iterable(found), np.float64, count * len(value))
        return tuple(flat.reshape(count, len(value)).T)


@dataclass(frozen=True, slots=True)
class _Streams:
    """The streams, one for each call, after the first `count` candles."""

    count: int
    streams: tuple[Any, ...]

    def copy(self) -> _Streams:
        return _Streams(self.count, tuple(stream.copy() for stream in self.streams))


class TechnicalAnalysis:
    """The values of an indicator whose row names functions of TA-Lib."""

    def __init__(self, spec: IndicatorSpec) -> None:
        self._row = INDICATORS[spec.kind]
        values = spec.parameters()
        self._calls = tuple(_BoundCall.of(call, values) for call in self._row.calls)
        self._now: _Streams | None = None
        """None while there are too few candles to open streams."""
        self._earlier: deque[_Streams] = deque(maxlen=2)
        self.outputs = self.rows = len(self._row.outputs)
        self.first_defined = int(self._row.warm_up(spec.numbers()))
        longest = max([1.0, *(argument for call in self._calls for argument in call.arguments)])
        self._most_at_once = int(_SCANNED_AT_ONCE / longest) if self._row.is_scanning else sys.maxsize

    def resume(self, first: int) -> int:
        if self._now is None:
            return 0
        if self._now.count <= first:
            return self._now.count
        while self._earlier and self._earlier[-1].count > first:
            self._earlier.pop()
        self._now = self._earlier[-1].copy() if self._earlier else None
        return self._now.count if self._now else 0

    def fill(self, candles: Columns, table: FloatArray, first: int) -> None:
        stop = len(candles)
        if self._now is None or self._is_quicker_at_once(first, stop):
            before = candles.part(0, stop - _STEP_BACK) if stop > _STEP_BACK else candles
            self._now = self._open(before, table, first) or self._open(candles, table, first)
        if self._now is None:
            self._write(table, 0, [call.compute(candles) for call in self._calls])
        elif self._now.count < stop:
            self._feed(candles, table)

    def preview(self, candles: CandleSeries, table: FloatArray, forming: Candle) -> tuple[float, ...]:
        size = len(candles)
        if size < self.first_defined:
            return (np.nan,) * self.outputs
        if self._now is not None:
            pairs = zip(self._calls, self._now.streams, strict=True)
            flat = chain.from_iterable(call.peek(stream, forming) for call, stream in pairs)
            return tuple(value * self._row.scale + self._row.shift for value in flat)
        whole = Columns.of_series(candles).followed_by(forming)
        self._write(table, 0, [call.compute(whole) for call in self._calls])  # the column after the last one is free
        return tuple(table[:, size].tolist())

    def _is_quicker_at_once(self, first: int, stop: int) -> bool:
        return stop <= self._most_at_once and stop - first > max(_STEP_BACK, stop // _FED_FOR_ONE_AT_ONCE)

    def _open(self, candles: Columns, table: FloatArray, first: int) -> _Streams | None:
        """Streams over candles whose values from `first` on are missing; None if these are too few."""
        count = len(candles)
        if count <= self.first_defined:
            return None
        try:
            opened = [call.open(candles) for call in self._calls]
        except _library().InsufficientHistory:
            return None
        self._write(table, first, [tuple(output[first:] for output in found) for _, found in opened])
        streams = _Streams(count, tuple(stream for stream, _ in opened))
        self._earlier.clear()
        self._earlier.append(streams.copy())
        return streams

    def _feed(self, candles: Columns, table: FloatArray) -> None:
        assert self._now is not None
        first, stop = self._now.count, len(candles)
        columns = candles.part(first, stop)
        pairs = zip(self._calls, self._now.streams, strict=True)
        self._write(table, first, [call.feed(stream, columns) for call, stream in pairs])
        self._now = _Streams(stop, self._now.streams)
        if stop - self._earlier[-1].count >= _STEP_BACK:
            self._earlier.append(self._now.copy())

    def _write(self, table: FloatArray, first: int, found: list[tuple[FloatArray, ...]]) -> None:
        """Write the outputs of all calls into the table's rows, from column `first` on."""
        for row, output in zip(table, chain.from_iterable(found), strict=True):
            written = row[first : first + output.size]
            if self._row.scale == 1.0 and self._row.shift == 0.0:
                written[:] = output
            else:
                np.add(np.multiply(output, self._row.scale, out=written), self._row.shift, out=written)
            if len(self._calls) > 1:  # they begin together
                written[: max(0, self.first_defined - first)] = np.nan


def _outputs(found: Any) -> tuple[FloatArray, ...]:
    return found if isinstance(found, tuple) else (found,)


def _library() -> ModuleType:
    """TA-Lib, which imports pandas: a quarter of a second, unless opening the database has imported it already."""
    import talib  # noqa: PLC0415 - after the first paint

    return talib

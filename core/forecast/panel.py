"""The past of the markets that a run learns: per candle, only data known at its close."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import DAY_MS, Candle, Interval
from core.domain.quantities import (
    LEVELS,
    NO_VOLUME,
    QUANTITIES,
    SMALLEST_RANGE,
    SMALLEST_VOLUME_SHARE,
    FloatArray,
    units,
)
from core.domain.regimes import Regime
from core.forecast.arrays import Arrays, Places
from core.forecast.averages import WeightedMoments

COARSE_SPANS = (4, 16, 64)
"""Lengths of the coarser candles, in candles; shorter near the start of the history."""
NUMBERS_PER_SPAN = 2
"""Per coarse candle: range and volume."""
FEATURES = 12 + len(COARSE_SPANS) * NUMBERS_PER_SPAN
OTHERS = 4
"""Features of the markets that are learned with this one, see `core.forecast.other_markets`."""
FEATURE_LIMIT = 6.0
_SMALLEST_SCALE = 1e-6
_RANGE_TO_DEVIATION = 1.0 / (2.0 * math.sqrt(math.log(2.0)))
"""Parkinson (1980): a Brownian path's expected high-low range against its standard deviation, roughly."""
_FEWEST_RETURNS = 10
_LARGEST_ANCHOR = 1e4
"""Of normalised quantiles, so that they fit into half precision."""
_WEEK_MS = 7 * DAY_MS
_SPARE = 4
"""One row in so many is spare: the older the rows, the less often all others move up."""

_SPANS = (60, 240, 50, 50)
"""Of the moving averages in candles. 60 and 50 define the reference forecast (`core.forecast.reference_forecast`)."""
_RETURN, _SLOW_RETURN, _RANGE, _VOLUME = range(len(_SPANS))

INSIDE_COLUMNS = ("inside", "inside_end", "inside_known")
"""The log of the height that the variance inside a candle, and that of its last fifth, would give a path of one piece;
and 1 where an inside is known. All are 0 where none is: a checkpoint holds no NaN."""
_LEAST_SHARE = 0.01
"""Of the variance in the last fifth of a candle, so that the log of none is finite."""

LEVEL_COLUMNS = ("scale", "range_level", "volume_level")
"""The columns on which the units of a forecast depend."""


class Panel:
    """Columns over the newest candles of each market, one row per candle, in order; at least `capacity` rows are kept.

    Derived columns are computed once, when a candle is appended, from that candle and the ones before it. A row is
    another time in each market.
    """

    COLUMNS = (
        "log_close",
        "body",
        "upper_wick",
        "lower_wick",
        "log_range",
        "log_volume",
        "scale",
        "range_level",
        "volume_level",
        "segment",
        "error_ratio",
        "wrong_direction",
    )

    def __init__(
        self, interval: Interval, markets: int, capacity: int, horizons: int, *, reads_inside: bool = False
    ) -> None:
        """With more than one market, the numbers of the others are features of each. reads_inside: columns have what is
        known of the inside of candles."""
        self.interval, self.markets, self.horizons, self.capacity = interval, markets, horizons, capacity
        self.has_others, self.reads_inside = markets > 1, reads_inside
        self._rows = capacity + -(-capacity // _SPARE)
        shape = markets, self._rows
        self.size = np.zeros(markets, dtype=np.int64)
        """Rows of each market."""
        self.observed = np.zeros(markets, dtype=np.int64)
        """Candles seen of each in all, also those no longer kept."""
        self.time = np.zeros(shape, dtype=np.int64)
        self._columns = {name: np.zeros(shape) for name in self.COLUMNS}
        if reads_inside:
            self._columns |= {name: np.zeros(shape) for name in INSIDE_COLUMNS}
        self._features = np.zeros((*shape, FEATURES + (OTHERS if self.has_others else 0)), dtype=np.float32)
        self._anchors = np.zeros((*shape, horizons, QUANTITIES, len(LEVELS)), dtype=np.float16)
        self._regimes = np.zeros((*shape, len(Regime)), dtype=np.float32)
        self._moments = WeightedMoments(_SPANS, markets)

    def newest(self, places: Places) -> NDArray[np.int64]:
        """The row of the newest candle of each: [n]; -1 before the first."""
        return self.size[places] - 1

    def column(self, name: str) -> FloatArray:
        """One derived column: [market, row]."""
        return self._columns[name]

    def newest_of(self, name: str, places: Places) -> FloatArray:
        """One derived column at the newest candle of each market: [n]."""
        return self._columns[name][places, self.newest(places)]

    def features(self, places: Places, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Known at the candle's close, each within +-6: [..., feature]; its own, then those of other markets."""
        return self._features[places, rows]

    def anchors(self, places: Places, rows: NDArray[np.int64]) -> FloatArray:
        """The quantiles that the model corrects at these rows, as forecast without it at each candle's close:
        normalised, to three digits, [n, H, Q, L]."""
        return self._anchors[places, rows].astype(np.float64)

    def regimes(self, places: Places, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The regimes' probabilities at these candles, as named at each close: [..., regime]; zeros where the mixture
        was not fitted yet."""
        return self._regimes[places, rows]

    def units(self, places: Places, rows: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        """Factor and offset at these candles, [n, horizon, quantity]; see `quantities.units`."""
        scale, range_level, volume_level = (self._columns[name][places, rows] for name in LEVEL_COLUMNS)
        return units(scale, range_level, volume_level, self.horizons)

    def newest_return(self, places: Places) -> FloatArray:
        """The newest candle's log return: [n]; NaN for a first candle and across a hole."""
        newest = self.newest(places)
        before, segment, log_close = np.maximum(newest - 1, 0), self._columns["segment"], self._columns["log_close"]
        is_known = (newest > 0) & (segment[places, newest] == segment[places, before])
        returns: FloatArray = np.where(is_known, log_close[places, newest] - log_close[places, before], np.nan)
        return returns

    def windows(
        self, places: Places, origins: NDArray[np.int64], context: int
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Features of the `context` candles up to each origin, left-padded: [origin, context, feature], and which of
        them are real: [origin, context]."""
        rows = origins[:, None] + np.arange(1 - context, 1)
        is_real = rows >= 0
        features = self._features[places[:, None], np.maximum(rows, 0)]
        features[~is_real] = 0.0
        return features, is_real

    def append(self, places: Places, candles: Sequence[Candle]) -> None:
        """Add the next closed candle of each of these markets. Raises ValueError for one that is not later than the
        market's last; then nothing has changed."""
        opened = np.array([candle.open_time_ms for candle in candles], dtype=np.int64)
        has_past = self.size[places] > 0
        last = np.where(has_past, self.time[places, self.newest(places)], opened - self.interval.duration_ms)
        if (opened <= last).any():
            late = int((opened <= last).argmax())
            raise ValueError(f"candle {opened[late]} does not come after {last[late]}")
        self._make_room(places)
        is_after_gap = opened != last + self.interval.duration_ms
        row, before = self.size[places], np.maximum(self.newest(places), 0)
        values = shapes_of(candles)
        log_return = np.where(has_past, values["log_close"] - self._columns["log_close"][places, before], np.nan)
        range_before = self._moments.means(places)[:, _RANGE]
        # a return across a hole spans more than one interval, so it is no sample of one interval's volatility
        sample = np.where(is_after_gap, np.nan, log_return)
        volume = values.pop("volume")
        self._moments.add(places, np.stack([sample, sample, values["log_range"], volume], axis=1))
        values |= self._levels(places, volume)
        segment = np.where(has_past, self._columns["segment"][places, before], 0.0) + is_after_gap
        values |= {"segment": segment, "error_ratio": np.ones(len(opened)), "wrong_direction": np.zeros(len(opened))}
        if self.reads_inside:
            values |= _inside_values(candles)
        for name, column in self._columns.items():
            column[places, row] = values[name]
        self.time[places, row] = opened
        own = self._feature_rows(places, row, np.nan_to_num(log_return), range_before, is_after_gap)
        self._features[places, row, :FEATURES] = own
        self._features[places, row, FEATURES:] = 0.0
        self._anchors[places, row] = 0.0
        self._regimes[places, row] = 0.0
        self.size[places] += 1
        self.observed[places] += 1

    def mark_outcome(self, market: int, origin: int, error_ratio: float, wrong_direction: bool) -> None:
        """Store the outcome of the one-step forecast made at this row, for the loss weights."""
        self._columns["error_ratio"][market, origin] = error_ratio
        self._columns["wrong_direction"][market, origin] = 1.0 if wrong_direction else 0.0

    def keep_anchors(self, places: Places, quantiles: FloatArray) -> None:
        """Store the normalised quantiles [n, H, Q, L] that are forecast without the model at the newest candles."""
        self._anchors[places, self.newest(places)] = np.clip(quantiles, -_LARGEST_ANCHOR, _LARGEST_ANCHOR)

    def keep_regimes(self, places: Places, probabilities: FloatArray) -> None:
        """Store the regimes' probabilities at the newest candles: [n, regime]."""
        self._regimes[places, self.newest(places)] = probabilities

    def keep_numbers_of_others(self, places: Places, numbers: FloatArray) -> None:
        """Store what is known of the other markets at the newest closes: [n, OTHERS]."""
        self._features[places, self.newest(places), FEATURES : FEATURES + OTHERS] = numbers

    def state(self, market: int) -> Arrays:
        """The complete state of a market as arrays, for a checkpoint."""
        rows = slice(self.size[market])
        arrays: Arrays = {
            "time": self.time[market, rows].copy(),
            "features": self._features[market, rows].copy(),
            "anchors": self._anchors[market, rows].copy(),
            "regimes": self._regimes[market, rows].copy(),
            "observed": self.observed[market : market + 1].copy(),
            "moments": self._moments.state(market)["sums"],
        }
        return arrays | {f"column.{name}": column[market, rows].copy() for name, column in self._columns.items()}

    def restore(self, state: Arrays, market: int) -> None:
        """Continue a market from what `state` returned. Raises ValueError if it does not fit."""
        size, features = state["time"].shape[0], state["features"].shape[1]
        if size > self._rows:
            raise ValueError(f"the checkpoint keeps {size} candles, this session at most {self._rows}")
        self.size[market], self.observed[market] = size, state["observed"][0]
        self.time[market, :size] = state["time"]
        self._features[market, :size, :features] = state["features"]
        self._features[market, :size, features:] = 0.0
        self._anchors[market, :size] = state["anchors"]
        self._regimes[market, :size] = state["regimes"]
        for name, column in self._columns.items():
            column[market, :size] = state[f"column.{name}"]
        self._moments.restore({"sums": state["moments"]}, market)

    def _make_room(self, places: Places) -> None:
        kept = slice(self._rows - self.capacity, self._rows)
        for market in places[self.size[places] == self._rows].tolist():
            arrays: list[NDArray[Any]] = [
                *(self.time, self._features, self._anchors, self._regimes),
                *self._columns.values(),
            ]
            for array in arrays:
                array[market, : self.capacity] = array[market, kept].copy()
            self.size[market] = self.capacity

    def _levels(self, places: Places, volume: FloatArray) -> dict[str, FloatArray]:
        means, deviations = self._moments.means(places), self._moments.deviations(places)
        deviation = deviations[:, _RETURN]
        is_too_young = np.isnan(deviation) | (deviation == 0.0) | (self.observed[places] <= _FEWEST_RETURNS)
        deviation = np.where(is_too_young, np.exp(means[:, _RANGE]) * _RANGE_TO_DEVIATION, deviation)
        level = np.maximum(means[:, _VOLUME], NO_VOLUME)
        return {
            "scale": np.maximum(deviation, _SMALLEST_SCALE),
            "range_level": means[:, _RANGE],
            "volume_level": np.log(level),
            "log_volume": np.log(np.maximum(volume, SMALLEST_VOLUME_SHARE * level)),
        }

    def _feature_rows(
        self,
        places: Places,
        row: NDArray[np.int64],
        log_return: FloatArray,
        range_before: FloatArray,
        is_after_gap: NDArray[np.bool_],
    ) -> FloatArray:
        """[n, FEATURES]. log_return: 0 of a first candle; range_before: NaN of one."""
        now = {name: column[places, row] for name, column in self._columns.items()}
        past = np.maximum(row - 1, 0)
        scale, volume_level = (self._columns[name][places, past] for name in ("scale", "volume_level"))
        slow = self._moments.deviations(places)[:, _SLOW_RETURN]
        slow = np.where(np.isnan(slow) | (slow == 0.0), now["scale"], slow)
        opened = self.time[places, row]
        day, week = (2.0 * math.pi * (opened % length) / length for length in (DAY_MS, _WEEK_MS))
        numbers = (
            log_return / scale,
            now["body"] / scale,
            now["upper_wick"] / scale,
            now["lower_wick"] / scale,
            now["log_range"] - np.where(np.isnan(range_before), now["log_range"], range_before),
            now["log_volume"] - volume_level,
            np.log(now["scale"] / np.maximum(slow, _SMALLEST_SCALE)),
            np.sin(day),
            np.cos(day),
            np.sin(week),
            np.cos(week),
            is_after_gap.astype(np.float64),
            *coarse_numbers(self._columns, places, row),
        )
        return np.stack(numbers, axis=1).clip(-FEATURE_LIMIT, FEATURE_LIMIT)


def shapes_of(candles: Sequence[Candle]) -> dict[str, FloatArray]:
    """The columns that each candle determines alone, and its volume: [n] each."""
    rows = [(candle.open, candle.high, candle.low, candle.close, candle.volume) for candle in candles]
    opened, high, low, close, volume = np.array(rows, dtype=np.float64).T
    return {
        "log_close": np.log(close),
        "body": np.log(close / opened),
        "upper_wick": np.log(high / np.maximum(opened, close)),
        "lower_wick": np.log(np.minimum(opened, close) / low),
        "log_range": np.log(np.maximum(np.log(high / low), SMALLEST_RANGE)),
        "volume": volume,
    }


def _inside_values(candles: Sequence[Candle]) -> dict[str, FloatArray]:
    """`INSIDE_COLUMNS` of these candles: [n] each."""
    found = [candle.inside for candle in candles]
    rows = [(of.variance, of.last_fifth) if of else (0.0, 0.0) for of in found]
    variance, end = np.array(rows, dtype=np.float64).T
    variance = np.maximum(variance, SMALLEST_RANGE**2)
    is_known = np.array([of is not None for of in found])
    numbers = (
        0.5 * np.log(variance),
        0.5 * np.log(np.maximum(5.0 * end, _LEAST_SHARE * variance)),
        np.ones(len(found)),
    )
    return {name: np.where(is_known, each, 0.0) for name, each in zip(INSIDE_COLUMNS, numbers, strict=True)}


def coarse_numbers(columns: Mapping[str, FloatArray], places: Places, rows: NDArray[np.int64]) -> list[FloatArray]:
    """The scale-free numbers of the coarse candles that end at these rows: [n] each, `NUMBERS_PER_SPAN` of each span.

    Reads no later row. They end at every candle instead of on the clock, so none is ever incomplete, and a hole does
    not shift them. Their units are those known before their first candle. Their direction is omitted: with it the model
    memorised directions (docs/research/forecasts.md). columns: those of a `Panel`, [market, row] each.
    """
    market, window = places[:, None], rows[:, None] + np.arange(1 - max(COARSE_SPANS), 1)
    is_real, window = window >= 0, np.maximum(window, 0)
    close, body = columns["log_close"][market, window], columns["body"][market, window]
    high = close + np.maximum(-body, 0.0) + columns["upper_wick"][market, window]
    low = close - np.maximum(body, 0.0) - columns["lower_wick"][market, window]
    high, low = np.where(is_real, high, -np.inf), np.where(is_real, low, np.inf)
    volume = np.where(is_real, np.exp(columns["log_volume"][market, window]), 0.0)
    numbers: list[FloatArray] = []
    for span in COARSE_SPANS:
        size = np.minimum(span, rows + 1)
        before = np.maximum(rows - size, 0)
        height = np.maximum(high[:, -span:].max(axis=1) - low[:, -span:].min(axis=1), SMALLEST_RANGE)
        mean_volume = volume[:, -span:].sum(axis=1) / size
        numbers += [
            np.log(height) - columns["range_level"][places, before] - 0.5 * np.log(size),
            np.log(mean_volume) - columns["volume_level"][places, before],
        ]
    return numbers

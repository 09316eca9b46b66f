"""The past of one market for the session: per candle, only data known at its close."""

from __future__ import annotations

import math
from collections.abc import Mapping
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
    Quantity,
    units,
)
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

_MOMENTS = {"return": 60, "slow_return": 240, "range": 50, "volume": 50}
"""The moving averages and their spans in candles. 60 and 50 define the reference forecast (see baselines)."""


class History:
    """Columns over the newest candles, one row per candle, in order; at least `capacity` rows are kept.

    Derived columns are computed once, when a candle is appended, from that candle and the ones before it.
    """

    _COLUMNS = (
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

    def __init__(self, interval: Interval, capacity: int, horizons: int, *, has_others: bool = False) -> None:
        """has_others: it is learned together with other markets, whose numbers are features too."""
        self.interval = interval
        self.horizons = horizons
        self._capacity = capacity
        self._size = 0
        self._time = np.zeros(2 * capacity, dtype=np.int64)
        self._values = {name: np.zeros(2 * capacity) for name in self._COLUMNS}
        self._features = np.zeros((2 * capacity, FEATURES), dtype=np.float32)
        self._others = np.zeros((2 * capacity, OTHERS if has_others else 0), dtype=np.float32)
        self.returns_of_others: FloatArray | None = np.zeros(0) if has_others else None
        """The newest returns of the other markets at the newest close, each in units of that market's volatility; 0 of
        one without a candle then. None if it is learned alone."""
        self._anchors = np.zeros((2 * capacity, horizons, QUANTITIES, len(LEVELS)), dtype=np.float16)
        self._moments = {name: WeightedMoments(span) for name, span in _MOMENTS.items()}
        self.observed = 0
        """Candles seen in all, also those no longer kept."""

    def __len__(self) -> int:
        return self._size

    @property
    def last_open_time_ms(self) -> int | None:
        return int(self._time[self._size - 1]) if self._size else None

    @property
    def open_time_ms(self) -> NDArray[np.int64]:
        return self._time[: self._size]

    @property
    def features(self) -> NDArray[np.float32]:
        """[candle, feature], each within +-6, known at the candle's close."""
        return self._features[: self._size]

    def anchors(self, origins: NDArray[np.int64]) -> FloatArray:
        """The quantiles that the model corrects at these rows, as forecast without it at each candle's close:
        normalised, to three digits, [origin, H, Q, L]."""
        return self._anchors[origins].astype(np.float64)

    def column(self, name: str) -> FloatArray:
        """One derived column, [candle]."""
        return self._values[name][: self._size]

    def newest_return(self) -> float | None:
        """The newest candle's log return; None for the first candle and across a hole."""
        if self._size < 2 or self.column("segment")[-1] != self.column("segment")[-2]:
            return None
        return float(self.column("log_close")[-1] - self.column("log_close")[-2])

    def append(self, candle: Candle) -> None:
        """Take the next closed candle. Raises ValueError for one that is not later than the last."""
        last = self.last_open_time_ms
        if last is not None and candle.open_time_ms <= last:
            raise ValueError(f"candle {candle.open_time_ms} does not come after {last}")
        self._trim()
        is_after_gap = last is not None and candle.open_time_ms != self.interval.close_time_ms(last)
        row = self._size
        self._time[row] = candle.open_time_ms
        shape = shape_of(candle)
        before = {name: moments.mean for name, moments in self._moments.items()}
        log_return = self._log_return(shape["log_close"])
        # a return across a hole spans more than one interval, so it is no sample of one interval's volatility
        self._update_moments(None if is_after_gap else log_return, shape["log_range"], candle.volume)
        levels = self._levels(shape["log_range"], candle.volume)
        segment = (self._values["segment"][row - 1] if row else 0.0) + (1.0 if is_after_gap else 0.0)
        values = {**shape, **levels, "segment": segment, "error_ratio": 1.0, "wrong_direction": 0.0}
        for name, value in values.items():
            self._values[name][row] = value
        self._features[row] = self._feature_row(row, log_return, before["range"], is_after_gap)
        self._others[row] = 0.0
        self._anchors[row] = 0.0
        self._size += 1
        self.observed += 1

    def targets(self, origins: NDArray[np.int64]) -> tuple[FloatArray, NDArray[np.bool_], NDArray[np.bool_]]:
        """The outcomes 1..H existing candles after each origin row.

        Returns natural values [origin, horizon, quantity] (0 where not yet closed), whether the target has closed
        [origin, horizon], and whether it has closed without a hole between origin and target.
        """
        rows = origins[:, None] + np.arange(1, self.horizons + 1)
        closed = rows < self._size
        safe = np.minimum(rows, self._size - 1)
        natural = np.empty((*rows.shape, QUANTITIES))
        natural[..., Quantity.CLOSE] = self.column("log_close")[safe] - self.column("log_close")[origins][:, None]
        for quantity, name in (
            (Quantity.BODY, "body"),
            (Quantity.UPPER_WICK, "upper_wick"),
            (Quantity.LOWER_WICK, "lower_wick"),
            (Quantity.RANGE, "log_range"),
            (Quantity.VOLUME, "log_volume"),
        ):
            natural[..., quantity] = self.column(name)[safe]
        natural[~closed] = 0.0
        same_segment = self.column("segment")[safe] == self.column("segment")[origins][:, None]
        return natural, closed, closed & same_segment

    def units(self, origins: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        """Factor and offset of each origin row, [origin, horizon, quantity]; see `quantities.units`."""
        scale, range_level = self.column("scale")[origins], self.column("range_level")[origins]
        return units(scale, range_level, self.column("volume_level")[origins], self.horizons)

    def windows(self, origins: NDArray[np.int64], context: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Features of the `context` candles up to each origin, left-padded: [origin, context, feature], those of other
        markets last, and which of them are real: [origin, context]."""
        rows = origins[:, None] + np.arange(1 - context, 1)
        is_real = rows >= 0
        existing = np.maximum(rows, 0)
        features = np.concatenate([self._features[existing], self._others[existing]], axis=-1)
        features[~is_real] = 0.0
        return features, is_real

    def mark_outcome(self, origin: int, error_ratio: float, wrong_direction: bool) -> None:
        """Store the outcome of the one-step forecast made at this row, for the loss weights."""
        self._values["error_ratio"][origin] = error_ratio
        self._values["wrong_direction"][origin] = 1.0 if wrong_direction else 0.0

    def keep_anchor(self, quantiles: FloatArray) -> None:
        """Store the normalised quantiles [H, Q, L] that are forecast without the model at the newest candle."""
        self._anchors[self._size - 1] = np.clip(quantiles, -_LARGEST_ANCHOR, _LARGEST_ANCHOR)

    def keep_numbers_of_others(self, numbers: FloatArray, returns: FloatArray) -> None:
        """Take what is known of the other markets at the newest close: features [OTHERS], and the return of each."""
        self._others[self._size - 1] = numbers
        self.returns_of_others = returns

    def state(self) -> dict[str, NDArray[np.generic]]:
        """The complete state as arrays, for a checkpoint."""
        arrays: dict[str, NDArray[np.generic]] = {
            "time": self.open_time_ms.copy(),
            "features": self.features.copy(),
            "anchors": self._anchors[: self._size].copy(),
            "observed": np.array([self.observed], dtype=np.int64),
        }
        if self._others.shape[1]:
            arrays["others"] = self._others[: self._size].copy()
        arrays.update({f"column.{name}": self.column(name).copy() for name in self._COLUMNS})
        arrays.update({f"moments.{name}": moments.state() for name, moments in self._moments.items()})
        return arrays

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Continue from what `state` returned. Raises ValueError if it does not fit this history."""
        size = state["time"].shape[0]
        if size > 2 * self._capacity:
            raise ValueError(f"the checkpoint keeps {size} candles, this session at most {2 * self._capacity}")
        self._size = size
        self.observed = int(state["observed"][0])
        self._time[:size] = state["time"]
        self._features[:size] = state["features"]
        self._anchors[:size] = state["anchors"]
        self._others[:size] = state.get("others", 0.0)
        for name in self._COLUMNS:
            self._values[name][:size] = state[f"column.{name}"]
        for name, moments in self._moments.items():
            moments.restore(state[f"moments.{name}"].astype(np.float64))

    def _trim(self) -> None:
        if self._size < 2 * self._capacity:
            return
        kept = slice(self._size - self._capacity, self._size)
        columns: list[NDArray[Any]] = [self._time, self._features, self._others, self._anchors, *self._values.values()]
        for column in columns:
            column[: self._capacity] = column[kept].copy()
        self._size = self._capacity

    def _log_return(self, log_close: float) -> float | None:
        return log_close - float(self.column("log_close")[-1]) if self._size else None

    def _update_moments(self, log_return: float | None, log_range: float, volume: float) -> None:
        if log_return is not None:
            self._moments["return"].add(log_return)
            self._moments["slow_return"].add(log_return)
        self._moments["range"].add(log_range)
        self._moments["volume"].add(volume)

    def _levels(self, log_range: float, volume: float) -> dict[str, float]:
        range_level = self._moments["range"].mean
        volume_mean = self._moments["volume"].mean
        assert range_level is not None and volume_mean is not None
        deviation = self._moments["return"].deviation
        if deviation is None or deviation == 0.0 or self.observed <= _FEWEST_RETURNS:
            deviation = math.exp(range_level) * _RANGE_TO_DEVIATION
        level = max(volume_mean, NO_VOLUME)
        return {
            "scale": max(deviation, _SMALLEST_SCALE),
            "range_level": range_level,
            "volume_level": math.log(level),
            "log_volume": math.log(max(volume, SMALLEST_VOLUME_SHARE * level)),
        }

    def _feature_row(
        self, row: int, log_return: float | None, range_before: float | None, is_after_gap: bool
    ) -> NDArray[np.float32]:
        now = {name: float(column[row]) for name, column in self._values.items()}
        past = row - 1 if row else row
        scale, volume_level = float(self._values["scale"][past]), float(self._values["volume_level"][past])
        slow = self._moments["slow_return"].deviation or now["scale"]
        day = 2.0 * math.pi * (int(self._time[row]) % DAY_MS) / DAY_MS
        week = 2.0 * math.pi * (int(self._time[row]) % _WEEK_MS) / _WEEK_MS
        numbers = (
            (log_return or 0.0) / scale,
            now["body"] / scale,
            now["upper_wick"] / scale,
            now["lower_wick"] / scale,
            now["log_range"] - (now["log_range"] if range_before is None else range_before),
            now["log_volume"] - volume_level,
            math.log(now["scale"] / max(slow, _SMALLEST_SCALE)),
            math.sin(day),
            math.cos(day),
            math.sin(week),
            math.cos(week),
            1.0 if is_after_gap else 0.0,
            *coarse_numbers(self._values, row),
        )
        return np.array(numbers).clip(-FEATURE_LIMIT, FEATURE_LIMIT).astype(np.float32)


def shape_of(candle: Candle) -> dict[str, float]:
    """The columns that a candle determines alone."""
    top, bottom = max(candle.open, candle.close), min(candle.open, candle.close)
    return {
        "log_close": math.log(candle.close),
        "body": math.log(candle.close / candle.open),
        "upper_wick": math.log(candle.high / top),
        "lower_wick": math.log(bottom / candle.low),
        "log_range": math.log(max(math.log(candle.high / candle.low), SMALLEST_RANGE)),
    }


def coarse_numbers(columns: Mapping[str, FloatArray], row: int) -> list[float]:
    """The scale-free numbers of the coarse candles that end at `row`, [len(COARSE_SPANS) * NUMBERS_PER_SPAN].

    Reads no later row. They end at every candle instead of on the clock, so none is ever incomplete, and a hole does
    not shift them. Their units are those known before their first candle. Their direction is omitted: with it the model
    memorised directions (docs/forecasts.md). columns: those of a `History`, [candle] each.
    """
    window = slice(max(row + 1 - max(COARSE_SPANS), 0), row + 1)
    close, body = columns["log_close"][window], columns["body"][window]
    high = close + np.maximum(-body, 0.0) + columns["upper_wick"][window]
    low = close - np.maximum(body, 0.0) - columns["lower_wick"][window]
    volume = np.exp(columns["log_volume"][window])
    numbers: list[float] = []
    for span in COARSE_SPANS:
        size = min(span, close.size)
        before = max(row - size, 0)
        top, bottom = float(high[-size:].max()), float(low[-size:].min())
        numbers += [
            math.log(max(top - bottom, SMALLEST_RANGE)) - float(columns["range_level"][before]) - 0.5 * math.log(size),
            math.log(float(volume[-size:].mean())) - float(columns["volume_level"][before]),
        ]
    return numbers

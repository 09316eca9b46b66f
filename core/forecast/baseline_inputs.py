"""The inputs of the baseline experts at the newest candle, and the outcomes it settles. In normalised units."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import DAY_MS
from core.domain.quantities import QUANTITIES, FloatArray, Quantity
from core.forecast.averages import WeightedMeans
from core.forecast.history import History

LAGS_READ = 12
HAR_READ = 13
LARGEST_RETURN = 4.0

_HAR_SPANS = (5, 20, 200)
_EWMA_SPAN = 10
_SPANS = (*_HAR_SPANS, _EWMA_SPAN)
_LOWEST_LOG_WIDTH = -1.5
"""A log range relative to volatility has this lower bound in a width: a single trade is not a calm market."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The newest candle as a target: that of the origin one candle ago at horizon 1, and so on."""

    normalised: FloatArray
    """[H, Q]"""
    log_width: FloatArray
    """[H]: its log range, relative to the origin's volatility."""
    is_known: NDArray[np.bool_]
    """[H]: whether the origin exists, without a hole in between."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The experts' inputs at the newest candle."""

    regressions: dict[str, FloatArray]
    """The features of each regression: [K]."""
    newest: FloatArray
    """The candle itself: [Q]; of the close, its return."""
    mean_range: float
    mean_log_width: float


def newest_outcomes(history: History) -> Outcomes:
    """The newest candle as the outcome of the forecasts made for it."""
    horizons, newest = history.horizons, len(history) - 1
    ahead = np.arange(1, horizons + 1)
    rows = np.maximum(newest - ahead, 0)
    segment = history.column("segment")
    is_known = (newest >= ahead) & (segment[rows] == segment[newest])
    column = {name: float(history.column(name)[newest]) for name in _SHAPE}
    scale = history.column("scale")[rows]
    outcomes = np.empty((horizons, QUANTITIES))
    outcomes[:, Quantity.CLOSE] = (column["log_close"] - history.column("log_close")[rows]) / (scale * np.sqrt(ahead))
    outcomes[:, Quantity.BODY] = column["body"] / scale
    outcomes[:, Quantity.UPPER_WICK] = column["upper_wick"] / scale
    outcomes[:, Quantity.LOWER_WICK] = column["lower_wick"] / scale
    outcomes[:, Quantity.RANGE] = column["log_range"] - history.column("range_level")[rows]
    outcomes[:, Quantity.VOLUME] = column["log_volume"] - history.column("volume_level")[rows]
    log_width = np.maximum(column["log_range"] - np.log(scale), _LOWEST_LOG_WIDTH)
    return Outcomes(outcomes, log_width, is_known)


class BaselineInputs:
    """Owns the averages; to be called once per candle, in order."""

    def __init__(self, history: History) -> None:
        self._history = history
        self.averages = WeightedMeans((*_SPANS, *_SPANS, _HAR_SPANS[0]))

    def of_newest(self) -> Inputs:
        """Take the history's newest candle."""
        now = {name: float(self._history.column(name)[-1]) for name in (*_SHAPE, *_KNOWN)}
        log_scale, level = math.log(now["scale"]), now["range_level"]
        floored = max(now["log_range"], log_scale + _LOWEST_LOG_WIDTH)
        count = len(_SPANS)
        self.averages.add(np.array([now["log_range"]] * count + [floored] * count + [now["log_volume"]]))
        means = self.averages.means
        ranges, widths = means[:count] - level, means[count : 2 * count] - log_scale
        returns = self._newest_returns()
        volume = now["log_volume"] - now["volume_level"]
        shared = [1.0, *self._time_of_day(), volume, float(means[-1]) - now["volume_level"], min(returns[0], 0.0)]
        return Inputs(
            {
                "range": np.array([now["log_range"] - level, *ranges[:-1], log_scale - level, *shared]),
                "width": np.array([floored - log_scale, *widths[:-1], level - log_scale, *shared]),
                "returns": returns,
                "range lags": self._newest_deviations("log_range", "range_level"),
                "volume lags": self._newest_deviations("log_volume", "volume_level"),
            },
            self._newest(now, volume),
            float(ranges[-1]),
            float(widths[-1]),
        )

    def _newest(self, now: dict[str, float], volume: float) -> FloatArray:
        newest = np.zeros(QUANTITIES)
        newest[Quantity.CLOSE] = (self._history.newest_return() or 0.0) / now["scale"]
        newest[Quantity.RANGE] = now["log_range"] - now["range_level"]
        newest[Quantity.VOLUME] = volume
        return newest

    def _newest_returns(self) -> FloatArray:
        """The newest first: [LAGS_READ]; 0 across a hole and before the first candle."""
        rows = slice(-LAGS_READ - 1, None)
        log_close, scale, segment = (self._history.column(name)[rows] for name in ("log_close", "scale", "segment"))
        returns = np.clip(np.diff(log_close) / scale[:-1], -LARGEST_RETURN, LARGEST_RETURN)
        returns[np.diff(segment) != 0.0] = 0.0
        return _padded(returns[::-1], LAGS_READ)

    def _newest_deviations(self, name: str, level: str) -> FloatArray:
        """Deviations from their level, newest first, and a constant: [LAGS_READ + 1]."""
        rows = slice(-LAGS_READ, None)
        deviations = self._history.column(name)[rows] - float(self._history.column(level)[-1])
        return np.append(_padded(deviations[::-1], LAGS_READ), 1.0)

    def _time_of_day(self) -> list[float]:
        angle = 2.0 * math.pi * (int(self._history.open_time_ms[-1]) % DAY_MS) / DAY_MS
        return [math.sin(angle), math.cos(angle), math.sin(2.0 * angle), math.cos(2.0 * angle)]


_SHAPE = ("log_close", "body", "upper_wick", "lower_wick", "log_range", "log_volume")
_KNOWN = ("scale", "range_level", "volume_level")


def _padded(values: FloatArray, length: int) -> FloatArray:
    padded = np.zeros(length)
    padded[: values.size] = values
    return padded

"""The inputs of the baseline experts at the newest candles, in normalised units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import DAY_MS
from core.domain.quantities import FloatArray, Quantity
from core.forecast.arrays import Places
from core.forecast.averages import WeightedMoments
from core.forecast.outcomes import Outcomes
from core.forecast.panel import Panel

LAGS_READ = 12
HAR_READ = LAGS_READ + 1
"""As many as the other regressions read with their constant, so that all are solved at once."""
INSIDE_READ = 5
"""What the regressions of range and width read besides, where insides of candles are known: the variance inside the
newest candle, its averages (as of the ranges, Corsi, 2009), and that of the candle's last fifth."""
LARGEST_RETURN = 4.0

_HAR_SPANS = (5, 20, 200)
_EWMA_SPAN = 10
_SPANS = (*_HAR_SPANS, _EWMA_SPAN)
_SPAN_OF_GAPS = 200
"""Over which the usual distance of the inside from the range is known: it replaces an inside that is missing."""
_LOWEST_LOG_WIDTH = -1.5
"""A log range relative to volatility has this lower bound in a width: a single trade is not a calm market."""

RANGE, WIDTH, RANGE_LAGS, VOLUME_LAGS = range(4)
"""The regressions, in the order of their axis: of the log range by HAR, of the width, and of the newest log ranges and
log volumes."""
REGRESSIONS = 4


@dataclass(frozen=True, slots=True)
class Inputs:
    """The experts' inputs at the newest candle of each market."""

    regressions: FloatArray
    """The features of each regression: [n, REGRESSIONS, HAR_READ], or with INSIDE_READ more of them."""
    returns: FloatArray
    """The newest ones, the newest first: [n, LAGS_READ]; 0 across a hole and before the first candle."""
    newest_return: FloatArray
    log_range: FloatArray
    log_volume: FloatArray
    """The candle itself: [n] each."""
    mean_range: FloatArray
    mean_log_width: FloatArray
    """[n]"""


def width_outcomes(outcomes: Outcomes) -> FloatArray:
    """The log range of each outcome relative to the volatility at its origin: [n, H]."""
    log_range = outcomes.natural[..., Quantity.RANGE]
    widths: FloatArray = np.maximum(log_range - np.log(outcomes.scale), _LOWEST_LOG_WIDTH)
    return widths


class BaselineInputs:
    """Owns the averages; to be called once per candle, in order."""

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self.averages = WeightedMoments((*_SPANS, *_SPANS, _HAR_SPANS[0]), panel.markets)
        self.of_insides = (
            WeightedMoments((*_HAR_SPANS, _SPAN_OF_GAPS, _SPAN_OF_GAPS), panel.markets) if panel.reads_inside else None
        )

    def of_newest(self, places: Places) -> Inputs:
        """Update the averages with the newest candle of each of these markets, and read the inputs."""
        names = ("log_range", "log_volume", "scale", "range_level", "volume_level")
        log_range, log_volume, scale, level, volume_level = (self._panel.newest_of(name, places) for name in names)
        log_scale, count = np.log(scale), len(_SPANS)
        floored = np.maximum(log_range, log_scale + _LOWEST_LOG_WIDTH)
        self.averages.add(places, np.stack([log_range] * count + [floored] * count + [log_volume], axis=1))
        means = self.averages.means(places)
        ranges, widths = means[:, :count] - level[:, None], means[:, count : 2 * count] - log_scale[:, None]
        returns, volume = self._newest_returns(places), log_volume - volume_level
        falls = np.minimum(returns[:, 0], 0.0)
        shared = [np.ones_like(volume), *self._time_of_day(places), volume, means[:, -1] - volume_level, falls]
        of_range = [log_range - level, *ranges[:, :-1].T, log_scale - level, *shared]
        of_width = [floored - log_scale, *widths[:, :-1].T, level - log_scale, *shared]
        regressions = [
            np.stack(of_range, axis=1),
            np.stack(of_width, axis=1),
            self._newest_deviations(places, "log_range", level),
            self._newest_deviations(places, "log_volume", volume_level),
        ]
        read = np.stack(regressions, axis=1)
        if self.of_insides is not None:
            read = np.concatenate([read, self._of_newest_inside(self.of_insides, places, log_range)], axis=2)
        return Inputs(
            regressions=read,
            returns=returns,
            newest_return=np.nan_to_num(self._panel.newest_return(places)) / scale,
            log_range=log_range - level,
            log_volume=volume,
            mean_range=ranges[:, -1],
            mean_log_width=widths[:, -1],
        )

    def _of_newest_inside(self, averages: WeightedMoments, places: Places, log_range: FloatArray) -> FloatArray:
        """[n, REGRESSIONS, INSIDE_READ], 0 for the regressions that do not read the inside."""
        names = ("inside", "inside_end", "inside_known", "range_level", "scale")
        width, end, known, level, scale = (self._panel.newest_of(name, places) for name in names)
        usual = np.nan_to_num(averages.means(places)[:, -2:])
        is_known = known > 0.0
        width, end = (
            np.where(is_known, found, log_range + gap) for found, gap in zip((width, end), usual.T, strict=True)
        )
        gaps = np.where(is_known, np.stack([width, end]) - log_range, np.nan)
        averages.add(places, np.stack([width] * len(_HAR_SPANS) + [*gaps], axis=1))
        means = averages.means(places)[:, : len(_HAR_SPANS)]
        read = np.zeros((len(places), REGRESSIONS, INSIDE_READ))
        for regression, unit in ((RANGE, level), (WIDTH, np.log(scale))):
            read[:, regression] = np.column_stack([width, means, end]) - unit[:, None]
        return read

    def _time_of_day(self, places: Places) -> list[FloatArray]:
        opened = self._panel.time[places, self._panel.newest(places)]
        angle = 2.0 * np.pi * (opened % DAY_MS) / DAY_MS
        return [np.sin(angle), np.cos(angle), np.sin(2.0 * angle), np.cos(2.0 * angle)]

    def _newest_rows(self, places: Places, count: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The rows of the newest candles, the newest first, and whether they exist: [n, count]."""
        rows = self._panel.newest(places)[:, None] - np.arange(count)
        return np.maximum(rows, 0), rows >= 0

    def _newest_returns(self, places: Places) -> FloatArray:
        rows, is_real = self._newest_rows(places, LAGS_READ + 1)
        names = ("log_close", "scale", "segment")
        log_close, scale, segment = (self._panel.column(name)[places[:, None], rows] for name in names)
        returns = np.clip((log_close[:, :-1] - log_close[:, 1:]) / scale[:, 1:], -LARGEST_RETURN, LARGEST_RETURN)
        return np.where(is_real[:, 1:] & (segment[:, :-1] == segment[:, 1:]), returns, 0.0)

    def _newest_deviations(self, places: Places, name: str, level: FloatArray) -> FloatArray:
        """Deviations from their level [n], newest first, and a constant: [n, LAGS_READ + 1]."""
        rows, is_real = self._newest_rows(places, LAGS_READ)
        deviations = self._panel.column(name)[places[:, None], rows] - level[:, None]
        return np.concatenate([np.where(is_real, deviations, 0.0), np.ones((len(places), 1))], axis=1)

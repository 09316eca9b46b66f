"""Closed candles as targets of the forecasts made for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import QUANTITIES, FloatArray, Quantity, units_ahead
from core.forecast.arrays import Places
from core.forecast.panel import LEVEL_COLUMNS, Panel

_SHAPE = {
    Quantity.BODY: "body",
    Quantity.UPPER_WICK: "upper_wick",
    Quantity.LOWER_WICK: "lower_wick",
    Quantity.RANGE: "log_range",
    Quantity.VOLUME: "log_volume",
}


@dataclass(frozen=True, slots=True)
class Outcomes:
    """One candle of each market as a target: that of the origin one candle before it at horizon 1, and so on."""

    natural: FloatArray
    """[n, H, Q]"""
    factor: FloatArray
    offset: FloatArray
    """[n, H, Q] each: natural = offset + factor * normalised, in the units known at the origin."""
    is_known: NDArray[np.bool_]
    """[n, H]: whether the origin exists, without a hole in between."""

    @property
    def scale(self) -> FloatArray:
        """The volatility known at the origin: [n, H]."""
        return self.factor[..., Quantity.BODY]

    @property
    def normalised(self) -> FloatArray:
        """[n, H, Q]"""
        values: FloatArray = (self.natural - self.offset) / self.factor
        return values


def newest_outcomes(panel: Panel, places: Places) -> Outcomes:
    """The newest candle of each market as the outcome of the forecasts made for it."""
    return outcomes_at(panel, places, panel.newest(places))


def outcomes_at(panel: Panel, places: Places, targets: NDArray[np.int64]) -> Outcomes:
    """The candles at these rows [n]; nothing is known of a row before the first."""
    origins = targets[:, None] - np.arange(1, panel.horizons + 1)
    market, rows, target = places[:, None], np.maximum(origins, 0), np.maximum(targets, 0)
    natural = np.empty((*rows.shape, QUANTITIES))
    log_close, segment = panel.column("log_close"), panel.column("segment")
    natural[..., Quantity.CLOSE] = log_close[places, target][:, None] - log_close[market, rows]
    for quantity, name in _SHAPE.items():
        natural[..., quantity] = panel.column(name)[places, target][:, None]
    scale, range_level, volume_level = (panel.column(name)[market, rows] for name in LEVEL_COLUMNS)
    factor, offset = units_ahead(scale, range_level, volume_level, np.arange(1, panel.horizons + 1))
    is_known = (origins >= 0) & (segment[market, rows] == segment[places, target][:, None])
    return Outcomes(natural, factor, offset, is_known)


def targets_of(
    panel: Panel, places: Places, origins: NDArray[np.int64]
) -> tuple[FloatArray, NDArray[np.bool_], NDArray[np.bool_]]:
    """The outcomes 1..H existing candles after each origin: the row `origins` [n] of the market `places` [n].

    Returns natural values [n, horizon, quantity] (0 where not yet closed), whether the target has closed [n, horizon],
    and whether it has closed without a hole between origin and target.
    """
    rows, size = origins[:, None] + np.arange(1, panel.horizons + 1), panel.size[places][:, None]
    closed, target, market = rows < size, np.minimum(rows, size - 1), places[:, None]
    natural = np.empty((*rows.shape, QUANTITIES))
    log_close, segment = panel.column("log_close"), panel.column("segment")
    natural[..., Quantity.CLOSE] = log_close[market, target] - log_close[places, origins][:, None]
    for quantity, name in _SHAPE.items():
        natural[..., quantity] = panel.column(name)[market, target]
    natural[~closed] = 0.0
    return natural, closed, closed & (segment[market, target] == segment[places, origins][:, None])

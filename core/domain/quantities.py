"""The forecast quantities of a candle, their units, and how each is normalised.

Natural units (stored, scored):
  CLOSE       log(close / close of the origin), cumulative over the horizon
  BODY        log(close / open)
  UPPER_WICK  log(high / max(open, close)), >= 0
  LOWER_WICK  log(min(open, close) / low), >= 0
  RANGE       log(log(high / low)), with log(high / low) at least `SMALLEST_RANGE`
  VOLUME      log(volume), with volume at least a hundredth of the volume's level

Normalised units (learned): the same relative to the volatility and the levels of range and volume at the origin.
Every map between the two is increasing, so quantiles map to quantiles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from core.domain.candle_faults import HIGHEST_PRICE, LARGEST_RANGE, LARGEST_VOLUME, LOWEST_PRICE
from core.domain.events import QUANTILE_LEVELS

FloatArray = NDArray[np.float64]

LEVELS: FloatArray = np.array(QUANTILE_LEVELS, dtype=np.float64)
LEVELS.flags.writeable = False
SIZE_LEVELS: FloatArray = np.abs(2.0 * LEVELS - 1.0).round(12).astype(np.float64)
"""Levels of a symmetric quantity's size: its quantile at each of LEVELS is, up to the sign, its size's at this
level."""
MEDIAN = QUANTILE_LEVELS.index(0.5)
BAND_50 = (QUANTILE_LEVELS.index(0.25), QUANTILE_LEVELS.index(0.75))
BAND_90 = (QUANTILE_LEVELS.index(0.05), QUANTILE_LEVELS.index(0.95))

SMALLEST_RANGE = 1e-5
"""A flat candle has log(high / low) = 0, whose logarithm is not finite: a tenth of a basis point replaces it."""
SMALLEST_VOLUME_SHARE = 0.01
"""Share of the volume's level used as a lower bound, so that the logarithm of no volume is finite."""
NO_VOLUME = 1e-12
"""The level of a market that never had any volume."""


class Quantity(IntEnum):
    """The index of each quantity on the quantity axis of all arrays."""

    CLOSE = 0
    BODY = 1
    UPPER_WICK = 2
    LOWER_WICK = 3
    RANGE = 4
    VOLUME = 5


QUANTITIES = len(Quantity)
SIGNED = [Quantity.CLOSE, Quantity.BODY]
"""Quantities with a direction; 0 is "no change"."""
QUANTITY_NAMES = tuple(quantity.name.lower().replace("_", " ") for quantity in Quantity)


def units(
    scale: FloatArray, range_level: FloatArray, volume_level: FloatArray, horizons: int
) -> tuple[FloatArray, FloatArray]:
    """Factor and offset, each [..., horizon, quantity], such that natural = offset + factor * normalised.

    scale, range_level, volume_level: [...], as known at each origin.
    """
    ahead = np.arange(1, horizons + 1)
    return units_ahead(scale[..., None], range_level[..., None], volume_level[..., None], ahead)


def units_ahead(
    scale: FloatArray, range_level: FloatArray, volume_level: FloatArray, ahead: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """As `units`, [..., quantity] each, of one horizon of each origin: `ahead` candles."""
    shape = *np.broadcast_shapes(scale.shape, ahead.shape), QUANTITIES
    factor, offset = np.ones(shape), np.zeros(shape)
    factor[..., Quantity.CLOSE] = scale * np.sqrt(ahead)
    for quantity in (Quantity.BODY, Quantity.UPPER_WICK, Quantity.LOWER_WICK):
        factor[..., quantity] = scale
    offset[..., Quantity.RANGE] = range_level
    offset[..., Quantity.VOLUME] = volume_level
    return factor, offset


def within_bounds(natural: FloatArray, quantities: Sequence[Quantity] = tuple(Quantity)) -> FloatArray:
    """Clip quantiles [..., quantity, level], of all quantities or these, to the bounds of a possible candle.

    The bounds come from `core.domain.candle_faults`; within them every exponential and every ratio is finite.
    """
    chosen = list(quantities)
    bounded: FloatArray = np.clip(natural, _LEAST[chosen], _MOST[chosen])
    return bounded


_LARGEST_RETURN = math.log(HIGHEST_PRICE / LOWEST_PRICE)
_LARGEST_WICK = math.log(LARGEST_RANGE)
_LEAST: FloatArray = np.array([-_LARGEST_RETURN, -_LARGEST_RETURN, 0.0, 0.0, -np.inf, -np.inf])[:, None]
_MOST: FloatArray = np.array(
    [_LARGEST_RETURN, _LARGEST_RETURN, _LARGEST_WICK, _LARGEST_WICK, math.log(_LARGEST_WICK), math.log(LARGEST_VOLUME)]
)[:, None]
"""[quantity, 1], in the order of `Quantity`."""

"""Coarser intervals from the same candles: those of 4, 16 and 64 candles that end at the newest one.

They end with every candle, not on the clock, so none of them is ever half known, and a hole does not shift them. Their
units are what was known before their first candle.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from core.forecast.quantities import SMALLEST_RANGE, FloatArray

SPANS = (4, 16, 64)
"""In candles. Near the beginning they are as long as the past is."""
NUMBERS = 4
"""Of each coarse candle: travelled, range, volume, place of the close in the range."""


def coarse_numbers(columns: Mapping[str, FloatArray], row: int) -> list[float]:
    """What the coarse candles that end at `row` say, [len(SPANS) * NUMBERS], free of scale. No later row is read.

    columns: those of a `History`, [candle] each.
    """
    window = slice(max(row + 1 - max(SPANS), 0), row + 1)
    close, body = columns["log_close"][window], columns["body"][window]
    high = close + np.maximum(-body, 0.0) + columns["upper_wick"][window]
    low = close - np.maximum(body, 0.0) - columns["lower_wick"][window]
    volume = np.exp(columns["log_volume"][window])
    numbers: list[float] = []
    for span in SPANS:
        size = min(span, close.size)
        before = max(row - size, 0)
        top, bottom = float(high[-size:].max()), float(low[-size:].min())
        newest, travelled = float(close[-1]), float(close[-1] - close[-size] + body[-size])
        numbers += [
            travelled / (float(columns["scale"][before]) * math.sqrt(size)),
            _log_range(top - bottom) - float(columns["range_level"][before]) - 0.5 * math.log(size),
            math.log(float(volume[-size:].mean())) - float(columns["volume_level"][before]),
            (2.0 * newest - top - bottom) / max(top - bottom, SMALLEST_RANGE),
        ]
    return numbers


def _log_range(log_high_over_low: float) -> float:
    return math.log(max(log_high_over_low, SMALLEST_RANGE))

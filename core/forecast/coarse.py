"""Coarser intervals from the same candles: those of 4, 16 and 64 candles that end at the newest one.

They end with every candle, not on the clock, so none of them is ever half known, and a hole does not shift them. Their
units are what was known before their first candle. Where they went is left out: inputs that say so made the model
learn directions by heart (docs/forecasts.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from core.domain.quantities import SMALLEST_RANGE, FloatArray

SPANS = (4, 16, 64)
"""In candles. Near the beginning they are as long as the past is."""
NUMBERS = 2
"""Of each coarse candle: its range and its volume."""


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
        numbers += [
            math.log(max(top - bottom, SMALLEST_RANGE)) - float(columns["range_level"][before]) - 0.5 * math.log(size),
            math.log(float(volume[-size:].mean())) - float(columns["volume_level"][before]),
        ]
    return numbers

"""Coarser candles from the same data: the last 4, 16 and 64 candles up to the newest one.

They end at every candle instead of on the clock, so none is ever incomplete, and a hole does not shift them. Their
units are those known before their first candle. Their direction is omitted: with it the model memorised directions
(docs/forecasts.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from core.domain.quantities import SMALLEST_RANGE, FloatArray

SPANS = (4, 16, 64)
"""In candles; shorter near the start of the history."""
NUMBERS = 2
"""Per coarse candle: range and volume."""


def coarse_numbers(columns: Mapping[str, FloatArray], row: int) -> list[float]:
    """The scale-free numbers of the coarse candles that end at `row`, [len(SPANS) * NUMBERS]. Reads no later row.

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

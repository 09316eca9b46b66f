"""The columns of a candle style: unchanged, or averaged (Heikin-Ashi)."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries
from desktop.chart.data.columns import CandleColumns, columns
from desktop.chart.style import CandleStyle

_NAMES = ("index", "open", "high", "low", "close", "volume")
_WARM_UP = 64
"""The weight of an opening halves with each candle: after this many, where the averaging began no longer matters."""


def shaped(series: CandleSeries, first: int, stop: int, group: int, style: CandleStyle) -> CandleColumns:
    """The closed candles first..stop - 1 (widened to whole groups) in this style; first < stop."""
    if style is not CandleStyle.HEIKIN_ASHI:
        return columns(series, first, stop, group)
    begin = max(0, first - _WARM_UP * group)
    averaged = heikin_ashi(columns(series, begin, stop, group))
    wanted = columns(series, first, stop, group).index.size
    return _last(averaged, wanted)


def shaped_forming(series: CandleSeries, forming: Candle, style: CandleStyle) -> CandleColumns:
    """The forming candle as one column; its averages continue from those of the closed candles."""
    count = len(series)
    alone = CandleColumns(
        index=np.array([count], dtype=np.float64),
        open=np.array([forming.open]),
        high=np.array([forming.high]),
        low=np.array([forming.low]),
        close=np.array([forming.close]),
        volume=np.array([forming.volume]),
        group=1,
    )
    if style is not CandleStyle.HEIKIN_ASHI or count == 0:
        return alone if style is not CandleStyle.HEIKIN_ASHI else heikin_ashi(alone)
    before = columns(series, max(0, count - _WARM_UP), count, 1)
    return _last(heikin_ashi(_joined(before, alone)), 1)


def heikin_ashi(drawn: CandleColumns) -> CandleColumns:
    """Averaged candles: close = (o + h + l + c) / 4; open = the middle of the averaged candle before.

    Source: D. Valcu, "Using the Heikin-Ashi technique", Stocks & Commodities, February 2004.
    """
    close = (drawn.open + drawn.high + drawn.low + drawn.close) / 4.0
    first = float(drawn.open[0] + drawn.close[0]) / 2.0
    middles = accumulate(close[:-1].tolist(), lambda opened, closed: (opened + closed) / 2.0, initial=first)
    opened = np.fromiter(middles, dtype=np.float64, count=close.size)
    return replace(
        drawn,
        open=opened,
        high=np.maximum(drawn.high, np.maximum(opened, close)),
        low=np.minimum(drawn.low, np.minimum(opened, close)),
        close=close,
    )


def _last(drawn: CandleColumns, count: int) -> CandleColumns:
    last: dict[str, Any] = {name: getattr(drawn, name)[-count:] for name in _NAMES}
    return replace(drawn, **last)


def _joined(one: CandleColumns, other: CandleColumns) -> CandleColumns:
    both: dict[str, Any] = {name: np.concatenate((getattr(one, name), getattr(other, name))) for name in _NAMES}
    return replace(one, **both)

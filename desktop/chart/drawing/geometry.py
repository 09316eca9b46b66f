"""Candles and volume bars as device-pixel rectangles. Pure arithmetic on arrays, no loop over candles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop.chart.data.columns import CandleColumns
from desktop.chart.drawing.primitives import Rects, rects

_BODY_SHARE = 0.72

Positions = NDArray[np.int64]
ToPixels = Callable[[NDArray[np.float64]], Positions]


@dataclass(frozen=True, slots=True)
class CandleWidths:
    """Device pixels. Body and wick are both odd or both even, so that the wick stands in the body's middle."""

    body: int
    wick: int


@dataclass(frozen=True, slots=True)
class CandleRects:
    """Wicks and bodies, parted by colour."""

    up_wicks: Rects
    up_bodies: Rects
    down_wicks: Rects
    down_bodies: Rects


def candle_widths(slot_px: float, ratio: float) -> CandleWidths:
    """Widths for candles `slot_px` device pixels apart on a screen of `ratio` device pixels per logical one."""
    wick = max(1, int(ratio))
    if slot_px < 4 * wick:
        wick = 1
    # A pixel between neighbours, while there is room for one.
    widest = max(int(slot_px) - 1, 1)
    body = min(round_to_parity(slot_px * _BODY_SHARE, wick), widest)
    if (body - wick) % 2:
        body -= 1
    return CandleWidths(max(body, wick), wick)


def round_to_parity(width: float, like: int) -> int:
    """The whole number nearest to `width` that is odd or even as `like` is."""
    return 2 * round((width - like) / 2) + like


def candle_rects(drawn: CandleColumns, widths: CandleWidths, to_x: ToPixels, to_y: ToPixels) -> CandleRects:
    """Rectangles of these candles; one that closes where it opened counts as rising and is a pixel high."""
    centre = to_x(drawn.index)
    open_y, close_y = to_y(drawn.open), to_y(drawn.close)
    wick_left = centre - widths.wick // 2
    body_left = wick_left - (widths.body - widths.wick) // 2
    wicks = rects(wick_left, to_y(drawn.high), wick_left + widths.wick - 1, to_y(drawn.low))
    bodies = rects(body_left, np.minimum(open_y, close_y), body_left + widths.body - 1, np.maximum(open_y, close_y))
    rising = drawn.close >= drawn.open
    return CandleRects(wicks[rising], bodies[rising], wicks[~rising], bodies[~rising])


def volume_rects(
    drawn: CandleColumns, widths: CandleWidths, to_x: ToPixels, to_y: ToPixels, bottom: int
) -> tuple[Rects, Rects]:
    """Bars of rising and of falling candles, standing on pixel row `bottom`; a volume of zero has none."""
    left = to_x(drawn.index) - widths.wick // 2 - (widths.body - widths.wick) // 2
    bars = rects(left, np.minimum(to_y(drawn.volume), bottom), left + widths.body - 1, bottom)
    rising, traded = drawn.close >= drawn.open, drawn.volume > 0
    return bars[rising & traded], bars[~rising & traded]

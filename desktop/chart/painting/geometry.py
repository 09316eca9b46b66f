"""Candles and volume bars as device-pixel rectangles. Array arithmetic only, no loop over candles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRect

from desktop.chart.data.columns import CandleColumns
from desktop.chart.painting.primitives import Rects, rects

_BODY_SHARE = 0.72
_NARROWEST_BODY_PX = 3
"""The narrowest body with a wick of one pixel. At this zoom the bodies touch, as in TradingView."""

Positions = NDArray[np.int64]
ToPixels = Callable[[NDArray[np.float64]], Positions]
Place = TypeVar("Place", int, Positions)


@dataclass(frozen=True, slots=True)
class CandleWidths:
    """Device pixels. Body and wick are both odd or both even, so that the wick is in the body's middle."""

    body: int
    wick: int

    def body_left(self, centre: Place) -> Place:
        """The first column of a candle's body, from its centre column."""
        return centre - self.wick // 2 - (self.body - self.wick) // 2

    def bodies(self, centre: Positions, one: Any, other: Any) -> Rects:
        """Rectangles as wide as candle bodies, from one row to the other."""
        left = self.body_left(centre)
        return rects(left, np.minimum(one, other), left + self.body - 1, np.maximum(one, other))


def candle_widths(slot_px: float, ratio: float) -> CandleWidths:
    """Widths for candles `slot_px` device pixels apart on a screen of `ratio` device pixels per logical one."""
    wick = max(1, int(ratio))
    if slot_px < 4 * wick:
        wick = 1
    # A pixel between neighbours, if there is room.
    widest = max(int(slot_px) - 1, 1)
    nearest = 2 * round((slot_px * _BODY_SHARE - wick) / 2) + wick  # with the wick's parity
    body = min(nearest, widest)
    if (body - wick) % 2:
        body -= 1
    return CandleWidths(max(body, _NARROWEST_BODY_PX if slot_px >= _NARROWEST_BODY_PX else wick), wick)


def candle_rects(drawn: CandleColumns, widths: CandleWidths, to_x: ToPixels, to_y: ToPixels) -> tuple[Rects, Rects]:
    """Wicks, then bodies, by colour, rising first; a candle that closes at its open counts as rising and is a pixel
    high."""
    centre = to_x(drawn.index)
    wick_left = centre - widths.wick // 2
    wicks = rects(wick_left, to_y(drawn.high), wick_left + widths.wick - 1, to_y(drawn.low))
    bodies = widths.bodies(centre, to_y(drawn.open), to_y(drawn.close))
    rising = drawn.close >= drawn.open
    return np.concatenate((wicks[rising], bodies[rising])), np.concatenate((wicks[~rising], bodies[~rising]))


def candle_rect(
    centre: int, open_y: int, high_y: int, low_y: int, close_y: int, widths: CandleWidths
) -> tuple[QRect, QRect]:
    """Wick and body of one candle from its device pixels, identical to `candle_rects`."""
    wick_left = centre - widths.wick // 2
    top, bottom = min(open_y, close_y), max(open_y, close_y)
    wick = QRect(wick_left, high_y, widths.wick, low_y - high_y + 1)
    return wick, QRect(widths.body_left(centre), top, widths.body, bottom - top + 1)


def volume_rect(centre: int, top: int, bottom: int, widths: CandleWidths) -> QRect:
    """The bar of one candle, identical to `volume_rects`."""
    top = min(top, bottom)
    return QRect(widths.body_left(centre), top, widths.body, bottom - top + 1)


def hollow_rects(
    drawn: CandleColumns, widths: CandleWidths, to_x: ToPixels, to_y: ToPixels, close_before: float | None
) -> tuple[Rects, Rects]:
    """Rectangles of two colours, by the close against the previous one; rising bodies are outlines, with the wick only
    outside them."""
    centre = to_x(drawn.index)
    open_y, close_y = to_y(drawn.open), to_y(drawn.close)
    left, body_left = centre - widths.wick // 2, widths.body_left(centre)
    body_right = body_left + widths.body - 1
    top, bottom = np.minimum(open_y, close_y), np.maximum(open_y, close_y)
    hollow = drawn.close > drawn.open
    inner = np.where(hollow, top, bottom + 1)
    line = widths.wick - 1
    parts = np.stack(
        (
            rects(left, to_y(drawn.high), left + line, np.maximum(top - 1, to_y(drawn.high) - 1)),
            rects(left, np.minimum(bottom + 1, to_y(drawn.low) + 1), left + line, to_y(drawn.low)),
            rects(body_left, top, body_right, np.where(hollow, top + line, bottom)),
            rects(body_left, np.where(hollow, bottom - line, bottom), body_right, bottom),
            rects(body_left, inner, body_left + line, bottom),
            rects(body_right - line, inner, body_right, bottom),
        ),
        axis=1,
    )
    before = drawn.open[:1] if close_before is None else np.array([close_before])
    rising = drawn.close >= np.concatenate((before, drawn.close[:-1]))
    return _with_height(parts[rising]), _with_height(parts[~rising])


def bar_rects(drawn: CandleColumns, widths: CandleWidths, to_x: ToPixels, to_y: ToPixels) -> tuple[Rects, Rects]:
    """A line from low to high, the open to its left, the close to its right; by colour, rising first."""
    centre = to_x(drawn.index)
    open_y, close_y = to_y(drawn.open), to_y(drawn.close)
    line = widths.wick - 1
    left = centre - widths.wick // 2
    reach = (widths.body - widths.wick) // 2
    parts = np.stack(
        (
            rects(left, to_y(drawn.high), left + line, to_y(drawn.low)),
            rects(left - reach, open_y - line, left + line, open_y),
            rects(left, close_y - line, left + line + reach, close_y),
        ),
        axis=1,
    )
    rising = drawn.close >= drawn.open
    return parts[rising], parts[~rising]


def _with_height(parts: Rects) -> Rects:
    """Drops those whose bottom is above their top: wicks that do not extend beyond the body."""
    return parts[parts[..., 3] >= parts[..., 1]]


def volume_rects(
    drawn: CandleColumns, widths: CandleWidths, to_x: ToPixels, to_y: ToPixels, bottom: int
) -> tuple[Rects, Rects]:
    """Bars of rising and of falling candles above pixel row `bottom`; zero volume has none."""
    bars = widths.bodies(to_x(drawn.index), np.minimum(to_y(drawn.volume), bottom), bottom)
    rising, traded = drawn.close >= drawn.open, drawn.volume > 0
    return bars[rising & traded], bars[~rising & traded]

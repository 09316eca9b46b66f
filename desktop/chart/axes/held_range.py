"""The range of prices that is held by hand; while there is none, the scale fits what is in view."""

from __future__ import annotations

import math
from dataclasses import replace

from desktop.chart.axes.price_scale import PriceRange, ScaleKind

_MOST_STRETCH = 1e6
_FARTHEST = 1_000.0
"""So many times its span, or on a logarithmic scale so many times its prices, lie within reach beside what was in view
when the hand first took hold: further out there is nothing but long numbers."""
_BESIDE = 0.1
"""Of the height, beside a price that was brought into view."""
_NARROWEST = 1e-4
_FINEST = 1e-9
"""As a share of the prices: a double tells little less apart."""
_SMALLEST = 1e-290


class HeldRange:
    """The one owner of what the hand did to the price axis."""

    def __init__(self) -> None:
        self.range: PriceRange | None = None
        """To be read; None while none is held."""
        self._origin: PriceRange | None = None
        self.releases = 0
        """How often it was asked to fit again."""

    def hold(self, shown: PriceRange) -> None:
        """From now on this is in view."""
        self._begin(shown)
        self.range = shown

    def release(self) -> None:
        """Fit what is in view again."""
        self.range = self._origin = None
        self.releases += 1

    def stretch(self, grabbed: PriceRange, factor: float) -> None:
        """Show `factor` times as much as was in view when the axis was grabbed, about the middle, as far as prices are
        above zero. However often it is stretched, what was in view at first stays large enough to be found."""
        origin = self._begin(grabbed)
        least = _NARROWEST * _length(origin) / _length(grabbed)
        half = 0.5 * min(max(factor, least, 1.0 / _MOST_STRETCH), _MOST_STRETCH)
        lowest, highest = _reach(origin)
        low, high = grabbed.value_at(0.5 - half), grabbed.value_at(0.5 + half)
        low, high = max(low, lowest), min(high, highest)
        self.range = replace(grabbed, low=low, high=high) if high - low > high * _FINEST else grabbed

    def shift(self, grabbed: PriceRange, share: float) -> None:
        """Move what was in view when it was grabbed by a share of the height; positive brings lower prices up."""
        lowest, highest = _reach(self._begin(grabbed))
        most = max(grabbed.share(highest) - 1.0, 0.0)
        least = min(grabbed.share(lowest), 0.0)
        by = min(max(-share, least), most)
        moved = grabbed.between(by, 1.0 + by)
        self.range = replace(moved, low=max(moved.low, lowest))  # or rounding would take it below zero

    def widen(self, shown: PriceRange, *prices: float) -> None:
        """Hold as much more than what is in view as these prices need, with some room beside them. Nothing where all
        are in view."""
        shares = [shown.share(price) for price in prices]
        low, high = min(shares), max(shares)
        if low < 0.0 or high > 1.0:
            lowest, _ = _reach(self._begin(shown))
            wider = shown.between(min(low - _BESIDE, 0.0), max(high + _BESIDE, 1.0))
            self.range = replace(wider, low=max(wider.low, lowest))

    def _begin(self, shown: PriceRange) -> PriceRange:
        """What was in view when the hand first took hold."""
        if self._origin is None or self._origin.kind is not shown.kind:
            self._origin = shown
        return self._origin


def _length(shown: PriceRange) -> float:
    """What the height stands for, in the scale's own measure."""
    return math.log(shown.high / shown.low) if shown.kind is ScaleKind.LOG else shown.span


def _reach(origin: PriceRange) -> tuple[float, float]:
    """How far a hand may go from there. No price is below zero, unless it was in view at first."""
    if origin.kind is ScaleKind.LOG:
        return max(origin.low / _FARTHEST, min(origin.low, _SMALLEST)), origin.high * _FARTHEST
    far = _FARTHEST * origin.span
    return max(origin.low - far, min(origin.low, 0.0)), origin.high + far

"""The manual price range; without one, the scale fits the visible candles."""

from __future__ import annotations

import math
from dataclasses import replace

from desktop.chart.axes.price_scale import PriceRange, ScaleKind

_MOST_STRETCH = 1e6
_FARTHEST = 1_000.0
"""Limit of a manual range: this many times the span (logarithmic: times the prices) of the range that was visible when
the user first changed the axis. Further out, labels are only long numbers."""
_BESIDE = 0.1
"""Margin beside a price that was scrolled into view, as a share of the height."""
_NARROWEST = 1e-4
_FINEST = 1e-9
"""Smallest span as a share of the prices: floating-point precision allows little less."""
_SMALLEST = 1e-290


class ManualRange:
    """Manual changes to the price axis."""

    def __init__(self) -> None:
        self.range: PriceRange | None = None
        """Read only; None while the scale is automatic."""
        self._origin: PriceRange | None = None
        self.releases = 0
        """Number of returns to automatic scaling."""

    def hold(self, shown: PriceRange) -> None:
        """Fix the price scale at this range."""
        self._begin(shown)
        self.range = shown

    def release(self) -> None:
        """Return to automatic scaling."""
        self.range = self._origin = None
        self.releases += 1

    def stretch(self, grabbed: PriceRange, factor: float) -> None:
        """Show `factor` times the span that was visible when the axis was grabbed, about its middle; prices stay above
        zero. Repeated stretching never leaves the original range too small to find."""
        origin = self._begin(grabbed)
        least = _NARROWEST * _length(origin) / _length(grabbed)
        half = 0.5 * min(max(factor, least, 1.0 / _MOST_STRETCH), _MOST_STRETCH)
        lowest, highest = _reach(origin)
        low, high = grabbed.value_at(0.5 - half), grabbed.value_at(0.5 + half)
        low, high = max(low, lowest), min(high, highest)
        self.range = replace(grabbed, low=low, high=high) if high - low > high * _FINEST else grabbed

    def shift(self, grabbed: PriceRange, share: float) -> None:
        """Move the range from where it was grabbed by a share of the height; positive shows lower prices."""
        lowest, highest = _reach(self._begin(grabbed))
        most = max(grabbed.share(highest) - 1.0, 0.0)
        least = min(grabbed.share(lowest), 0.0)
        by = min(max(-share, least), most)
        moved = grabbed.between(by, 1.0 + by)
        self.range = replace(moved, low=max(moved.low, lowest))  # or rounding would take it below zero

    def widen(self, shown: PriceRange, *prices: float) -> None:
        """Extend the visible range to include these prices with some margin; does nothing if they are all visible."""
        shares = [shown.share(price) for price in prices]
        low, high = min(shares), max(shares)
        if low < 0.0 or high > 1.0:
            lowest, _ = _reach(self._begin(shown))
            wider = shown.between(min(low - _BESIDE, 0.0), max(high + _BESIDE, 1.0))
            self.range = replace(wider, low=max(wider.low, lowest))

    def _begin(self, shown: PriceRange) -> PriceRange:
        """The range that was visible when the user first changed the axis."""
        if self._origin is None or self._origin.kind is not shown.kind:
            self._origin = shown
        return self._origin


def _length(shown: PriceRange) -> float:
    """The height of the range in the scale's unit."""
    return math.log(shown.high / shown.low) if shown.kind is ScaleKind.LOG else shown.span


def _reach(origin: PriceRange) -> tuple[float, float]:
    """Limits of manual ranges. No price is below zero unless it was visible originally."""
    if origin.kind is ScaleKind.LOG:
        return max(origin.low / _FARTHEST, min(origin.low, _SMALLEST)), origin.high * _FARTHEST
    far = _FARTHEST * origin.span
    return max(origin.low - far, min(origin.low, 0.0)), origin.high + far

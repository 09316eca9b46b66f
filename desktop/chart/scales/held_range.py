"""The range of prices that is held by hand; while there is none, the scale fits what is in view."""

from __future__ import annotations

from desktop.chart.scales.price_scale import PriceRange

_MOST_STRETCH = 1e6


class HeldRange:
    """The one owner of what the hand did to the price axis."""

    def __init__(self) -> None:
        self._range: PriceRange | None = None

    @property
    def range(self) -> PriceRange | None:
        return self._range

    @property
    def is_held(self) -> bool:
        return self._range is not None

    def hold(self, shown: PriceRange) -> None:
        """From now on this is in view."""
        self._range = shown

    def release(self) -> None:
        """Fit what is in view again."""
        self._range = None

    def stretch(self, grabbed: PriceRange, factor: float) -> None:
        """Show `factor` times as much as was in view when the axis was grabbed, about the middle."""
        half = 0.5 * min(max(factor, 1.0 / _MOST_STRETCH), _MOST_STRETCH)
        self._range = grabbed.between(0.5 - half, 0.5 + half)

    def shift(self, grabbed: PriceRange, share: float) -> None:
        """Move what was in view when it was grabbed by a share of the height; positive brings lower prices up."""
        self._range = grabbed.between(-share, 1.0 - share)

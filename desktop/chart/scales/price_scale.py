"""The price range in view and its round numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

_HEADROOM = 0.05
_FLAT_SHARE = 0.0005
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class PriceRange:
    """Prices at the bottom and the top of the pane; low < high."""

    low: float
    high: float

    @property
    def span(self) -> float:
        return self.high - self.low


def fitted(low: float, high: float) -> PriceRange:
    """The range that shows low..high with a little air; flat prices get some as well."""
    span = high - low
    if span <= abs(high) * 1e-12:
        half = max(abs(high) * _FLAT_SHARE, 1e-12)
        return PriceRange(low - half, high + half)
    return PriceRange(low - span * _HEADROOM, high + span * _HEADROOM)


def round_step(span: float, most: int, smallest: float) -> float:
    """The smallest step of 1, 2, 2.5 or 5 times a power of ten that cuts `span` into at most `most` pieces."""
    rough = max(span / max(most, 1), smallest)
    power = 10.0 ** math.floor(math.log10(rough))
    for step in _STEPS:
        candidate = step * power
        # A quarter of the smallest tick is no price that anyone can trade at.
        is_tradable = abs(candidate / smallest - round(candidate / smallest)) < 1e-6
        if candidate >= rough * (1 - 1e-9) and is_tradable:
            return candidate
    return 10.0 * power


def round_prices(shown: PriceRange, most: int, decimals: int) -> list[float]:
    """Ascending round prices inside the range, at most `most`, none finer than `decimals` can write."""
    step = round_step(shown.span, most, 10.0**-decimals)
    first, last = math.ceil(shown.low / step), math.floor(shown.high / step)
    return [round(multiple * step, decimals) for multiple in range(first, last + 1)]

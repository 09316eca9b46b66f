"""The visible range of values (linear, logarithmic or percent), its round numbers, and manual changes to it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

_HEADROOM = 0.05
_FLAT_SHARE = 0.0005
_FLAT_STEPS = 0.001
"""A span below this many steps is rounding noise, not a move."""
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_SMALLEST = 1e-300
"""Logarithms need positive values; no market's price is this small."""
_STRAIGHT_RATIO = 4.0
"""A logarithmic range below this is marked like a linear one: it spans too few powers of ten."""
_MANTISSAS = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0))
_NARROWEST_SHARE = 1e-9
"""Smallest span as a share of the prices: floating-point precision allows little less."""
_MOST_STRETCH = 1e6
_FARTHEST = 1_000.0
"""Limit of a manual range: this many times the span (logarithmic: times the prices) of the range that was visible when
the user first changed the axis. Further out, labels are only long numbers."""
_BESIDE = 0.1
"""Margin beside a price that was scrolled into view, as a share of the height."""
_LEAST_STRETCH = 1e-4
_LOWEST_MANUAL = 1e-290
"""Above `_SMALLEST`, so that a manual range can still be shown on a logarithmic scale."""


class ScaleKind(StrEnum):
    """How prices are distributed over the pane's height."""

    LINEAR = "linear"
    LOG = "log"
    PERCENT = "percent"


@dataclass(frozen=True, slots=True)
class PriceRange:
    """Values at the bottom and the top of a pane; low < high. On a logarithmic scale both are above zero."""

    low: float
    high: float
    kind: ScaleKind = ScaleKind.LINEAR
    base: float = 1.0
    """The value at 0 % on a percent scale."""

    @property
    def span(self) -> float:
        return self.high - self.low

    def share(self, value: float) -> float:
        """0 at the bottom, 1 at the top."""
        if self.kind is ScaleKind.LOG:
            return math.log(max(value, _SMALLEST) / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def shares(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.kind is ScaleKind.LOG:
            ratios = np.log(np.maximum(values, _SMALLEST) / self.low)
            return np.asarray(ratios / math.log(self.high / self.low), dtype=np.float64)
        return np.asarray((values - self.low) / (self.high - self.low), dtype=np.float64)

    def value_at(self, share: float) -> float:
        """The value at this share of the height; it may lie outside the range."""
        if self.kind is ScaleKind.LOG:
            return self.low * math.exp(min(share * math.log(self.high / self.low), 600.0))
        return self.low + share * self.span

    def between(self, low_share: float, high_share: float) -> PriceRange:
        """The range between two shares of the height on the same scale; unchanged if that range would be invalid."""
        low, high = self.value_at(low_share), self.value_at(high_share)
        if not (math.isfinite(high) and high - low > abs(high) * _NARROWEST_SHARE):
            return self
        if self.kind is ScaleKind.LOG and low <= _SMALLEST:
            return self
        return replace(self, low=low, high=high)

    def percent(self, value: float) -> float:
        """A value's distance from `base` in percent."""
        return (value / self.base - 1.0) * 100.0


def fitted(
    low: float, high: float, kind: ScaleKind = ScaleKind.LINEAR, base: float = 1.0, step: float = 0.0
) -> PriceRange:
    """The range that shows low..high with a margin, also for flat prices.

    step: the smallest difference between these values, if their size does not imply it.

    Values at or below zero have no logarithm: such a range is linear whatever `kind` is.
    """
    span = high - low
    if kind is ScaleKind.LOG and low <= _SMALLEST:
        kind = ScaleKind.LINEAR
    if span <= max(abs(high) * 1e-12, flat_below(step)):
        half = max(abs(high) * _FLAT_SHARE, 0.5 * step, 1e-12)
        return PriceRange(low - half, high + half, kind if low > half else ScaleKind.LINEAR, base)
    return PriceRange(low, high, kind, base).between(-_HEADROOM, 1.0 + _HEADROOM)


def flat_below(step: float) -> float:
    """Differences below this are meaningless for values with this step."""
    return _FLAT_STEPS * step


def round_step(span: float, most: int, smallest: float) -> float:
    """The smallest step of 1, 2, 2.5 or 5 times a power of ten that divides `span` into at most `most` parts."""
    rough = max(span / max(most, 1), smallest)
    power = 10.0 ** math.floor(math.log10(rough))
    for step in _STEPS:
        candidate = step * power
        # Nothing trades at a quarter of the smallest tick.
        is_tradable = abs(candidate / smallest - round(candidate / smallest)) < 1e-6
        if candidate >= rough * (1 - 1e-9) and is_tradable:
            return candidate
    return 10.0 * power


def round_prices(shown: PriceRange, most: int, decimals: int) -> list[float]:
    """Ascending round values inside the range, at most `most`, with at most `decimals` decimals."""
    if shown.kind is ScaleKind.LOG and shown.high / shown.low >= _STRAIGHT_RATIO:
        return _round_powers(shown, most, decimals)
    is_percent, low, high = shown.kind is ScaleKind.PERCENT, shown.low, shown.high
    if is_percent:
        low, high, decimals = shown.percent(low), shown.percent(high), percent_decimals(shown)
    step = round_step(high - low, most, 10.0**-decimals)
    values = [multiple * step for multiple in range(math.ceil(low / step), math.floor(high / step) + 1)]
    if is_percent:
        return [shown.base * (1.0 + value / 100.0) for value in values]
    return [round(value, decimals) for value in values]


def percent_decimals(shown: PriceRange) -> int:
    span = shown.percent(shown.high) - shown.percent(shown.low)
    return max(2, 1 - math.floor(math.log10(span))) if span > 0 else 2


def _round_powers(shown: PriceRange, most: int, decimals: int) -> list[float]:
    """The finest marks that fit: multiples within each power of ten, or whole powers further apart."""
    first, last = math.floor(math.log10(shown.low)), math.ceil(math.log10(shown.high))
    for mantissas in reversed(_MANTISSAS):
        powers: list[float] = [10.0**power for power in range(first, last + 1)]
        values = {round(mantissa * power, max(decimals, 0)) for power in powers for mantissa in mantissas}
        found = sorted(value for value in values if shown.low <= value <= shown.high)
        if len(found) <= most:
            return found
    stride = math.ceil(len(found) / max(most, 1))
    return found[::stride]


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
        least = _LEAST_STRETCH * _length(origin) / _length(grabbed)
        half = 0.5 * min(max(factor, least, 1.0 / _MOST_STRETCH), _MOST_STRETCH)
        lowest, highest = _reach(origin)
        low, high = grabbed.value_at(0.5 - half), grabbed.value_at(0.5 + half)
        low, high = max(low, lowest), min(high, highest)
        self.range = replace(grabbed, low=low, high=high) if high - low > high * _NARROWEST_SHARE else grabbed

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
        return max(origin.low / _FARTHEST, min(origin.low, _LOWEST_MANUAL)), origin.high * _FARTHEST
    far = _FARTHEST * origin.span
    return max(origin.low - far, min(origin.low, 0.0)), origin.high + far

"""How far an arrow moves a price."""

from __future__ import annotations

from desktop.chart.axes.price_scale import PriceRange, round_step

_STEPS_IN_VIEW = 200


def price_step(shown: PriceRange, price: float, tick: float) -> float:
    """A round step, about a 200th of the height of what is in view; at least `tick`, the market's smallest.

    On a logarithmic scale it grows with the price. Of a price out of view it is that at the nearer edge.
    """
    share = min(max(shown.share(price), 0.0), 1.0)
    half = 0.5 / _STEPS_IN_VIEW
    local = shown.value_at(share + half) - shown.value_at(share - half)
    return round_step(local, 1, tick)


def floored(price: float, tick: float) -> float:
    """The price, or the market's smallest step where it is lower: nothing trades at zero or below."""
    return max(price, tick)

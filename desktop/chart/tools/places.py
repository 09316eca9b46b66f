"""Places for objects on the chart: the candle and price under the mouse, and the step of an arrow key."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt

from core.domain.candle_faults import HIGHEST_PRICE, LOWEST_PRICE
from core.domain.drawings import Anchor, Drawing
from desktop.chart.axes.price_scale import PriceRange, round_step
from desktop.chart.data.anchors import bounded, shifted, time_at
from desktop.chart.data.model import ChartModel
from desktop.chart.tools.tool import Area, ChartPoint

ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}
"""Candles and price steps per arrow key."""
TEN_AT_ONCE = {Qt.KeyboardModifier.NoModifier: 1, Qt.KeyboardModifier.ShiftModifier: 10}
_STEPS_IN_VIEW = 200


def tick_of(model: ChartModel) -> float:
    """The smallest step of the market's prices."""
    return float(10.0 ** -model.decimals())


def price_step(shown: PriceRange, price: float, tick: float) -> float:
    """A round step, about a 200th of the visible height; at least `tick`, the market's smallest.

    On a logarithmic scale it grows with the price. For a price out of view, the step at the nearer edge.
    """
    share = min(max(shown.share(price), 0.0), 1.0)
    half = 0.5 / _STEPS_IN_VIEW
    local = shown.value_at(share + half) - shown.value_at(share - half)
    return round_step(local, 1, tick)


def in_steps(price: float, model: ChartModel) -> float:
    """The price in the market's decimals; at or below zero the smallest step."""
    return max(round(price, model.decimals()), tick_of(model))


def anchor_at(at: ChartPoint, model: ChartModel) -> Anchor:
    """The candle and the price at a place, in the market's decimals; with Ctrl the nearest of the candle's four prices.
    Places above or below the prices count as their edge, and prices at or below zero as the smallest step."""
    pane, index = at.frame.price_pane, round(at.index)
    row = min(max(at.pixel.y(), pane.top), pane.inner_bottom - 1)
    price = in_steps(pane.value_at(row), model)
    candle = model.candle(index) if at.modifiers & Qt.KeyboardModifier.ControlModifier else None
    if candle is not None and at.area is not Area.PRICE_AXIS:
        # In one row, the close wins.
        prices = (candle.close, candle.open, candle.high, candle.low)
        price = min(prices, key=lambda price: abs(pane.y(price) - row))
    return bounded(time_at(model, index), price)


def raw_anchor(at: ChartPoint, model: ChartModel) -> Anchor:
    """The candle and the price at a place, neither rounded nor snapped."""
    return bounded(time_at(model, round(at.index)), at.frame.price_pane.value_at(at.pixel.y()))


def moved_by(drawing: Drawing, model: ChartModel, shown: PriceRange, candles: int, rise: float) -> Drawing:
    """The drawing moved by candles, and by a share of the visible price range's height, so that it keeps its shape on a
    logarithmic scale too; limited so that no end reaches zero or exceeds the bounds."""
    prices, decimals = [anchor.price for anchor in drawing.anchors], model.decimals()
    tick = max(tick_of(model), LOWEST_PRICE)
    rise = min(rise, shown.share(HIGHEST_PRICE) - shown.share(max(prices)))
    rise = max(rise, shown.share(tick) - shown.share(min(prices)))
    if rise:
        lifted = (round(shown.value_at(shown.share(price) + rise), decimals) for price in prices)
        prices = [min(max(price, tick), HIGHEST_PRICE) for price in lifted]
    anchors = (
        Anchor(shifted(model, anchor.time_ms, candles), price)
        for anchor, price in zip(drawing.anchors, prices, strict=True)
    )
    return replace(drawing, anchors=tuple(anchors))

"""Scenes of drawings."""

from __future__ import annotations

from collections.abc import Callable

from core.domain.drawings import Anchor, Drawing, DrawingKind, position_anchors
from desktop.chart.items.drawings import DrawingsLayer
from desktop.chart.items.placed import Placed
from tests.desktop.chart.support import forming_after, random_series
from tests.golden.stage import Stage

COUNT = 120
_LINE, _RAY, _LEVEL, _BOX, _FIBONACCI, _TEXT, _UPRIGHT, _CHANNEL, _LONG, _SHORT = DrawingKind


def drawings(stage: Stage) -> None:
    """The first kinds, thin and wide, in the theme's colour and in other colours. The rectangle is selected."""
    at = _placed_on(stage)
    drawn = (
        Drawing(_LINE, (at(4, 0.15), at(26, 0.6)), number=1),
        Drawing(_RAY, (at(30, 0.05), at(44, 0.15)), colour="#2f9348", width_px=3, number=2),
        Drawing(_LEVEL, (at(20, 0.78),), colour="#d9730d", number=3),
        Drawing(_BOX, (at(6, 0.55), at(18, 0.3)), colour="#d1499a", width_px=2, number=4),
        Drawing(_FIBONACCI, (at(24, 0.02), at(46, 0.7)), colour="#9657e0", number=5),
        Drawing(_TEXT, (at(22, 0.84),), "<b>Resistance</b> since Tuesday", width_px=2, number=6),
    )
    layer = DrawingsLayer()
    layer.shown = Placed(drawn, selected=4)
    stage.chart.add_layer(layer)


def positions(stage: Stage) -> None:
    """A vertical line, a channel, and a long and a short position, which is selected."""
    at = _placed_on(stage)
    drawn = (
        Drawing(_UPRIGHT, (at(4, 0.5),), colour="#d9730d", width_px=2, number=1),
        Drawing(_CHANNEL, (at(6, 0.1), at(22, 0.35), at(6, 0.0)), number=2),
        Drawing(_LONG, position_anchors(_LONG, at(8, 0.6), at(24, 0.9)), number=3),
        Drawing(_SHORT, position_anchors(_SHORT, at(30, 0.5), at(46, 0.2)), colour="#9657e0", number=4),
    )
    layer = DrawingsLayer()
    layer.shown = Placed(drawn, selected=4)
    stage.chart.add_layer(layer)


def _placed_on(stage: Stage) -> Callable[[int, float], Anchor]:
    """Show candles; the place at a candle from the left of the view, at a share of the prices' height."""
    series = random_series(COUNT)
    stage.chart.set_series(series, "BTC/USDT · 1m · test")
    stage.chart.set_forming(forming_after(series))
    stage.settle()
    shown, first = stage.chart.frame.prices, round(stage.chart.frame.left)

    def at(candle: int, share: float) -> Anchor:
        return Anchor(series[min(first + candle, COUNT - 1)].open_time_ms, round(shown.value_at(share), 2))

    return at

"""Volume by price over the visible candles: bars from the left edge, behind the candles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtGui import QColor, QPainter

from core.indicators.volume_profile import VolumeProfile, volume_by_price
from desktop.chart.data.model import ChartModel
from desktop.chart.painting.primitives import fill_rects, rects
from desktop.chart.painting.text import Row, Span
from desktop.chart.panes.frame import Frame, Pane
from desktop.chart.panes.layer import BEHIND_Z, Layer
from desktop.ui import formatting
from desktop.ui.theme import mixed
from desktop.ui.translation import translate

_WIDEST_SHARE = 0.25
"""Length of the longest bar, as a share of the plot's width."""
_BAR_PX = 10
_FEWEST_BARS, _MOST_BARS = 6, 80
_SAMPLE_SHARE = 0.88
_INK, _INK_OF_LARGEST = 0.28, 0.5
"""Share of the candle colours in the background."""


class VolumeProfileLayer(Layer):
    """Bars of equal height in pixels, so on a logarithmic scale of equal ratios."""

    z = BEHIND_Z

    def __init__(self) -> None:
        super().__init__()
        self._found: VolumeProfile | None = None
        self._found_in: Frame | None = None

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        found = self._in_view(frame)
        if found is None:
            return
        widest = found.total.max()
        widths = frame.layout.plot_right * _WIDEST_SHARE / widest
        rows = frame.ys(found.edges)
        split = np.round(found.rising * widths).astype(np.int64)
        ends = np.round(found.total * widths).astype(np.int64)
        top, bottom = rows[1:] + frame.pixel, rows[:-1] - 1
        for left, right, colour in ((0 * split, split, frame.palette.up), (split, ends, frame.palette.down)):
            areas = rects(left, np.minimum(top, bottom), right - 1, bottom)
            is_largest = np.arange(len(ends)) == found.largest
            for chosen, ink in ((~is_largest, _INK), (is_largest, _INK_OF_LARGEST)):
                fill_rects(painter, areas[chosen & (right > left)], mixed(colour, frame.palette.background, ink))

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        found, text = self._in_view(frame), translate("Chart", "nothing traded in view")
        if found is not None:
            at, total = found.largest, found.total
            low, high = (float(edge) for edge in found.edges[at : at + 2])
            text = _most_traded(low, high, float(total[at] / total.sum()), frame.decimals)
        return (_row(frame.palette.text, frame.palette.muted_text, text),)

    def _in_view(self, frame: Frame) -> VolumeProfile | None:
        """Computed once per view: the readout asks with every tick."""
        known = self._found_in
        if known is None or known.drawn is not frame.drawn or known.price_pane != frame.price_pane:
            self._found, self._found_in = profile_in_view(frame), frame
        return self._found

    def sample_rows(self, model: ChartModel) -> Sequence[Row]:
        price = 0.0 if model.newest is None else model.newest.close
        return (_row(QColor(), QColor(), _most_traded(price, price, _SAMPLE_SHARE, model.decimals())),)


def profile_in_view(frame: Frame) -> VolumeProfile | None:
    """The profile of the visible closed candles, over prices that they and the scale share. None without volume."""
    drawn = frame.drawn
    if drawn is None or not drawn.volume.sum() > 0.0:
        return None
    low, high = max(drawn.low.min(), frame.prices.low), min(drawn.high.max(), frame.prices.high)
    if not low < high:
        return None
    height = frame.y(low) - frame.y(high)
    bars = int(np.clip(height / frame.scaled(_BAR_PX), _FEWEST_BARS, _MOST_BARS))
    shares = np.linspace(frame.prices.share(low), frame.prices.share(high), bars + 1)
    edges = np.array([low, *(frame.prices.value_at(float(share)) for share in shares[1:-1]), high])
    if not (np.diff(edges) > 0.0).all():
        return None
    rises = drawn.close >= drawn.open
    rising, falling = (
        volume_by_price(drawn.low[kind], drawn.high[kind], drawn.volume[kind], edges) for kind in (rises, ~rises)
    )
    return VolumeProfile(edges, rising, falling) if (rising + falling).max() > 0.0 else None


def _most_traded(low: float, high: float, share: float, decimals: int) -> str:
    edges = (formatting.format_price(edge, decimals) for edge in (low, high))
    text = translate("Chart", "most traded at {0} to {1} ({2})")
    return text.format(*edges, formatting.format_percent(share))


def _row(strong: QColor, muted: QColor, text: str) -> Row:
    return Span(translate("Chart", "Volume profile"), strong, bold=True), Span(text, muted)

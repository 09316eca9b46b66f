"""Builds frames: the visible candles, the panes, and the ranges that fit them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from PySide6.QtCore import QSize
from PySide6.QtGui import QFont

from core.domain.candle import Candle
from core.domain.events import Ghost
from desktop.chart.axes import price_scale
from desktop.chart.axes.price_scale import ManualRange, PriceRange, ScaleKind
from desktop.chart.axes.visible_candles import TimeScale
from desktop.chart.data.columns import CandleColumns, Extent, extent, group_size, shaped
from desktop.chart.data.ghosts import band
from desktop.chart.data.model import ChartModel
from desktop.chart.labels.axis_labels import value_labels
from desktop.chart.labels.forecast import note_room, note_text, usual_width
from desktop.chart.labels.readout import readout_lines, readout_width
from desktop.chart.painting.geometry import candle_widths
from desktop.chart.painting.text import Fonts, padding_px
from desktop.chart.panes.frame import PRICE_PANE, Frame, Layout, Pane, PaneHeights
from desktop.chart.panes.layer import Layer, LayerSet, PaneScale, View
from desktop.chart.style import Style
from desktop.ui import formatting

_AXIS_STEP = 8
"""The price axis widens in steps of this many logical pixels, so that it seldom moves the plot."""

_WIDEST_AXIS = 0.5
"""Widest price axis as a share of the chart's width; the plot keeps the rest, whatever the labels."""

_LINES_UNDER_READOUT = 1.9
"""Room between the readout and the candles, for the divider's label."""
_LINES_WITHOUT_READOUT = 1.4
"""Room at the top of a small chart, for the divider's label."""

_MOST_WIDENED = 0.35
"""Margin on either side, as a share of the span of candles and ghosts."""

_VOLUME_SHARE = 0.17
_PANE_TITLE_MARGIN = 0.4
_PANE_FOOT_PX = 4

_Edges = tuple[float, float]


class FrameBuilder:
    """Caches what is expensive to recompute: fonts, visible candles, the axis width."""

    def __init__(
        self, model: ChartModel, scale: TimeScale, held: ManualRange, layers: LayerSet, heights: PaneHeights
    ) -> None:
        self._model, self._scale, self._held, self._layers, self._heights = model, scale, held, layers, heights
        self._axis_width = self._releases = 0
        self._fonts: Fonts | None = None
        self._fonts_key: tuple[object, ...] = ()
        self._drawn: CandleColumns | None = None
        self._extent: Extent | None = None
        self._drawn_key: tuple[object, ...] = ()

    def forget(self) -> None:
        """Drop the cache, for another market or font."""
        self._axis_width = 0
        self._fonts_key, self._drawn_key = (), ()

    def build(self, size: QSize, ratio: float, style: Style) -> Frame:
        """The frame for a widget of `size` logical pixels. Sets the time scale's width."""
        if self._releases != self._held.releases:
            # The axis may narrow only here and with another market, interval or scale: following each tick it would
            # shimmer.
            self._axis_width, self._releases = 0, self._held.releases
        if style.shows_volume and not self._model.has_volume():
            style = replace(style, shows_volume=False)  # ghosts' too: they would fill the strip
        frame = self._build(size, ratio, style)
        while (needed := _needed_axis_width(frame)) > self._axis_width:  # fewer candles may have longer labels
            self._axis_width = needed
            frame = self._build(size, ratio, style)
        return frame

    def _build(self, size: QSize, ratio: float, style: Style) -> Frame:
        fonts = self._fonts_for(style.font, ratio)
        layout = self._layout(size, ratio, fonts, style)
        self._scale.set_width(layout.plot_right / ratio)
        first, stop = self._scale.visible()
        spacing = self._scale.spacing * ratio
        view = View(first, min(stop, self._model.count), group_size(spacing))
        drawn = self._drawn_columns(view, style)
        seen = self._seen(view, style)
        shown, rows = self._price_range(view.first, seen, style), (layout.price_top, layout.price_bottom)
        return Frame(
            layout=layout,
            ratio=ratio,
            spacing=spacing,
            right=self._scale.right,
            first=view.first,
            stop=view.stop,
            group=view.group,
            drawn=drawn,
            price_pane=Pane(PRICE_PANE, 0, layout.main_bottom, *rows, layout.plot_right, shown),
            panes=self._panes(layout, readout_width(layout.plot_right, ratio), fonts, style, view),
            top_volume=seen.volume,
            decimals=self._model.decimals(),
            widths=candle_widths(spacing * view.group, ratio),
            fonts=fonts,
            style=style,
            is_manual=self._held.range is not None,
        )

    def _layout(self, size: QSize, ratio: float, fonts: Fonts, style: Style) -> Layout:
        """Divide the widget into areas, each at least one pixel."""
        width, height = round(size.width() * ratio), round(size.height() * ratio)
        axis = min(round(self._axis_width * ratio), round(width * _WIDEST_AXIS))
        note = note_room(note_text(self._model), usual_width(self._model, fonts), fonts, ratio, width - axis)
        room = readout_width(width - axis, ratio)
        lines = readout_lines(self._model, self._layers, fonts, room) if style.shows_readout else 0
        plot_bottom = max(2, height - fonts.line - (0 if style.has_small_axes else fonts.line // 2))
        main_bottom = max(2, plot_bottom - sum(self._pane_heights(plot_bottom).values()))
        volume = int(main_bottom * _VOLUME_SHARE) if style.shows_volume else 0
        price_bottom = max(2, main_bottom - volume)
        over = _LINES_WITHOUT_READOUT if style.has_small_axes and not lines else _LINES_UNDER_READOUT + lines
        price_top = min(round(fonts.line * over) + note, price_bottom // 2)
        return Layout(width, height, max(1, width - axis), plot_bottom, main_bottom, price_top, price_bottom)

    def _pane_heights(self, plot_bottom: int) -> dict[str, int]:
        """Heights of the panes below the prices, from top to bottom."""
        shares = self._heights.shares(self._layers.pane_names())
        return {name: int(plot_bottom * share) for name, share in shares.items()}

    def _fonts_for(self, font: QFont, ratio: float) -> Fonts:
        key = (font.key(), ratio)
        if self._fonts is None or key != self._fonts_key:
            self._fonts, self._fonts_key = Fonts.of(font, ratio), key
        return self._fonts

    def _drawn_columns(self, view: View, style: Style) -> CandleColumns | None:
        series = self._model.series
        key = (id(series), self._model.version, view, style.candles)
        if key != self._drawn_key:
            self._drawn_key = key
            self._drawn = None if view.first >= view.stop else shaped(series, *view, style.candles)
            self._extent = None if self._drawn is None else extent(self._drawn)
        return self._drawn

    def _price_range(self, first: int, seen: Extent, style: Style) -> PriceRange:
        base_candle = self._model.candle(first)
        base = base_candle.close if style.scale is ScaleKind.PERCENT and base_candle is not None else 1.0
        if self._held.range is not None:
            return replace(self._held.range, base=base)
        return price_scale.fitted(seen.low, seen.high, style.scale, base)

    def _seen(self, view: View, style: Style) -> Extent:
        model, lowest, highest = self._model, self._scale.left - 0.5, self._scale.right + 0.5
        seen: list[Extent | Candle | Ghost] = [] if self._extent is None else [self._extent]
        if model.forming is not None and lowest < model.count < highest:
            seen.append(model.forming)
        drawn = model.drawn_ghosts(along_path=style.shows_paths)
        ghosts = [placed.ghost for placed in drawn if lowest < placed.index < highest]
        seen += ghosts
        if not seen:
            newest = model.newest
            return Extent(0.0, 1.0, 0.0) if newest is None else Extent(newest.low, newest.high, newest.volume)
        bands = [edges for ghost in ghosts if style.shows_bands and (edges := band(ghost, 90)) is not None]
        layers = self._layers.of_pane(PRICE_PANE)
        beside = self._edges((layer for layer in layers if layer.is_shown_whole), view)
        low, high = _union([*((one.low, one.high) for one in seen), *bands, *beside])
        over = self._edges((layer for layer in layers if not layer.is_shown_whole), view)
        if over:  # they may widen the range, but not so far that the candles become small
            room = (high - low) * _MOST_WIDENED
            lowest_over, highest_over = _union([*over, (low, high)])
            low, high = max(lowest_over, low - room), min(highest_over, high + room)
        return Extent(low, high, max(one.volume for one in seen))

    def _edges(self, layers: Iterable[Layer], view: View) -> list[_Edges]:
        found = (layer.extent(view, self._model) for layer in layers)
        return [edges for edges in found if edges is not None and math.isfinite(edges[0]) and math.isfinite(edges[1])]

    def _panes(self, layout: Layout, width: int, fonts: Fonts, style: Style, view: View) -> tuple[Pane, ...]:
        """width: of the text at the top of each."""
        panes, top = [], layout.main_bottom
        for name, height in self._pane_heights(layout.plot_bottom).items():
            layers, bottom = self._layers.of_pane(name), min(top + height, layout.plot_bottom)
            lines = layers[0].title_lines(self._model, style, fonts, width)
            inner_top = min(top + round(fonts.line * (lines + _PANE_TITLE_MARGIN)), bottom - 2)
            rows = (top, bottom, inner_top, max(bottom - _PANE_FOOT_PX, inner_top + 2))
            edges = self._edges(layers, view)
            scale = layers[0].pane_scale  # after `extent`, which updates the layer
            shown = _pane_range(scale, edges)
            panes.append(
                Pane(name, *rows, layout.plot_right, shown, scale.levels, scale.decimals, has_scale=bool(edges))
            )
            top = bottom
        return tuple(panes)


def _needed_axis_width(frame: Frame) -> int:
    if frame.style.has_small_axes:
        labels = [label for pane in (frame.price_pane, *frame.panes) for label in value_labels(frame, pane)]
        widest = max((frame.fonts.width(label.text) for label in labels), default=0)
        return _stepped((widest + 2 * padding_px(frame.fonts)) / frame.ratio)
    edges = (frame.prices.low, frame.prices.high)
    texts = [frame.price_text(edge) for edge in edges] + ["00:00:00"]
    if frame.prices.kind is ScaleKind.PERCENT:  # lines show their prices there too
        texts += [formatting.format_level(edge, frame.decimals) for edge in edges]
    for pane in (pane for pane in frame.panes if pane.has_scale):
        texts += [formatting.format_level(edge, pane.decimals) for edge in (pane.shown.low, pane.shown.high)]
    if frame.style.shows_volume:
        texts.append(formatting.format_volume(frame.top_volume))
    widest = max(frame.fonts.width(text, bold=True) for text in texts)
    return _stepped((widest + frame.fonts.line) / frame.ratio)


def _stepped(logical_px: float) -> int:
    return math.ceil(logical_px / _AXIS_STEP) * _AXIS_STEP


def _union(edges: list[_Edges]) -> _Edges:
    return min(low for low, _ in edges), max(high for _, high in edges)


def _pane_range(scale: PaneScale, edges: list[_Edges]) -> PriceRange:
    if scale.fixed is not None:
        return PriceRange(*scale.fixed)
    low, high = _union(edges) if edges else (0.0, 1.0)
    return price_scale.fitted(low, high, step=scale.step)

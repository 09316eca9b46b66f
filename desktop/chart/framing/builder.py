"""Builds frames: which candles are in view, and the price range that fits them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import tzinfo

from PySide6.QtCore import QSize
from PySide6.QtGui import QFont

from desktop import formatting
from desktop.chart.data.columns import Extent, columns, extent, group_size
from desktop.chart.data.model import ChartModel, band
from desktop.chart.drawing.geometry import candle_widths
from desktop.chart.framing.frame import Fonts, Frame, Layout
from desktop.chart.scales import price_scale
from desktop.chart.scales.time_scale import TimeScale
from desktop.theme import Palette

_AXIS_STEP = 8
"""The price axis widens in steps of that many logical pixels, so that it seldom moves the plot."""

_READOUT_LINES = 3.9
"""The room above the candles: the readout and, under it, the divider's label hide none of them."""


@dataclass(frozen=True)
class Style:
    """How the chart is to look: what a user chooses."""

    palette: Palette
    font: QFont
    time_zone: tzinfo | None = None
    shows_volume: bool = True
    shows_bands: bool = True


class FrameBuilder:
    """Keeps what is dear to find from one frame to the next: fonts, the slice's extent, the axis' width."""

    def __init__(self, scale: TimeScale) -> None:
        self._scale = scale
        self._axis_width = 0
        self._fonts: Fonts | None = None
        self._fonts_key: tuple[object, ...] = ()
        self._extent: Extent | None = None
        self._extent_key: tuple[object, ...] = ()

    def forget(self) -> None:
        """Another market or font: measure everything anew."""
        self._axis_width = 0
        self._fonts_key, self._extent_key = (), ()

    def build(self, size: QSize, ratio: float, model: ChartModel, style: Style) -> Frame:
        """The frame for a widget of `size` logical pixels. Sets the time scale's width."""
        frame = self._build(size, ratio, model, style)
        needed = self._needed_axis_width(frame)
        if needed > self._axis_width:
            self._axis_width = needed
            frame = self._build(size, ratio, model, style)
        return frame

    def _build(self, size: QSize, ratio: float, model: ChartModel, style: Style) -> Frame:
        fonts = self._fonts_for(style.font, ratio)
        layout = Layout.of(
            round(size.width() * ratio),
            round(size.height() * ratio),
            round(self._axis_width * ratio),
            fonts.line + fonts.line // 2,
            round(fonts.line * _READOUT_LINES),
            has_volume=style.shows_volume,
        )
        self._scale.set_width(layout.plot_right / ratio)
        first, stop = self._scale.visible()
        stop = min(stop, model.count)
        spacing = self._scale.spacing * ratio
        group = group_size(spacing)
        seen = self._seen(model, first, stop, group, style.shows_bands)
        return Frame(
            layout=layout,
            ratio=ratio,
            spacing=spacing,
            right=self._scale.right,
            first=first,
            stop=stop,
            group=group,
            prices=price_scale.fitted(seen.low, seen.high),
            top_volume=seen.volume,
            decimals=model.decimals(),
            widths=candle_widths(spacing * group, ratio),
            palette=style.palette,
            fonts=fonts,
            time_zone=style.time_zone,
            shows_volume=style.shows_volume,
            shows_bands=style.shows_bands,
        )

    def _fonts_for(self, font: QFont, ratio: float) -> Fonts:
        key = (font.key(), ratio)
        if self._fonts is None or key != self._fonts_key:
            self._fonts, self._fonts_key = Fonts.of(font, ratio), key
        return self._fonts

    def _needed_axis_width(self, frame: Frame) -> int:
        edges = (frame.prices.low, frame.prices.high)
        texts = [formatting.format_price(edge, frame.decimals) for edge in edges] + ["00:00:00"]
        widest = max(frame.fonts.bold_metrics.horizontalAdvance(text) for text in texts)
        logical = (widest + frame.fonts.line) / frame.ratio
        return math.ceil(logical / _AXIS_STEP) * _AXIS_STEP

    def _seen(self, model: ChartModel, first: int, stop: int, group: int, with_bands: bool) -> Extent:
        """The extent of all that is in view."""
        seen = [found for found in (self._closed_extent(model, first, stop, group),) if found is not None]
        lowest, highest = self._scale.left - 0.5, self._scale.right + 0.5
        if model.forming is not None and lowest < model.count < highest:
            candle = model.forming
            seen.append(Extent(candle.low, candle.high, candle.volume))
        for placed in model.ghosts():
            if lowest < placed.index < highest:
                ghost = placed.ghost
                seen.append(Extent(ghost.low, ghost.high, ghost.volume))
                edges = band(ghost, 90) if with_bands else None
                if edges is not None:
                    seen.append(Extent(*edges, volume=0.0))
        if not seen:
            newest = model.newest
            return Extent(0.0, 1.0, 0.0) if newest is None else Extent(newest.low, newest.high, newest.volume)
        return Extent(min(one.low for one in seen), max(one.high for one in seen), max(one.volume for one in seen))

    def _closed_extent(self, model: ChartModel, first: int, stop: int, group: int) -> Extent | None:
        if model.series is None or first >= stop:
            return None
        key = (id(model.series), model.version, first, stop, group)
        if key != self._extent_key:
            self._extent = extent(columns(model.series, first, stop, group))
            self._extent_key = key
        return self._extent

"""One frame's geometry: areas, scales and fonts in device pixels. Layers read it and change nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import tzinfo

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRect
from PySide6.QtGui import QFont, QFontInfo, QFontMetrics

from desktop.chart.drawing.geometry import CandleWidths, Positions
from desktop.chart.scales.price_scale import PriceRange
from desktop.theme import Palette

_FAR = 1_000_000
"""Pixels beyond which nothing is drawn; keeps 32-bit rectangles from wrapping round."""

_VOLUME_SHARE = 0.17


@dataclass(frozen=True)
class Fonts:
    """The widget's font in device pixels, so that text is drawn without scaling."""

    regular: QFont
    bold: QFont
    metrics: QFontMetrics
    bold_metrics: QFontMetrics

    @classmethod
    def of(cls, font: QFont, ratio: float) -> Fonts:
        """The fonts for a screen of `ratio` device pixels per logical one."""
        regular, bold = QFont(font), QFont(font)
        size = max(1, round(QFontInfo(font).pixelSize() * ratio))
        regular.setPixelSize(size)
        bold.setPixelSize(size)
        bold.setWeight(QFont.Weight.DemiBold)
        return cls(regular, bold, QFontMetrics(regular), QFontMetrics(bold))

    @property
    def line(self) -> int:
        """The height of a line."""
        return self.metrics.height()


@dataclass(frozen=True, slots=True)
class Layout:
    """Device pixels; right and bottom edges are exclusive. The axes take plot_right..width, plot_bottom..height."""

    width: int
    height: int
    plot_right: int
    plot_bottom: int
    price_top: int
    price_bottom: int
    """The prices in view lie between the two: volume below, down to plot_bottom; above, room for the readout."""

    @classmethod
    def of(cls, width: int, height: int, price_axis: int, time_axis: int, readout: int, *, has_volume: bool) -> Layout:
        """Share a widget of this size out. Too small a widget gets areas of at least one pixel."""
        plot_right = max(1, width - price_axis)
        plot_bottom = max(2, height - time_axis)
        volume = int(plot_bottom * _VOLUME_SHARE) if has_volume else 0
        price_bottom = max(2, plot_bottom - volume)
        return cls(width, height, plot_right, plot_bottom, min(readout, price_bottom // 2), price_bottom)

    @property
    def plot(self) -> QRect:
        return QRect(0, 0, self.plot_right, self.plot_bottom)

    @property
    def price_axis(self) -> QRect:
        return QRect(self.plot_right, 0, self.width - self.plot_right, self.plot_bottom)

    @property
    def time_axis(self) -> QRect:
        return QRect(0, self.plot_bottom, self.width, self.height - self.plot_bottom)


@dataclass(frozen=True)
class Frame:
    """All that placing something on the chart needs. Lengths are device pixels."""

    layout: Layout
    ratio: float
    spacing: float
    right: float
    """The index at the plot's right edge."""
    first: int
    stop: int
    """The closed candles in view are first..stop - 1."""
    group: int
    prices: PriceRange
    top_volume: float
    """The volume that reaches the top of its area; 0 where nothing was traded."""
    decimals: int
    widths: CandleWidths
    palette: Palette
    fonts: Fonts
    time_zone: tzinfo | None
    shows_volume: bool
    shows_bands: bool

    @property
    def left(self) -> float:
        """The index at the left edge."""
        return self.right - self.layout.plot_right / self.spacing

    @property
    def pixel(self) -> int:
        """The width of a hairline."""
        return max(1, int(self.ratio))

    def scaled(self, logical: float) -> int:
        """A logical length in device pixels."""
        return round(logical * self.ratio)

    def x(self, index: float) -> int:
        """The pixel column of a candle's centre."""
        exact = self.layout.plot_right - (self.right - index) * self.spacing
        return math.floor(min(max(exact, -_FAR), _FAR) + 0.5)

    def y(self, price: float) -> int:
        """The pixel row of a price."""
        bottom = self.layout.price_bottom - 1
        exact = bottom - (price - self.prices.low) / self.prices.span * self._price_height
        return math.floor(min(max(exact, -_FAR), _FAR) + 0.5)

    def xs(self, index: NDArray[np.float64]) -> Positions:
        """Pixel columns of candles' centres."""
        exact = self.layout.plot_right - (self.right - index) * self.spacing
        return np.floor(np.clip(exact, -_FAR, _FAR) + 0.5).astype(np.int64)

    def ys(self, price: NDArray[np.float64]) -> Positions:
        """Pixel rows of prices."""
        bottom = self.layout.price_bottom - 1
        exact = bottom - (price - self.prices.low) / self.prices.span * self._price_height
        return np.floor(np.clip(exact, -_FAR, _FAR) + 0.5).astype(np.int64)

    def volume_ys(self, volume: NDArray[np.float64] | np.float64) -> Positions:
        """Pixel rows of volumes' tops."""
        bottom = self.layout.plot_bottom - 1
        height = bottom - self.layout.price_bottom - self.scaled(4)
        share = volume / self.top_volume if self.top_volume > 0 else np.zeros_like(volume)
        return np.floor(bottom - share * height + 0.5).astype(np.int64)

    def price_at(self, y: float) -> float:
        """The price at a pixel row."""
        return self.prices.low + (self.layout.price_bottom - 1 - y) / self._price_height * self.prices.span

    @property
    def _price_height(self) -> int:
        return max(self.layout.price_bottom - 1 - self.layout.price_top, 1)

    def index_at(self, x: float) -> int:
        """The candle at a pixel column."""
        return round(self.right - (self.layout.plot_right - x) / self.spacing)

    def base_key(self, version: int) -> tuple[object, ...]:
        """What the closed candles' picture depends on: while it stays, the picture is kept."""
        return (
            self.layout,
            self.ratio,
            self.spacing,
            self.right,
            self.prices,
            self.top_volume,
            self.decimals,
            id(self.palette),
            self.time_zone,
            version,
        )

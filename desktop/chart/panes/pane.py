"""A pane: a strip across the plot with its own scale. The prices are in one, each further study below it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRect

from desktop.chart.axes.price_scale import PriceRange
from desktop.chart.painting.geometry import Positions

PRICE_PANE = "price"

FAR_PX = 1_000_000
"""Pixels beyond which nothing is drawn; keeps 32-bit rectangles from wrapping round."""


@dataclass(frozen=True, slots=True)
class Pane:
    """Device pixels; bottoms and `right` are exclusive. The range's high lies at `inner_top`, its low at the pixel
    above `inner_bottom`."""

    name: str
    top: int
    bottom: int
    inner_top: int
    inner_bottom: int
    right: int
    shown: PriceRange
    levels: tuple[float, ...] = ()
    """Values that get a line and a label instead of round ones."""
    decimals: int = 2
    has_scale: bool = True
    """False while it shows no value: then `shown` is meaningless."""

    @property
    def rect(self) -> QRect:
        return QRect(0, self.top, self.right, self.bottom - self.top)

    @property
    def height(self) -> int:
        """From the row of the range's low to that of its high."""
        return max(self.inner_bottom - 1 - self.inner_top, 1)

    def y(self, value: float) -> int:
        """The pixel row of a value."""
        exact = self.inner_bottom - 1 - self.shown.share(value) * self.height
        return math.floor(min(max(exact, -FAR_PX), FAR_PX) + 0.5)

    def ys(self, values: NDArray[np.float64]) -> Positions:
        """Pixel rows of values; none may be NaN."""
        exact = self.inner_bottom - 1 - self.shown.shares(values) * self.height
        return np.floor(np.clip(exact, -FAR_PX, FAR_PX) + 0.5).astype(np.int64)

    def value_at(self, y: float) -> float:
        """The value at a pixel row."""
        return self.shown.value_at((self.inner_bottom - 1 - y) / self.height)

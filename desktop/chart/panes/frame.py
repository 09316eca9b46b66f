"""The geometry of a frame: its areas, its panes with their scales and heights, and the conversion to pixels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRect

from desktop.chart.axes.price_scale import PriceRange, ScaleKind, percent_decimals
from desktop.chart.data.columns import CandleColumns
from desktop.chart.painting.geometry import CandleWidths, Positions
from desktop.chart.painting.text import Fonts
from desktop.chart.style import Style
from desktop.ui import formatting
from desktop.ui.theme import Palette

_Number = TypeVar("_Number", float, NDArray[np.float64])

PRICE_PANE = "price"

FAR_PX = 1_000_000
"""Pixels beyond which nothing is drawn; keeps 32-bit rectangles from wrapping round."""
_FIRST_SHARE = 0.18
_SMALLEST_SHARE = 0.06
_MOST_FOR_ALL, _MOST_FOR_MANY = 0.55, 0.7
"""The prices keep the rest, however many panes there are."""
_READABLE_SHARE = 0.09
"""A line of text and a curve below it in a window of 1280x720; each of many panes gets this share while possible."""


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
        """The distance between the rows of the range's low and high."""
        return max(self.inner_bottom - 1 - self.inner_top, 1)

    def y(self, value: float) -> int:
        exact = self.inner_bottom - 1 - self.shown.share(value) * self.height
        return math.floor(min(max(exact, -FAR_PX), FAR_PX) + 0.5)

    def ys(self, values: NDArray[np.float64]) -> Positions:
        """Pixel rows of values; none may be NaN."""
        return _whole_px(self.inner_bottom - 1 - self.shown.shares(values) * self.height)

    def value_at(self, y: float) -> float:
        return self.shown.value_at((self.inner_bottom - 1 - y) / self.height)


@dataclass(frozen=True, slots=True)
class Layout:
    """Device pixels; right and bottom edges are exclusive. The axes take plot_right..width, plot_bottom..height."""

    width: int
    height: int
    plot_right: int
    plot_bottom: int
    main_bottom: int
    """The bottom of the price pane; the panes below it reach down to plot_bottom."""
    price_top: int
    price_bottom: int
    """The visible prices lie between the two: below them volume down to main_bottom, above them room for the
    readout."""

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
    """All geometry for placing something on the chart. Lengths are device pixels. While a frame equals the previous one
    and no candle has changed, cached pictures are valid."""

    layout: Layout
    ratio: float
    spacing: float
    right: float
    """The index at the plot's right edge."""
    first: int
    stop: int
    """The visible closed candles are first..stop - 1."""
    group: int
    drawn: CandleColumns | None = field(compare=False)
    """The candles in view in the selected style, grouped if too narrow; None if there are none."""
    price_pane: Pane
    panes: tuple[Pane, ...]
    """The panes below the prices, from top to bottom."""
    top_volume: float
    """The volume that reaches the top of its area; 0 without volume."""
    decimals: int
    widths: CandleWidths
    fonts: Fonts
    style: Style
    is_manual: bool = False
    """Whether the price range is manual."""

    @property
    def palette(self) -> Palette:
        return self.style.palette

    @property
    def time_zone(self) -> tzinfo | None:
        """None: the machine's."""
        return self.style.time_zone

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

    def exact_x(self, index: _Number) -> _Number:
        """The column of a candle's centre, with the fraction of a pixel."""
        return self.layout.plot_right - (self.right - index) * self.spacing

    def exact_index(self, x: _Number) -> _Number:
        """The index at a pixel column, with the fraction to the next candle."""
        return self.right - (self.layout.plot_right - x) / self.spacing

    def x(self, index: float) -> int:
        """The pixel column of a candle's centre."""
        exact = self.exact_x(index)
        return math.floor(min(max(exact, -FAR_PX), FAR_PX) + 0.5)

    @property
    def prices(self) -> PriceRange:
        return self.price_pane.shown

    def y(self, price: float) -> int:
        return self.price_pane.y(price)

    def xs(self, index: NDArray[np.float64]) -> Positions:
        return _whole_px(self.exact_x(index))

    def ys(self, price: NDArray[np.float64]) -> Positions:
        return self.price_pane.ys(price)

    def sampled(self, count: int) -> tuple[NDArray[np.int64], Positions]:
        """The visible ones of `count` candles, or the last of each group, with one more on each side so that lines
        reach the edges; and their pixel columns. The lines of all layers share them."""
        found = self._sampled.get(count)
        if found is None:
            group = self.group
            first = max(0, (self.first // group - 1) * group)
            last = min(count, (-(-self.stop // group) + 1) * group)
            indices = np.minimum(np.arange(first + group - 1, last + group - 1, group, dtype=np.int64), count - 1)
            found = self._sampled[count] = indices, self.xs(indices.astype(np.float64))
        return found

    @cached_property
    def _sampled(self) -> dict[int, tuple[NDArray[np.int64], Positions]]:
        return {}

    @cached_property
    def volumes(self) -> Pane:
        """The bottom of the price pane, for volumes."""
        top, bottom = self.layout.price_bottom + self.scaled(4), self.layout.main_bottom
        shown = PriceRange(0.0, self.top_volume if self.top_volume > 0 else 1.0)
        return Pane("volume", top, bottom, top, bottom, self.layout.plot_right, shown)

    def widths_around(self, reach: int) -> CandleWidths:
        """Widths of a body with this many pixels more on both sides, leaving a pixel between neighbours."""
        body, wick = self.widths.body, self.widths.wick
        wider = min(body + 2 * reach, max(int(self.spacing) - self.pixel, body))
        return CandleWidths(wider - (wider - wick) % 2, wick)

    def pane_at(self, y: float) -> Pane:
        """The pane at a pixel row; beyond the plot the nearest one."""
        return next((pane for pane in reversed(self.panes) if pane.top <= y), self.price_pane)

    def pane(self, name: str) -> Pane:
        """A pane by its name. Raises KeyError if there is none."""
        if name == PRICE_PANE:
            return self.price_pane
        for pane in self.panes:
            if pane.name == name:
                return pane
        raise KeyError(name)

    def price_text(self, price: float) -> str:
        """A price as on the axis: in percent on a percent scale."""
        if self.prices.kind is ScaleKind.PERCENT:
            return (
                f"{formatting.format_level(self.prices.percent(price), percent_decimals(self.prices), signed=True)} %"
            )
        return formatting.format_level(price, self.decimals)

    def index_at(self, x: float) -> int:
        return round(self.exact_index(x))


def _whole_px(exact: NDArray[np.float64]) -> Positions:
    """The nearest pixels of `exact`, which is overwritten: a pan calls this some fifty times."""
    np.maximum(exact, -FAR_PX, out=exact)
    np.minimum(exact, FAR_PX, out=exact)
    exact += 0.5
    return np.floor(exact, out=exact).astype(np.int64)


class PaneHeights:
    """Owns the shares. A hidden pane's share is remembered."""

    def __init__(self) -> None:
        self.chosen: Mapping[str, float] = {}
        """Shares changed by the user, to be stored; replaced on each change."""

    def shares(self, names: Sequence[str]) -> dict[str, float]:
        """The panes' shares of the plot's height, in the order of `names`; scaled down if they exceed the limit."""
        wanted = {name: self.chosen.get(name, _FIRST_SHARE) for name in names}
        total = sum(wanted.values())
        pressed = min(1.0, _most_for_all(len(names)) / total) if total > 0 else 1.0
        return {name: share * pressed for name, share in wanted.items()}

    def drag(self, names: Sequence[str], name: str, change: float) -> None:
        """Make a pane higher by a share of the plot (negative: lower). Its upper edge moves, so the pane above it
        shrinks; above the topmost one, the prices do."""
        now = self.shares(names)
        if name not in now:
            return
        above = names[list(names).index(name) - 1] if name != names[0] else None
        room = now[above] - _SMALLEST_SHARE if above is not None else _most_for_all(len(now)) - sum(now.values())
        change = max(min(change, max(room, 0.0)), min(_SMALLEST_SHARE - now[name], 0.0))
        now[name] += change
        if above is not None:
            now[above] -= change
        self.chosen = {**self.chosen, **now}

    def reset(self, name: str) -> None:
        """Restore the height of a new pane."""
        self.chosen = {other: share for other, share in self.chosen.items() if other != name}


def _most_for_all(panes: int) -> float:
    return min(max(_MOST_FOR_ALL, panes * _READABLE_SHARE), _MOST_FOR_MANY)

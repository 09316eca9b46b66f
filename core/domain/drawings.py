"""Drawings on a market's candles. Anchors are times and prices, so that a drawing stays in place at any zoom."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum

from core.domain.candle_faults import HIGHEST_PRICE, LOWEST_PRICE
from core.domain.plain_text import LONGEST_LABEL, plain

WIDEST_PX = 4
MOST_DRAWINGS = 200
"""Per market."""
FARTHEST_MS = 2**53
"""Anchors may lie after the newest candle and before the first: a double is exact up to here."""
FIBONACCI_LEVELS = (0.0, 0.236, 0.382, 0.5, 0.618, 0.786, 1.0)
"""Shares of the retracement from the second anchor's price to the first's."""
_COLOUR = re.compile("#[0-9a-f]{6}")


class DrawingKind(StrEnum):
    TREND_LINE = "trend_line"
    RAY = "ray"
    HORIZONTAL = "horizontal"
    RECTANGLE = "rectangle"
    FIBONACCI = "fibonacci"
    TEXT = "text"

    @property
    def anchors(self) -> int:
        return 1 if self in (DrawingKind.HORIZONTAL, DrawingKind.TEXT) else 2


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place on the chart: the opening time of a candle, UTC milliseconds, and a price."""

    time_ms: int
    price: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.price) and LOWEST_PRICE <= self.price <= HIGHEST_PRICE):
            raise ValueError(f"an anchor's price lies within {LOWEST_PRICE} to {HIGHEST_PRICE}, was {self.price}")
        if not -FARTHEST_MS <= self.time_ms <= FARTHEST_MS:
            raise ValueError(f"an anchor's time lies within ±2**53 ms, was {self.time_ms}")


@dataclass(frozen=True, slots=True)
class Drawing:
    kind: DrawingKind
    anchors: tuple[Anchor, ...]
    text: str = ""
    """The words of a text drawing; empty for other kinds."""
    colour: str = ""
    """#rrggbb, or empty: the theme's colour."""
    width_px: int = 1
    """Line width in logical pixels; also scales a text."""
    created_at_ms: int = 0
    number: int | None = None
    """Its id in the table; None before it is stored."""

    def __post_init__(self) -> None:
        if len(self.anchors) != self.kind.anchors:
            raise ValueError(f"a {self.kind.value} has {self.kind.anchors} anchors, not {len(self.anchors)}")
        if self.text != text_of(self.text) or bool(self.text) is not (self.kind is DrawingKind.TEXT):
            raise ValueError(f"a {self.kind.value} cannot say {self.text!r}")
        if self.colour and not _COLOUR.fullmatch(self.colour):
            raise ValueError(f"a colour is written as #rrggbb, was {self.colour!r}")
        if not 1 <= self.width_px <= WIDEST_PX:
            raise ValueError(f"a width is 1 to {WIDEST_PX} pixels, was {self.width_px}")


def text_of(text: str) -> str:
    """Typed or stored text as one line of plain text, cut to the longest length."""
    return " ".join(plain(text, LONGEST_LABEL).split())


def fibonacci_prices(drawing: Drawing) -> tuple[float, ...]:
    start, end = (anchor.price for anchor in drawing.anchors)
    return tuple(end + share * (start - end) for share in FIBONACCI_LEVELS)

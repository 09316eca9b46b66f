"""Drawings on a market's candles. Anchors are times and prices, so that a drawing stays in place at any zoom."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
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
    VERTICAL = "vertical"
    CHANNEL = "channel"
    LONG_POSITION = "long_position"
    SHORT_POSITION = "short_position"

    @property
    def anchors(self) -> int:
        if self in (DrawingKind.HORIZONTAL, DrawingKind.TEXT, DrawingKind.VERTICAL):
            return 1
        return 3 if self is DrawingKind.CHANNEL or self.is_position else 2

    @property
    def clicks(self) -> int:
        """Places that the user points at; a third anchor follows from the first two."""
        return min(self.anchors, 2)

    @property
    def is_position(self) -> bool:
        return self in (DrawingKind.LONG_POSITION, DrawingKind.SHORT_POSITION)


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
    """Of a channel: both ends of its first line, and a place on its second. Of a position: entry, target, stop."""
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


def position_anchors(kind: DrawingKind, entry: Anchor, level: Anchor) -> tuple[Anchor, Anchor, Anchor]:
    """Entry, target and stop of a position with twice as much reward as risk. level: the target, or the stop if it is
    on that side of the entry."""
    rise = level.price - entry.price
    is_target = rise >= 0 if kind is DrawingKind.LONG_POSITION else rise <= 0
    other = Anchor(level.time_ms, _possible(entry.price - rise * (0.5 if is_target else 2.0)))
    return (entry, level, other) if is_target else (entry, other, level)


def reward_to_risk(drawing: Drawing) -> float | None:
    """Of a position: the distance of its target as a multiple of that of its stop; None without a stop."""
    entry, target, stop = (anchor.price for anchor in drawing.anchors)
    return abs(target - entry) / abs(stop - entry) if stop != entry else None


def reshaped_position(drawing: Drawing, handle: int, to: Anchor) -> Drawing:
    """One level moved; none crosses the entry, and target and stop end at the same time."""
    entry, target, stop = drawing.anchors
    low, high = sorted((target.price, stop.price))
    if handle == 0:
        return replace(drawing, anchors=(replace(to, price=min(max(to.price, low), high)), target, stop))
    is_above = (handle == 1) is (drawing.kind is DrawingKind.LONG_POSITION)
    price = max(to.price, entry.price) if is_above else min(to.price, entry.price)
    moved, other = replace(to, price=price), replace(stop if handle == 1 else target, time_ms=to.time_ms)
    return replace(drawing, anchors=(entry, moved, other) if handle == 1 else (entry, other, moved))


def reshaped_channel(drawing: Drawing, handle: int, to: Anchor) -> Drawing:
    """One handle moved; the second line keeps its distance from the first, unless it is the one that is moved."""
    start, end, beyond = drawing.anchors
    if handle == 2:
        return replace(drawing, anchors=(start, end, to))
    ends = (to, end) if handle == 0 else (start, to)
    rise = _price_on(*ends, beyond.time_ms) - _price_on(start, end, beyond.time_ms)
    return replace(drawing, anchors=(*ends, replace(beyond, price=_possible(beyond.price + rise))))


def _price_on(start: Anchor, end: Anchor, time_ms: int) -> float:
    length_ms = end.time_ms - start.time_ms
    share = (time_ms - start.time_ms) / length_ms if length_ms else 0.0
    return start.price + share * (end.price - start.price)


def _possible(price: float) -> float:
    return min(max(price, LOWEST_PRICE), HIGHEST_PRICE)

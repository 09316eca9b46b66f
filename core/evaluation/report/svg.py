"""The few shapes that a chart needs, as elements of an inline SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

WIDTH, HEIGHT = 720.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 704.0, 40.0, 252.0
_MOST_TICKS = 6
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)

Points = Sequence[tuple[float, float]]


def node(tag: str, text: str | None = None, children: Iterable[Element] = (), **attributes: object) -> Element:
    """An element. In attribute names, `_` becomes `-`; a trailing one is dropped (class_)."""
    named = {
        name.rstrip("_").replace("_", "-"): f"{value:.1f}" if isinstance(value, float) else str(value)
        for name, value in attributes.items()
    }
    element = Element(tag, named)
    element.text = text
    element.extend(children)
    return element


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear scale from values to pixels."""

    low: float
    high: float
    first_px: float
    last_px: float

    def at(self, value: float) -> float:
        return self.first_px + (value - self.low) / (self.high - self.low) * (self.last_px - self.first_px)

    def ticks(self) -> list[float]:
        """Round numbers inside, at most `_MOST_TICKS` of them."""
        span = self.high - self.low
        power = 10.0 ** math.floor(math.log10(span / _MOST_TICKS))
        step = next(step * power for step in _STEPS if span / (step * power) <= _MOST_TICKS - 1 or step == _STEPS[-1])
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [row * step for row in range(first, last + 1)]


def across(low: float, high: float) -> Axis:
    return Axis(low, high, LEFT, RIGHT)


def upward(values: Iterable[float], margin: float = 0.06) -> Axis:
    """A vertical axis that shows all values, with a margin."""
    known = [value for value in values if math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    space = margin * (high - low) or max(0.01, 0.01 * abs(high))
    return Axis(low - space, high + space, BOTTOM, TOP)


def chart(key: str, title: str, description: str, children: Iterable[Element]) -> Element:
    """An SVG with a name and a description for screen readers. key: unique on the page."""
    return node(
        "svg",
        None,
        [node("title", title, id=f"{key}-title"), node("desc", description, id=f"{key}-desc"), *children],
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        role="img",
        aria_labelledby=f"{key}-title {key}-desc",
    )


def label(x: float, y: float, text: str, anchor: str = "middle", class_: str = "tick") -> Element:
    return node("text", text, x=x, y=y, text_anchor=anchor, class_=class_)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Element:
    return node("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def curve(points: Points, class_: str) -> Element:
    return node("polyline", points=_pairs(points), class_=class_)


def area(points: Points, class_: str) -> Element:
    return node("polygon", points=_pairs(points), class_=class_)


def whisker(x: float, low_y: float, high_y: float, class_: str) -> list[Element]:
    """A vertical interval with its end marks."""
    ends = [line(x - 4.0, y, x + 4.0, y, class_) for y in (low_y, high_y)]
    return [line(x, low_y, x, high_y, class_), *ends]


def scale_left(axis: Axis, name: Callable[[float], str], title: str) -> list[Element]:
    """Grid lines with their numbers, and a title."""
    drawn = [label(LEFT, TOP - 22.0, title, "start", "axis")]
    for value in axis.ticks():
        y = axis.at(value)
        drawn += [line(LEFT, y, RIGHT, y, "grid"), label(LEFT - 8.0, y + 4.0, name(value), "end")]
    return drawn


def scale_below(axis: Axis, names: Iterable[tuple[float, str]], title: str) -> list[Element]:
    """Names under the chart, and a title."""
    drawn = [label(axis.at(value), BOTTOM + 18.0, name) for value, name in names]
    return [*drawn, label((LEFT + RIGHT) / 2.0, BOTTOM + 38.0, title, class_="axis")]


def legend(entries: Iterable[tuple[str, str]]) -> list[Element]:
    """Name and class of each line, right-aligned above the chart."""
    drawn: list[Element] = []
    x = RIGHT
    for name, class_ in reversed(list(entries)):
        x -= 7.0 * len(name)
        drawn += [line(x - 30.0, TOP - 26.0, x - 6.0, TOP - 26.0, class_), label(x, TOP - 22.0, name, "start")]
        x -= 46.0
    return drawn


def _pairs(points: Points) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)

"""Labels on the price axis beside each other: where each would hide another it stands aside, and the higher price is
above, or the axis would read wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QRect

from desktop.chart.labels.spread import spread_around
from desktop.chart.painting.text import Box


def stand_aside(tags: Sequence[Box], axis_height: int, taken: Sequence[Box]) -> None:
    """Move tags of one height, each with its price, apart and off what is `taken`. Where one has no room on its own
    side of all of these, its side of the first counts."""
    if not tags:
        return
    tags = sorted(tags, key=lambda tag: -_price(tag))
    rows = [(box.rect.top(), box.rect.bottom() + 1) for box in taken]
    above = [None if box.price is None else sum(_price(tag) > box.price for tag in tags) for box in taken]
    tops = spread_around([tag.rect.top() for tag in tags], tags[0].rect.height(), 0, axis_height, rows, above)
    for tag, top in zip(tags, tops, strict=True):
        tag.rect.moveTop(top)


def leaving_room(last_price: Box, tags: Sequence[Box], axis_height: int) -> Box:
    """The last price's label; off the axis' end where prices beyond it need the room, while there is as much."""
    higher = sum(tag.rect.height() for tag in tags if _price(tag) > _price(last_price))
    lower = sum(tag.rect.height() for tag in tags) - higher
    rect, lowest = last_price.rect, axis_height - lower - last_price.rect.height()
    top = max(min(rect.top(), lowest), higher)
    if top == rect.top() or top > lowest:
        return last_price
    return replace(last_price, rect=QRect(rect.left(), top, rect.width(), rect.height()))


def beside_crosshair(last_price: Box, crosshair: Box, axis_height: int) -> Box:
    """The last price's label, above or below the crosshair's where that would hide it, on the side of its price, or on
    the other where the axis ends. It stays where there is room on neither."""
    rect, other = last_price.rect, crosshair.rect
    if not rect.intersects(other):
        return last_price
    above, below = other.top() - rect.height(), other.bottom() + 1
    is_higher = crosshair.price is not None and _price(last_price) > crosshair.price
    for top in (above, below) if is_higher else (below, above):
        if 0 <= top <= axis_height - rect.height():
            return replace(last_price, rect=QRect(rect.left(), top, rect.width(), rect.height()))
    return last_price


def _price(tag: Box) -> float:
    assert tag.price is not None, "a label on the price axis stands for a price"
    return tag.price

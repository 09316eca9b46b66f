"""Avoids overlaps of labels in a column; on the price axis the higher price stays on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QRect

from desktop.chart.painting.text import Box


def avoid_overlaps(tags: Sequence[Box], axis_height: int, taken: Sequence[Box]) -> None:
    """Move tags of one height, each with its price, apart and away from `taken`. If one has no room on its own side of
    all of these, its side of the first one counts."""
    if not tags:
        return
    tags = sorted(tags, key=lambda tag: -_price(tag))
    rows = [(box.rect.top(), box.rect.bottom() + 1) for box in taken]
    above = [None if box.price is None else sum(_price(tag) > box.price for tag in tags) for box in taken]
    tops = spread_around([tag.rect.top() for tag in tags], tags[0].rect.height(), 0, axis_height, rows, above)
    for tag, top in zip(tags, tops, strict=True):
        tag.rect.moveTop(top)


def leaving_room(last_price: Box, tags: Sequence[Box], axis_height: int) -> Box:
    """The last price's label, moved from the axis' end if prices beyond it need the room and there is enough."""
    higher = sum(tag.rect.height() for tag in tags if _price(tag) > _price(last_price))
    lower = sum(tag.rect.height() for tag in tags) - higher
    lowest = axis_height - lower - last_price.rect.height()
    top = max(min(last_price.rect.top(), lowest), higher)
    return last_price if top == last_price.rect.top() or top > lowest else _at(last_price, top)


def clear_of_crosshair(last_price: Box, crosshair: Box, axis_height: int) -> Box:
    """The last price's label, above or below the crosshair's if they overlap, on the side of its price, or on the other
    at the axis' end. It stays if there is room on neither."""
    rect, other = last_price.rect, crosshair.rect
    if not rect.intersects(other):
        return last_price
    above, below = other.top() - rect.height(), other.bottom() + 1
    is_higher = crosshair.price is not None and _price(last_price) > crosshair.price
    tops = (above, below) if is_higher else (below, above)
    found = next((top for top in tops if 0 <= top <= axis_height - rect.height()), None)
    return last_price if found is None else _at(last_price, found)


def _price(tag: Box) -> float:
    assert tag.price is not None, "a label on the price axis has a price"
    return tag.price


def _at(box: Box, top: int) -> Box:
    return replace(box, rect=QRect(box.rect.left(), top, box.rect.width(), box.rect.height()))


def spread(wanted: Sequence[int], height: int, first: int, stop: int) -> list[int]:
    """Tops for boxes whose preferred tops are the `wanted` pixel rows, within rows first..stop - 1.

    Overlapping boxes move by as little as possible in total and keep their order. If there is not enough room for all,
    they overlap evenly.
    """
    count = len(wanted)
    order = sorted(range(count), key=lambda place: wanted[place])
    step = height if count * height <= stop - first else max((stop - first - height) / max(count - 1, 1), 0.0)
    last = max(stop - height - (count - 1) * step, first)
    groups: list[tuple[float, int]] = []  # mean preferred top of the first box, and the number of boxes
    for place, box in enumerate(order):
        mean, size = float(wanted[box] - place * step), 1
        while groups and groups[-1][0] > mean:
            before, more = groups.pop()
            mean, size = (before * more + mean * size) / (more + size), more + size
        groups.append((mean, size))
    starts = [min(max(mean, first), last) for mean, size in groups for _ in range(size)]
    tops = [0] * count
    for place, box in enumerate(order):
        tops[box] = int(starts[place] + place * step)
    return tops


def spread_around(
    wanted: Sequence[int],
    height: int,
    first: int,
    stop: int,
    taken: Sequence[tuple[int, int]],
    above: Sequence[int | None] = (),
) -> list[int]:
    """`spread` that also avoids the `taken` rows, each a pair of the first row and the one after its last.

    above: how many boxes belong above each of the taken, None if that does not matter; earlier entries of `taken` take
    precedence. A box goes to the nearest room on its side of them, or to the next if that is full; without any room,
    `taken` is ignored.
    """
    rooms = [(top, bottom) for top, bottom in _rooms(first, stop, taken) if bottom - top >= height]
    if not rooms:
        return spread(wanted, height, first, stop)
    sides = [(top, count) for (top, _), count in zip(taken, above, strict=bool(above)) if count is not None]
    filled: list[list[int]] = [[] for _ in rooms]
    for rank, box in enumerate(sorted(range(len(wanted)), key=lambda place: wanted[place])):
        misfits = [_misfit(room, wanted[box], height, rank, sides) for room in rooms]
        filled[misfits.index(min(misfits))].append(box)
    most = [(bottom - top) // height for top, bottom in rooms]
    parting = sum(bottom <= sides[0][0] for _, bottom in rooms) if sides else 0
    for part in (slice(parting), slice(parting, None), slice(None)):  # first within each side
        _even_out(filled[part], most[part])
    tops = [0] * len(wanted)
    for boxes, (top, bottom) in zip(filled, rooms, strict=True):
        for box, found in zip(boxes, spread([wanted[box] for box in boxes], height, top, bottom), strict=True):
            tops[box] = found
    return tops


def _rooms(first: int, stop: int, taken: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The free parts of first..stop - 1 between the taken rows."""
    rooms, top = [], first
    for taken_top, taken_stop in sorted(taken):
        rooms.append((top, min(taken_top, stop)))
        top = max(top, taken_stop)
    return [*rooms, (top, stop)]


def _misfit(
    room: tuple[int, int], wanted: int, height: int, rank: int, sides: Sequence[tuple[int, int]]
) -> tuple[tuple[bool, ...], int]:
    """For a box below `rank` others: on which sides of the taken rows the room is wrong, and its distance."""
    wrong = tuple((room[1] <= top) != (rank < count) for top, count in sides)
    return wrong, abs(min(max(wanted, room[0]), room[1] - height) - wanted)


def _even_out(filled: list[list[int]], most: list[int]) -> None:
    """Move surplus boxes downwards, then upwards; the order stays."""
    for place in range(len(filled) - 1):
        filled[place + 1][:0] = filled[place][most[place] :]
        del filled[place][most[place] :]
    for place in range(len(filled) - 1, 0, -1):
        excess = max(len(filled[place]) - most[place], 0)
        filled[place - 1] += filled[place][:excess]
        del filled[place][:excess]

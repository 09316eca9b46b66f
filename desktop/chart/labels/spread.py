"""Boxes of one height in a column, moved apart where they would hide each other."""

from __future__ import annotations

from collections.abc import Sequence


def spread(wanted: Sequence[int], height: int, first: int, stop: int) -> list[int]:
    """Tops for boxes that would like to begin at the `wanted` pixel rows, within rows first..stop - 1.

    Boxes that touch move by as little as they can together, and the order of the wanted rows stays. Where there are
    more than there is room for, they overlap evenly.
    """
    count = len(wanted)
    order = sorted(range(count), key=lambda place: wanted[place])
    step = height if count * height <= stop - first else max((stop - first - height) / max(count - 1, 1), 0.0)
    last = max(stop - height - (count - 1) * step, first)
    groups: list[tuple[float, int]] = []  # each with the mean of where its first box would lie, and how many it has
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
    """`spread` that keeps out of the `taken` rows too, each pair a first row and the one after its last.

    above: how many boxes belong above each of the taken, None where that does not matter; what comes first in `taken`
    comes first. A box goes to the nearest room on its side of them, or to the next where that is full; where they leave
    none at all, as if nothing were taken.
    """
    rooms = [(top, bottom) for top, bottom in _rooms(first, stop, taken) if bottom - top >= height]
    if not rooms:
        return spread(wanted, height, first, stop)
    sides = [(rows, count) for rows, count in zip(taken, above, strict=bool(above)) if count is not None]
    filled: list[list[int]] = [[] for _ in rooms]
    for rank, box in enumerate(sorted(range(len(wanted)), key=lambda place: wanted[place])):
        ranked = [(_wrong_sides(room, rank, sides), _away(room, wanted[box], height)) for room in rooms]
        filled[ranked.index(min(ranked))].append(box)
    _even_out_sides(filled, rooms, height, [rows for rows, _ in sides[:1]])
    tops = [0] * len(wanted)
    for boxes, (top, bottom) in zip(filled, rooms, strict=True):
        for box, found in zip(boxes, spread([wanted[box] for box in boxes], height, top, bottom), strict=True):
            tops[box] = found
    return tops


def _wrong_sides(room: tuple[int, int], rank: int, sides: Sequence[tuple[tuple[int, int], int]]) -> tuple[bool, ...]:
    """Of which of the taken rows this room is on the wrong side for the box that has `rank` others above it."""
    return tuple((room[1] <= top) != (rank < count) for (top, _), count in sides)


def _away(room: tuple[int, int], wanted: int, height: int) -> int:
    return abs(min(max(wanted, room[0]), room[1] - height) - wanted)


def _even_out_sides(
    filled: list[list[int]], rooms: Sequence[tuple[int, int]], height: int, parting: Sequence[tuple[int, int]]
) -> None:
    """Hand what is too much on, first among the rooms on either side of the `parting` rows, then to the other side."""
    most = [(bottom - top) // height for top, bottom in rooms]
    for top, _ in parting:
        count = sum(bottom <= top for _, bottom in rooms)
        upper, lower = filled[:count], filled[count:]
        _even_out(upper, most[:count])
        _even_out(lower, most[count:])
    _even_out(filled, most)


def _rooms(first: int, stop: int, taken: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What is left of first..stop - 1 between the taken rows."""
    rooms, top = [], first
    for taken_top, taken_stop in sorted(taken):
        rooms.append((top, min(taken_top, stop)))
        top = max(top, taken_stop)
    return [*rooms, (top, stop)]


def _even_out(filled: list[list[int]], most: list[int]) -> None:
    """Hand what is too much on downwards, then upwards; the order stays."""
    for place in range(len(filled) - 1):
        kept = max(most[place], 0)
        filled[place + 1][:0] = filled[place][kept:]
        del filled[place][kept:]
    for place in range(len(filled) - 1, 0, -1):
        excess = max(len(filled[place]) - most[place], 0)
        filled[place - 1] += filled[place][:excess]
        del filled[place][:excess]

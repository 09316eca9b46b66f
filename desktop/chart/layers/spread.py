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

"""Boxes moved apart, against a search for the least sum of squared moves."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.chart.labels.axis_labels import spread, spread_around

WANTED = st.lists(st.integers(-20, 220), max_size=12)
ROOM = 200


def squared(tops: list[int], wanted: list[int]) -> int:
    return sum((top - wish) ** 2 for top, wish in zip(tops, wanted, strict=True))


@given(wanted=WANTED, height=st.integers(1, 16))
def test_none_hides_another_and_all_keep_their_order_and_stay_inside(wanted: list[int], height: int) -> None:
    tops = spread(wanted, height, 0, ROOM)
    ordered = [tops[place] for place in sorted(range(len(wanted)), key=lambda place: wanted[place])]
    assert all(after - before >= height for before, after in pairwise(ordered))
    assert all(0 <= top <= ROOM - height for top in tops)


@given(wanted=st.lists(st.integers(0, 5).map(lambda step: 40 * step), unique=True, max_size=5))
def test_boxes_with_room_stay_where_they_are(wanted: list[int]) -> None:
    assert spread(wanted, 40, 0, 240) == wanted


@pytest.mark.parametrize(("wanted", "tops"), [([50, 50], [45, 55]), ([50, 52, 90], [46, 56, 90]), ([0, 1], [0, 10])])
def test_those_that_touch_share_the_move(wanted: list[int], tops: list[int]) -> None:
    assert spread(wanted, 10, 0, ROOM) == tops


@given(wanted=st.lists(st.integers(0, 11), min_size=1, max_size=3))
def test_no_other_places_are_nearer_by_more_than_rounding(wanted: list[int]) -> None:
    height, room = 4, 16
    wanted.sort()
    best = min(squared(list(tops), wanted) for tops in _all_places(len(wanted), height, room))
    assert squared(spread(wanted, height, 0, room), wanted) <= best + len(wanted) * 2


def _all_places(count: int, height: int, room: int, first: int = 0) -> list[tuple[int, ...]]:
    if not count:
        return [()]
    return [
        (top, *rest)
        for top in range(first, room - height + 1)
        for rest in _all_places(count - 1, height, room, top + height)
    ]


def test_more_than_there_is_room_for_overlap_evenly() -> None:
    tops = spread([100] * 50, 20, 0, ROOM)
    steps = {after - before for before, after in pairwise(tops)}
    assert tops[0] == 0 and tops[-1] == ROOM - 20 and max(steps) - min(steps) <= 1


TAKEN = st.lists(
    st.tuples(st.integers(-10, 200), st.integers(1, 40)).map(lambda pair: (pair[0], sum(pair))), max_size=3
)


def free_rows(taken: list[tuple[int, int]]) -> list[bool]:
    return [not any(top <= row < stop for top, stop in taken) for row in range(ROOM)]


def room_for(height: int, taken: list[tuple[int, int]]) -> int:
    """How many boxes fit, counted by putting each as high as possible."""
    free, row, count = free_rows(taken), 0, 0
    while row + height <= ROOM:
        fits = all(free[row : row + height])
        count += fits
        row += height if fits else 1
    return count


@given(wanted=WANTED, height=st.integers(1, 16), taken=TAKEN)
def test_none_lies_on_what_is_taken_while_there_is_room(
    wanted: list[int], height: int, taken: list[tuple[int, int]]
) -> None:
    tops = spread_around(wanted, height, 0, ROOM, taken)
    ordered = [tops[place] for place in sorted(range(len(wanted)), key=lambda place: wanted[place])]
    assert ordered == sorted(ordered)
    if room_for(height, taken) < len(wanted):
        return
    assert all(after - before >= height for before, after in pairwise(ordered))
    assert all(0 <= top <= ROOM - height for top in tops)
    free = free_rows(taken)
    assert all(all(free[top : top + height]) for top in tops)


@given(
    wanted=WANTED, height=st.integers(1, 16), taken=st.sampled_from([[], [(-5, 0)], [(ROOM, ROOM + 9)], [(0, ROOM)]])
)
def test_where_nothing_or_all_is_taken_it_is_as_without(
    wanted: list[int], height: int, taken: list[tuple[int, int]]
) -> None:
    assert spread_around(wanted, height, 0, ROOM, taken) == spread(wanted, height, 0, ROOM)


def test_each_goes_to_the_nearer_side() -> None:
    assert spread_around([95, 104], 10, 0, ROOM, [(100, 110)]) == [90, 110]

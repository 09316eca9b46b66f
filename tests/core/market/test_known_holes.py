"""Known gaps of the exchange against a plain set of times."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.market.known_holes import KnownHoles

moments = st.integers(0, 60)
stretches = st.lists(st.tuples(moments, st.integers(1, 12)).map(lambda pair: (pair[0], sum(pair))), max_size=8)


def array(spans: list[tuple[int, int]]) -> np.ndarray:
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


@given(stretches, stretches, st.lists(st.tuples(moments, moments).map(sorted), min_size=1, max_size=6))
def test_overlapping_holes_in_any_order_equal_the_union_of_their_times(
    spans: list[tuple[int, int]], later: list[tuple[int, int]], asked: list[list[int]]
) -> None:
    holes = KnownHoles(array(spans)).joined(array(later))
    held = {moment for first, stop in spans + later for moment in range(first, stop)}
    assert (holes.spans[1:, 0] > holes.spans[:-1, 1]).all(), "ascending and apart"
    firsts, stops = np.array(asked).T
    expected = [len(held & set(range(first, stop))) for first, stop in asked]
    assert holes.within_ms(firsts, stops).tolist() == expected
    assert [int(holes.within_ms(first, stop)) for first, stop in asked] == expected


def test_without_holes_nothing_is_known() -> None:
    assert len(KnownHoles()) == 0 and KnownHoles().within_ms(np.array([0, 5]), np.array([9, 9])).tolist() == [0, 0]

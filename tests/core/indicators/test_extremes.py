"""The extremes by groups equal a scan of every column."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.indicators.series import Extremes

_SEED = 5
_MOST = 9_000
_ROWS = np.random.default_rng(_SEED).normal(size=(3, _MOST))
_OTHERS = np.random.default_rng(_SEED + 1).normal(scale=3.0, size=(3, _MOST))

_stretch = st.tuples(st.integers(0, _MOST), st.integers(0, _MOST)).map(sorted)


def _expected(rows: np.ndarray, first: int, stop: int) -> tuple[float, float]:
    return float(rows[:, first:stop].min()), float(rows[:, first:stop].max())


@settings(max_examples=150)
@given(grown=st.lists(st.integers(1, _MOST), min_size=1, max_size=4), edits=st.lists(_stretch, max_size=4), of=_stretch)
def test_extremes_of_any_range_after_any_edits(grown: list[int], edits: list[list[int]], of: list[int]) -> None:
    rows, tree, size = _ROWS.copy(), Extremes(), 0
    for count in sorted(grown):
        tree.change(rows[:, :count], size, count)
        size = count
    for first, stop in edits:
        first, stop = min(first, size), min(stop, size)
        rows[:, first:stop] = _OTHERS[:, first:stop]
        tree.change(rows[:, :size], first, stop)
    first, stop = min(of[0], size - 1), min(max(of[1], of[0] + 1), size)
    stop = max(stop, first + 1)
    assert tree.between(rows[:, :size], first, stop) == _expected(rows, first, stop)


def test_extremes_per_column_across_group_boundaries() -> None:
    tree = Extremes()
    for count in range(1, 4_200):
        tree.change(_ROWS[:, :count], count - 1, count)
        if count % 64 in (0, 1, 63) or count > 4_090:
            assert tree.between(_ROWS[:, :count], 0, count) == _expected(_ROWS, 0, count)


def test_empty_groups_do_not_affect_others() -> None:
    rows, tree = _ROWS.copy(), Extremes()
    rows[:, :5_000] = np.nan
    tree.change(rows, 0, _MOST)
    assert tree.between(rows, 5_000, _MOST) == _expected(rows, 5_000, _MOST)

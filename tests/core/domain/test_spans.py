from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Interval
from core.domain.spans import TimeSpan, candles_in, holes_between, without

ONE = Interval(1)
spans = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 12)).map(lambda s: TimeSpan(s[0], s[0] + s[1])), max_size=8
)


def _moments(spans: list[TimeSpan]) -> set[int]:
    return {moment for span in spans for moment in range(span.first_ms, span.stop_ms)}


@given(spans, spans)
def test_remaining_spans_equal_the_set_difference(some: list[TimeSpan], others: list[TimeSpan]) -> None:
    apart = without(some, []) if len(_moments(some)) == sum(s.stop_ms - s.first_ms for s in some) else []
    left = without(apart, others)
    assert _moments(left) == _moments(apart) - _moments(others)
    assert left == sorted(left) and candles_in(left, ONE) == len(_moments(left))


@given(st.sets(st.integers(0, 60), min_size=1))
def test_holes_are_the_missing_times(times: set[int]) -> None:
    holes = holes_between(np.array(sorted(times)), ONE)
    assert _moments(holes) == set(range(min(times), max(times))) - times

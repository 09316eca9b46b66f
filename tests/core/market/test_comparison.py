"""Closes of another series by time: missing ones stay missing, and none is moved."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from core.market.comparison import closes_within, first_shared

MINUTES = st.sets(st.integers(0, 60), max_size=40)
MINUTE_MS = 60_000


def series_of(minutes: set[int], price: float) -> CandleSeries:
    """Each close encodes its minute."""
    series = CandleSeries(Interval(MINUTE_MS))
    for minute in sorted(minutes):
        close = price + minute
        series.add(Candle(minute * MINUTE_MS, close, close, close, close, 1.0))
    return series


@given(MINUTES, MINUTES, st.integers(1, 7))
def test_each_close_comes_from_the_newest_candle_in_its_span(own: set[int], other: set[int], group: int) -> None:
    lasts = np.array(sorted(own), dtype=np.int64)
    firsts = lasts - (group - 1)
    found = closes_within(series_of(other, 500.0), firsts * MINUTE_MS, lasts * MINUTE_MS)
    for last, close in zip(lasts.tolist(), found.tolist(), strict=True):
        shared = [minute for minute in other if last - group < minute <= last]
        assert (close == 500.0 + max(shared)) if shared else np.isnan(close)


@given(MINUTES, MINUTES, st.integers(0, 40), st.integers(0, 40))
def test_the_first_shared_candle_is_the_first_one_in_both(
    own: set[int], other: set[int], first: int, count: int
) -> None:
    stop = min(first + count, len(own))
    shared = [minute for minute in sorted(own)[first:stop] if minute in other]
    found = first_shared(series_of(own, 100.0), series_of(other, 500.0), first, stop)
    assert found == (500.0 + shared[0] if shared else None)

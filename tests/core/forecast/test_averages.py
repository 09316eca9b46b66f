from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.forecast.averages import WeightedMoments

VALUES = st.lists(st.floats(-1.0, 1.0, width=32), min_size=1, max_size=60)


@given(values=VALUES, span=st.integers(2, 100))
def test_averages_equal_pandas(values: list[float], span: int) -> None:
    moments = WeightedMoments(span)
    for value in values:
        moments.add(value)
    window = pd.Series(values).ewm(span=span)
    assert moments.mean == pytest.approx(window.mean().iloc[-1], abs=1e-12)
    expected = window.std().iloc[-1]
    if len(values) > 1:
        assert moments.deviation == pytest.approx(expected, abs=1e-6)
    else:
        assert moments.deviation is None


def test_without_values_mean_and_deviation_are_none() -> None:
    assert WeightedMoments(10).mean is None
    assert WeightedMoments(10).deviation is None


@given(values=VALUES)
def test_a_restored_state_continues_bit_for_bit(values: list[float]) -> None:
    whole, first = WeightedMoments(20), WeightedMoments(20)
    for value in values:
        whole.add(value)
        first.add(value)
    second = WeightedMoments(20)
    second.restore(first.state())
    whole.add(0.25)
    second.add(0.25)
    np.testing.assert_array_equal(whole.state(), second.state())

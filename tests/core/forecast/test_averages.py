from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from core.forecast.averages import WeightedMoments
from tests.core.forecast.alone import ALONE

VALUES = st.lists(st.floats(-1.0, 1.0, width=32) | st.just(np.nan), min_size=1, max_size=60)


def fed(values: list[float], *spans: int) -> WeightedMoments:
    moments = WeightedMoments(spans, 1)
    for value in values:
        moments.add(ALONE, np.full((1, len(spans)), value))
    return moments


@given(values=VALUES, spans=st.lists(st.integers(2, 100), min_size=1, max_size=3))
def test_averages_equal_pandas(values: list[float], spans: list[int]) -> None:
    """Of several series at once. A value that is not known adds nothing."""
    moments = fed(values, *spans)
    for series, span in enumerate(spans):
        window = pd.Series(values).ewm(span=span, ignore_na=True)
        np.testing.assert_allclose(moments.means(ALONE)[0, series], window.mean().iloc[-1], atol=1e-12)
        np.testing.assert_allclose(moments.deviations(ALONE)[0, series], window.std().iloc[-1], atol=1e-6)


def test_without_values_mean_and_deviation_are_unknown() -> None:
    moments = WeightedMoments((10,), 1)
    assert np.isnan(moments.means(ALONE)).all() and np.isnan(moments.deviations(ALONE)).all()


@given(values=VALUES)
def test_a_restored_state_continues_bit_for_bit(values: list[float]) -> None:
    whole, second = fed([*values, 0.25], 20), WeightedMoments((20,), 1)
    second.restore(fed(values, 20).state(0), 0)
    second.add(ALONE, np.array([[0.25]]))
    np.testing.assert_array_equal(whole.state(0)["sums"], second.state(0)["sums"])

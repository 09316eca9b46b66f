from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.forecast.baseline_experts import BaselineExperts
from core.forecast.baselines import ReferenceForecast
from core.forecast.history import History
from core.forecast.quantities import LEVELS, QUANTITIES
from core.market.candle import Candle
from core.training.pretraining.references import anchors_over_time, references_over_time
from tests.support.candles import MINUTE, random_walk, without


def one_by_one(candles: list[Candle], horizons: int) -> np.ndarray:
    """What a session's reference says at each candle, asked as a session asks."""
    history = History(MINUTE, 1100, horizons)
    reference, told = ReferenceForecast(history), []
    for candle in candles:
        history.append(candle)
        told.append(reference.quantiles())
    return np.array(told)


def at_once(candles: list[Candle], horizons: int) -> np.ndarray:
    history = History(MINUTE, len(candles), horizons)
    for candle in candles:
        history.append(candle)
    return references_over_time(history)


@settings(max_examples=15)
@given(count=st.integers(1, 120), horizons=st.integers(1, 5), seed=st.integers(0, 99), hole=st.integers(1, 60))
def test_as_asked_candle_by_candle(count: int, horizons: int, seed: int, hole: int) -> None:
    candles = without(random_walk(count, seed), hole)
    np.testing.assert_allclose(at_once(candles, horizons), one_by_one(candles, horizons), rtol=1e-6, atol=1e-6)


def test_also_where_the_window_is_full() -> None:
    """In the session the oldest candles are let go of meanwhile, and the window is still the same."""
    candles = random_walk(2400)
    ours, theirs = at_once(candles, 1), one_by_one(candles, 1)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("count", [1, 2])
def test_the_first_candles_have_one_too(count: int) -> None:
    references = at_once(random_walk(count), 8)
    assert references.shape == (count, 8, QUANTITIES, len(LEVELS))
    assert np.isfinite(references).all() and (np.diff(references, axis=-1) >= 0.0).all()


@settings(max_examples=8, deadline=None)
@given(count=st.integers(1, 120), horizons=st.integers(1, 3), seed=st.integers(0, 99), hole=st.integers(1, 60))
def test_the_model_is_given_the_same_to_correct_as_in_a_session(
    count: int, horizons: int, seed: int, hole: int
) -> None:
    candles = without(random_walk(count, seed), hole)
    whole = History(MINUTE, len(candles), horizons)
    reference, baselines, told = ReferenceForecast(whole), BaselineExperts(whole), []
    for row, candle in enumerate(candles):
        whole.append(candle)
        baselines.observe()
        told.append(baselines.anchors(reference.quantiles(), np.array([row]))[0])
    ours = anchors_over_time(whole, references_over_time(whole))
    np.testing.assert_allclose(ours, np.array(told), rtol=1e-5, atol=1e-5)

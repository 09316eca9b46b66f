from __future__ import annotations

import dataclasses
import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.candle import Candle
from core.forecast.history import History
from core.forecast.panel import COARSE_SPANS, FEATURES, NUMBERS_PER_SPAN, coarse_numbers
from tests.core.forecast.alone import ALONE
from tests.support.candles import MINUTE, random_walk, without

COARSE = len(COARSE_SPANS) * NUMBERS_PER_SPAN


def filled(candles: list[Candle]) -> History:
    history = History.alone(MINUTE, 256, 1)
    for candle in candles:
        history.append(candle)
    return history


def columns_of(history: History) -> dict[str, np.ndarray]:
    names = ("log_close", "body", "upper_wick", "lower_wick", "log_volume", "range_level", "volume_level")
    return {name: history.panel.column(name) for name in names}


@pytest.mark.parametrize("count", [1, 3, 5, 17, 64, 65, 150])
def test_coarse_candles_equal_the_joined_candles(count: int) -> None:
    """Against joining the candles themselves, as a chart of a coarser interval does."""
    candles = random_walk(count)
    history = filled(candles)
    numbers = np.array(coarse_numbers(columns_of(history), ALONE, np.array([count - 1])))
    numbers = numbers.reshape(len(COARSE_SPANS), NUMBERS_PER_SPAN)
    for span, (spread, volume) in zip(COARSE_SPANS, numbers, strict=True):
        joined = candles[-span:]
        before = max(count - 1 - len(joined), 0)
        high, low = max(candle.high for candle in joined), min(candle.low for candle in joined)
        log_range = math.log(high / low)
        usual = float(history.column("range_level")[before]) + math.log(math.sqrt(len(joined)))
        assert spread == pytest.approx(math.log(log_range) - usual, abs=1e-9)
        mean = statistics.fmean(candle.volume for candle in joined)
        assert volume == pytest.approx(math.log(mean) - float(history.column("volume_level")[before]), abs=0.05)


@settings(max_examples=30, deadline=None)
@given(moment=st.integers(0, 148), factor=st.floats(0.2, 5.0), hole=st.integers(1, 140))
def test_later_candles_change_no_earlier_input(moment: int, factor: float, hole: int) -> None:
    """All that a model reads at a moment: the candles before it alone decide."""
    candles = without(random_walk(150), hole)
    changed = [
        candle
        if index <= moment
        else dataclasses.replace(
            candle,
            open=candle.open * factor,
            close=candle.close * factor,
            high=candle.high * factor * 3.0,
            low=candle.low * factor / 3.0,
            volume=candle.volume * factor,
        )
        for index, candle in enumerate(candles)
    ]
    rows = np.arange(len(candles))[: moment + 1]
    honest, corrupted = filled(candles), filled(changed)
    for expected, found in zip(honest.windows(rows, 64), corrupted.windows(rows, 64), strict=True):
        np.testing.assert_array_equal(expected, found)
    for name in ("scale", "range_level", "volume_level"):
        np.testing.assert_array_equal(honest.column(name)[rows], corrupted.column(name)[rows])


def test_inputs_are_scale_free() -> None:
    """A market at a thousand times the price, with twice the volume, gives the same inputs."""
    candles = random_walk(120)
    larger = [
        Candle(c.open_time_ms, c.open * 1e3, c.high * 1e3, c.low * 1e3, c.close * 1e3, c.volume * 2.0) for c in candles
    ]
    coarse = slice(FEATURES - COARSE, FEATURES)
    ours, theirs = filled(candles).features[:, coarse], filled(larger).features[:, coarse]
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_dropping_the_oldest_candles_changes_nothing() -> None:
    candles = random_walk(400)
    small = History.alone(MINUTE, 70, 1)
    for candle in candles:
        small.append(candle)
    np.testing.assert_array_equal(small.features[-60:], filled(candles).features[-60:])

"""What forecasts miss at a time of day is learned from the past alone, and doubted while there are few days."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.domain.candle import DAY_MS, Interval
from core.domain.quantities import FloatArray
from core.forecast.time_of_day import PastHeights, past_heights

HOUR = Interval(3_600_000)
HORIZONS = 3
USUAL = 0.01


def daily(count: int, missed: float) -> tuple[NDArray[np.int64], FloatArray]:
    """Candles whose log height is missed by so much times the sine of the day: times, and prices [4, n]."""
    times = HOUR.duration_ms * np.arange(count)
    height = USUAL * np.exp(missed * np.sin(2.0 * np.pi * times / DAY_MS))
    low = np.full(count, 100.0)
    return times, np.stack([low, low * np.exp(height), low, low])


def learned(times: NDArray[np.int64], prices: FloatArray, interval: Interval = HOUR) -> PastHeights:
    """From forecasts of the usual height after each candle."""
    return past_heights(times, np.full((times.size, HORIZONS), np.log(USUAL)), times, prices, interval)


def test_what_was_missed_at_a_time_of_day_is_learned_as_days_go_by() -> None:
    heights = learned(*daily(24 * 200, 0.2))
    morning, evening = (heights.stretch(DAY_MS * 160 + HOUR.duration_ms * hour) for hour in (4, 16))
    assert morning[0] == evening[0] == 1.0, "of the next candle alone nothing is learned"
    assert np.log(morning[1:]) == pytest.approx(0.2, abs=0.02) and np.log(evening[1:]) == pytest.approx(-0.2, abs=0.02)
    after_ten = heights.stretch(DAY_MS * 10 + HOUR.duration_ms * 4)
    assert np.log(after_ten[1:]) == pytest.approx(0.1, abs=0.02), "as many days of doubt"


def test_before_the_first_outcome_nothing_is_stretched() -> None:
    heights = learned(*daily(48, 0.2))
    assert (heights.stretch((HORIZONS - 1) * HOUR.duration_ms) == 1.0).all()
    assert (learned(*daily(0, 0.0)).stretch(0) == 1.0).all()
    assert not (heights.stretch(HORIZONS * HOUR.duration_ms) == 1.0).all(), "its candles have closed"


@given(st.integers(10, 90), st.integers(0, 2**32 - 1))
def test_candles_after_the_origin_change_nothing(place: int, seed: int) -> None:
    times, prices = daily(100, 0.2)
    later = prices.copy()
    later[1, place + 1 :] *= 1.0 + np.random.default_rng(seed).random(99 - place)
    origin_ms = int(times[place])
    assert np.array_equal(learned(times, prices).stretch(origin_ms), learned(times, later).stretch(origin_ms))
    later[1, place] *= 1.1
    assert not np.array_equal(learned(times, prices).stretch(origin_ms), learned(times, later).stretch(origin_ms))


def test_what_is_missed_at_all_times_is_not_stretched() -> None:
    times, prices = daily(24 * 20, 0.0)
    prices[1] = prices[0] * np.exp(3.0 * USUAL)
    assert learned(times, prices).stretch(int(times[-1])) == pytest.approx(1.0, abs=1e-3)


def test_a_forecast_over_a_hole_is_left_out() -> None:
    times, prices = daily(24 * 20, 0.2)
    kept = np.delete(np.arange(times.size), 100)
    heights = learned(times[kept], prices[:, kept])
    assert np.flatnonzero(np.isnan(heights.taller).all(axis=1)).tolist() == [97, 98, 99, *range(476, 479)]
    assert np.isfinite(heights.stretch(int(times[-1]))).all()


def test_candles_of_a_day_have_no_time_of_day() -> None:
    times, prices = daily(60, 0.2)
    days = Interval(DAY_MS)
    assert (learned(times * 24, prices, days).stretch(int(times[-1]) * 24) == 1.0).all()

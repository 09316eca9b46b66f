from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.candle import Candle
from core.domain.quantities import LEVELS, MEDIAN, SIGNED, SIZE_LEVELS, FloatArray, Quantity
from core.forecast.history import History
from core.forecast.outcomes import newest_outcomes
from core.forecast.reference_forecast import FEWEST_OUTCOMES, REFERENCE_WINDOW, ReferenceForecast
from tests.core.forecast.alone import ALONE
from tests.support.candles import MINUTE, random_walk, without

COUNT = REFERENCE_WINDOW + 400
"""Of the candles the first ones must have no say."""


class Watched:
    """A market's past, and the reference that reads it."""

    def __init__(self, capacity: int, horizons: int) -> None:
        self.history = History.alone(MINUTE, capacity, horizons)
        self.reference = ReferenceForecast(self.history.panel)

    def feed(self, candles: Iterable[Candle]) -> None:
        for candle in candles:
            self.history.append(candle)
            self.reference.observe(ALONE, newest_outcomes(self.history.panel, ALONE))

    def quantiles(self) -> FloatArray:
        """[H, Q, L]"""
        return self.reference.quantiles(ALONE)[0]


@pytest.fixture(scope="module")
def candles() -> list[Candle]:
    return random_walk(COUNT, seed=21)


@pytest.fixture(scope="module")
def quantiles(candles: list[Candle]) -> FloatArray:
    watched = Watched(2 * COUNT, 3)
    watched.feed(candles)
    return watched.quantiles()


@pytest.mark.parametrize("horizon", [1, 3])
def test_the_close_quantiles_follow_recent_moves_symmetrically(
    candles: list[Candle], quantiles: FloatArray, horizon: int
) -> None:
    """Worked out by the definition alone, with pandas."""
    close = np.log(pd.Series([candle.close for candle in candles]))
    volatility = close.diff().ewm(span=60).std().shift(horizon) * np.sqrt(horizon)
    sizes = (close.diff(horizon) / volatility).abs().iloc[-REFERENCE_WINDOW:]
    upper = LEVELS[LEVELS > 0.5]
    found = quantiles[horizon - 1, Quantity.CLOSE]
    np.testing.assert_allclose(found[LEVELS > 0.5], sizes.quantile(2 * upper - 1), rtol=1e-9)
    np.testing.assert_array_equal(found, -found[::-1])
    np.testing.assert_array_equal(quantiles[:, Quantity.BODY], -quantiles[:, Quantity.BODY, ::-1])


def test_the_range_quantiles_follow_recent_deviations_from_the_average(
    candles: list[Candle], quantiles: FloatArray
) -> None:
    spread = pd.Series(np.log(np.log([candle.high / candle.low for candle in candles])))
    about = (spread - spread.ewm(span=50).mean().shift(1)).iloc[-REFERENCE_WINDOW:]
    np.testing.assert_allclose(quantiles[0, Quantity.RANGE], np.quantile(about, LEVELS), rtol=1e-9)


def newest_sizes(history: History, horizon: int, window: int) -> FloatArray:
    """The normalised outcomes of the newest targets [n, Q], by the definition: the sizes of those with a sign."""
    targets = np.arange(max(len(history) - window, horizon), len(history))
    natural, _, is_usable = history.targets(targets - horizon)
    factor, offset = history.units(targets - horizon)
    outcomes: FloatArray = ((natural - offset) / factor)[is_usable[:, horizon - 1], horizon - 1]
    outcomes[:, SIGNED] = np.abs(outcomes[:, SIGNED])
    return outcomes


@settings(max_examples=5, deadline=None)
@given(holes=st.sets(st.integers(0, 199), max_size=30), restored=st.integers(0, 160), seed=st.integers(0, 99))
def test_the_quantiles_are_those_of_the_newest_outcomes(holes: set[int], restored: int, seed: int) -> None:
    """At each of many candles with holes among them, also after a restore, and after old candles were dropped."""
    window, horizons = 60, 3
    watched = Watched(window + horizons, horizons)
    for row, candle in enumerate(without(random_walk(200, seed), *holes)):
        watched.feed([candle])
        if row == restored:
            watched.reference = ReferenceForecast(watched.history.panel)
            watched.reference.restore(0)
        for horizon, found in enumerate(watched.quantiles(), start=1):
            sizes = newest_sizes(watched.history, horizon, window)
            if len(sizes) < FEWEST_OUTCOMES:
                continue
            expected = np.quantile(sizes, LEVELS, axis=0).T
            expected[SIGNED] = np.sign(LEVELS - 0.5) * np.quantile(sizes[:, SIGNED], SIZE_LEVELS, axis=0).T
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_a_drift_of_the_past_is_not_forecast() -> None:
    watched = Watched(512, 8)
    for index, candle in enumerate(random_walk(300, seed=11)):
        grown = {name: getattr(candle, name) * 1.002**index for name in ("open", "high", "low", "close")}
        watched.feed([replace(candle, **grown)])
    assert np.median(np.diff(watched.history.column("log_close"))) > 0.001
    assert not watched.quantiles()[:, Quantity.CLOSE, MEDIAN].any()


@pytest.mark.parametrize("count", [1, 2, 5, 29, 31])
def test_the_baseline_forecasts_from_the_first_candle(count: int) -> None:
    watched = Watched(2048, 8)
    watched.feed(random_walk(count))
    quantiles = watched.quantiles()
    assert np.isfinite(quantiles).all()
    assert (np.diff(quantiles, axis=-1) >= 0.0).all()
    assert (quantiles[:, Quantity.CLOSE, 0] < quantiles[:, Quantity.CLOSE, -1]).all()

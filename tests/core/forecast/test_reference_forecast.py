from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.domain.candle import Candle
from core.domain.quantities import LEVELS, MEDIAN, FloatArray, Quantity
from core.forecast.history import History
from core.forecast.reference_forecast import REFERENCE_WINDOW, reference_quantiles
from tests.support.candles import MINUTE, random_walk

COUNT = REFERENCE_WINDOW + 400
"""Of the candles the first ones must have no say."""


@pytest.fixture(scope="module")
def candles() -> list[Candle]:
    return random_walk(COUNT, seed=21)


@pytest.fixture(scope="module")
def quantiles(candles: list[Candle]) -> FloatArray:
    history = History(MINUTE, 2 * COUNT, 3)
    for candle in candles:
        history.append(candle)
    return reference_quantiles(history)


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


def test_a_drift_of_the_past_is_not_forecast() -> None:
    history = History(MINUTE, 512, 8)
    for index, candle in enumerate(random_walk(300, seed=11)):
        grown = {name: getattr(candle, name) * 1.002**index for name in ("open", "high", "low", "close")}
        history.append(replace(candle, **grown))
    assert np.median(np.diff(history.column("log_close"))) > 0.001
    assert not reference_quantiles(history)[:, Quantity.CLOSE, MEDIAN].any()


@pytest.mark.parametrize("count", [1, 2, 5, 29, 31])
def test_the_baseline_forecasts_from_the_first_candle(count: int) -> None:
    history = History(MINUTE, 2048, 8)
    for candle in random_walk(count):
        history.append(candle)
    quantiles = reference_quantiles(history)
    assert np.isfinite(quantiles).all()
    assert (np.diff(quantiles, axis=-1) >= 0.0).all()
    assert (quantiles[:, Quantity.CLOSE, 0] < quantiles[:, Quantity.CLOSE, -1]).all()

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.forecast.baselines import REFERENCE_WINDOW, ReferenceForecast
from core.forecast.history import History
from core.forecast.quantities import LEVELS, Quantity
from tests.support.candles import MINUTE, random_walk


def test_close_and_range_equal_the_definition() -> None:
    candles = random_walk(1200, seed=3)
    history = History(MINUTE, 2048, 2)
    for candle in candles:
        history.append(candle)
    quantiles = ReferenceForecast(history).quantiles()
    close = pd.Series([candle.close for candle in candles])
    returns = np.log(close / close.shift(1))
    volatility = returns.ewm(span=60).std()
    outcomes = (returns / volatility.shift(1)).iloc[-REFERENCE_WINDOW:]
    np.testing.assert_allclose(quantiles[0, Quantity.CLOSE], np.quantile(outcomes, LEVELS), rtol=1e-9)
    spread = np.log(np.log([candle.high / candle.low for candle in candles]))
    about = (pd.Series(spread) - pd.Series(spread).ewm(span=50).mean().shift(1)).iloc[-REFERENCE_WINDOW:]
    np.testing.assert_allclose(quantiles[0, Quantity.RANGE], np.quantile(about, LEVELS), rtol=1e-9)


def test_stored_numbers() -> None:
    history = History(MINUTE, 2048, 1)
    for candle in random_walk(300, seed=11):
        history.append(candle)
    quantiles = ReferenceForecast(history).quantiles()[0]
    stored = [-1.7472498594, -1.4083306358, -0.6406282127, 0.0623612461, 0.6750265964, 1.3110815348, 1.6347579958]
    assert quantiles[Quantity.CLOSE].tolist() == pytest.approx(stored, rel=1e-6)


@pytest.mark.parametrize(
    ("quantity", "horizon", "stored"),
    [
        (Quantity.CLOSE, 1, (-1.6921928942, -1.2628534761, -0.6294083532, 0.0651104221, 0.6887795427, 1.3051869131)),
        (Quantity.CLOSE, 3, (-1.6200361579, -1.1721263603, -0.5998649742, 0.0559665232, 0.7027682873, 1.3502159229)),
        (Quantity.RANGE, 1, (-0.9125997497, -0.6783337952, -0.2834350294, 0.0687687196, 0.3636767793, 0.5912541018)),
    ],
)
def test_stored_numbers_of_a_full_window(quantity: Quantity, horizon: int, stored: tuple[float, ...]) -> None:
    """Worked out by the definition alone, with pandas; 1,400 candles, of which the first 400 must have no say."""
    history = History(MINUTE, 2048, 3)
    for candle in random_walk(1400, seed=21):
        history.append(candle)
    quantiles = ReferenceForecast(history).quantiles()[horizon - 1, quantity, : len(stored)]
    assert quantiles.tolist() == pytest.approx(stored, rel=1e-6)


@pytest.mark.parametrize("count", [1, 2, 5, 29, 31])
def test_it_speaks_from_the_first_candle_on(count: int) -> None:
    history = History(MINUTE, 2048, 8)
    for candle in random_walk(count):
        history.append(candle)
    quantiles = ReferenceForecast(history).quantiles()
    assert np.isfinite(quantiles).all()
    assert (np.diff(quantiles, axis=-1) >= 0.0).all()
    assert (quantiles[:, Quantity.CLOSE, 0] < quantiles[:, Quantity.CLOSE, -1]).all()

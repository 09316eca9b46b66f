from __future__ import annotations

import numpy as np

from core.forecast.baseline_forecast import SimpleRules
from tests.support.candles import MINUTE, random_walk


def test_one_by_one_and_all_at_once_give_the_same_forecasts() -> None:
    candles = random_walk(90)
    rules, again = SimpleRules(MINUTE, 3), SimpleRules(MINUTE, 3)
    for candle in candles:
        rules.observe(candle)
        rules.forecast()
    for candle in candles:
        again.observe(candle)
    forecasts = rules.forecast()
    assert (
        np.array_equal(forecasts, again.forecast())
        and np.isfinite(forecasts).all()
        and (np.diff(forecasts, axis=-1) >= 0).all()
    )

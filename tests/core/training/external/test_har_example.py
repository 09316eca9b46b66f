"""HAR written again from the protocol alone, in docs/examples, against the built-in one."""

from __future__ import annotations

import numpy as np

from core.domain.quantities import LEVELS, Quantity
from core.forecast.baseline_experts import BaselineExperts
from core.forecast.experts import HAR
from core.forecast.history import History
from core.training.external.protocol import KEYS, forecast_of
from docs.examples.har_process import Har
from tests.core.forecast.alone import ALONE
from tests.support.candles import MINUTE, random_walk, without

HORIZONS = 4
FORECAST = (Quantity.CLOSE, Quantity.BODY, Quantity.UPPER_WICK, Quantity.LOWER_WICK, Quantity.RANGE)


def test_the_example_forecasts_what_the_built_in_one_does() -> None:
    history = History.alone(MINUTE, 1100, HORIZONS)
    experts = BaselineExperts(history.panel)
    har = Har(MINUTE.duration_ms, HORIZONS, LEVELS.tolist())
    for candle in without(random_walk(1100, seed=3), 3, 20, 100, 101, 500):
        history.append(candle)
        experts.observe(ALONE, None)
        har.take(candle.open_time_ms, candle.open, candle.high, candle.low, candle.close, candle.volume)
        if len(history) % 10 and len(history) > 60:
            continue
        normalised = experts.quantiles(ALONE)[0, :, HAR]
        factor, offset = (each[0][..., None] for each in history.units(np.array([len(history) - 1])))
        built_in = offset + factor * normalised
        found = forecast_of(har.forecast(), HORIZONS).quantiles
        assert set(found) == set(FORECAST) and set(har.forecast()) == {KEYS[each] for each in FORECAST}
        for quantity in FORECAST:
            np.testing.assert_allclose(found[quantity], built_in[:, quantity], rtol=1e-9, atol=1e-15)

"""Sessions over known markets: the real one, and the same without a model and a database, which takes a tenth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.forecast.baseline_experts import BaselineExperts
from core.forecast.baselines import REFERENCE_WINDOW, ReferenceForecast
from core.forecast.combination import Combination, prior
from core.forecast.experts import REFERENCE
from core.forecast.history import History
from core.forecast.quantities import FloatArray, Quantity
from core.forecast.score import pinball
from core.market.candle import Candle
from tests.core.known_answers.markets import INTERVAL

HORIZONS = 1


def without_model(candles: Sequence[Candle], quantity: Quantity) -> tuple[FloatArray, FloatArray]:
    """One candle ahead, of what the combination of the baselines and the reference said: losses, each [n - 1].

    The first is that of the second candle.
    """
    history = History(INTERVAL, REFERENCE_WINDOW + HORIZONS, HORIZONS)
    reference, baselines = ReferenceForecast(history), BaselineExperts(history)
    combination = Combination(prior(with_model=False), HORIZONS)
    lost, said = [], None
    for candle in candles:
        history.append(candle)
        baselines.observe()
        if said is not None:
            origin = np.array([len(history) - 2])
            natural = history.targets(origin)[0][0, 0]
            factor, offset = (units[0, 0] for units in history.units(origin))
            outcome = (natural - offset) / factor
            experts, shown = said
            combination.learn(1, experts, shown, outcome)
            unit = factor[quantity]
            lost.append(unit * pinball(outcome[quantity], np.stack([shown, experts[REFERENCE]])[:, quantity]))
        now = baselines.quantiles(reference.quantiles())
        said = now[:, 0], combination.say(now)[0]
    columns: FloatArray = np.array(lost).T
    return columns[0], columns[1]

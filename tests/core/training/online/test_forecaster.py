from __future__ import annotations

import numpy as np
import pytest
import torch

from core.domain.candle import Candle
from core.domain.quantities import LEVELS, FloatArray, Quantity
from core.forecast.experts import LOSS_ROWS, MODEL, REFERENCE, Quantiles
from core.forecast.history import History
from core.forecast.outcomes import Outcomes
from core.forecast.score import pinball
from core.training.engine.samples import LossWeights, build_batch
from core.training.hosting.opening import build_engine
from core.training.online.forecaster import Forecaster
from tests.core.forecast.alone import ALONE, at_horizon
from tests.core.training.rigs import SMALL
from tests.support.candles import MINUTE, random_walk

HORIZONS, CONTEXT = SMALL.model.horizons, SMALL.model.context


class Rig:
    """A forecaster with a model that has learned nothing, over a short past."""

    def __init__(self, candles: int) -> None:
        self.history = History.alone(MINUTE, 512, HORIZONS)
        self.engine = build_engine(SMALL, torch.device("cpu"), seed=1)
        self.forecaster = Forecaster(self.history.panel, CONTEXT)
        for candle in random_walk(candles):
            self.take(candle)
            self.forecaster.commit(ALONE, [self.forecast()])

    def take(self, candle: Candle) -> Outcomes:
        """The candle as a target."""
        self.history.append(candle)
        return self.forecaster.observe(ALONE)

    def forecast(self) -> Quantiles:
        corrections = self.engine.corrections(*self.forecaster.inputs(ALONE))
        return self.forecaster.with_corrections(ALONE, corrections)[0]

    def commit_shifted(self, shift: float) -> Quantiles:
        """Commit the newest forecast, the model's own one moved by this, and return it."""
        made = self.forecast()
        made.experts[MODEL] += shift
        self.forecaster.commit(ALONE, [made])
        return made

    @property
    def without_model(self) -> FloatArray:
        """The newest committed forecast without the model: [H, Q, L], natural units."""
        past = self.forecaster.past(0)
        newest = (past["count"] - 1) % HORIZONS
        return past["forecasts"][newest, 0]


def test_an_untrained_model_does_not_change_the_forecast() -> None:
    rig = Rig(120)
    experts = rig.forecast().experts
    np.testing.assert_allclose(experts[MODEL], rig.without_model)
    assert not np.allclose(experts[MODEL, :, Quantity.RANGE], experts[REFERENCE, :, Quantity.RANGE])


def test_without_a_model_output_the_forecast_without_model_is_used() -> None:
    rig = Rig(120)
    (made,) = rig.forecaster.without_model(ALONE)
    np.testing.assert_array_equal(made.experts[MODEL], rig.without_model)


def test_the_models_forecast_is_scored_only_as_the_models() -> None:
    """The forecast without the model shows whether the model adds anything."""
    candles = random_walk(122)
    losses = []
    for shift in (0.0, 1.0):
        rig = Rig(120)
        rig.take(candles[120])
        experts = rig.commit_shifted(shift).experts
        outcome = rig.take(candles[121]).natural
        forecasts, is_remembered = rig.forecaster.forecasts_due(ALONE)
        assert is_remembered.all()
        found = pinball(outcome[:, :, None], forecasts)[0, 0]
        np.testing.assert_allclose(found[1 + MODEL], pinball(outcome[0, 0], experts[MODEL, 0]))
        losses.append(found)
    others = np.arange(len(LOSS_ROWS)) != 1 + MODEL
    np.testing.assert_array_equal(losses[0][others], losses[1][others])
    assert (losses[1][1 + MODEL] > losses[0][1 + MODEL]).all()


def test_forecasts_with_possibly_known_outcomes_teach_nothing() -> None:
    states = []
    for shift in (0.0, 1.0):
        rig = Rig(120)
        rig.take(random_walk(121)[120])
        made = rig.commit_shifted(shift)
        outcomes = rig.take(random_walk(122)[121])
        is_first = at_horizon(1, HORIZONS)
        due, is_remembered = rig.forecaster.forecasts_due(ALONE)
        is_learned = is_first & is_remembered
        rig.forecaster.learn(ALONE, due, made.shown[None] + shift, outcomes, is_learned, trusts_model=~is_first)
        states.append(rig.forecaster.state(0))
    for name, array in states[0].items():
        np.testing.assert_array_equal(array, states[1][name])


@pytest.mark.parametrize("candles", [2, 20, 120])
def test_a_step_corrects_the_forecast_made_at_the_time_of_each_sample(candles: int) -> None:
    rig = Rig(candles)
    origins = np.arange(candles - 1)[-4:]
    batch = build_batch(rig.history.panel, np.zeros_like(origins), origins, CONTEXT, LossWeights(1.0, 1.0))
    anchors = rig.history.anchors(origins)
    assert (
        anchors.shape == (origins.size, HORIZONS, len(Quantity), len(LEVELS))
        and (np.diff(anchors, axis=-1) >= 0.0).all()
    )
    if candles == 120:
        assert np.unique(anchors[:, 0, Quantity.RANGE, 0]).size == origins.size
    loss = rig.engine.step(batch, anchors).loss
    assert loss is not None and np.isfinite(loss)

from __future__ import annotations

import numpy as np
import pytest
import torch

from core.domain.candle import Candle
from core.domain.quantities import LEVELS, Quantity
from core.forecast.experts import LOSS_ROWS, MODEL, REFERENCE, Quantiles
from core.forecast.history import History
from core.forecast.score import pinball
from core.training.engine.samples import LossWeights, build_batch
from core.training.hosting.opening import build_engine
from core.training.online.forecaster import Forecaster
from tests.core.training.rigs import SMALL
from tests.support.candles import MINUTE, random_walk

HORIZONS, CONTEXT = SMALL.model.horizons, SMALL.model.context


class Rig:
    """A forecaster with a model that has learned nothing, over a short past."""

    def __init__(self, candles: int) -> None:
        self.history = History(MINUTE, 512, HORIZONS)
        self.engine = build_engine(SMALL, torch.device("cpu"), seed=1)
        self.forecaster = Forecaster(self.history, self.engine, CONTEXT)
        for candle in random_walk(candles):
            self.take(candle)
            self.forecaster.commit(self.forecaster.forecast())

    def take(self, candle: Candle) -> None:
        self.history.append(candle)
        self.forecaster.observe()


def test_an_untrained_model_does_not_change_the_forecast() -> None:
    rig = Rig(120)
    experts = rig.forecaster.forecast().experts
    without_model = rig.forecaster.past()["said"][-1, 0]
    np.testing.assert_allclose(experts[MODEL], without_model)
    assert not np.allclose(experts[MODEL, :, Quantity.RANGE], experts[REFERENCE, :, Quantity.RANGE])


def test_without_a_model_output_the_forecast_without_model_is_used() -> None:
    rig = Rig(120)
    experts = rig.forecaster.without_model().experts
    np.testing.assert_array_equal(experts[MODEL], rig.forecaster.past()["said"][-1, 0])


def test_the_models_forecast_is_scored_only_as_the_models() -> None:
    """The forecast without the model shows whether the model adds anything."""
    candles = random_walk(122)
    losses = []
    for shift in (0.0, 1.0):
        rig = Rig(120)
        rig.take(candles[120])
        made = rig.forecaster.forecast()
        experts = made.experts.copy()
        experts[MODEL] += shift
        rig.forecaster.commit(Quantiles(made.shown, experts))
        rig.take(candles[121])
        outcome = rig.history.targets(np.array([120]))[0][0, 0]
        (found,) = rig.forecaster.losses(np.array([120]), outcome[None])
        assert found is not None
        np.testing.assert_allclose(found[1 + MODEL], pinball(outcome, experts[MODEL, 0]))
        losses.append(found)
    others = np.arange(len(LOSS_ROWS)) != 1 + MODEL
    np.testing.assert_array_equal(losses[0][others], losses[1][others])
    assert (losses[1][1 + MODEL] > losses[0][1 + MODEL]).all()


def test_forecasts_with_possibly_known_outcomes_teach_nothing() -> None:
    states = []
    for shift in (0.0, 1.0):
        rig = Rig(120)
        rig.take(random_walk(121)[120])
        made = rig.forecaster.forecast()
        experts = made.experts.copy()
        experts[MODEL] += shift
        rig.forecaster.commit(Quantiles(made.shown, experts))
        yes, no = np.array([True]), np.array([False])
        outcomes = np.zeros((1, len(Quantity)))
        rig.forecaster.learn(np.array([120]), made.shown[:1] + shift, outcomes, is_learned=yes, trusts_model=no)
        states.append(rig.forecaster.state())
    for name, array in states[0].items():
        np.testing.assert_array_equal(array, states[1][name])


@pytest.mark.parametrize("candles", [2, 20, 120])
def test_a_step_corrects_the_forecast_made_at_the_time_of_each_sample(candles: int) -> None:
    rig = Rig(candles)
    origins = np.arange(candles - 1)[-4:]
    batch = build_batch(rig.history, origins, CONTEXT, LossWeights(1.0, 1.0))
    anchors = rig.history.anchors(origins)
    assert (
        anchors.shape == (origins.size, HORIZONS, len(Quantity), len(LEVELS))
        and (np.diff(anchors, axis=-1) >= 0.0).all()
    )
    if candles == 120:
        assert np.unique(anchors[:, 0, Quantity.RANGE, 0]).size == origins.size
    loss = rig.engine.step(batch, anchors).loss
    assert loss is not None and np.isfinite(loss)

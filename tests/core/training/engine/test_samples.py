from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.domain.quantities import Quantity
from core.forecast.history import History
from core.training.engine.regime_head import regime_logits
from core.training.engine.samples import Batch, LossWeights, anchor_loss, build_batch, draw_origins
from tests.core.training.engine.rigs import REFERENCE, batch, engine
from tests.support.candles import MINUTE, random_walk, without

PLAIN = LossWeights(1.0, 1.0)


def history(count: int, *missing: int) -> History:
    filled = History.alone(MINUTE, 128, 3)
    for candle in without(random_walk(count), *missing):
        filled.append(candle)
    return filled


def batch_of(past: History, origins: NDArray[np.int64], weights: LossWeights = PLAIN) -> Batch:
    return build_batch(past.panel, np.zeros_like(origins), origins, 8, weights)


@given(candles=st.integers(0, 500), replay=st.integers(0, 40), window=st.integers(1, 300))
def test_origins_have_a_closed_target_and_begin_with_the_newest(candles: int, replay: int, window: int) -> None:
    origins = draw_origins(candles, replay, window, np.random.default_rng(0))
    if candles < 2:
        assert origins.size == 0
        return
    assert origins[0] == candles - 2
    assert origins.min() >= max(0, candles - 2 - window) and origins.max() <= candles - 2


def test_only_closed_targets_have_weight() -> None:
    batch = batch_of(history(20), np.array([18, 17, 5]))
    has_weight = batch.weights.max(axis=-1) > 0.0
    assert has_weight.tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert (batch.targets[~has_weight] == 0.0).all()


def test_targets_beyond_a_gap_have_no_weight() -> None:
    batch = batch_of(history(20, 10), np.array([8, 9]))
    assert (batch.weights.max(axis=-1) > 0.0).tolist() == [[True, False, False], [False, False, False]]


def test_the_label_is_the_regime_of_the_next_candle_once_it_has_closed_without_a_gap() -> None:
    past = history(0)
    for row, candle in enumerate(without(random_walk(20), 10)):
        past.append(candle)
        past.panel.keep_regimes(np.array([0]), np.array([[row, 1.0, 2.0]]) if row > 3 else np.zeros((1, 3)))
    regimes = batch_of(past, np.array([3, 4, 9, 18])).regimes
    np.testing.assert_array_equal(regimes[:, 0], regime_logits(past.panel.regimes(np.zeros(4, int), [3, 4, 9, 18])))
    assert regimes[:, 1].tolist() == [[0.0] * 3, [5.0, 1.0, 2.0], [0.0] * 3, [0.0] * 3]


def test_weights_rise_for_poor_forecasts_and_wrong_directions_only() -> None:
    past = history(20)
    past.panel.mark_outcome(0, 5, error_ratio=2.0, wrong_direction=True)
    past.panel.mark_outcome(0, 6, error_ratio=1.5, wrong_direction=False)
    past.panel.mark_outcome(0, 7, error_ratio=0.2, wrong_direction=False)
    origins = np.array([5, 6, 7])
    ratio = batch_of(past, origins, LossWeights(3.0, 2.0)).weights / batch_of(past, origins).weights
    assert ratio[0, 0, Quantity.CLOSE] == pytest.approx(6.0)
    assert ratio[0, 0, Quantity.RANGE] == pytest.approx(3.0)
    assert ratio[1, 0, Quantity.CLOSE] == pytest.approx(2.0)
    assert ratio[2] == pytest.approx(np.ones_like(ratio[2]))


@pytest.mark.parametrize("each_its_own", [False, True])
def test_the_anchor_is_the_loss_of_a_new_model_without_corrections(each_its_own: bool) -> None:
    samples = batch(3)
    anchors = np.stack([REFERENCE + 0.1 * index for index in range(samples.size)]) if each_its_own else REFERENCE
    loss = engine().step(samples, anchors).loss
    assert loss is not None and anchor_loss(samples, anchors) == pytest.approx(loss, rel=1e-5)


def test_a_non_finite_loss_has_no_anchor() -> None:
    samples = batch(3)
    targets = samples.targets.copy()
    targets.flat[0] = np.nan
    assert anchor_loss(dataclasses.replace(samples, targets=targets), REFERENCE) is None
    assert anchor_loss(dataclasses.replace(samples, weights=np.zeros_like(samples.weights)), REFERENCE) is None

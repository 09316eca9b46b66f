"""The regime of the next candle: learned beside the model, and without any effect on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from core.domain.regimes import Regime, RegimeProbabilities
from core.settings.tree import GradientSettings, TrainingSettings
from core.training.engine.engine import TrainingEngine
from core.training.engine.regime_head import regime_logits
from models.registry import build_model
from models.transformer import CandleTransformer
from tests.core.training.engine.rigs import CPU, RATE, REFERENCE, SHAPE, batch, engine, poisoned, state

NOW = np.array([[0.7, 0.2, 0.1], [0.0, 0.0, 1.0]], dtype=np.float32)
WEIGHTS = "regimes.weights"


def predicted(trained: TrainingEngine) -> list[RegimeProbabilities | None]:
    samples = batch(9, size=2)
    trained.corrections(samples.features, samples.is_real)
    return trained.next_regimes(NOW)


@pytest.mark.parametrize("micro_batches", [1, 3])
def test_one_step_descends_the_cross_entropy_of_the_labelled_samples(micro_batches: int) -> None:
    trained = engine(GradientSettings(accumulation=micro_batches), dtype=torch.float64)
    samples = batch(size=6)
    samples.regimes[4, 1] = 0.0
    assert isinstance(trained.model, CandleTransformer)
    trained.model(torch.tensor(samples.features, dtype=torch.float64), torch.tensor(samples.is_real))
    last, weights = trained.model.state, torch.zeros(3, SHAPE.width, dtype=torch.float64, requires_grad=True)
    logits = torch.tensor(samples.regimes[:, 0]) + last @ weights.T
    loss = torch.nn.functional.cross_entropy(logits[[0, 1, 2, 3, 5]], torch.tensor(samples.regimes[[0, 1, 2, 3, 5], 1]))
    loss.backward()
    trained.step(samples, REFERENCE)
    assert weights.grad is not None
    direction, moved = -weights.grad, trained.tensors()[WEIGHTS]
    torch.testing.assert_close(moved / moved.norm(), direction / direction.norm(), rtol=1e-6, atol=1e-9)


def test_rows_of_padding_teach_it_nothing_and_take_nothing_away() -> None:
    trained, padded = engine(dtype=torch.float64), engine(dtype=torch.float64)
    trained.step(batch(size=4), REFERENCE)
    padded.step(batch(size=4).padded(7), REFERENCE)
    torch.testing.assert_close(padded.tensors()[WEIGHTS], trained.tensors()[WEIGHTS], rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("clip_mode", ["norm", "adaptive", "layer"])
def test_the_model_learns_the_same_bits_as_without_it(clip_mode: str) -> None:
    settings = GradientSettings(accumulation=2, clip_norm=0.05, clip_mode=clip_mode)
    with_head, without = engine(settings), engine(settings)
    without._regimes = None
    for seed in range(5):
        results = [trained.step(batch(seed), REFERENCE) for trained in (with_head, without)]
        assert results[0] == results[1]
    known = state(with_head)
    assert known.pop(WEIGHTS).any()
    assert known.keys() == state(without).keys()
    assert all(torch.equal(tensor, known[name]) for name, tensor in state(without).items())
    samples = batch(9)
    one, other = (trained.corrections(samples.features, samples.is_real) for trained in (with_head, without))
    assert one.tobytes() == other.tobytes()


def test_it_starts_with_the_regime_staying() -> None:
    first, second = predicted(engine())
    assert first is not None and second is not None
    assert (first.calm, first.trending, first.volatile) == pytest.approx((0.7, 0.2, 0.1), abs=0.01)
    assert second.volatile > 0.99 and second.calm > 0.0


def test_it_learns_what_the_state_tells() -> None:
    trained, samples = engine(training=TrainingSettings(learning_rate=1e-9)), batch(size=3)
    unknown = np.full((3, 3), 1 / 3, dtype=np.float32)
    samples.regimes[:, 0], samples.regimes[:, 1] = regime_logits(unknown), np.eye(3)
    for _ in range(200):
        trained.step(samples, REFERENCE)
    trained.corrections(samples.features, samples.is_real)
    found = [each.likeliest for each in trained.next_regimes(unknown) if each is not None]
    assert found == list(Regime)


def test_without_labels_and_in_a_skipped_step_it_learns_nothing() -> None:
    trained = engine()
    trained.step(batch(), REFERENCE)
    before = state(trained)[WEIGHTS]
    assert trained.step(poisoned("features", np.nan), REFERENCE).skipped_because is not None
    assert torch.equal(trained.tensors()[WEIGHTS], before)
    regimes = batch(1).regimes.copy()
    regimes[:, 1] = 0.0
    trained.step(replace(batch(1), regimes=regimes), REFERENCE)
    assert torch.equal(trained.tensors()[WEIGHTS], before)


def test_a_restored_state_forecasts_the_same_regimes() -> None:
    trained, other = engine(), engine()
    for seed in range(20):
        trained.step(batch(seed), REFERENCE)
    assert predicted(other) != predicted(trained)
    other.restore(state(trained), trained.scalars())
    assert predicted(other) == predicted(trained)


def test_a_weight_that_is_not_finite_is_noticed_and_forecasts_nothing() -> None:
    trained = engine()
    trained.tensors()[WEIGHTS][0, 0] = np.nan
    assert not trained.is_finite()
    assert predicted(trained) == [None, None]


def test_before_the_mixture_is_fitted_there_is_no_forecast() -> None:
    trained, samples = engine(), batch(size=2)
    trained.corrections(samples.features, samples.is_real)
    known, unknown = trained.next_regimes(NOW * np.array([[1.0], [0.0]], dtype=np.float32))
    assert known is not None and unknown is None


@pytest.mark.parametrize("name", ["gru", "tcn", "nlinear"])
def test_another_model_has_none(name: str) -> None:
    settings = TrainingSettings(learning_rate=RATE)
    trained = TrainingEngine(build_model(name, SHAPE, 0), CPU, settings, GradientSettings(), 0)
    assert trained.step(batch(), REFERENCE).loss is not None
    assert predicted(trained) == [None, None] and WEIGHTS not in trained.tensors()


class Silent(CandleTransformer):
    """A user's own forward pass, which leaves no states."""

    def forward(self, features: torch.Tensor, is_real: torch.Tensor) -> torch.Tensor:
        return self.head(features.mean(dim=1) @ self.embed.weight.T)


def test_a_subclass_without_states_is_trained_without_a_head() -> None:
    trained = TrainingEngine(Silent(SHAPE), CPU, TrainingSettings(learning_rate=RATE), GradientSettings())
    assert trained.step(batch(), REFERENCE).loss is not None
    assert predicted(trained) == [None, None]

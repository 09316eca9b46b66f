from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from core.forecast.quantities import LEVELS, QUANTITIES
from core.training.engine import TrainingEngine
from core.training.samples import Batch
from models.losses import pinball, quantiles_of, weighted_mean
from models.registry import build_model
from models.transformer import ModelShape

SHAPE = ModelShape(12, 8, 8, 1, 2, 3, QUANTITIES, len(LEVELS))
REFERENCE = np.tile(np.linspace(-1.5, 1.5, len(LEVELS)), (3, QUANTITIES, 1))


def engine(clip_norm: float = 1.0, learning_rate: float = 1e-2) -> TrainingEngine:
    return TrainingEngine(build_model("transformer", SHAPE, 0), torch.device("cpu"), learning_rate, 0.01, clip_norm)


def batch(seed: int = 0, size: int = 4) -> Batch:
    generator = np.random.default_rng(seed)
    return Batch(
        generator.normal(size=(size, 8, 12)).astype(np.float32),
        np.ones((size, 8), dtype=bool),
        generator.normal(size=(size, 3, QUANTITIES)).astype(np.float32),
        np.ones((size, 3, QUANTITIES), dtype=np.float32),
    )


def state(trained: TrainingEngine) -> list[torch.Tensor]:
    moments = [value for entry in trained.optimizer.state.values() for value in entry.values()]
    return [tensor.detach().clone() for tensor in (*trained.model.parameters(), *moments)]


@pytest.mark.parametrize("clip_norm", [0.05, 1e6])
def test_a_step_equals_the_plain_loop(clip_norm: float) -> None:
    ours = engine(clip_norm)
    plain = build_model("transformer", SHAPE, 0)
    optimizer = torch.optim.AdamW(plain.parameters(), lr=1e-2, weight_decay=0.01, betas=(0.9, 0.95), fused=True)
    for seed in range(5):
        samples = batch(seed)
        result = ours.step(samples, REFERENCE)
        optimizer.zero_grad()
        quantiles = quantiles_of(
            torch.tensor(REFERENCE, dtype=torch.float32),
            plain(torch.tensor(samples.features), torch.tensor(samples.is_real)),
        )
        losses = pinball(torch.tensor(samples.targets), quantiles, torch.tensor(LEVELS, dtype=torch.float32))
        loss = weighted_mean(losses, torch.tensor(samples.weights))
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(plain.parameters(), clip_norm)
        optimizer.step()
        assert result.loss == pytest.approx(loss.item(), rel=1e-6)
        assert result.gradient_norm == pytest.approx(norm.item(), rel=1e-5)
        assert result.clipped is (norm.item() > clip_norm)
    for mine, theirs in zip(ours.model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs)


def test_learning_lowers_the_loss() -> None:
    trained = engine()
    samples = batch()
    losses = [trained.step(samples, REFERENCE).loss for _ in range(60)]
    assert losses[0] is not None and losses[-1] is not None
    assert losses[-1] < 0.8 * losses[0]


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["features", "targets"])
def test_what_is_not_finite_changes_nothing_bit_for_bit(poison: float, where: str) -> None:
    trained = engine()
    trained.step(batch(), REFERENCE)
    before = state(trained)
    bad = batch(1)
    array = getattr(bad, where).copy()
    array.flat[3] = poison
    result = trained.step(dataclasses.replace(bad, **{where: array}), REFERENCE)
    assert result.loss is None and result.skipped_because is not None
    assert all(torch.equal(a, b) for a, b in zip(before, state(trained), strict=True))
    assert all(parameter.grad is None for parameter in trained.model.parameters())
    assert trained.step(batch(2), REFERENCE).loss is not None


def test_a_norm_that_is_not_finite_skips_the_step() -> None:
    """The loss can be finite where a gradient is not: a square root at zero has an infinite slope."""
    trained = engine()
    parameter = next(iter(trained.model.parameters()))
    handle = parameter.register_hook(lambda gradient: gradient * float("nan"))
    before = state(trained)
    result = trained.step(batch(), REFERENCE)
    handle.remove()
    assert result.loss is None and result.skipped_because == "the gradients were not finite"
    assert all(torch.equal(a, b) for a, b in zip(before, state(trained), strict=True))


def test_an_in_place_change_is_a_skipped_step_and_no_loss() -> None:
    trained = engine()

    def spoil(_module: object, _inputs: object, output: torch.Tensor) -> torch.Tensor:
        activated = output.exp()
        activated.add_(1.0)
        return activated

    handle = trained.model.get_submodule("embed").register_forward_hook(spoil)
    result = trained.step(batch(), REFERENCE)
    handle.remove()
    assert result.loss is None and result.skipped_because is not None
    assert "modified by an inplace operation" in result.skipped_because
    assert trained.step(batch(), REFERENCE).loss is not None


def test_forecasting_leaves_no_trace_and_is_in_eval_mode() -> None:
    trained = engine()
    samples = batch()
    trained.step(samples, REFERENCE)
    before = state(trained)
    corrections = trained.corrections(samples.features, samples.is_real)
    assert corrections.shape == (4, 3, QUANTITIES, len(LEVELS)) and corrections.dtype == np.float64
    assert not trained.model.training
    assert all(torch.equal(a, b) for a, b in zip(before, state(trained), strict=True))


def test_learning_rate_and_threshold_change_while_it_runs() -> None:
    trained = engine(clip_norm=1e6)
    trained.learning_rate = 0.0
    before = [parameter.detach().clone() for parameter in trained.model.parameters()]
    trained.step(batch(), REFERENCE)
    assert all(torch.equal(a, b) for a, b in zip(before, trained.model.parameters(), strict=True))
    trained.clip_norm = 1e-6
    assert trained.step(batch(), REFERENCE).clipped

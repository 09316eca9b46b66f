from __future__ import annotations

import numpy as np
import pytest
import torch

from core.domain.quantities import LEVELS
from core.forecast import score
from core.training.engine.objective import pinball, quantiles_of, weighted_parts

LEVEL_TENSOR = torch.tensor(LEVELS)


def test_the_loss_equals_the_reported_score() -> None:
    generator = np.random.default_rng(0)
    outcome, quantiles = generator.normal(size=(5, 4)), generator.normal(size=(5, 4, 7))
    ours = pinball(torch.tensor(outcome), torch.tensor(quantiles), LEVEL_TENSOR)
    np.testing.assert_allclose(ours.numpy(), score.pinball(outcome, quantiles))


@pytest.mark.parametrize("extreme", [1e30, -1e30, 1e-38, 0.0])
def test_loss_and_gradients_are_finite_at_extremes(extreme: float) -> None:
    quantiles = torch.zeros(1, 7, requires_grad=True)
    loss = pinball(torch.tensor([extreme]), quantiles, LEVEL_TENSOR.float()).sum()
    loss.backward()
    assert torch.isfinite(loss) and quantiles.grad is not None and torch.isfinite(quantiles.grad).all()


def test_quantiles_ascend_for_any_corrections() -> None:
    made = quantiles_of(torch.arange(7.0), torch.tensor([9.0, -9.0, 3.0, 0.0, -1.0, 2.0, -20.0]))
    assert (made.diff() >= 0.0).all()


def test_a_weight_of_zero_removes_a_loss_and_its_gradient() -> None:
    losses = torch.tensor([1.0, 7.0, 3.0], requires_grad=True)
    parts = weighted_parts(losses.view(1, 1, 3), torch.tensor([[[1.0, 0.0, 3.0]]]), torch.tensor(4.0))
    parts.sum().backward()
    assert parts.tolist() == pytest.approx([0.25, 0.0, 2.25])
    assert losses.grad is not None and losses.grad.tolist() == pytest.approx([0.25, 0.0, 0.75])


def test_micro_batch_losses_sum_to_the_weighted_mean() -> None:
    generator = torch.Generator().manual_seed(1)
    losses, weights = (torch.rand(5, 3, 2, dtype=torch.float64, generator=generator) for _ in range(2))
    total = weights.sum()
    parts = sum(weighted_parts(losses[rows], weights[rows], total) for rows in (slice(0, 2), slice(2, 5)))
    assert isinstance(parts, torch.Tensor)
    assert parts.sum().item() == pytest.approx(float((losses * weights).sum() / total), rel=1e-12)

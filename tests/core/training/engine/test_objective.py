from __future__ import annotations

import pytest
import torch

from core.domain.quantities import LEVELS, QUANTITIES
from core.training.engine.objective import DeviceBatch, QuantileObjective

SAMPLES, HORIZONS = 5, 8


def parts(corrections: torch.Tensor, batch: DeviceBatch, **penalty: float) -> torch.Tensor:
    objective = QuantileObjective(torch.device("cpu"), torch.float64, **penalty)  # type: ignore[arg-type]
    return objective.parts(corrections, batch, batch.weights.sum())


@pytest.mark.parametrize("power", [1, 2])
def test_a_correction_costs_its_square_times_a_power_of_the_horizon(power: int) -> None:
    generator = torch.Generator().manual_seed(3)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    levels = len(LEVELS)
    batch = DeviceBatch(
        features=drawn(SAMPLES, 4, 2),
        is_real=torch.ones(SAMPLES, 4, dtype=torch.bool),
        targets=drawn(SAMPLES, HORIZONS, QUANTITIES),
        weights=drawn(SAMPLES, HORIZONS, QUANTITIES).abs(),
        regimes=drawn(SAMPLES, 2, 3),
        reference=drawn(SAMPLES, HORIZONS, QUANTITIES, levels).sort(dim=-1).values,
    )
    corrections = drawn(SAMPLES, HORIZONS, QUANTITIES, levels)
    free, priced = parts(corrections, batch), parts(corrections, batch, shrinkage=0.3, penalty_power=power)
    expected = sum(
        0.3 * horizon**power * batch.weights[:, horizon - 1] * corrections[:, horizon - 1].square().mean(dim=-1)
        for horizon in range(1, HORIZONS + 1)
    )
    assert isinstance(expected, torch.Tensor)
    torch.testing.assert_close(priced - free, expected.sum(dim=0) / batch.weights.sum())

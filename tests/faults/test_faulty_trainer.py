"""The injected faults: each has the named effect, at its pass, and only on the model in training."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from core.training.engine.device_faults import DeviceFault, classify
from models.registry import build_model
from models.shape import ModelShape
from tests.support.faulty_trainer import (
    ENDS_PROCESS,
    Fault,
    FaultKind,
    installed,
    passes_so_far,
    random_schedule,
    schedule,
)

SHAPE = ModelShape(features=4, context=8, width=8, layers=2, heads=2, horizons=3, quantities=6, levels=7)


@pytest.fixture
def model() -> nn.Module:
    return build_model("transformer", SHAPE, seed=0)


def output_of(model: nn.Module) -> Tensor:
    features = torch.linspace(-1.0, 1.0, 2 * SHAPE.context * SHAPE.features).reshape(2, SHAPE.context, SHAPE.features)
    output: Tensor = model(features, torch.ones(2, SHAPE.context, dtype=torch.bool))
    return output


def gradients_of(model: nn.Module) -> Tensor:
    output_of(model).square().sum().backward()  # type: ignore[no-untyped-call]
    return torch.cat([part.grad.reshape(-1) for part in model.parameters() if part.grad is not None])


def test_a_fault_strikes_at_its_pass_and_counting_continues_in_the_next_process(
    tmp_path: Path, model: nn.Module
) -> None:
    schedule(tmp_path, [Fault(2, FaultKind.RAISE), Fault(4, FaultKind.RAISE, times=2)])
    raised = []
    for _life in range(3):
        with installed(tmp_path):
            for _ in range(2):
                try:
                    output_of(model)
                    raised.append(False)
                except ValueError:
                    raised.append(True)
    assert raised == [False, True, False, True, True, False]
    assert passes_so_far(tmp_path) == 6
    output_of(model)
    assert passes_so_far(tmp_path) == 6, "it is gone afterwards"


def test_a_forecasting_model_is_not_affected(tmp_path: Path, model: nn.Module) -> None:
    schedule(tmp_path, [Fault(1, FaultKind.RAISE)])
    model.eval()
    with installed(tmp_path):
        output_of(model)
    assert passes_so_far(tmp_path) == 0


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (FaultKind.STICKY, DeviceFault.STICKY),
        (FaultKind.GONE, DeviceFault.GONE),
        (FaultKind.OUT_OF_MEMORY, DeviceFault.OUT_OF_MEMORY),
        (FaultKind.ALLOCATE, DeviceFault.OUT_OF_MEMORY),
        (FaultKind.RAISE, DeviceFault.NONE),
    ],
)
def test_the_named_error_is_raised(tmp_path: Path, model: nn.Module, kind: FaultKind, fault: DeviceFault) -> None:
    schedule(tmp_path, [Fault(1, kind)])
    with installed(tmp_path), pytest.raises((RuntimeError, ValueError)) as raised:
        output_of(model)
    assert classify(raised.value) is fault


SPOILED: dict[FaultKind, Callable[[Tensor], bool]] = {
    FaultKind.NAN: lambda output: int(output.isnan().sum()) == 1,
    FaultKind.INFINITE: lambda output: int(output.isinf().sum()) == 1,
    FaultKind.NAN_GRADIENTS: lambda output: bool(output.isfinite().all()),
    FaultKind.NAN_PARAMETER: lambda output: bool(output.isfinite().all()),
}


@pytest.mark.parametrize("kind", SPOILED)
def test_the_named_part_becomes_non_finite(tmp_path: Path, model: nn.Module, kind: FaultKind) -> None:
    schedule(tmp_path, [Fault(1, kind), Fault(2, kind)])
    with installed(tmp_path):
        assert SPOILED[kind](output_of(model))
        gradients = gradients_of(model)
    is_parameter = kind is FaultKind.NAN_PARAMETER
    assert bool(gradients.isnan().any()) or is_parameter
    assert any(bool(part.isnan().any()) for part in model.parameters()) == is_parameter


def test_changing_in_place_fails_in_the_backward_pass(tmp_path: Path, model: nn.Module) -> None:
    schedule(tmp_path, [Fault(1, FaultKind.IN_PLACE)])
    with installed(tmp_path):
        output = output_of(model)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            output.sum().backward()  # type: ignore[no-untyped-call]


def test_a_spike_is_finite_and_large(tmp_path: Path, model: nn.Module) -> None:
    with torch.no_grad():
        for part in model.parameters():
            part.add_(0.1)
    usual = float(output_of(model).detach().abs().max())
    schedule(tmp_path, [Fault(1, FaultKind.SPIKE)])
    with installed(tmp_path):
        spike = float(output_of(model).detach().abs().max())
    assert np.isfinite(spike) and spike > 50.0 * usual > 0.0


def test_a_random_schedule_is_repeatable_and_spaced() -> None:
    faults = random_schedule(7, 20_000, 500, ENDS_PROCESS)
    assert faults == random_schedule(7, 20_000, 500, ENDS_PROCESS) != random_schedule(8, 20_000, 500, ENDS_PROCESS)
    assert len(faults) == 38 and {fault.kind for fault in faults} == set(ENDS_PROCESS)
    assert np.diff([fault.step for fault in faults]).min() > 250
    assert faults[0].step >= 500 and faults[-1].step < 19_500

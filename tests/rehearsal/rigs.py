"""Small engines on the pretend GPU, and the same on the CPU to compare with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from core.settings.tree import GradientSettings, TrainingSettings
from core.training.engine.cuda_graph import CudaGraphs
from core.training.engine.engine import StepResult, TrainingEngine
from core.training.engine.samples import Batch
from models.registry import build_model
from tests.core.training.engine.rigs import CPU, RATE, REFERENCE, SHAPE, batch
from tests.rehearsal.device import GpuTensor, PretendGpu

CUDA = torch.device("cuda")
CLIP_MODES = ("norm", "value", "layer", "adaptive", "off", "observe")
TRAINING = TrainingSettings(learning_rate=RATE, ema_decay=0.9, warmup_steps=5)
TIGHT = GradientSettings(clip_norm=0.05, clip_value=0.002)
"""Clips the gradients of `batch` in every mode that clips."""
ADAPTIVE = replace(TIGHT, clip_mode="adaptive")


def engine(
    device: torch.device,
    gradients: GradientSettings = ADAPTIVE,
    training: TrainingSettings = TRAINING,
    spike_action: str = "mark",
    model: str = "transformer",
    recompute: bool = False,
    graphs: bool = False,
) -> TrainingEngine:
    """The same weights on each device."""
    built = build_model(model, replace(SHAPE, recompute=recompute), 0)
    return TrainingEngine(built, device, training, gradients, 0, spike_action, graphs=CudaGraphs() if graphs else None)


def both(*, graphs: bool = False, **options: Any) -> tuple[TrainingEngine, TrainingEngine]:
    """On the pretend GPU, and on the CPU without graphs."""
    return engine(CUDA, graphs=graphs, **options), engine(CPU, **options)


def step(trained: TrainingEngine, seed: int, size: int = 4) -> StepResult:
    return trained.step(batch(seed, size), REFERENCE)


def poisoned(seed: int = 5) -> Batch:
    bad = batch(seed)
    targets = bad.targets.copy()
    targets.flat[0] = np.nan
    return replace(bad, targets=targets)


def state(trained: TrainingEngine) -> dict[str, Tensor]:
    """All that a step may change, copied to the host."""
    return {
        name: tensor.numbers.detach().clone() if isinstance(tensor, GpuTensor) else tensor.detach().clone()
        for name, tensor in trained.tensors().items()
    }


def assert_alike(one: StepResult, other: StepResult) -> None:
    """Within the rounding of sums in another order."""
    for name in ("loss", "gradient_norm", "threshold"):
        expected = getattr(other, name)
        assert getattr(one, name) == (None if expected is None else pytest.approx(expected, rel=1e-3, abs=1e-6)), name
    assert (one.clipped, one.is_spike, one.skipped_because) == (other.clipped, other.is_spike, other.skipped_because)


def assert_same_state(one: TrainingEngine, other: TrainingEngine) -> None:
    mine, theirs = state(one), state(other)
    assert mine.keys() == theirs.keys()
    for name, tensor in mine.items():
        if name != "noise":  # its form is the device's
            torch.testing.assert_close(
                tensor, theirs[name], rtol=2e-3, atol=2e-4, msg=lambda text, name=name: f"{name}: {text}"
            )


def captures(gpu: PretendGpu) -> list[str]:
    return [call for call in gpu.calls if call.startswith("capture")]


def short_at(launch: int, gpu: PretendGpu) -> Callable[[str], None]:
    """Raises at one launch, counted from now."""
    gpu.forget_counts()

    def check(_: str) -> None:
        if gpu.launches.total() == launch:
            gpu.before_launch = None
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    return check

"""The engine's overhead over a bare loop: alternating steps in one process, so that changes of the machine cancel out.

The bare loop is the usual one, of the same loss: forward, backward, `clip_grad_norm_`, fused AdamW. Ours is that of the
session: the recovery ladder around the engine with its guard, clipping and statistics, and the resulting event.
"""

from __future__ import annotations

import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from core.domain.clock import Clock
from core.domain.events import StepDone
from core.domain.quantities import LEVELS, FloatArray
from core.settings.tree import ModelSettings, RecoverySettings, Settings
from core.training.doctor.doctor import GradientDoctor
from core.training.engine.clipping import Clipper
from core.training.engine.device import Device, choose_device, prepare_thread, release_thread
from core.training.engine.engine import TrainingEngine
from core.training.engine.objective import pinball, quantiles_of
from core.training.engine.samples import Batch, synthetic_batch, synthetic_reference
from core.training.hosting.opening import build_engine
from core.training.recovery.known_good import KnownGood
from core.training.recovery.ladder import RecoveryLadder
from core.training.recovery.quarantine import Quarantine

_WARM_UP = 5
_CLIP_REPEATS = 50
_WANTED_SPEEDUP = 3.0
"""Median speedup of a whole-step graph over the same engine without one."""
_LOSS_TOLERANCE = 1e-2
"""Relative, for a step from the same numbers: kernels add in another order."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A model and the batch it is trained on."""

    name: str
    model: ModelSettings
    samples: int


def measure_training(settings: Settings, steps: int, clock: Clock) -> dict[str, Any]:
    """Measure all workloads on the configured device. Raises DeviceError."""
    prepare_thread()
    try:
        return _measure(settings, choose_device(settings.training.device), steps, clock)
    finally:
        release_thread()


def _measure(settings: Settings, device: Device, steps: int, clock: Clock) -> dict[str, Any]:
    is_cuda = device.torch_device.type == "cuda"
    cases = {
        workload.name: compare(workload, settings, device.torch_device, steps, clock)
        for workload in workloads(settings, is_cuda)
    }
    largest = workloads(settings, is_cuda)[-1]
    graph = compare_with_eager(largest, settings, device.torch_device, max(500, steps), clock) if is_cuda else None
    return {
        "cuda_graph": graph,
        "device": device.label,
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "ratio_to_bare_loop": cases["default"]["ratio_to_bare_loop"],
        "cases": cases,
    }


def workloads(settings: Settings, is_cuda: bool) -> tuple[Workload, ...]:
    """The configured model and a fixed one for comparison, unless they are equal; on CUDA also a model large enough for
    a GPU."""
    yardstick = replace(ModelSettings(), width=64, layers=2, heads=4, context=64)
    own = Workload("default", settings.model, settings.training.replay_samples + 1)
    common = Workload("64 wide, 2 layers, 32x64", yardstick, 32)
    is_same = (own.model, own.samples) == (common.model, common.samples)
    chosen = (own,) if is_same else (own, common)
    large = replace(ModelSettings(), width=128, layers=4, heads=8, context=128)
    return (*chosen, Workload("128 wide, 4 layers, 32x128", large, 32)) if is_cuda else chosen


def compare_with_eager(
    workload: Workload, settings: Settings, device: torch.device, steps: int, clock: Clock
) -> dict[str, Any]:
    """The same engine with and without CUDA graphs, in alternating steps on the same batches.

    Each pair of steps starts from the same numbers: kernels that add in another order differ by rounding, which grows
    over hundreds of steps.
    """
    chosen = replace(settings, model=workload.model)
    without = replace(chosen, training=replace(chosen.training, cuda_graphs=False))
    graphed, eager = (build_engine(each, device, seed=0) for each in (chosen, without))
    batches = [synthetic_batch(workload.model, workload.samples, seed) for seed in range(8)]
    reference = synthetic_reference(workload.model)
    pairs, losses = [], []
    for index in range(steps + _WARM_UP):
        samples = batches[index % len(batches)]
        (one, fast_s), (other, slow_s) = (_timed_loss(engine, samples, reference, clock) for engine in (graphed, eager))
        pairs.append((fast_s, slow_s))
        losses.append((one, other))
        copy_state(graphed, eager)
    speedup = _spread([slow / fast for fast, slow in pairs[_WARM_UP:]])
    return {
        "execution": graphed.execution,
        "speedup_over_eager": speedup,
        "steps": steps,
        **judge_graph(graphed.execution, losses, speedup["median"]),
    }


def copy_state(engine: TrainingEngine, other: TrainingEngine) -> None:
    """Copy all state that steps change from another engine of the same form and step count. The tensors keep their
    addresses, so a captured step stays valid."""
    for own, given in zip(engine.live(), other.live(), strict=True):
        own.copy_(given)


def judge_graph(
    execution: str, losses: Sequence[tuple[float | None, float | None]], speedup: float
) -> dict[str, bool | float | int | None]:
    """Whether a graph passes. losses: with and without it, step by step; None for a skipped step.

    With a skipped step or a non-finite loss there is no largest difference, and the graph does not pass.
    """
    differences = [_relative_difference(one, other) for one, other in losses]
    known = [difference for difference in differences if difference is not None]
    largest = max(known) if known and len(known) == len(differences) else None
    is_close = largest is not None and largest <= _LOSS_TOLERANCE
    return {
        "largest_loss_difference": largest,
        "loss_tolerance": _LOSS_TOLERANCE,
        "steps_without_loss": len(differences) - len(known),
        "loss_is_within_tolerance": is_close,
        "wanted_speedup": _WANTED_SPEEDUP,
        "passes": is_close and speedup >= _WANTED_SPEEDUP and execution == "CUDA graph",
    }


def _relative_difference(one: float | None, other: float | None) -> float | None:
    if one is None or other is None or not (math.isfinite(one) and math.isfinite(other)):
        return None
    return abs(one - other) / max(abs(other), sys.float_info.min)


def _timed_loss(
    engine: TrainingEngine, batch: Batch, reference: FloatArray, clock: Clock
) -> tuple[float | None, float]:
    """The loss, None for a skipped step, and the duration in seconds."""
    started_s = clock.monotonic_s()
    loss = engine.step(batch, reference).loss
    return loss, clock.monotonic_s() - started_s


def compare(workload: Workload, settings: Settings, device: torch.device, steps: int, clock: Clock) -> dict[str, Any]:
    """Time `steps` pairs of steps. Times in milliseconds; ratios are within a pair."""
    chosen = replace(settings, model=workload.model)
    with tempfile.TemporaryDirectory(prefix="ghostcandle-") as folder:
        engine = build_engine(chosen, device, seed=0)
        ours = _Ours(engine, Path(folder))
        bare = _Bare(build_engine(chosen, device, seed=0).model, settings, device)
        batch = synthetic_batch(workload.model, workload.samples)
        reference = synthetic_reference(workload.model)
        pairs = _time_pairs(lambda: ours.step(batch, reference), lambda: bare.step(batch, reference), steps, clock)
    ratios = [mine / theirs for mine, theirs in pairs]
    mine_ms, theirs_ms = ([1000.0 * pair[side] for pair in pairs] for side in (0, 1))
    clip_ms = 1000.0 * _clip_time_s(engine, settings, clock)
    return {
        "width": workload.model.width,
        "layers": workload.model.layers,
        "batch": workload.samples,
        "context": workload.model.context,
        "steps": steps,
        "ratio_to_bare_loop": _spread(ratios),
        "step_ms": _spread(mine_ms),
        "bare_step_ms": _spread(theirs_ms),
        "clip_ms": clip_ms,
        "clip_share_of_step": clip_ms / statistics.median(mine_ms),
    }


class _Ours:
    """A step as in the session, without candles."""

    def __init__(self, engine: TrainingEngine, folder: Path) -> None:
        self._engine = engine
        known_good = KnownGood(engine, np.random.default_rng(0))
        self._ladder = RecoveryLadder(engine, RecoverySettings(), known_good, Quarantine(folder))
        self._doctor = GradientDoctor("bench", engine.layers, Settings)
        self._losses: list[float] = []
        self._step = 0

    def step(self, batch: Batch, reference: FloatArray) -> StepDone:
        self._step += 1
        result = self._ladder.train(batch, reference, self._step, self._losses[-100:]).result
        if result.loss is not None:
            self._losses.append(result.loss)
        event = StepDone(
            run_id="bench",
            step=self._step,
            candle_open_time_ms=0,
            loss=result.loss,
            prequential_loss=None,
            gradient_norm=result.gradient_norm,
            clipped=result.clipped,
            learning_rate=result.learning_rate,
            clip_norm=self._engine.clip_norm,
            samples=batch.size,
            duration_ms=0.0,
            at_ms=0,
            gradients=result.gradients,
        )
        self._doctor.observe(event)
        if self._step % 10 == 0:
            self._ladder.known_good.remember(self._step)
            self._doctor.diagnose()
        return event


class _Bare:
    """The plainest loop that trains the same model on the same loss."""

    def __init__(self, model: nn.Module, settings: Settings, device: torch.device) -> None:
        self._model = model.train()
        self._device = device
        self._levels = torch.tensor(LEVELS, dtype=torch.float32, device=device)
        self._max_norm = settings.gradients.clip_norm
        self._shrinkage = settings.training.shrinkage
        self._optimizer = torch.optim.AdamW(
            model.parameters(), lr=settings.training.learning_rate, weight_decay=0.01, fused=True
        )

    def step(self, batch: Batch, reference: FloatArray) -> float:
        own = batch.features, batch.is_real, batch.targets, batch.weights
        features, is_real, targets, weights = (torch.from_numpy(array).to(self._device) for array in own)
        base = torch.as_tensor(reference, dtype=torch.float32, device=self._device)
        self._optimizer.zero_grad(set_to_none=True)
        corrections = self._model(features, is_real)
        losses: Tensor = pinball(targets, quantiles_of(base, corrections), self._levels)
        horizons = torch.arange(1, corrections.shape[1] + 1, device=self._device)
        losses = losses + self._shrinkage * horizons[:, None] * corrections.square().mean(dim=-1)
        loss = (losses * weights).sum() / weights.sum()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._model.parameters(), self._max_norm)
        self._optimizer.step()
        return float(loss.detach())


def _time_pairs(
    ours: Callable[[], object], theirs: Callable[[], object], pairs: int, clock: Clock
) -> list[tuple[float, float]]:
    """Seconds of each. They alternate in going first."""
    timed: list[tuple[float, float]] = []
    for index in range(pairs + _WARM_UP):
        order = (ours, theirs) if index % 2 == 0 else (theirs, ours)
        first, second = (_seconds(step, clock) for step in order)
        timed.append((first, second) if index % 2 == 0 else (second, first))
    return timed[_WARM_UP:]


def _seconds(step: Callable[[], object], clock: Clock) -> float:
    """Both kinds of step end with a number on the host, so no device work is pending."""
    started_s = clock.monotonic_s()
    step()
    return clock.monotonic_s() - started_s


def _clip_time_s(engine: TrainingEngine, settings: Settings, clock: Clock) -> float:
    """Time of clipping alone, on gradients of this model's shapes."""
    gradients = [torch.randn(engine.parameters, device=engine.device)]
    clipper = Clipper(settings.gradients, engine.device, [gradients])
    norm, not_skipped = nn.utils.get_total_norm(gradients), torch.zeros((), dtype=torch.bool, device=engine.device)
    factor = torch.ones((), device=engine.device)
    times = []
    for _ in range(_CLIP_REPEATS):
        times.append(_seconds(lambda: _wait(clipper.clip(gradients, norm, not_skipped, factor).norm_after), clock))
    return statistics.median(times)


def _wait(number: Tensor) -> float:
    return float(number)


def _spread(values: list[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "p95": float(np.percentile(values, 95.0))}

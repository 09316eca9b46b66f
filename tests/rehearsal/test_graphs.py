"""Whole steps as graphs: replayed with the numbers of their capture, so a value that the host keeps is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from core.settings.tree import GradientSettings, Settings
from core.training.engine.cuda_graph import CudaGraphs
from core.training.engine.engine import TrainingEngine
from core.training.engine.samples import Batch, synthetic_batch, synthetic_reference
from core.training.hosting.opening import build_engine
from core.training.recovery.known_good import KnownGood
from models.registry import build_model
from tests.core.training.engine.rigs import CPU, REFERENCE, SHAPE, batch
from tests.rehearsal import rigs
from tests.rehearsal.device import PretendGpu

GRAPH = "CUDA graph"
REPLAYED = ["copy to the host"]


def captured(steps: int = 5, **options: object) -> TrainingEngine:
    ours = rigs.engine(rigs.CUDA, graphs=True, **options)  # type: ignore[arg-type]
    for seed in range(steps):
        rigs.step(ours, seed)
    assert ours.execution == GRAPH
    return ours


@pytest.mark.parametrize("accumulation", [1, 2])
@pytest.mark.parametrize("clip_mode", rigs.CLIP_MODES)
def test_a_graph_follows_every_change(gpu: PretendGpu, clip_mode: str, accumulation: int) -> None:
    gradients = replace(rigs.TIGHT, clip_mode=clip_mode, accumulation=accumulation)  # type: ignore[arg-type]
    ours, cpu = rigs.both(graphs=True, gradients=gradients, spike_action="clip")
    for seed in range(7):
        for trained in (ours, cpu):
            if seed == 4:
                trained.learning_rate = rigs.RATE / 3
            if seed == 5:
                trained.clip_norm = 0.01
            if seed == 6:
                trained.expect_loss_below(1e-6)
        rigs.assert_alike(rigs.step(ours, seed), rigs.step(cpu, seed))
    assert ours.execution == GRAPH and gpu.stream == "default"
    assert rigs.captures(gpu) == ["capture thread_local"], "other threads may use the device meanwhile"
    rigs.assert_same_state(ours, cpu)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_replayed_step_waits_once_and_launches_little(gpu: PretendGpu, precision: str) -> None:
    ours = captured(training=replace(rigs.TRAINING, precision=precision))  # type: ignore[arg-type]
    gpu.forget_counts()
    rigs.step(ours, 5)
    assert gpu.waits == REPLAYED and gpu.uploads == 1 and gpu.pageable_uploads == 0
    assert gpu.launches == {"fill_": 2, "graph": 1}


@pytest.mark.parametrize("spike_action", ["mark", "clip", "skip"])
def test_a_spike_after_the_capture_is_answered(spike_action: str) -> None:
    ours, cpu = rigs.both(graphs=True, spike_action=spike_action)
    for trained in (ours, cpu):
        for seed in range(5):
            rigs.step(trained, seed)
        trained.expect_loss_below(1e-6)
    for seed in range(5, 8):
        spike = rigs.step(ours, seed)
        rigs.assert_alike(spike, rigs.step(cpu, seed))
        assert spike.is_spike and (spike.loss is None) == (spike_action == "skip")
    assert ours.execution == GRAPH
    rigs.assert_same_state(ours, cpu)


def test_a_skipped_replay_leaves_no_trace() -> None:
    ours = captured()
    before = rigs.state(ours)
    assert ours.step(rigs.poisoned(), REFERENCE).loss is None
    after = rigs.state(ours)
    assert all(tensor.equal(after[name]) for name, tensor in before.items())


def test_recomputed_activations_are_captured() -> None:
    """In a capture the state of the random numbers cannot be read, which recomputing does by default."""
    captured(recompute=True)


@pytest.mark.parametrize("change", ["restore", "micro-batches", "late market"])
def test_another_capture_follows_what_moves_tensors(gpu: PretendGpu, change: str) -> None:
    ours, cpu = rigs.both(graphs=True)
    for seed in range(5):
        for trained in (ours, cpu):
            rigs.step(trained, seed)
    saved, scalars = rigs.state(cpu), cpu.scalars()
    for trained in (ours, cpu):
        if change == "restore":
            assert trained.restore(saved, scalars)
        elif change == "micro-batches":
            trained.micro_batches = 2
    for seed in range(5, 9):
        size = 6 if change == "late market" else 4
        rigs.assert_alike(rigs.step(ours, seed, size), rigs.step(cpu, seed, size))
    assert ours.execution == GRAPH and len(rigs.captures(gpu)) == 2
    rigs.assert_same_state(ours, cpu)


def test_what_runs_eagerly_is_not_captured(gpu: PretendGpu) -> None:
    for options in (
        {"training": replace(rigs.TRAINING, precision="float16")},
        {"gradients": GradientSettings(noise=0.1)},
    ):
        ours = rigs.engine(rigs.CUDA, graphs=True, **options)  # type: ignore[arg-type]
        for seed in range(5):
            rigs.step(ours, seed)
        assert ours.execution == "eager" and rigs.captures(gpu) == []


class Faulty(nn.Module):
    """A model that does something with its output which no graph can hold."""

    def __init__(self, model: nn.Module, act: Callable[[Tensor], object]) -> None:
        super().__init__()
        self.model = model
        self.act = act

    def forward(self, features: Tensor, is_real: Tensor) -> Tensor:
        output: Tensor = self.model(features, is_real)
        self.act(output)
        return output


@pytest.mark.parametrize(
    "act",
    [lambda output: output.sum().item(), lambda output: output.cpu(), lambda output: torch.ones(2).to(output.device)],
    ids=["a read", "a copy to the host", "an upload"],
)
def test_a_step_that_cannot_be_captured_is_done_once(gpu: PretendGpu, act: Callable[[Tensor], object]) -> None:
    ours, cpu = rigs.both()
    faulty = TrainingEngine(
        Faulty(build_model("transformer", SHAPE, 0), act), rigs.CUDA, rigs.TRAINING, rigs.ADAPTIVE, graphs=CudaGraphs()
    )
    for seed in range(6):
        rigs.assert_alike(rigs.step(faulty, seed), rigs.step(cpu, seed))
    assert "could not be captured" in faulty.execution and gpu.stream == "default" and ours.execution == "eager"


def test_the_counts_in_the_documentation_are_those_of_the_default_model(gpu: PretendGpu) -> None:
    settings = Settings()
    ours = build_engine(settings, rigs.CUDA, 0)
    known_good = KnownGood(ours, np.random.default_rng(0))
    samples, reference = synthetic_batch(settings.model, 32), synthetic_reference(settings.model)

    def counted(act: Callable[[], object]) -> tuple[int, int, int]:
        gpu.forget_counts()
        act()
        return gpu.launches.total(), len(gpu.waits), gpu.uploads

    steps = [counted(lambda: ours.step(samples, reference)) for _ in range(5)]
    assert steps[2] == (183, 1, 1) and steps[4] == (3, 1, 1), "see docs/training.md, One step"
    assert gpu.calls[-1] == "replay of 181 nodes"
    forecasts = [counted(lambda: ours.corrections(samples.features[:1], samples.is_real[:1])) for _ in range(5)]
    assert forecasts[0] == (30, 1, 1) and forecasts[4] == (1, 1, 1)
    assert counted(lambda: ours.next_regimes(np.full((1, 3), 1 / 3, dtype=np.float32))) == (2, 1, 1)
    assert counted(lambda: known_good.remember(5)) == (24, 1, 0)


def test_a_forecast_by_a_graph_follows_the_weights(gpu: PretendGpu) -> None:
    ours, cpu = rigs.both(graphs=True)
    for seed in range(12):
        for trained in (ours, cpu):
            rigs.step(trained, seed)
        assert_same_forecast(ours, cpu, batch(seed, 2))
        if seed > 6:
            assert_same_forecast(ours, cpu, batch(seed, 3))  # as for the scores of a checkpoint
    assert len(rigs.captures(gpu)) == 2, "a step and a forecast"
    gpu.forget_counts()
    assert_same_forecast(ours, cpu, batch(50, 2))
    assert gpu.launches == {"graph": 1} and gpu.waits == REPLAYED and gpu.uploads == 1


def test_a_forecast_of_other_markets_gets_another_graph(gpu: PretendGpu) -> None:
    ours, cpu = rigs.both(graphs=True)
    for trained in (ours, cpu):
        rigs.step(trained, 0)
    for size in (2, 3):
        for seed in range(6):
            assert_same_forecast(ours, cpu, batch(seed, size))
    assert len(rigs.captures(gpu)) == 2


def test_an_untrained_forecast_validates_no_graph(gpu: PretendGpu) -> None:
    """It is zero, also that of a graph that reads nothing."""
    ours = rigs.engine(rigs.CUDA, graphs=True)
    for seed in range(6):
        assert not ours.corrections(*batch(seed).arrays[:2]).any()
    assert rigs.captures(gpu) == []


@pytest.mark.parametrize("kind", ["it reads", "it differs"])
def test_a_forecast_that_no_graph_gives_is_eager(gpu: PretendGpu, kind: str) -> None:
    module = Faulty(build_model("transformer", SHAPE, 0), lambda _: None)
    ours = TrainingEngine(module, rigs.CUDA, rigs.TRAINING, rigs.ADAPTIVE, graphs=CudaGraphs())
    cpu = rigs.engine(CPU)
    for trained in (ours, cpu):
        rigs.step(trained, 0)
    faulty = ours.forecasting_model
    assert isinstance(faulty, Faulty)
    if kind == "it reads":
        faulty.act = lambda output: output.sum().item()
    else:
        faulty.act = lambda output: output.mul_(2.0) if gpu.recording is not None else None
    for seed in range(6):
        assert_same_forecast(ours, cpu, batch(seed))
    assert len(rigs.captures(gpu)) == 1


def assert_same_forecast(one: TrainingEngine, other: TrainingEngine, samples: Batch) -> None:
    mine, theirs = (trained.corrections(samples.features, samples.is_real) for trained in (one, other))
    np.testing.assert_allclose(mine, theirs, rtol=1e-2, atol=1e-3)

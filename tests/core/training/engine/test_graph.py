"""Whole steps by a graph, as far as a CPU can show it: the recorder here calls the very function again on the tensors
that it was recorded with, as a graph does, and the results must be those of eager steps, bit for bit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from core.settings import GradientSettings, TrainingSettings
from core.training.engine.engine import TrainingEngine
from core.training.engine.graph import CudaGraphs
from core.training.samples import Batch
from tests.core.training.engine.rigs import CPU, RATE, REFERENCE, assert_same, batch, engine, model, state


class Recorder:
    """Counts captures and replays."""

    def __init__(self) -> None:
        self.captures = 0
        self.replays = 0

    def capture(self, run: Callable[[], Tensor]) -> Callable[[], Tensor]:
        self.captures += 1

        def replay() -> Tensor:
            self.replays += 1
            return run()

        return replay


class Stale(Recorder):
    """A graph that does its work but says what it said the first time."""

    def capture(self, run: Callable[[], Tensor]) -> Callable[[], Tensor]:
        replay = super().capture(run)
        return lambda: replay() * 0.0 + 1.0


class Broken(Recorder):
    def capture(self, run: Callable[[], Tensor]) -> Callable[[], Tensor]:
        raise RuntimeError("operation not permitted when stream is capturing\nmore of it")


TRAINING = TrainingSettings(learning_rate=RATE, ema_decay=0.9, warmup_steps=5)
ADAPTIVE = GradientSettings(clip_mode="adaptive")


def graphed(recorder: Recorder, gradients: GradientSettings = ADAPTIVE) -> TrainingEngine:
    return TrainingEngine(model(), CPU, TRAINING, gradients, graphs=recorder)


def poisoned() -> Batch:
    bad = batch(5)
    targets = bad.targets.copy()
    targets.flat[0] = np.nan
    return dataclasses.replace(bad, targets=targets)


def test_replayed_steps_are_the_eager_ones_whatever_is_changed_meanwhile() -> None:
    recorder = Recorder()
    ours, eager = graphed(recorder), engine(ADAPTIVE, TRAINING)
    for seed in range(40):
        for trained in (ours, eager):
            if seed == 15:
                trained.learning_rate = RATE / 3
            if seed == 20:
                trained.clip_norm = 0.01
            if seed == 25:
                trained.expect_loss_below(1e-6)
        samples = poisoned() if seed == 30 else batch(seed)
        assert ours.step(samples, REFERENCE) == eager.step(samples, REFERENCE)
    assert recorder.captures == 1 and recorder.replays == 1 + 36
    assert ours.execution == "CUDA graph"
    assert_same(state(eager), state(ours))


def test_what_moves_the_tensors_leads_to_a_new_capture() -> None:
    recorder = Recorder()
    ours, eager = graphed(recorder), engine(ADAPTIVE, TRAINING)
    for seed in range(6):
        for trained in (ours, eager):
            trained.step(batch(seed), REFERENCE)
    for move in ("restore", "pieces", "shape", "optimizer"):
        for trained in (ours, eager):
            if move == "restore":
                trained.restore(state(trained), trained.scalars())
            elif move == "pieces":
                trained.micro_batches = 2
            elif move == "optimizer":
                trained.renew_optimizer()
        captures = recorder.captures
        for seed in range(6):
            samples = batch(seed, size=6 if move == "shape" else 4)
            assert ours.step(samples, REFERENCE) == eager.step(samples, REFERENCE)
        assert recorder.captures == captures + 1, move
    assert_same(state(eager), state(ours))


@pytest.mark.parametrize("kind", [Stale, Broken])
def test_a_graph_that_is_not_to_be_trusted_is_not_used_and_the_reason_is_kept(kind: type[Recorder]) -> None:
    ours, eager = graphed(kind()), engine(ADAPTIVE, TRAINING)
    for seed in range(12):
        assert ours.step(batch(seed), REFERENCE) == eager.step(batch(seed), REFERENCE)
    assert_same(state(eager), state(ours))
    expected = "otherwise" if kind is Stale else "operation not permitted"
    assert expected in ours.execution and "\n" not in ours.execution


def test_loss_scaling_and_noise_are_done_eagerly() -> None:
    for training, gradients in (
        (dataclasses.replace(TRAINING, precision="float16"), ADAPTIVE),
        (TRAINING, GradientSettings(noise=0.1)),
    ):
        recorder = Recorder()
        ours = TrainingEngine(model(), CPU, training, gradients, graphs=recorder)
        for seed in range(6):
            ours.step(batch(seed), REFERENCE)
        assert recorder.captures == 0 and ours.execution == "eager"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device answers")
def test_a_real_graph_agrees_with_eager_steps_on_the_gpu() -> None:
    device = torch.device("cuda")
    ours = TrainingEngine(model(), device, TRAINING, ADAPTIVE, graphs=CudaGraphs())
    eager = TrainingEngine(model(), device, TRAINING, ADAPTIVE)
    for seed in range(500):
        one, other = (trained.step(batch(seed), REFERENCE).loss for trained in (ours, eager))
        assert one == pytest.approx(other, rel=1e-3)
    assert ours.execution == "CUDA graph"

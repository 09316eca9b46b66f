"""Whole steps by a graph, as far as a CPU can show it: the recorder here calls the very function again on the tensors
that it was recorded with, as a graph does, and the results must be those of eager steps, bit for bit."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from types import CellType, FunctionType

import numpy as np
import pytest
import torch
from torch import Tensor

from core.settings.tree import GradientSettings, TrainingSettings
from core.training.engine import cuda_graph
from core.training.engine.cuda_graph import CudaGraphs
from core.training.engine.engine import TrainingEngine
from core.training.engine.objective import DeviceBatch
from core.training.engine.samples import Batch
from tests.benchmarks.training.engine import copy_state
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


class Sick(Recorder):
    """A graph that does its work, but for one thing."""

    engine: TrainingEngine

    def capture(self, run: Callable[[], Tensor]) -> Callable[[], Tensor]:
        replay = super().capture(run)
        return lambda: self.spoil(replay)

    def spoil(self, replay: Callable[[], Tensor]) -> Tensor:
        raise NotImplementedError


class SaysTheSame(Sick):
    """It says what it said the first time."""

    def spoil(self, replay: Callable[[], Tensor]) -> Tensor:
        return replay() * 0.0 + 1.0


class Frozen(Sick):
    """The numbers it gives are right, and what it trained is put back. part: the first word of the tensors' names."""

    part = "model"

    def spoil(self, replay: Callable[[], Tensor]) -> Tensor:
        kept = {name: tensor for name, tensor in self.engine.tensors().items() if name.startswith(self.part)}
        before = {name: tensor.clone() for name, tensor in kept.items()}
        packed = replay()
        for name, tensor in kept.items():
            with torch.no_grad():
                tensor.copy_(before[name])
        return packed


class FrozenMoments(Frozen):
    part = "optimizer"


class FrozenAverage(Frozen):
    part = "average"


class DeafToItsInputs(Recorder):
    """It keeps reading the batch of the capture."""

    def capture(self, run: Callable[[], Tensor]) -> Callable[[], Tensor]:
        replay = super().capture(run)
        inputs = next(cell.cell_contents for cell in closure_of(run) if isinstance(cell.cell_contents, DeviceBatch))
        captured = [tensor.clone() for tensor in inputs]

        def deaf() -> Tensor:
            given = [tensor.clone() for tensor in inputs]
            fill(inputs, captured)
            packed = replay()
            fill(inputs, given)  # it reads other memory
            return packed

        def fill(tensors: DeviceBatch, values: list[Tensor]) -> None:
            for own, value in zip(tensors, values, strict=True):
                own.copy_(value)

        return deaf


class Broken(Recorder):
    def capture(self, run: Callable[[], Tensor]) -> Callable[[], Tensor]:
        raise RuntimeError("operation not permitted when stream is capturing\nmore of it")


class Short(Recorder):
    """Memory runs out at one point of the capture and the comparison. point: a method here, or a function of the
    module and which of its calls."""

    def __init__(self, point: str) -> None:
        super().__init__()
        self.point = point

    def capture(self, run: Callable[[], Tensor]) -> Callable[[], Tensor]:
        self.fail_at("capture")
        replay = super().capture(run)

        def short() -> Tensor:
            self.fail_at("launch")
            packed = replay()
            self.fail_at("replay")
            return packed

        return short

    def fail_at(self, point: str) -> None:
        if point == self.point:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        name, _, number = self.point.partition(" ")
        original, calls = getattr(cuda_graph, name, None), itertools.count(1)

        def counted(*arguments: object) -> object:
            self.fail_at(f"{name} {next(calls)}")
            return original(*arguments)  # type: ignore[misc]

        if number:
            monkeypatch.setattr(cuda_graph, name, counted)


TRAINING = TrainingSettings(learning_rate=RATE, ema_decay=0.9, warmup_steps=5)
SLOW = dataclasses.replace(TRAINING, learning_rate=TrainingSettings().learning_rate)
ADAPTIVE = GradientSettings(clip_mode="adaptive")


def closure_of(run: Callable[[], Tensor]) -> tuple[CellType, ...]:
    assert isinstance(run, FunctionType) and run.__closure__ is not None
    return run.__closure__


def graphed(
    recorder: Recorder, gradients: GradientSettings = ADAPTIVE, training: TrainingSettings = TRAINING
) -> TrainingEngine:
    made = TrainingEngine(model(), CPU, training, gradients, graphs=recorder)
    if isinstance(recorder, Sick):
        recorder.engine = made
    return made


def poisoned() -> Batch:
    bad = batch(5)
    targets = bad.targets.copy()
    targets.flat[0] = np.nan
    return dataclasses.replace(bad, targets=targets)


def test_replayed_steps_equal_eager_steps_despite_setting_changes() -> None:
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


def test_moved_tensors_cause_a_new_capture() -> None:
    recorder = Recorder()
    ours, eager = graphed(recorder), engine(ADAPTIVE, TRAINING)
    for seed in range(6):
        for trained in (ours, eager):
            trained.step(batch(seed), REFERENCE)
    for move in ("restore", "pieces", "shape"):
        for trained in (ours, eager):
            if move == "restore":
                trained.restore(state(trained), trained.scalars())
            elif move == "pieces":
                trained.micro_batches = 2
        captures = recorder.captures
        for seed in range(6):
            samples = batch(seed, size=6 if move == "shape" else 4)
            assert ours.step(samples, REFERENCE) == eager.step(samples, REFERENCE)
        assert recorder.captures == captures + 1, move
    assert_same(state(eager), state(ours))


@pytest.mark.parametrize("training", [TRAINING, SLOW], ids=["high rate", "default rate"])
@pytest.mark.parametrize("kind", [SaysTheSame, Frozen, FrozenMoments, FrozenAverage, DeafToItsInputs, Broken])
def test_an_untrusted_graph_is_not_used_and_the_reason_is_kept(
    kind: type[Recorder], training: TrainingSettings
) -> None:
    ours, eager = graphed(kind(), training=training), engine(ADAPTIVE, training)
    for seed in range(12):
        assert ours.step(batch(seed), REFERENCE) == eager.step(batch(seed), REFERENCE)
    assert_same(state(eager), state(ours))
    expected = "operation not permitted" if kind is Broken else "differs"
    assert expected in ours.execution and "\n" not in ours.execution


def test_a_correct_graph_is_used_at_the_default_rate_too() -> None:
    recorder = Recorder()
    ours = graphed(recorder, training=SLOW)
    for seed in range(12):
        ours.step(batch(seed), REFERENCE)
    assert ours.execution == "CUDA graph" and recorder.captures == 1


@pytest.mark.parametrize("kind", [Recorder, Frozen])
def test_a_skipped_step_does_not_validate_a_graph(kind: type[Recorder]) -> None:
    recorder = kind()
    ours, eager = graphed(recorder), engine(ADAPTIVE, TRAINING)
    for seed in range(12):
        samples = poisoned() if seed in (3, 4) else batch(seed)
        assert ours.step(samples, REFERENCE) == eager.step(samples, REFERENCE)
        assert seed >= 5 or ours.execution == "eager so far"
    assert_same(state(eager), state(ours))
    assert (ours.execution == "CUDA graph") is (kind is Recorder) and recorder.captures == 1


@pytest.mark.parametrize(
    "point", ["_copies 1", "capture", "launch", "replay", "_copies 2", "_agree 1", "_change 1", "_norm 3"]
)
def test_a_shortage_of_memory_refuses_the_graph_and_the_step_is_done_once(
    point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three steps have shown that the batch fits: what does not fit is the graph and its comparison."""
    recorder = Short(point)
    recorder.install(monkeypatch)
    ours, eager = graphed(recorder), engine(ADAPTIVE, TRAINING)
    for seed in range(8):
        assert ours.step(batch(seed), REFERENCE) == eager.step(batch(seed), REFERENCE)
    assert_same(state(eager), state(ours))
    assert "memory" in ours.execution and ours.micro_batches == 1


def test_a_shortage_in_the_eager_step_itself_is_raised_without_a_trace() -> None:
    """It is for the ladder to answer, and the state is the one before the step."""
    recorder = Recorder()
    ours = graphed(recorder)
    for seed in range(3):
        ours.step(batch(seed), REFERENCE)
    before = state(ours)

    def short(*_: object) -> None:
        if recorder.replays:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    with ours.model.register_forward_hook(short), pytest.raises(torch.OutOfMemoryError):
        ours.step(batch(3), REFERENCE)
    assert_same(before, state(ours))
    assert not ours.is_half_done and ours.execution == "eager so far"


def test_a_broken_device_does_not_fall_back_to_eager_steps() -> None:
    class Sticky(Recorder):
        def capture(self, run: Callable[[], Tensor]) -> Callable[[], Tensor]:
            error = torch.AcceleratorError("CUDA error: an illegal memory access was encountered")
            error.error_code = 700  # type: ignore[attr-defined]
            raise error

    ours = graphed(Sticky())
    for seed in range(3):
        ours.step(batch(seed), REFERENCE)
    with pytest.raises(torch.AcceleratorError):
        ours.step(batch(3), REFERENCE)


def test_a_refusal_ends_when_a_different_graph_would_be_captured() -> None:
    recorder = SaysTheSame()
    ours = graphed(recorder)
    for seed in range(6):
        ours.step(batch(seed), REFERENCE)
    assert "differs" in ours.execution
    ours.micro_batches = 2
    assert ours.execution == "eager so far"


def test_loss_scaling_and_noise_run_eagerly() -> None:
    for training, gradients in (
        (dataclasses.replace(TRAINING, precision="float16"), ADAPTIVE),
        (TRAINING, GradientSettings(noise=0.1)),
    ):
        recorder = Recorder()
        ours = TrainingEngine(model(), CPU, training, gradients, graphs=recorder)
        for seed in range(6):
            ours.step(batch(seed), REFERENCE)
        assert recorder.captures == 0 and ours.execution == "eager"


def test_an_engine_that_loads_another_state_continues_it_and_keeps_its_graph() -> None:
    recorder = Recorder()
    ours, other = graphed(recorder), engine(ADAPTIVE, TRAINING)
    for seed in range(8):
        ours.step(batch(seed), REFERENCE)
        other.step(batch(100 + seed), REFERENCE)
    copy_state(ours, other)
    for seed in range(4):
        assert ours.step(batch(seed), REFERENCE) == other.step(batch(seed), REFERENCE)
    assert_same(state(other), state(ours))
    assert recorder.captures == 1 and ours.execution == "CUDA graph"


class CudaStreams:
    """torch.cuda.graph and the current stream as torch 2.13 has them, where `capture_end` raises: __exit__ sets the
    former stream only after it."""

    def __init__(self) -> None:
        self.current = "the trainer's"

    def graph(self, *_: object, **__: object) -> CudaStreams:
        return self

    def set_stream(self, stream: str) -> None:
        self.current = stream

    def __enter__(self) -> None:
        self.current = "the capture's"

    def __exit__(self, *_: object) -> None:
        raise RuntimeError("CUDA error: operation failed due to a previous error during capture")


def test_a_failed_capture_restores_the_former_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = CudaStreams()
    monkeypatch.setattr(torch.cuda, "CUDAGraph", object)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: streams.current)
    monkeypatch.setattr(torch.cuda, "set_stream", streams.set_stream)
    monkeypatch.setattr(torch.cuda, "graph", streams.graph)
    with pytest.raises(RuntimeError, match="during capture"):
        CudaGraphs().capture(lambda: torch.ones(()))
    assert streams.current == "the trainer's"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device was found")
def test_a_real_graph_agrees_with_eager_steps_on_the_gpu() -> None:
    device = torch.device("cuda")
    ours = TrainingEngine(model(), device, TRAINING, ADAPTIVE, graphs=CudaGraphs())
    eager = TrainingEngine(model(), device, TRAINING, ADAPTIVE)
    for seed in range(500):  # each from the same numbers: roundings would grow to any difference over the steps
        one, other = (trained.step(batch(seed), REFERENCE).loss for trained in (ours, eager))
        assert one == pytest.approx(other, rel=1e-3)
        copy_state(ours, eager)
    assert ours.execution == "CUDA graph"

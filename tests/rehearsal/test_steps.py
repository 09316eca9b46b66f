"""Eager steps on the pretend GPU: the CPU's results, one wait, and no hidden ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from core.settings.tree import GradientSettings
from models.registry import MODELS
from tests.core.training.engine.rigs import CPU, REFERENCE, batch
from tests.rehearsal import rigs
from tests.rehearsal.device import PretendGpu
from tests.rehearsal.rigs import short_at

PLANNED = ["copy to the host"]
UPLOADS = 1
"""Features, which candles are real, targets, weights, regimes and reference in one piece, from pinned memory."""


@pytest.mark.parametrize("accumulation", [1, 3])
@pytest.mark.parametrize("clip_mode", rigs.CLIP_MODES)
def test_steps_equal_those_on_the_cpu(clip_mode: str, accumulation: int) -> None:
    gradients = replace(rigs.TIGHT, clip_mode=clip_mode, accumulation=accumulation)  # type: ignore[arg-type]
    ours, cpu = rigs.both(gradients=gradients)
    for seed in range(4):
        rigs.assert_alike(rigs.step(ours, seed), rigs.step(cpu, seed))
    rigs.assert_same_state(ours, cpu)


def test_a_padded_batch_teaches_as_much_as_the_same_samples_alone() -> None:
    """On a GPU a late market leaves rows of padding, so that a graph still fits."""
    ours, cpu = rigs.both(gradients=GradientSettings(accumulation=2))
    for seed in range(4):
        rigs.assert_alike(ours.step(batch(seed).padded(7), REFERENCE), rigs.step(cpu, seed))
    rigs.assert_same_state(ours, cpu)
    weights = "regimes.weights"
    torch.testing.assert_close(rigs.state(ours)[weights], rigs.state(cpu)[weights], rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("spike_action", ["mark", "clip", "skip"])
@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_a_step_waits_once_and_uploads_its_batch(gpu: PretendGpu, precision: str, spike_action: str) -> None:
    training = replace(rigs.TRAINING, precision=precision)  # type: ignore[arg-type]
    ours, cpu = rigs.both(training=training, spike_action=spike_action)
    for trained in (ours, cpu):
        for seed in range(2):
            rigs.step(trained, seed)
        trained.expect_loss_below(1e-6)
    gpu.forget_counts()
    spike = rigs.step(ours, 2)
    assert gpu.waits == PLANNED and gpu.uploads == UPLOADS and gpu.pageable_uploads == 0
    rigs.assert_alike(spike, rigs.step(cpu, 2))
    assert spike.is_spike and (spike.loss is None) == (spike_action == "skip")


@pytest.mark.parametrize("clip_mode", rigs.CLIP_MODES)
def test_no_clip_mode_waits(gpu: PretendGpu, clip_mode: str) -> None:
    ours = rigs.engine(rigs.CUDA, replace(rigs.TIGHT, clip_mode=clip_mode, accumulation=2))  # type: ignore[arg-type]
    rigs.step(ours, 0)
    gpu.forget_counts()
    rigs.step(ours, 1)
    assert gpu.waits == PLANNED and gpu.uploads == UPLOADS


@pytest.mark.parametrize("model", sorted(MODELS))
def test_every_model_steps_and_forecasts_as_on_the_cpu(gpu: PretendGpu, model: str) -> None:
    ours, cpu = rigs.both(model=model)
    for seed in range(3):
        gpu.forget_counts()
        rigs.assert_alike(rigs.step(ours, seed), rigs.step(cpu, seed))
        assert gpu.waits == PLANNED and gpu.uploads == UPLOADS
    samples = batch(9)
    gpu.forget_counts()
    predicted = ours.corrections(samples.features, samples.is_real)
    assert gpu.waits == PLANNED and gpu.uploads == 1 and gpu.pageable_uploads == 0
    np.testing.assert_allclose(predicted, cpu.corrections(samples.features, samples.is_real), rtol=1e-2, atol=1e-3)


def test_a_batch_waits_for_the_copy_of_one_whose_step_raised(gpu: PretendGpu) -> None:
    """Pinned memory may be written again only after the copy from it was made."""
    ours, cpu = rigs.both()
    gpu.before_launch = short_at(10, gpu)
    with pytest.raises(torch.OutOfMemoryError):
        rigs.step(ours, 0)
    gpu.forget_counts()
    rigs.assert_alike(rigs.step(ours, 1), rigs.step(cpu, 1))
    assert gpu.waits == ["event", *PLANNED]


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_a_skipped_step_leaves_no_trace(precision: str) -> None:
    ours = rigs.engine(rigs.CUDA, training=replace(rigs.TRAINING, precision=precision))  # type: ignore[arg-type]
    rigs.step(ours, 0)
    before = rigs.state(ours)
    assert ours.step(rigs.poisoned(), REFERENCE).loss is None
    after = rigs.state(ours)
    assert all(tensor.equal(after[name]) for name, tensor in before.items())


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize(("start", "end"), [("cpu", "cuda"), ("cuda", "cpu"), ("cuda", "cuda")])
def test_a_state_of_either_device_is_restored_on_the_other(start: str, end: str, noise: float) -> None:
    gradients = GradientSettings(noise=noise)
    places = {"cpu": CPU, "cuda": rigs.CUDA}
    first, second = (rigs.engine(places[kind], gradients) for kind in (start, end))
    for seed in range(3):
        rigs.step(first, seed)
    assert second.restore(rigs.state(first), first.scalars())
    rigs.assert_same_state(second, first)
    one, other = rigs.step(first, 3), rigs.step(second, 3)
    assert one.loss == pytest.approx(other.loss, rel=1e-4), "the noise of a step does not change its own loss"
    assert second.is_finite()
    if noise == 0.0 or start == end:
        rigs.assert_same_state(second, first)


def test_a_rate_and_a_threshold_of_the_user_are_followed() -> None:
    ours, cpu = rigs.both(gradients=replace(rigs.TIGHT, clip_mode="norm"))
    for seed in range(6):
        if seed == 3:
            for trained in (ours, cpu):
                trained.learning_rate, trained.clip_norm = 1e-3, 0.01
        rigs.assert_alike(rigs.step(ours, seed), rigs.step(cpu, seed))
    rigs.assert_same_state(ours, cpu)
    assert ours.clip_norm == pytest.approx(0.01)

"""The benchmark runs and reports its figures. Only tests/benchmarks checks the speed of this machine."""

from __future__ import annotations

import copy
from dataclasses import replace
from itertools import count

import pytest
import torch

from core.domain.clock import ManualClock
from core.settings.tree import ModelSettings, Settings, TrainingSettings
from core.training.engine.samples import synthetic_batch, synthetic_reference
from core.training.hosting.opening import build_engine
from tests.benchmarks.training.engine import _Bare, measure_training, workloads

SMALL = Settings(
    model=ModelSettings(width=8, layers=1, heads=2, context=8, horizons=3), training=TrainingSettings(device="cpu")
)


class Counting(ManualClock):
    """A look at it takes a second."""

    def __init__(self) -> None:
        super().__init__()
        self._looks = count()

    def monotonic_s(self) -> float:
        return float(next(self._looks))


def test_each_workload_is_measured_with_our_engine_and_a_plain_loop() -> None:
    measured = measure_training(SMALL, 3, Counting())
    assert set(measured["cases"]) == {"default", "64 wide, 2 layers, 32x64"}
    assert measured["cuda_graph"] is None and measured["threads"] == 1
    assert measured["ratio_to_bare_loop"] == measured["cases"]["default"]["ratio_to_bare_loop"]
    for case in measured["cases"].values():
        assert case["steps"] == 3 and case["step_ms"]["median"] == 1000.0
        assert case["ratio_to_bare_loop"] == {"median": 1.0, "p95": 1.0}
        assert case["clip_ms"] > 0.0


def test_no_workload_is_measured_twice() -> None:
    """The settings' own model is the yardstick where nothing was set."""
    (only,) = workloads(Settings(), is_cuda=False)
    assert only.name == "default" and only.model == ModelSettings() and only.samples == 32
    other = replace(Settings(), training=TrainingSettings(replay_samples=15))
    for settings, is_cuda in ((Settings(), True), (other, False), (other, True), (SMALL, True)):
        chosen = workloads(settings, is_cuda)
        assert len({(one.model, one.samples) for one in chosen}) == len(chosen) >= 2
        assert chosen[0].name == "default"


def test_the_bare_loop_has_our_loss() -> None:
    """So that the ratio is the overhead alone. After a step, since the first corrections are zero."""
    settings, device = Settings(), torch.device("cpu")
    ours = build_engine(settings, device, seed=0)
    samples, reference = synthetic_batch(settings.model, 4), synthetic_reference(settings.model)
    ours.step(samples, reference)
    bare = _Bare(copy.deepcopy(ours.model), settings, device)
    assert bare.step(samples, reference) == pytest.approx(ours.step(samples, reference).loss, rel=1e-5)

"""The benchmark runs and measures what it says. How fast this machine is, only the slow test asks, and loosely."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from core.clock import SystemClock
from core.settings import ModelSettings, Settings, TrainingSettings
from core.training.benchmark import measure_training, workloads

SMALL = Settings(
    model=ModelSettings(width=8, layers=1, heads=2, context=8, horizons=3), training=TrainingSettings(device="cpu")
)
LOOSE = 1.5


@pytest.fixture(autouse=True)
def keep_threads() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def test_it_measures_ours_and_the_bare_loop_for_each_workload() -> None:
    measured = measure_training(SMALL, 10, SystemClock())
    assert set(measured["cases"]) == {"default", "64 wide, 2 layers, 32x64"}
    assert measured["cuda_graph"] is None and measured["threads"] == 1
    assert measured["ratio_to_bare_loop"] == measured["cases"]["default"]["ratio_to_bare_loop"]
    for case in measured["cases"].values():
        assert case["steps"] == 10
        assert 0.0 < case["ratio_to_bare_loop"]["median"] <= case["ratio_to_bare_loop"]["p95"]
        assert 0.0 < case["clip_ms"] < case["step_ms"]["median"]


def test_no_workload_is_measured_twice() -> None:
    """The settings' own model is the yardstick where nothing was set."""
    (only,) = workloads(Settings(), is_cuda=False)
    assert only.name == "default" and only.model == ModelSettings() and only.samples == 32
    other = replace(Settings(), training=TrainingSettings(replay_samples=15))
    for settings, is_cuda in ((Settings(), True), (other, False), (other, True), (SMALL, True)):
        chosen = workloads(settings, is_cuda)
        assert len({(one.model, one.samples) for one in chosen}) == len(chosen) >= 2
        assert chosen[0].name == "default"


@pytest.mark.slow
def test_a_step_with_everything_on_costs_little_more_than_a_bare_one() -> None:
    """Its bar of 1.05 is for a machine that does nothing else."""
    settings = Settings(training=TrainingSettings(device="cpu"))
    assert measure_training(settings, 60, SystemClock())["ratio_to_bare_loop"]["median"] < LOOSE

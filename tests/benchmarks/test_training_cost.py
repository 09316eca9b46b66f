"""The cost of training relative to a plain loop, and of the doctor relative to training."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch

from core.domain.clock import SystemClock
from core.settings.tree import Settings, TrainingSettings
from core.training.doctor.doctor import GradientDoctor
from tests.benchmarks.training.engine import measure_training
from tests.core.training.doctor.steps import step
from tests.core.training.engine.rigs import REFERENCE, batch, engine

pytestmark = pytest.mark.benchmark

LOOSE = 1.5
"""The limit of `python -m tests.benchmarks train` is 1.05, on an otherwise idle machine."""
LAYERS = 40


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_a_full_step_costs_little_more_than_a_plain_one() -> None:
    settings = Settings(training=TrainingSettings(device="cpu"))
    assert measure_training(settings, 60, SystemClock())["ratio_to_bare_loop"]["median"] < LOOSE


def test_a_diagnosis_costs_less_than_the_smallest_step() -> None:
    """At 40 layers; every tenth step asks for one."""
    noise = np.random.default_rng(20).lognormal(0.0, 0.3, 1000)
    doctor = GradientDoctor("run", [str(place) for place in range(LAYERS)], Settings)
    for number in range(1, 301):
        doctor.observe(step(number, noise[number], noise[-number], [noise[number]] * LAYERS))
    trained = engine()
    samples = batch(0)
    ratio = _median_s(doctor.diagnose) / _median_s(lambda: trained.step(samples, REFERENCE))
    print(f"a diagnosis takes {ratio:.2f} steps")
    assert ratio < 1.0


def _median_s(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(100):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)

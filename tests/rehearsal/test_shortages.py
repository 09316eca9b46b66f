"""Memory of the GPU that runs out: at a start, in a step, and at each point of a capture and its comparison."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from core.domain.incident_kinds import IncidentKind
from core.settings.tree import RecoverySettings
from core.training.recovery.known_good import KnownGood
from core.training.recovery.ladder import RecoveryLadder
from core.training.recovery.quarantine import Quarantine
from tests.core.training.engine.rigs import REFERENCE, batch
from tests.rehearsal import rigs
from tests.rehearsal.device import PretendGpu
from tests.rehearsal.rigs import short_at

VERIFIED_STEP = 3
"""After three eager ones."""
POINTS = range(5, 640, 62)
"""Evenly over the launches of the verified step: copies, capture, replay, eager step, comparison."""


def test_the_launches_of_the_verified_step_are_the_points_of_the_next_test(gpu: PretendGpu) -> None:
    ours = rigs.engine(rigs.CUDA, graphs=True)
    for seed in range(VERIFIED_STEP):
        rigs.step(ours, seed)
    gpu.forget_counts()
    rigs.step(ours, VERIFIED_STEP)
    assert ours.execution == "CUDA graph"
    assert POINTS[-1] < gpu.launches.total() < POINTS[-1] + POINTS.step


@pytest.mark.parametrize("launch", POINTS)
def test_a_shortage_anywhere_in_the_verified_step_does_it_once(gpu: PretendGpu, launch: int) -> None:
    ours, cpu = rigs.both(graphs=True)
    for seed in range(VERIFIED_STEP + 2):
        gpu.before_launch = short_at(launch, gpu) if seed == VERIFIED_STEP else None
        rigs.assert_alike(rigs.step(ours, seed), rigs.step(cpu, seed))
    assert "memory" in ours.execution and ours.micro_batches == 1
    rigs.assert_same_state(ours, cpu)


def test_a_graph_that_does_not_fit_is_no_matter_of_the_ladder(gpu: PretendGpu) -> None:
    """Steps fit, and the copies of the comparison do not, however often they are tried."""
    ours = rigs.engine(rigs.CUDA, graphs=True)
    ladder = RecoveryLadder(ours, RecoverySettings(), KnownGood(ours, np.random.default_rng(0)), Quarantine(None))

    def check(name: str) -> None:
        if name == "linalg_vector_norm" and len(gpu.calls) > 0:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    gpu.before_launch = check
    for step in range(1, 12):
        done = ladder.train(batch(step), REFERENCE, step, [1.0])
        assert done.incidents == () and done.result.loss is not None
    assert "memory" in ours.execution and ours.micro_batches == 1


@pytest.mark.parametrize("launch", [10, 60, 120])
def test_a_shortage_in_an_eager_step_splits_the_batch(gpu: PretendGpu, launch: int) -> None:
    ours, cpu = rigs.both()
    ladder = RecoveryLadder(ours, RecoverySettings(), KnownGood(ours, np.random.default_rng(0)), Quarantine(None))
    for step in (1, 2):
        ladder.train(batch(step), REFERENCE, step, [1.0])
        rigs.step(cpu, step)
        ladder.known_good.remember(step)
    gpu.before_launch = short_at(launch, gpu)
    done = ladder.train(batch(3), REFERENCE, 3, [1.0])
    rigs.assert_alike(done.result, rigs.step(cpu, 3))
    assert [incident.kind for incident in done.incidents] == [IncidentKind.OUT_OF_MEMORY]
    assert ours.micro_batches == 2
    rigs.assert_same_state(ours, cpu)

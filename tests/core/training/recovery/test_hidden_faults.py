"""Faults that a step's own numbers hide, or that come where the ladder does not stand: found, and answered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from core.settings import GradientSettings, RecoverySettings, TrainingSettings
from core.training.engine.engine import TrainingEngine
from core.training.recovery.known_good import KnownGood
from core.training.recovery.ladder import RecoveryLadder
from core.training.recovery.quarantine import Quarantine
from tests.core.training.engine.rigs import RATE, REFERENCE, assert_same, batch, engine, state
from tests.core.training.recovery.test_ladder import Bench, forward_hook, nan_gradients

pytestmark = pytest.mark.faults


def spoil(trained: TrainingEngine, part: str, value: float) -> None:
    """One number of the first tensor whose name has this part."""
    tensors = [tensor for name, tensor in trained.tensors().items() if part in name]
    with torch.no_grad():
        tensors[0].view(-1)[0] = value


@pytest.mark.parametrize("action", ["mark", "clip", "skip"])
def test_a_spike_whose_gradients_are_not_finite_is_no_spike_and_leads_back(tmp_path: Path, action: str) -> None:
    bench = Bench(tmp_path / "kept", RecoverySettings(spike_action=action), spike_action=action)  # type: ignore[arg-type]
    bench.ladder._losses.extend([1e-6] * 60)
    kinds = []
    with nan_gradients(bench.engine):
        for _ in range(3):
            done = bench.train()
            kinds += bench.kinds(done)
            assert not done.result.is_spike
    assert kinds == ["step skipped", "step skipped", "rolled back"]
    assert_same(bench.good, state(bench.engine))


def test_losses_that_stay_high_become_the_usual_and_are_learned_from(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "kept", RecoverySettings(spike_action="skip"), spike_action="skip")
    bench.ladder._losses.extend([1e-6] * 60)
    done = [bench.train().result.skipped_because is None for _ in range(120)]
    assert not any(done[:10])
    assert all(done[-10:])


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
@pytest.mark.parametrize("part", ["exp_avg_sq", "average."])
def test_a_moment_or_an_average_that_is_not_finite_goes_back_when_it_is_looked_at(
    tmp_path: Path, part: str, value: float
) -> None:
    bench = Bench(tmp_path)
    bench.train()
    spoil(bench.engine, part, value)
    looked = bench.ladder.remember(bench.step)
    assert [mishap.kind for mishap in looked.mishaps] == ["rolled back"] and not looked.must_pause
    assert_same(bench.good, state(bench.engine))
    bench.train()
    assert bench.ladder.remember(bench.step).mishaps == ()
    assert bench.ladder.known_good.step == bench.step


def test_a_large_moment_whose_square_is_none_is_finite_all_the_same(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    spoil(bench.engine, "exp_avg_sq", 1e30)
    assert bench.engine.is_finite()


def test_memory_that_runs_out_after_the_optimizer_moved_is_not_learned_from_twice(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    follow = bench.engine._average.follow  # type: ignore[union-attr]
    calls = []

    def fail_once(is_skipped: torch.Tensor) -> None:
        calls.append(1)
        if len(calls) == 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        follow(is_skipped)

    bench.engine._average.follow = fail_once  # type: ignore[union-attr, method-assign]
    done = bench.train(batch(99))
    assert bench.kinds(done) == ["out of memory"] and done.result.skipped_because is None
    ages = {int(entry["step"]) for entry in bench.engine.optimizer.state.values()}
    assert ages == {11}, "ten steps of the known good state, and this one once"
    assert not bench.engine.has_moved_on


@pytest.mark.parametrize("steps", [1, 5])
def test_the_age_of_the_moments_is_kept_through_skips_and_rollbacks(tmp_path: Path, steps: int) -> None:
    bench = Bench(tmp_path)
    for _ in range(steps):
        with nan_gradients(bench.engine):
            bench.train()
        bench.train()
        assert not bench.engine.has_moved_on
    spoil(bench.engine, "model.", torch.nan)
    bench.train()
    assert not bench.engine.has_moved_on
    bench.engine.renew_optimizer()
    assert not bench.engine.has_moved_on


def test_first_tries_that_fail_again_and_again_pause_in_the_end(tmp_path: Path) -> None:
    bench = Bench(tmp_path, RecoverySettings(rollbacks=3))
    pauses = []
    for _ in range(4):
        calls: list[int] = []

        def fail_once(*_: object, calls: list[int] = calls) -> None:
            calls.append(1)
            if len(calls) == 1:
                raise ValueError("once")

        with forward_hook(bench.engine, fail_once):
            pauses.append(bench.train().must_pause)
    assert pauses == [False, False, False, True]
    assert_same(bench.good, state(bench.engine))


def test_a_naming_pass_that_fails_otherwise_stays_on_the_ladder(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    calls: list[int] = []

    def spoil_then_fail(_module: object, _inputs: object, output: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        if len(calls) > 1:
            raise ValueError("another error in the second pass")
        changed = output.exp()  # its backward pass needs what it gave
        result = changed * 1.0
        changed.add_(1.0)
        return result

    with forward_hook(bench.engine, spoil_then_fail):
        done = bench.train()
    assert bench.kinds(done) == ["changed in place"]
    assert "another error" in done.mishaps[0].details


def test_overflows_under_a_loss_scale_are_free_at_first_and_counted_once_they_are_too_many(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with nan_gradients(bench.engine):
        result = bench.train().result
    assert result.gradients is not None
    under_scale = replace(result, gradients=replace(result.gradients, loss_scale=1024.0))
    bench.ladder.resumed()
    free = [bench.ladder._is_finding_scale(under_scale) for _ in range(6)]
    assert free == [True, True, True, False, False, False], "steps were done before: the scale is known"
    at_one = replace(result, gradients=replace(result.gradients, loss_scale=1.0))
    assert not bench.ladder._is_finding_scale(at_one)


def test_a_fault_of_gradients_that_hides_behind_the_scale_leads_back(tmp_path: Path) -> None:
    """With the real scaler of fp16, on a CPU: the scale is far above one, and the gradients are NaN all the same."""
    training = TrainingSettings(learning_rate=RATE, precision="float16")
    half = engine(GradientSettings(), training)
    generator = np.random.default_rng(7)
    ladder = RecoveryLadder(half, RecoverySettings(), KnownGood(half, generator), Quarantine(tmp_path))
    for step in range(1, 30):
        ladder.train(batch(step), REFERENCE, step, [])
    ladder.remember(30)
    kinds: list[str] = []
    with nan_gradients(half):
        for step in range(31, 38):
            kinds += [mishap.kind for mishap in ladder.train(batch(step), REFERENCE, step, []).mishaps]
    assert "rolled back" in kinds

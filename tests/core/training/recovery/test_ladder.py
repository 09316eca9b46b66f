"""Each rung of the recovery ladder on an engine alone, with a real fault and a check of the state afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle

from core.domain.diagnosis import NonFiniteOrigin
from core.domain.events import Severity
from core.settings.tree import GradientSettings, RecoverySettings, TrainingSettings
from core.storage.weights import read_weights
from core.training.engine.engine import TrainingEngine
from core.training.recovery.known_good import KnownGood
from core.training.recovery.ladder import RecoveryLadder, TrainedStep
from core.training.recovery.quarantine import Quarantine
from tests.core.training.engine.rigs import (
    RATE,
    REFERENCE,
    assert_same,
    batch,
    change_in_place,
    engine,
    forward_hook,
    poisoned,
    spoiled_gradients,
    state,
)
from tests.core.training.recovery.ladder_bench import Bench

pytestmark = pytest.mark.faults


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("where", ["features", "targets"])
def test_a_bad_batch_is_quarantined_on_disk_and_never_reaches_the_model(
    tmp_path: Path, where: str, value: float
) -> None:
    bench = Bench(tmp_path / "kept")
    bad = poisoned(where, value)
    seen: list[object] = []
    with forward_hook(bench.engine, lambda *_: seen.append(1)):
        done = bench.train(bad)
    assert not seen and done.result.loss is None and done.result.origin is NonFiniteOrigin.INPUT
    assert_same(bench.good, state(bench.engine))
    (file,) = (tmp_path / "kept").iterdir()
    tensors, metadata = read_weights(file)
    np.testing.assert_array_equal(tensors[where].numpy(), getattr(bad, where))
    assert metadata["step"] == 11
    for _ in range(5):  # the model is not at fault: no rollback comes of it
        assert bench.kinds(bench.train(bad)) == ["bad batch"]
    assert bench.train().result.loss is not None and bench.engine.rate_factor == 1.0


def test_an_unwritable_quarantine_stops_nothing(tmp_path: Path) -> None:
    blocked = tmp_path / "kept"
    blocked.write_text("a file where the folder should be")
    bench = Bench(blocked)
    done = bench.train(poisoned("targets", np.nan))
    assert bench.kinds(done) == ["bad batch"] and "could not be kept" in done.incidents[0].done
    assert bench.train().result.loss is not None


def test_the_third_skip_in_a_row_rolls_back(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for _ in range(4):
        bench.train()
    before = state(bench.engine)
    with spoiled_gradients(bench.engine):
        for _ in range(2):
            done = bench.train()
            assert bench.kinds(done) == ["step skipped"] and not bench.ladder.is_sound
            assert_same(before, state(bench.engine))
        done = bench.train()
    assert bench.kinds(done) == ["rolled back"] and bench.ladder.is_sound
    assert_same(bench.good, state(bench.engine))
    assert bench.engine.rate_now == pytest.approx(RATE / 2)
    assert bench.train().result.loss is not None


def test_skips_not_in_a_row_do_not_roll_back(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for _ in range(6):
        with spoiled_gradients(bench.engine):
            assert bench.kinds(bench.train()) == ["step skipped"]
        assert bench.kinds(bench.train()) == []
    assert bench.engine.rate_factor == 1.0


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_a_non_finite_parameter_rolls_everything_back_at_once(tmp_path: Path, value: float) -> None:
    bench = Bench(tmp_path)
    draw = bench.generator.bit_generator.state
    bench.generator.random(5)
    bench.train()
    with torch.no_grad():
        next(bench.engine.model.parameters()).view(-1)[3] = value
    done = bench.train()
    assert bench.kinds(done) == ["rolled back"] and done.result.origin is NonFiniteOrigin.PARAMETERS
    assert_same(bench.good, state(bench.engine))
    assert bench.generator.bit_generator.state == draw
    assert bench.engine.is_finite() and bench.engine.rate_factor == 0.5


def test_training_does_not_modify_the_known_good_state(tmp_path: Path) -> None:
    """The optimizer took the copy's own moments, and trained on in them: the second way back led elsewhere."""
    bench = Bench(tmp_path)
    for _ in range(3):
        for _ in range(4):
            bench.train()
        bench.ladder.known_good.restore()
        assert_same(bench.good, state(bench.engine))


def test_without_usable_moments_the_known_good_state_gets_a_new_optimizer(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for name, tensor in bench.ladder.known_good._state.pieces.items():
        if name.startswith("optimizer.0.exp_avg"):
            tensor.fill_(torch.nan)
    done = bench.train_spoiled()
    assert bench.kinds(done) == ["rolled back"] and "new optimizer" in done.incidents[0].done
    assert not bench.engine.optimizer.state
    assert bench.train().result.loss is not None and bench.engine.is_finite()


def test_an_exhausted_rollback_budget_pauses_until_the_user_resumes(tmp_path: Path) -> None:
    bench = Bench(tmp_path, RecoverySettings(rollbacks=2, rollback_window_steps=100))

    assert [bench.train_spoiled().must_pause for _ in range(3)] == [False, False, True]
    assert bench.engine.is_finite()
    assert_same(bench.good, state(bench.engine))
    assert bench.engine.rate_factor == 0.25
    assert bench.train_spoiled().must_pause
    bench.ladder.resumed()
    assert not bench.train_spoiled().must_pause


def test_rollbacks_far_apart_do_not_exhaust_the_budget(tmp_path: Path) -> None:
    bench = Bench(tmp_path, RecoverySettings(rollbacks=1, rollback_window_steps=10))
    for _ in range(3):
        assert not bench.train_spoiled().must_pause
        for _ in range(10):
            bench.train()


def test_an_in_place_change_is_skipped_and_its_operation_named(tmp_path: Path) -> None:
    bench = Bench(tmp_path)

    with forward_hook(bench.engine, change_in_place):
        done = bench.train()
    assert bench.kinds(done) == ["changed in place"] and done.result.loss is None
    assert "ExpBackward" in done.incidents[0].details and "change_in_place" in done.incidents[0].details
    assert not torch.is_anomaly_enabled()
    assert_same(bench.good, state(bench.engine))
    assert bench.train().result.loss is not None


def test_a_persistent_in_place_change_rolls_back_and_finally_pauses(tmp_path: Path) -> None:
    bench = Bench(tmp_path, RecoverySettings(rollbacks=1))

    with forward_hook(bench.engine, change_in_place):
        steps = [bench.train() for _ in range(6)]
    assert [step.must_pause for step in steps] == [False] * 5 + [True]
    assert "rolled back" in bench.kinds(steps[2])
    assert "The budget of 1 rollback is spent." in steps[-1].incidents[-1].happened
    assert_same(bench.good, state(bench.engine))


def test_an_in_place_change_with_another_second_error_is_skipped_too(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    passes = iter([1, 2])

    def fail_second(_module: object, _inputs: object, output: Tensor) -> Tensor:
        if next(passes) == 2:
            raise ValueError("another fault")
        return change_in_place(_module, _inputs, output)

    with forward_hook(bench.engine, fail_second):
        done = bench.train()
    assert bench.kinds(done) == ["changed in place"] and done.result.loss is None
    assert "ValueError: another fault" in done.incidents[0].details
    assert not torch.is_anomaly_enabled()
    assert_same(bench.good, state(bench.engine))


def test_a_device_broken_in_the_second_pass_ends_the_process(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    passes = iter([1, 2])
    error = torch.AcceleratorError("CUDA error")
    error.error_code = 700  # type: ignore[attr-defined]

    def fail_second(_module: object, _inputs: object, output: Tensor) -> Tensor:
        if next(passes) == 2:
            raise error
        return change_in_place(_module, _inputs, output)

    with forward_hook(bench.engine, fail_second), pytest.raises(torch.AcceleratorError):
        bench.train()
    assert not torch.is_anomaly_enabled()


def test_any_other_exception_rolls_back_and_retries_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.train()
    failures = iter([True, False])

    def fail_once(*_: object) -> None:
        if next(failures):
            raise ValueError("no such thing")

    with forward_hook(bench.engine, fail_once):
        done = bench.train()
    assert bench.kinds(done) == ["step failed"] and not done.must_pause
    assert "ValueError: no such thing" in done.incidents[0].details and "fail_once" in done.incidents[0].details
    other = Bench(tmp_path)
    other.train(batch(bench.step))
    assert done.result.loss is not None
    assert_same(state(other.engine), state(bench.engine))


def test_a_repeated_exception_pauses_with_the_known_good_state(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.train()
    with forward_hook(bench.engine, lambda *_: raise_(ValueError("never again"))):
        done = bench.train()
    assert done.must_pause and bench.kinds(done) == ["step failed", "step failed again"]
    assert_same(bench.good, state(bench.engine))


def test_steps_that_keep_failing_at_the_first_try_exhaust_the_budget(tmp_path: Path) -> None:
    """Each second try went well, and each first one took everything back: one step was done sixty times."""
    bench = Bench(tmp_path, RecoverySettings(rollbacks=3))
    tries = iter(range(10**6))

    def fail_at_first(*_: object) -> None:
        if next(tries) % 2 == 0:
            raise ValueError("at the first try")

    with forward_hook(bench.engine, fail_at_first):
        steps = [bench.train() for _ in range(4)]
    assert [step.must_pause for step in steps] == [False, False, False, True]
    assert [bench.kinds(step) for step in steps] == [["step failed"]] * 3 + [["rollbacks used up"]]
    assert "at the first try" in steps[-1].incidents[0].details
    assert steps[-1].result.loss is None and steps[-1].result.skipped_because
    assert_same(bench.good, state(bench.engine))
    assert bench.engine.rate_factor == 1.0
    bench.ladder.resumed()
    assert not bench.train().must_pause


@pytest.mark.parametrize("code", [700, 710, 719, 46, 100])
def test_a_broken_device_is_not_recovered(tmp_path: Path, code: int) -> None:
    bench = Bench(tmp_path)
    error = torch.AcceleratorError("CUDA error")
    error.error_code = code
    with forward_hook(bench.engine, lambda *_: raise_(error)), pytest.raises(torch.AcceleratorError):
        bench.train()


def test_a_real_out_of_memory_splits_the_batch(tmp_path: Path) -> None:
    """An allocation beyond any machine, unless a micro-batch is small enough; the state is that of one big batch."""
    bench, calm = Bench(tmp_path), Bench(tmp_path)
    sizes: list[int] = []

    def hungry(_module: object, inputs: tuple[Tensor, ...], _output: Tensor) -> None:
        sizes.append(inputs[0].shape[0])
        if inputs[0].shape[0] > 2:
            torch.empty(2**60)

    samples = batch(50, size=8)
    with forward_hook(bench.engine, hungry):
        done = bench.train(samples)
    calm.train(samples)
    assert bench.kinds(done) == ["out of memory", "out of memory"] and sizes == [8, 4, 2, 2, 2, 2]
    assert done.result.loss is not None and bench.engine.rate_factor == 1.0
    for (name, mine), theirs in zip(state(bench.engine).items(), state(calm.engine).values(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=2e-3, atol=2e-5, msg=name)


def test_out_of_memory_after_the_update_does_not_train_twice(tmp_path: Path) -> None:
    """The optimizer's step was done, the rest was not: only the known good state is consistent."""
    bench, calm = Bench(tmp_path), Bench(tmp_path)
    bench.train()
    samples = batch(50, size=8)
    with once_after_the_optimizer(bench.engine, lambda: raise_(torch.OutOfMemoryError("CUDA out of memory."))):
        done = bench.train(samples)
    calm.engine.micro_batches = 2
    calm.train(samples)
    assert bench.kinds(done) == ["out of memory"] and done.result.loss is not None
    assert_same(state(calm.engine), state(bench.engine))
    assert bench.engine.rate_factor == 1.0 and f"step {bench.ladder.known_good.step}" in done.incidents[0].done


def test_out_of_memory_before_the_update_loses_no_training(tmp_path: Path) -> None:
    bench, calm = Bench(tmp_path), Bench(tmp_path)
    samples = batch(50, size=8)
    for each in (bench, calm):
        each.train(batch(49))
    failures = iter([True, False, False])
    with forward_hook(bench.engine, lambda *_: raise_(MemoryError()) if next(failures) else None):
        bench.train(samples)
    calm.engine.micro_batches = 2
    calm.train(samples)
    assert_same(state(calm.engine), state(bench.engine))


def once_after_the_optimizer(trained: TrainingEngine, act: Callable[[], None]) -> RemovableHandle:
    turns = iter([True])

    def strike(*_: object) -> None:
        if next(turns, False):
            act()

    return trained.optimizer.register_step_post_hook(strike)


def raise_(error: Exception) -> None:
    raise error


def test_larger_batches_return_with_growing_delays(tmp_path: Path) -> None:
    bench = Bench(tmp_path)

    def hungry(_module: object, inputs: tuple[Tensor, ...], _output: Tensor) -> None:
        if inputs[0].shape[0] > 2:
            torch.empty(2**60)

    with forward_hook(bench.engine, hungry):
        bench.train()
    assert bench.engine.micro_batches == 2
    (back,) = (incident for _ in range(250) for incident in bench.train().incidents)
    assert back.kind == "memory is back" and bench.engine.micro_batches == 1
    assert back.done == "The batch is no longer split."


def test_permanent_out_of_memory_pauses(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with forward_hook(bench.engine, lambda *_: torch.empty(2**60)):
        done = bench.train()
    assert done.must_pause and bench.kinds(done)[-1] == "step failed again"
    assert bench.engine.micro_batches == 4
    assert_same(bench.good, state(bench.engine))


@pytest.mark.parametrize("action", ["mark", "clip", "skip"])
def test_a_loss_spike_is_reported_quarantined_and_handled_as_configured(tmp_path: Path, action: str) -> None:
    bench = Bench(tmp_path / "kept", RecoverySettings(spike_action=action), spike_action=action)  # type: ignore[arg-type]
    while len(bench.losses) < 25:
        assert bench.kinds(bench.train()) == []
    before = state(bench.engine)
    done = bench.train(batch(77, scale=100.0))
    assert bench.kinds(done) == ["loss spike"] and len(list((tmp_path / "kept").iterdir())) == 1
    if action == "skip":
        assert done.result.loss is None
        assert_same(before, state(bench.engine))
    else:
        assert done.result.loss is not None and done.result.gradients is not None
        threshold = done.result.threshold
        assert threshold is not None and done.result.gradients.norm_after is not None
        assert done.result.gradients.norm_after <= threshold * 1.001
    for _ in range(4):  # a spike is no reason to go back
        assert bench.kinds(bench.train(batch(77, scale=100.0))) == ["loss spike"]
    assert bench.engine.rate_factor == 1.0 and bench.ladder.is_sound


@pytest.mark.parametrize("clip_norm", [1e-3, 1e4])
@pytest.mark.parametrize("mode", ["norm", "layer", "adaptive", "value", "off", "observe"])
def test_a_spike_is_called_clipped_only_if_it_was(tmp_path: Path, mode: str, clip_norm: float) -> None:
    gradients = GradientSettings(clip_mode=mode, clip_norm=clip_norm, clip_value=clip_norm)  # type: ignore[arg-type]
    trained = engine(gradients, spike_action="clip")
    known_good = KnownGood(trained, np.random.default_rng(0))
    ladder = RecoveryLadder(trained, RecoverySettings(spike_action="clip"), known_good, Quarantine(tmp_path))
    done = ladder.train(batch(), REFERENCE, 50, [1e-4] * 50)
    assert done.result.is_spike and done.result.gradients is not None and done.result.gradient_norm is not None
    assert done.result.gradients.norm_after is not None
    was_clipped = done.result.gradients.norm_after < 0.9 * done.result.gradient_norm
    assert was_clipped == (mode not in ("off", "observe") and clip_norm == 1e-3)
    (incident,) = done.incidents
    assert ("were clipped" in incident.done) is was_clipped
    assert incident.severity is (Severity.WARNING if was_clipped else Severity.INFO)


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
@pytest.mark.parametrize("part", ["exp_avg_sq", "average"])
def test_a_non_finite_moment_or_average_rolls_back_at_the_check(tmp_path: Path, part: str, value: float) -> None:
    """Loss, gradients and parameters do not show it: a second moment of infinity only makes steps of nothing."""
    bench = Bench(tmp_path)
    bench.train()
    spoil_moment_or_average(bench.engine, part, value)
    looked = bench.ladder.look_for_known_good(bench.step)
    assert [incident.kind for incident in looked.incidents] == ["rolled back"] and not looked.must_pause
    assert_same(bench.good, state(bench.engine))
    assert bench.engine.rate_factor == 0.5
    bench.train()
    assert bench.ladder.look_for_known_good(bench.step).incidents == ()
    assert bench.ladder.known_good.step == bench.step


@pytest.mark.parametrize("value", [1e20, 3e38])
def test_large_numbers_count_as_finite(tmp_path: Path, value: float) -> None:
    """Their norm overflowed, and a finite state was called non-finite."""
    bench = Bench(tmp_path)
    spoil_moment_or_average(bench.engine, "exp_avg_sq", value)
    assert bench.engine.is_finite()
    assert bench.ladder.look_for_known_good(11).incidents == () and bench.ladder.known_good.step == 11


def test_repeatedly_non_finite_moments_pause(tmp_path: Path) -> None:
    bench = Bench(tmp_path, RecoverySettings(rollbacks=2))
    pauses = []
    for _ in range(3):
        bench.train()
        spoil_moment_or_average(bench.engine, "exp_avg_sq", torch.inf)
        pauses.append(bench.ladder.look_for_known_good(bench.step).must_pause)
    assert pauses == [False, False, True] and bench.engine.is_finite()


def test_a_state_between_skipped_steps_is_not_known_good(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with spoiled_gradients(bench.engine):
        bench.train()
    assert bench.ladder.look_for_known_good(bench.step).incidents == ()
    assert bench.ladder.known_good.step == 10


def spoil_moment_or_average(trained: TrainingEngine, part: str, value: float) -> None:
    chosen = [tensor for name, tensor in trained.tensors().items() if name.startswith(part) or name.endswith(part)]
    with torch.no_grad():
        chosen[0].view(-1)[0] = value


def test_permanently_larger_losses_end_the_skipping(tmp_path: Path) -> None:
    """They were left out of the median, and so each of them stayed a spike for ever."""
    bench = Bench(tmp_path / "kept", RecoverySettings(spike_action="skip"), spike_action="skip")
    while len(bench.losses) < 60:
        bench.train()
    done = [bench.train(batch(index, scale=8.0)).result.loss is not None for index in range(190)]
    first = done.index(True)
    assert 10 < first < 110, "not one spike, but not for ever"
    assert all(done[150:])


def test_skipped_spikes_do_not_hide_the_next_one(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "kept", RecoverySettings(spike_action="skip"), spike_action="skip")
    while len(bench.losses) < 60:
        bench.train()
    for _ in range(10):
        assert bench.kinds(bench.train(batch(77, scale=100.0))) == ["loss spike"]
        assert bench.kinds(bench.train()) == []


def test_skipped_spikes_count_after_a_restart_too(tmp_path: Path) -> None:
    first = Bench(tmp_path / "kept", RecoverySettings(spike_action="skip"), spike_action="skip")
    second = Bench(tmp_path / "kept", RecoverySettings(spike_action="skip"), spike_action="skip")
    for bench in (first, second):
        while len(bench.losses) < 30:
            bench.train()
    for _ in range(20):
        first.train(batch(77, scale=8.0))
    second.ladder.restore(json.loads(json.dumps(first.ladder.state())))
    second.step = first.step
    outcomes = [[bench.train(batch(77, scale=8.0)).result.loss is None for _ in range(20)] for bench in (first, second)]
    assert outcomes[0] == outcomes[1] and len(set(outcomes[0])) == 2


@pytest.mark.parametrize("action", ["mark", "clip", "skip"])
def test_a_spike_with_non_finite_gradients_rolls_back(tmp_path: Path, action: str) -> None:
    bench = Bench(tmp_path / "kept", RecoverySettings(spike_action=action), spike_action=action)  # type: ignore[arg-type]
    while len(bench.losses) < 25:
        bench.train()
    with spoiled_gradients(bench.engine):
        steps = [bench.train(batch(77, scale=100.0)) for _ in range(3)]
    assert [bench.kinds(step) for step in steps] == [["step skipped"], ["step skipped"], ["rolled back"]]
    assert {step.result.origin for step in steps} == {NonFiniteOrigin.GRADIENTS}
    assert_same(bench.good, state(bench.engine))
    assert bench.engine.rate_factor == 0.5


FP16 = TrainingSettings(learning_rate=RATE, precision="float16")


def scale_of(done: TrainedStep) -> float:
    assert done.result.gradients is not None and done.result.gradients.loss_scale is not None
    return done.result.gradients.loss_scale


def test_persistently_non_finite_gradients_under_loss_scaling_roll_back(tmp_path: Path) -> None:
    """Each halved the scale without a word, from 65,536 down to 1: sixteen of them."""
    bench = Bench(tmp_path, training=FP16)
    good = bench.engine.scalars()["scaler"]
    with spoiled_gradients(bench.engine):
        kinds = [bench.kinds(bench.train()) for _ in range(6)]
    assert kinds == [[], [], [], ["step skipped"], ["step skipped"], ["rolled back"]]
    assert bench.engine.scalars()["scaler"] == good, "the scale is part of the known good state"
    assert bench.train().result.loss is not None


def test_fp16_finds_its_first_scale_silently(tmp_path: Path) -> None:
    trained = engine(training=FP16)
    known_good = KnownGood(trained, np.random.default_rng(0))
    ladder = RecoveryLadder(trained, RecoverySettings(), known_good, Quarantine(tmp_path))
    overflow_above(trained, 2.0**8)
    done = [ladder.train(batch(step), REFERENCE, step, []) for step in range(1, 15)]
    assert not any(each.incidents for each in done)
    assert [scale_of(each) for each in done[7:]] == [2.0**9] + [2.0**8] * 6 and done[8].result.loss is not None


def test_fp16_tolerates_eightfold_gradients_silently(tmp_path: Path) -> None:
    bench = Bench(tmp_path, training=FP16)
    overflow_above(bench.engine, 2.0**13)
    done = [bench.train() for _ in range(6)]
    assert not any(each.incidents for each in done)
    assert [each.result.loss is None for each in done] == [True] * 3 + [False] * 3


def test_the_search_for_a_scale_continues_after_a_restart(tmp_path: Path) -> None:
    first, second = Bench(tmp_path, training=FP16), Bench(tmp_path, training=FP16)
    with spoiled_gradients(first.engine):
        first.train()
        first.train()
    second.ladder.restore(json.loads(json.dumps(first.ladder.state())))
    with spoiled_gradients(second.engine):
        assert [second.kinds(second.train()) for _ in range(2)] == [[], ["step skipped"]]


def overflow_above(trained: TrainingEngine, scale: float) -> RemovableHandle:
    """Gradients that fit into float16 up to this scale."""

    def overflow(gradient: Tensor) -> Tensor:
        return gradient * torch.inf if trained.scalars()["scaler"]["scale"] > scale else gradient

    return next(trained.model.parameters()).register_hook(overflow)  # type: ignore[no-untyped-call,no-any-return]


def test_the_recovery_state_survives_a_restart(tmp_path: Path) -> None:
    """Two skips before, one after: the third in a row goes back."""
    first, second = Bench(tmp_path), Bench(tmp_path)
    with spoiled_gradients(first.engine):
        first.train()
        first.train()
    second.ladder.restore(first.ladder.state())
    with spoiled_gradients(second.engine):
        assert second.kinds(second.train()) == ["rolled back"]

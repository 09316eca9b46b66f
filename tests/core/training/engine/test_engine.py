from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from core.domain.diagnosis import NonFiniteOrigin
from core.domain.quantities import LEVELS, QUANTITIES
from core.settings.tree import GradientSettings, TrainingSettings
from core.training.engine.engine import StepResult, TrainingEngine
from core.training.engine.objective import DeviceBatch
from tests.core.training.engine.rigs import (
    RATE,
    REFERENCE,
    assert_same,
    batch,
    change_in_place,
    engine,
    forward_hook,
    gradients_of,
    model,
    plain_loss,
    plain_optimizer,
    poisoned,
    spoiled_gradients,
    state,
)


@pytest.mark.parametrize("clip_norm", [0.05, 1e6])
def test_a_step_equals_the_plain_loop(clip_norm: float) -> None:
    ours, plain = engine(GradientSettings(clip_norm=clip_norm), dtype=torch.float64), model(torch.float64)
    optimizer = plain_optimizer(plain)
    for seed in range(5):
        samples = batch(seed)
        result = ours.step(samples, REFERENCE)
        optimizer.zero_grad()
        loss = plain_loss(plain, samples)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(plain.parameters(), clip_norm)
        optimizer.step()
        assert result.loss == pytest.approx(loss.item(), rel=1e-10)
        assert result.gradient_norm == pytest.approx(norm.item(), rel=1e-10)
        assert result.clipped is (norm.item() > clip_norm)
        assert result.gradients is not None and result.loss is not None
        assert sum(part or 0.0 for part in result.gradients.loss_parts) == pytest.approx(result.loss, rel=1e-5)
    for mine, theirs in zip(ours.model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-7, atol=1e-9)


def test_learning_lowers_the_loss() -> None:
    trained = engine()
    losses = [trained.step(batch(), REFERENCE).loss for _ in range(60)]
    assert losses[0] is not None and losses[-1] is not None
    assert losses[-1] < 0.8 * losses[0]


@pytest.mark.faults
@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("mode", ["norm", "value", "layer", "adaptive", "off", "observe"])
def test_a_non_finite_loss_changes_nothing_bit_for_bit(mode: str, precision: str) -> None:
    training = TrainingSettings(learning_rate=RATE, ema_decay=0.9, precision=precision)  # type: ignore[arg-type]
    trained = engine(GradientSettings(clip_mode=mode), training)  # type: ignore[arg-type]
    for seed in range(3):
        trained.step(batch(seed), REFERENCE)
    before = state(trained)
    result = trained.step(poisoned("targets", np.nan), REFERENCE)
    assert result.loss is None and result.skipped_because is not None
    assert result.origin is NonFiniteOrigin.LOSS and result.parameters_are_finite
    assert_same(before, state(trained))
    assert all(parameter.grad is None for parameter in trained.model.parameters())
    assert any(trained.step(batch(2), REFERENCE).loss is not None for _ in range(3))
    assert trained.is_finite()


@pytest.mark.faults
@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["features", "targets"])
def test_a_non_finite_first_step_keeps_the_initial_weights(poison: float, where: str) -> None:
    trained = engine()
    before = state(trained)
    assert trained.step(poisoned(where, poison), REFERENCE).skipped_because is not None
    assert_same(before, state(trained))
    untouched = engine()
    assert trained.step(batch(), REFERENCE).loss == untouched.step(batch(), REFERENCE).loss
    assert_same(state(untouched), state(trained))


@pytest.mark.faults
@pytest.mark.parametrize("poison", [np.nan, np.inf])
def test_non_finite_gradients_are_distinguished_from_a_non_finite_loss(poison: float) -> None:
    """The loss can be finite where a gradient is not: a square root at zero has an infinite slope."""
    trained = engine()
    trained.step(batch(), REFERENCE)
    before = state(trained)
    with spoiled_gradients(trained, poison):
        result = trained.step(batch(), REFERENCE)
    assert result.loss is None and result.origin is NonFiniteOrigin.GRADIENTS
    assert_same(before, state(trained))


@pytest.mark.faults
def test_a_large_loss_with_large_gradients_is_finite() -> None:
    """Their product is not, in float32: the step was skipped as a spike that it was not."""
    trained = engine()
    large = batch(scale=1e21)
    with next(trained.model.parameters()).register_hook(lambda gradient: gradient + 1e18):
        result = trained.step(large, REFERENCE)
    assert result.gradient_norm is not None and result.loss is not None
    assert result.gradient_norm * result.loss > 3.5e38 and result.skipped_because is None
    assert trained.is_finite()


@pytest.mark.faults
def test_a_skipped_step_leaves_the_average_bit_for_bit() -> None:
    """Also where a parameter is NaN, and where a zero of the average has a sign."""
    trained = engine(training=TrainingSettings(learning_rate=RATE, ema_decay=0.9))
    trained.step(batch(), REFERENCE)
    assert trained._average is not None
    with torch.no_grad():
        first = next(trained.model.parameters()).view(-1)
        averaged = next(trained._average.model.parameters()).view(-1)
        first[0], first[1], averaged[1] = torch.nan, 0.0, -0.0
    before = averaged.clone()
    assert trained.step(batch(), REFERENCE).loss is None
    assert torch.equal(before.view(torch.int32), averaged.view(torch.int32))


@pytest.mark.faults
def test_non_finite_parameters_are_named_as_the_origin() -> None:
    trained = engine()
    trained.step(batch(), REFERENCE)
    with torch.no_grad():
        next(trained.model.parameters()).view(-1)[0] = torch.nan
    result = trained.step(batch(), REFERENCE)
    assert result.origin is NonFiniteOrigin.PARAMETERS and not result.parameters_are_finite
    assert not trained.is_finite()


@pytest.mark.faults
@pytest.mark.parametrize("where", ["moment", "parameter"])
def test_a_step_that_makes_parameters_non_finite_names_them(where: str) -> None:
    """Loss and gradients were finite, so the step ran; the optimizer's result is not."""
    trained = engine()
    trained.step(batch(), REFERENCE)
    if where == "moment":
        next(iter(trained.optimizer.state.values()))["exp_avg"].view(-1)[0] = torch.inf
        result = trained.step(batch(), REFERENCE)
    else:
        result = step_that_spoils_a_parameter(trained)
    assert result.loss is not None and result.skipped_because is None
    assert result.origin is NonFiniteOrigin.PARAMETERS and not result.parameters_are_finite


def step_that_spoils_a_parameter(trained: TrainingEngine) -> StepResult:
    """After the forward pass, so that neither loss nor gradients show it."""

    def spoil(module: torch.nn.Module, *_: object) -> None:
        with torch.no_grad():
            next(module.parameters()).view(-1)[0] = torch.nan

    with trained.model.register_forward_hook(spoil):
        return trained.step(batch(), REFERENCE)


def test_an_exception_clears_the_gradients_and_changes_nothing() -> None:
    trained = engine()
    trained.step(batch(), REFERENCE)
    before = state(trained)
    inplace = pytest.raises(RuntimeError, match="modified by an inplace operation")
    with forward_hook(trained, change_in_place), inplace:
        trained.step(batch(), REFERENCE)
    assert all(parameter.grad is None for parameter in trained.model.parameters())
    assert_same(before, state(trained))
    assert trained.step(batch(), REFERENCE).loss is not None


def test_forecasting_leaves_no_trace_and_is_in_eval_mode() -> None:
    trained = engine()
    samples = batch()
    trained.step(samples, REFERENCE)
    before = state(trained)
    corrections = trained.corrections(samples.features, samples.is_real)
    assert corrections.shape == (4, 3, QUANTITIES, len(LEVELS)) and corrections.dtype == np.float64
    assert not trained.model.training
    assert_same(before, state(trained))


def test_learning_rate_and_threshold_change_while_it_runs() -> None:
    trained = engine(GradientSettings(clip_norm=1e6))
    trained.learning_rate = 0.0
    before = [parameter.detach().clone() for parameter in trained.model.parameters()]
    trained.step(batch(), REFERENCE)
    assert all(torch.equal(a, b) for a, b in zip(before, trained.model.parameters(), strict=True))
    trained.clip_norm = 1e-6
    assert trained.step(batch(), REFERENCE).clipped


@pytest.mark.parametrize(("count", "size"), [(2, 4), (3, 4), (4, 5), (5, 32), (64, 7)])
def test_accumulation_equals_the_big_batch_in_float64(count: int, size: int) -> None:
    """Also with a short last group, and although the samples' weights differ."""
    whole = engine(dtype=torch.float64)
    split = engine(GradientSettings(accumulation=count), dtype=torch.float64)
    for seed in range(3):
        samples = batch(seed, size)
        for one, other in zip(gradients_of(whole, samples), gradients_of(split, samples), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)


def test_accumulation_equals_the_big_batch_in_float32() -> None:
    whole, split = engine(), engine(GradientSettings(accumulation=3))
    one, other = (
        torch.cat([gradient.reshape(-1) for gradient in gradients_of(trained, batch(0, 32))])
        for trained in (whole, split)
    )
    assert float((one - other).norm() / one.norm()) < 1e-5


def test_accumulation_clips_once_and_advances_the_schedule_once() -> None:
    training = TrainingSettings(learning_rate=RATE, warmup_steps=9)
    trained = engine(GradientSettings(accumulation=4, clip_norm=1e-3), training)
    seen = gradients_of(trained, batch(0, 8))
    assert float(torch.nn.utils.get_total_norm(seen)) == pytest.approx(1e-3, rel=1e-3)
    assert trained.rate_now == pytest.approx(RATE * 2 / 10)


def test_a_skipped_step_does_not_advance_the_schedule() -> None:
    trained = engine(training=TrainingSettings(learning_rate=RATE, warmup_steps=9))
    trained.step(poisoned("targets", np.nan), REFERENCE)
    assert trained.rate_now == pytest.approx(RATE / 10)


@pytest.mark.parametrize("is_forecast", [False, True], ids=["training", "forecasting"])
@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_the_forward_pass_computes_in_the_precision_that_was_set(precision: str, is_forecast: bool) -> None:
    trained = engine(training=TrainingSettings(learning_rate=RATE, precision=precision))  # type: ignore[arg-type]
    seen = []
    samples = batch()
    with trained.model.get_submodule("head").register_forward_hook(lambda _m, _i, output: seen.append(output.dtype)):
        if is_forecast:
            trained.corrections(samples.features, samples.is_real)
        else:
            trained.step(samples, REFERENCE)
    assert seen == [getattr(torch, precision)]


@pytest.mark.parametrize(("precision", "tolerance"), [("bfloat16", 0.05), ("float16", 0.01)])
def test_mixed_precision_is_close_to_float32(precision: str, tolerance: float) -> None:
    training = TrainingSettings(learning_rate=RATE, precision=precision)  # type: ignore[arg-type]
    exact, mixed = engine(), engine(training=training)
    for seed in range(10):
        one, other = exact.step(batch(seed), REFERENCE), mixed.step(batch(seed), REFERENCE)
        if other.loss is None:
            continue  # fp16 finds its scale by overflowing
        assert other.loss == pytest.approx(one.loss, rel=tolerance)
    assert all(parameter.dtype is torch.float32 for parameter in mixed.model.parameters())


def test_the_threshold_acts_on_true_gradients_under_loss_scaling() -> None:
    """The scale is 65,536: clipping before unscaling would let gradients of 1e-7 through."""
    threshold = 0.01
    training = TrainingSettings(learning_rate=RATE, precision="float16")
    trained = engine(GradientSettings(clip_norm=threshold), training)
    plain = model()
    plain_loss(plain, batch()).backward()
    true_norm = float(torch.nn.utils.get_total_norm([p.grad for p in plain.parameters() if p.grad is not None]))
    seen: list[torch.Tensor] = []
    for _ in range(8):  # until the scale fits
        with trained.optimizer.register_step_pre_hook(
            lambda optimizer, *_: seen.extend(p.grad.clone() for g in optimizer.param_groups for p in g["params"])
        ):
            result = trained.step(batch(), REFERENCE)
        if result.loss is not None:
            break
        seen.clear()
    assert result.gradients is not None and result.gradients.loss_scale is not None
    assert result.gradients.loss_scale > 100.0
    assert result.gradient_norm == pytest.approx(true_norm, rel=0.02) and result.clipped
    assert float(torch.nn.utils.get_total_norm(seen)) == pytest.approx(threshold, rel=1e-3)


@pytest.mark.faults
def test_fp16_overflow_skips_the_step_and_lowers_the_scale() -> None:
    trained = engine(training=TrainingSettings(learning_rate=RATE, precision="float16"))
    for _ in range(5):
        trained.step(batch(), REFERENCE)
    before = state(trained)
    with spoiled_gradients(trained, torch.inf):
        result = trained.step(batch(), REFERENCE)
    assert result.loss is None and result.gradients is not None and result.gradients.loss_scale is not None
    assert_same(before, state(trained))
    after = trained.step(batch(), REFERENCE)
    assert after.loss is not None and after.gradients is not None
    assert after.gradients.loss_scale == pytest.approx(result.gradients.loss_scale / 2)


def test_the_weight_average_follows_and_is_used_to_forecast() -> None:
    trained = engine(training=TrainingSettings(learning_rate=RATE, ema_decay=0.75))
    average = [parameter.detach().clone() for parameter in trained.model.parameters()]
    for seed in range(4):
        trained.step(batch(seed), REFERENCE)
        for mean, parameter in zip(average, trained.model.parameters(), strict=True):
            mean += 0.25 * (parameter.detach() - mean)
    kept = [tensor for name, tensor in trained.tensors().items() if name.startswith("average.")]
    for mine, theirs in zip(average, kept, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-7)
    samples = batch()
    shown = trained.corrections(samples.features, samples.is_real)
    with torch.no_grad():
        newest = trained.model(torch.tensor(samples.features), torch.tensor(samples.is_real)).numpy()
    assert np.abs(shown - newest).max() > 1e-4


@pytest.mark.faults
def test_a_spike_is_marked_clipped_harder_or_skipped() -> None:
    usual, spike = batch(0), batch(1, scale=1000.0)
    norms = {}
    for action in ("mark", "clip", "skip"):
        trained = engine(GradientSettings(clip_norm=0.02), spike_action=action)
        trained.step(usual, REFERENCE)
        trained.expect_loss_below(10.0)
        before = state(trained)
        result = trained.step(spike, REFERENCE)
        assert result.is_spike
        assert (result.loss is None) is (action == "skip")
        assert result.gradients is not None
        norms[action] = result.gradients.norm_after
        if action == "skip":
            assert_same(before, state(trained))
            assert result.origin is None
        assert not trained.step(usual, REFERENCE).is_spike
    assert norms["mark"] == pytest.approx(0.02, rel=1e-3) and norms["clip"] == pytest.approx(0.002, rel=1e-2)


def test_noise_comes_before_the_clip_and_from_its_own_seeded_generator() -> None:
    settings = GradientSettings(noise=1.0, clip_norm=0.5)
    torch.manual_seed(1)
    first = gradients_of(engine(settings), batch())
    torch.manual_seed(2)
    second = gradients_of(engine(settings), batch())
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert float(torch.nn.utils.get_total_norm(first)) == pytest.approx(0.5, rel=1e-3)
    clean = gradients_of(engine(GradientSettings(clip_norm=0.5)), batch())
    assert not torch.allclose(torch.cat([g.view(-1) for g in first]), torch.cat([g.view(-1) for g in clean]))


def test_matrices_decay_and_biases_norms_and_positions_do_not() -> None:
    trained = engine(training=TrainingSettings(learning_rate=RATE, weight_decay=0.5))
    before = {name: parameter.detach().clone() for name, parameter in trained.model.named_parameters()}
    without = dataclasses.replace(batch(), weights=np.zeros_like(batch().weights))  # no gradient: only decay acts
    trained.step(without, REFERENCE)
    for name, parameter in trained.model.named_parameters():
        is_decayed = before[name].dim() == 2 and name != "position"
        torch.testing.assert_close(parameter, before[name] * (1.0 - 0.5 * RATE if is_decayed else 1.0))
    assert "head.weight" in before and "blocks.0.attention.project_in.weight" in before


class Waits(TorchDispatchMode):
    """Counts reads of tensor values, which would make the host wait for the device."""

    _WAITING = (torch.ops.aten._local_scalar_dense.default, torch.ops.aten.is_nonzero.default)

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, operation, types, arguments=(), options=None):  # type: ignore[no-untyped-def]
        self.count += operation in self._WAITING
        return operation(*arguments, **(options or {}))


@pytest.mark.parametrize("action", ["mark", "skip"])
@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_all_numbers_of_a_step_are_read_from_the_device_in_one_piece(precision: str, action: str) -> None:
    training = TrainingSettings(learning_rate=RATE, ema_decay=0.9, precision=precision)  # type: ignore[arg-type]
    trained = engine(GradientSettings(clip_mode="adaptive"), training, spike_action=action)
    for seed in range(3):
        trained.step(batch(seed), REFERENCE)
    with Waits() as waits:
        trained.expect_loss_below(10.0)
        trained.step(batch(3), REFERENCE)
    assert waits.count == 0


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device was found")
@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_no_step_waits_for_the_gpu_until_it_is_read(precision: str) -> None:
    training = TrainingSettings(learning_rate=RATE, ema_decay=0.9, precision=precision)  # type: ignore[arg-type]
    trained = TrainingEngine(model(), torch.device("cuda"), training, GradientSettings(clip_mode="adaptive"))
    for seed in range(3):
        trained.step(batch(seed), REFERENCE)
    placed = DeviceBatch(*trained._staging.place(*batch(3).arrays, REFERENCE))
    try:
        with warnings.catch_warnings(action="ignore"):  # torch calls this mode a prototype
            torch.cuda.set_sync_debug_mode("error")
        trained._flat.clear()
        packed = trained._update(placed)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert bool(torch.isfinite(packed[0]))


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_a_restored_engine_continues_bit_for_bit(precision: str) -> None:
    training = TrainingSettings(
        learning_rate=RATE, ema_decay=0.9, schedule="cosine", schedule_steps=20, warmup_steps=3, precision=precision
    )  # type: ignore[arg-type]
    settings = GradientSettings(clip_mode="adaptive", noise=0.01)
    first = engine(settings, training)
    for seed in range(25):
        first.step(batch(seed), REFERENCE)
    second = engine(settings, training)
    with spoiled_gradients(second, torch.inf):
        for _ in range(3):  # under loss scaling, until its scale is another
            assert second.step(batch(99), REFERENCE).loss is None
    assert precision != "float16" or first.scalars()["scaler"]["scale"] != second.scalars()["scaler"]["scale"]
    in_another_order = dict(reversed(state(first).items()))
    assert second.restore(in_another_order, first.scalars())
    assert first.scalars() == second.scalars()
    for seed in range(25, 30):
        mine, theirs = first.step(batch(seed), REFERENCE), second.step(batch(seed), REFERENCE)
        assert mine == theirs
    assert_same(state(first), state(second))


@pytest.mark.faults
@pytest.mark.parametrize("damage", ["missing", "nan", "partial", "of another size"])
def test_without_usable_moments_a_new_optimizer_begins(damage: str) -> None:
    trained = engine()
    for seed in range(3):
        trained.step(batch(seed), REFERENCE)
    tensors = state(trained)
    moments = [name for name in tensors if name.startswith("optimizer.")]
    if damage == "nan":
        tensors[moments[1]].view(-1)[0] = torch.nan
    elif damage == "of another size":  # the fused step would write beyond their end
        tensors[moments[1]] = tensors[moments[1]][:-1]
    else:
        for name in moments if damage == "missing" else moments[:1]:
            del tensors[name]
    assert trained.restore(tensors, trained.scalars()) is False
    assert not trained.optimizer.state
    assert trained.step(batch(), REFERENCE).loss is not None and trained.is_finite()


def test_statistics_equal_a_plain_computation() -> None:
    trained, plain = engine(GradientSettings(clip_norm=0.05)), model()
    first = batch(0)
    trained.step(first, REFERENCE)
    plain.load_state_dict(trained.model.state_dict())
    before = {name: parameter.detach().clone() for name, parameter in plain.named_parameters()}
    result = trained.step(batch(1), REFERENCE)
    plain_loss(plain, batch(1)).backward()
    assert result.gradients is not None
    assert result.gradients.norm_after == pytest.approx(0.05, rel=1e-3)
    after = dict(trained.model.named_parameters())
    assert len(trained.layers) == len(result.gradients.layers)
    for layer, measured in zip(trained.layers, result.gradients.layers, strict=True):
        names = [name for name in before if (name.rpartition(".")[0] or name) == layer]
        gradient = torch.cat([dict(plain.named_parameters())[name].grad.reshape(-1) for name in names])  # type: ignore[union-attr]
        old = torch.cat([before[name].reshape(-1) for name in names])
        new = torch.cat([after[name].detach().reshape(-1) for name in names])
        assert measured.norm == pytest.approx(gradient.norm().item(), rel=1e-4)
        assert measured.mean == pytest.approx(gradient.mean().item(), rel=1e-3, abs=1e-8)
        assert measured.std == pytest.approx(gradient.std(correction=0).item(), rel=1e-4)
        assert measured.largest == pytest.approx(gradient.abs().max().item(), rel=1e-4)
        assert measured.gradient_ratio == pytest.approx((gradient.norm() / new.norm()).item(), rel=1e-4)
        assert measured.update_ratio == pytest.approx(((new - old).norm() / new.norm()).item(), rel=1e-3)
    assert len(LEVELS) == 7

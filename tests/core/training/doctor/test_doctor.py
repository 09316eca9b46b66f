"""The rules at their limits, with chosen steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from core.domain.diagnosis import Disease, NonFiniteOrigin, SettingChange
from core.domain.events import StepDone
from core.settings.tree import GradientSettings, Settings
from core.training.doctor.doctor import GradientDoctor
from tests.core.training.doctor.steps import NAMES, doctor_of, settings, step, verdict

NOISE = np.random.default_rng(20).lognormal(0.0, 0.3, 1000)


def falling(number: int) -> float:
    return math.exp(-number / 100) * NOISE[number]


def test_no_verdict_below_50_steps() -> None:
    assert verdict(step, 49).disease is Disease.UNKNOWN
    assert verdict(step, 50).disease is Disease.HEALTHY


def test_the_steps_ignored_at_the_start_are_always_mentioned() -> None:
    """47 steps were counted, and then a verdict was of the last 37: the first 20 are in the one alone."""
    assert verdict(step, 47).evidence == (
        "47 steps with a gradient norm so far; 50 are needed, of which the first 20 are not counted."
    )
    assert "norms of the last 37 of 57 steps, and" in verdict(step, 57).evidence
    assert "norms of the last 99 of 119 steps, and" in verdict(step, 119).evidence
    assert "norms of the last 100 steps, and" in verdict(step, 120).evidence


def test_steps_without_a_norm_do_not_count_towards_the_50() -> None:
    """Stored before statistics were taken, or skipped for an unknown reason."""
    bare = replace(step(1), loss=None, gradient_norm=None, gradients=None, skipped_because="a spike")
    assert verdict(lambda number: replace(bare, step=number), 200).disease is Disease.UNKNOWN


def test_a_non_finite_number_is_reported_at_once() -> None:
    found = verdict(lambda number: step(number, origin=NonFiniteOrigin.LOSS), 1)
    assert found.disease is Disease.NOT_FINITE
    assert (found.run_id, found.step) == ("run", 1)


@pytest.mark.parametrize(("bad", "is_rare"), [((205,), True), ((205, 230, 260), True), (range(205, 300, 5), False)])
def test_occasional_bad_batches_do_not_hide_other_findings(bad: Sequence[int], is_rare: bool) -> None:
    def build(number: int, norm: float = 1e4) -> StepDone:
        return step(number, norm, NOISE[number], origin=NonFiniteOrigin.INPUT if number in bad else None)

    found = verdict(build, 300)
    assert found.disease is (Disease.EXPLODING if is_rare else Disease.NOT_FINITE)
    assert "in the input" in found.evidence
    assert (found.change is not None) == is_rare
    assert verdict(lambda number: build(number, 1.0), 300).disease is Disease.NOT_FINITE, "where nothing else is wrong"


def test_other_non_finite_numbers_come_first_however_rare() -> None:
    found = verdict(lambda number: step(number, 1e4, origin=NonFiniteOrigin.LOSS if number == 205 else None), 300)
    assert found.disease is Disease.NOT_FINITE


def test_each_number_names_the_steps_it_was_measured_over() -> None:
    """The norm over the newest hundred steps, the loss over the window: of 300, the first 20 are left out."""
    found = verdict(lambda number: step(number, 1.0, falling(number)), 300)
    assert "norms of the last 100 steps, and" in found.evidence
    assert found.evidence.endswith("over the last 280 steps.")


def test_the_origin_is_the_start_of_the_newest_episode() -> None:
    """An old bad candle has nothing to do with it; parameters that the next steps find spoiled have."""
    origins = {60: NonFiniteOrigin.INPUT, 120: NonFiniteOrigin.GRADIENTS}
    origins |= {number: NonFiniteOrigin.PARAMETERS for number in range(121, 130)}
    found = verdict(lambda number: step(number, origin=origins.get(number)), 130)
    assert "began at step 120, in the gradients" in found.evidence
    assert "9 in the parameters" in found.evidence


def test_a_bad_candle_is_forgotten_after_a_hundred_steps() -> None:
    steps = [step(number, origin=NonFiniteOrigin.INPUT if number == 60 else None) for number in range(1, 161)]
    assert doctor_of(steps[:159]).diagnose().disease is Disease.NOT_FINITE
    assert doctor_of(steps).diagnose().disease is Disease.HEALTHY


def test_non_finite_numbers_are_found_even_if_the_step_is_not_marked() -> None:
    assert verdict(lambda number: replace(step(number), loss=math.nan), 60).disease is Disease.NOT_FINITE
    assert verdict(lambda number: replace(step(number), gradient_norm=math.inf), 60).disease is Disease.NOT_FINITE


def test_searching_for_the_loss_scale_is_normal_but_losing_it_is_not() -> None:
    """fp16's scaler meets overflows while it finds its scale, and one now and then when it tries a larger one."""

    def overflowing(number: int, when: bool) -> StepDone:
        return step(number, origin=NonFiniteOrigin.GRADIENTS if when else None, loss_scale=1024.0)

    half = settings(precision="float16")
    assert verdict(lambda number: overflowing(number, number <= 12), 65, half).disease is Disease.HEALTHY
    assert verdict(lambda number: overflowing(number, number == 145), 150, half).disease is Disease.HEALTHY
    found = verdict(lambda number: overflowing(number, number > 100), 150, half)
    assert found.disease is Disease.NOT_FINITE
    assert found.change == SettingChange("training", "precision", "float32")


def test_a_few_spikes_are_not_an_explosion() -> None:
    assert verdict(lambda number: step(number, 500.0 if number % 12 == 0 else 1.0)).disease is Disease.HEALTHY
    assert verdict(lambda number: step(number, 500.0 if number % 3 == 0 else 1.0)).disease is Disease.EXPLODING


def test_growth_is_an_explosion_before_it_reaches_100() -> None:
    found = verdict(lambda number: step(number, 0.5 * math.exp(number / 35)))
    assert found.disease is Disease.EXPLODING
    assert "grew" in found.evidence


def test_growth_with_learning_or_at_a_small_size_is_no_explosion() -> None:
    growing = [0.5 * math.exp(number / 40) for number in range(400)]
    learns = verdict(lambda number: step(number, growing[number], falling(number)))
    small = verdict(lambda number: step(number, growing[number] / 50, 1.0))
    assert (learns.disease, small.disease) == (Disease.HEALTHY, Disease.HEALTHY)


@pytest.mark.parametrize(("loss_falls", "disease"), [(True, Disease.HEALTHY), (False, Disease.VANISHING)])
def test_small_gradients_are_reported_only_while_the_loss_is_stuck(loss_falls: bool, disease: Disease) -> None:
    def small(number: int) -> StepDone:
        return step(number, 1e-7, falling(number) if loss_falls else NOISE[number], [1e-8, 1e-7, 1e-7])

    assert verdict(small).disease is disease


@pytest.mark.parametrize(("loss_falls", "disease"), [(True, Disease.HEALTHY), (False, Disease.VANISHING)])
def test_uneven_layers_are_reported_only_while_the_loss_is_stuck(loss_falls: bool, disease: Disease) -> None:
    def lost(number: int) -> StepDone:
        return step(number, 1.0, falling(number) if loss_falls else NOISE[number], [1e-4, 1e-2, 1.0])

    assert verdict(lost).disease is disease


def test_late_layers_far_below_early_ones_are_not_vanishing() -> None:
    """Seed 001 printed it this way round; it is not the disease."""
    found = verdict(lambda number: step(number, 1.0, NOISE[number], [1.0, 1e-2, 1e-4]))
    assert found.disease is Disease.HEALTHY


def test_a_converged_loss_is_not_stuck() -> None:
    def learned(number: int) -> StepDone:
        return step(number, 1e-8, 5.0 if number < 20 else 1e-9 * NOISE[number], [1e-8, 1e-8, 1e-8])

    assert verdict(learned, 600).disease is Disease.HEALTHY


@pytest.mark.parametrize("small", [0.0, 1e-12, 9e-7])
def test_gradients_that_vanish_after_some_learning_are_reported(small: float) -> None:
    """A quarter was learned, then nothing more comes: the run's first norms tell that from small ones that teach."""

    def lost(number: int) -> StepDone:
        norm = 1.0 if number < 300 else small
        return step(number, norm, 1.0 if number < 100 else 0.75, [norm / 2] * 3, update_ratio=1e-3 * norm)

    assert verdict(lost, 299).disease is Disease.HEALTHY
    assert verdict(lost, 800).disease is Disease.VANISHING


def test_always_small_gradients_with_partial_learning_are_not_reported() -> None:
    def small(number: int) -> StepDone:
        return step(number, 2e-7 * NOISE[number], (1.0 if number < 100 else 0.6) * NOISE[-number], [1e-7] * 3)

    assert verdict(small, 800).disease is Disease.HEALTHY


def test_one_dead_layer_is_named_though_the_loss_falls() -> None:
    found = verdict(lambda number: step(number, 1.0, falling(number), [1.0, 0.0, 1.0]))
    assert found.disease is Disease.DEAD_LAYERS
    assert found.layers == (NAMES[1],)


def test_no_layer_is_dead_if_no_layer_moves() -> None:
    """In the warm-up from a rate of nothing, a head at zero gives the body no gradient: nothing was tried yet."""
    found = verdict(lambda number: step(number, 1.0, NOISE[number], [0.0, 0.0, 1.0], update_ratio=0.0, rate=0.0))
    assert found.disease is not Disease.DEAD_LAYERS


def test_the_first_steps_of_a_run_are_ignored() -> None:
    """Adam's first steps are its largest, most of all where the parameters are still small."""
    found = verdict(lambda number: step(number, loss=falling(number), update_ratio=2.0 / number), 60)
    assert found.disease is Disease.HEALTHY


@pytest.mark.parametrize(("after", "disease"), [(3.0, Disease.UPDATES_TOO_LARGE), (0.5, Disease.HEALTHY)])
def test_first_steps_that_spoiled_the_weights_count_until_recovery(after: float, disease: Disease) -> None:
    """Adam's steps look sound beside weights that its first ones made large; seen on the real model at a rate of 1."""

    def thrown(number: int) -> StepDone:
        return step(number, loss=1.0 if number == 1 else after * NOISE[number], update_ratio=1.0 / number, rate=1.0)

    doctor = doctor_of(thrown(number) for number in range(1, 500))
    assert doctor.diagnose().disease is disease
    doctor.forget()
    for number in range(500, 600):
        doctor.observe(thrown(number))
    assert doctor.diagnose().disease is Disease.HEALTHY


def rising(number: int) -> float:
    return (1.0 + number / 50) * NOISE[number]


def test_widely_spread_norms_without_clipping_are_an_explosion() -> None:
    """Seldom enough for the median, and each of them throws the weights away."""

    def spread(clip_norm: float) -> Callable[[int], StepDone]:
        def build(number: int) -> StepDone:
            norm = 1e6 if number % 6 == 0 else 1.0
            return step(number, norm, rising(number), clip_norm=clip_norm)

        return build

    off = verdict(spread(math.inf), chosen=settings("off"))
    assert (off.disease, off.change) == (Disease.EXPLODING, SettingChange("gradients", "clip_mode", "norm"))
    loose = verdict(spread(1e4))
    assert (loose.disease, loose.change) == (Disease.EXPLODING, SettingChange("gradients", "clip_norm", 1.0))
    assert verdict(spread(1e7)).disease is Disease.EXPLODING
    assert verdict(spread(2.0)).disease is Disease.HEALTHY, "clipping holds them down"
    rare = verdict(
        lambda number: step(number, 1e6 if number % 40 == 0 else 1.0, clip_norm=math.inf), 300, settings("off")
    )
    assert rare.disease is Disease.HEALTHY


@pytest.mark.parametrize(
    ("norm", "loss", "name"),
    [
        (0.9, lambda number: NOISE[number], "clip_norm"),
        (0.9, rising, "learning_rate"),
        (88.0, rising, "learning_rate"),
        (88.0, lambda number: NOISE[number], "learning_rate"),
        (88.0, falling, None),
    ],
)
def test_a_threshold_is_raised_only_with_healthy_norms_and_no_rising_loss(
    norm: float, loss: Callable[[int], float], name: str | None
) -> None:
    threshold = norm / 80
    found = verdict(lambda number: step(number, norm + 0.05 * NOISE[number], loss(number), clip_norm=threshold))
    assert found.disease is (Disease.HEALTHY if name is None else Disease.ALWAYS_CLIPPING)
    assert (found.change.name if found.change else None) == name
    if name == "learning_rate":
        assert found.change is not None and found.change.value == pytest.approx(1e-5)


def test_with_mostly_healthy_norms_the_threshold_rises_at_most_to_the_usual() -> None:
    found = verdict(lambda number: step(number, 40.0 if number % 9 == 0 else 4.0, falling(number), clip_norm=0.01))
    assert found.disease is Disease.ALWAYS_CLIPPING
    assert found.change == SettingChange("gradients", "clip_norm", 10.0)


@pytest.mark.parametrize("norm", [0.01, 1.0])
def test_a_threshold_beyond_the_usual_and_far_above_the_norms_is_too_high(norm: float) -> None:
    """Also below 100, where it would stop an explosion late: seen with 50 over norms of 0.01."""
    thresholds = 31.0 * max(norm, 1.0), 10.0, 29.0 * norm
    found = [verdict(lambda number, t=t: step(number, norm, falling(number), clip_norm=t)) for t in thresholds]  # type: ignore[misc]
    too_high, far, near = found
    assert too_high.disease is Disease.NEVER_CLIPPING and too_high.change is not None
    assert too_high.change.name == "clip_norm"
    assert far.disease is near.disease is Disease.HEALTHY


@pytest.mark.parametrize("mode", ["norm", "layer"])
def test_an_ill_fitting_threshold_is_reported_with_a_better_one(mode: str) -> None:
    for threshold, disease in ((1e-3, Disease.ALWAYS_CLIPPING), (1e4, Disease.NEVER_CLIPPING)):
        found = verdict(lambda number, t=threshold: step(number, NOISE[number], clip_norm=t), chosen=settings(mode))  # type: ignore[misc]
        assert found.disease is disease
        assert found.change is not None and found.change.name == "clip_norm"
        assert isinstance(found.change.value, float)
        high = float(np.quantile(NOISE[50:151], 0.95)) if mode == "norm" else 0.5
        assert found.change.value == pytest.approx(high, rel=0.15)


def test_clipping_by_value_is_judged_by_values_and_not_by_the_norm() -> None:
    always = Settings(gradients=GradientSettings(clip_mode="value", clip_value=1e-3))
    never = Settings(gradients=GradientSettings(clip_mode="value", clip_value=1e3))
    clipped = verdict(lambda number: step(number, largest=0.2, clipped=True), chosen=always)
    assert (clipped.disease, clipped.change) == (
        Disease.ALWAYS_CLIPPING,
        SettingChange("gradients", "clip_value", 0.2),
    )
    free = verdict(lambda number: step(number, largest=0.2, clipped=False), chosen=never)
    assert (free.disease, free.change) == (Disease.NEVER_CLIPPING, SettingChange("gradients", "clip_value", 0.2))


@pytest.mark.parametrize("norm", [1e-3, 0.1, 1.0, 9.0])
def test_the_default_threshold_is_never_blamed_for_healthy_norms(norm: float) -> None:
    """Nor for small ones that teach."""
    assert verdict(lambda number: step(number, norm * NOISE[number], falling(number))).disease is Disease.HEALTHY


@pytest.mark.parametrize("mode", ["off", "observe"])
@pytest.mark.parametrize("threshold", [1e-4, 1e4])
def test_without_clipping_no_threshold_is_blamed(mode: str, threshold: float) -> None:
    found = verdict(lambda number: step(number, clip_norm=threshold), chosen=settings(mode))
    assert found.disease is Disease.HEALTHY
    assert ("would have clipped" in found.evidence) == (mode == "observe")


def test_explosion_precedes_large_updates_which_precede_clipping() -> None:
    worst = verdict(lambda number: step(number, 1e3, update_ratio=0.5, clip_norm=1e-3))
    bad = verdict(lambda number: step(number, 1.0, update_ratio=0.5, clip_norm=1e-3))
    mild = verdict(lambda number: step(number, 1.0, clip_norm=1e-3))
    diseases = [worst.disease, bad.disease, mild.disease]
    assert diseases == [Disease.EXPLODING, Disease.UPDATES_TOO_LARGE, Disease.ALWAYS_CLIPPING]


def test_forgotten_steps_no_longer_count() -> None:
    doctor = doctor_of(step(number, 1e3) for number in range(1, 200))
    assert doctor.diagnose().disease is Disease.EXPLODING
    doctor.forget()
    assert doctor.diagnose().disease is Disease.UNKNOWN
    for number in range(200, 280):
        doctor.observe(step(number))
    assert doctor.diagnose().disease is Disease.HEALTHY


@pytest.mark.parametrize(
    ("change", "since"),
    [
        (lambda doctor: doctor.forget(is_other_model=True), "the restore"),
        (lambda doctor: doctor.forget(), "the setting was changed"),
        (lambda doctor: doctor.rolled_back(), "the rollback"),
    ],
)
def test_too_few_steps_name_the_change_since_which_they_are_counted(
    change: Callable[[GradientDoctor], None], since: str
) -> None:
    """Regression: "0 steps so far" was above a curve of 1,000 steps."""
    doctor = doctor_of(step(number) for number in range(1, 200))
    change(doctor)
    assert doctor.diagnose().evidence.startswith(f"0 steps with a gradient norm since {since}; 50 are needed")


def test_a_healthy_verdict_repeats_no_number_of_the_panel() -> None:
    """It is reported again after 100 steps: by then the rows below it have other ones."""
    found = verdict(lambda number: step(number, 0.7), 300)
    assert found.disease is Disease.HEALTHY and "0.7" not in found.evidence


def test_only_the_last_300_steps_count() -> None:
    """And however long it ran before, the verdict on them is the same."""
    long = doctor_of(step(number, NOISE[number % 1000], NOISE[-number % 1000]) for number in range(1, 2000))
    short = doctor_of(step(number, NOISE[number % 1000], NOISE[-number % 1000]) for number in range(1679, 2000))
    assert long.diagnose() == short.diagnose()


def test_unknown_layers_are_ignored() -> None:
    doctor = GradientDoctor("run", ("only one",), Settings)
    for number in range(1, 100):
        doctor.observe(step(number, layers=[0.0, 0.0, 1.0]))
    assert doctor.diagnose().disease is Disease.HEALTHY

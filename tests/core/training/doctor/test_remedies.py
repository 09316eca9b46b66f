"""The proposed change: the first that fits in the documented order, and always a valid setting."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.domain.diagnosis import Disease, NonFiniteOrigin, SettingChange
from core.domain.events import StepDone
from core.settings.tree import GradientSettings, ModelSettings, Settings, TrainingSettings, from_dict, to_dict
from tests.core.training.doctor.steps import settings, step, verdict

Build = Callable[[int], StepDone]
MENDED = ModelSettings(initialisation="by-activation")
USUAL = TrainingSettings(learning_rate=1e-4)

CLIP_BY_NORM = SettingChange("gradients", "clip_mode", "norm")
LOWER_RATE = SettingChange("training", "learning_rate", 1e-5)
OTHER_WEIGHTS = SettingChange("model", "initialisation", "by-activation")
GELU = SettingChange("model", "activation", "gelu")
FULL_PRECISION = SettingChange("training", "precision", "float32")


def clipping(**chosen: object) -> Settings:
    return Settings(training=USUAL, gradients=GradientSettings(**chosen))  # type: ignore[arg-type]


def at_rate(rate: float, **chosen: object) -> Settings:
    return Settings(training=TrainingSettings(learning_rate=rate, **chosen))  # type: ignore[arg-type]


def huge(number: int) -> StepDone:
    return step(number, 1e4)


def grown(number: int) -> StepDone:
    return step(number, 1.0 if number < 60 else 1e4)


def loose(number: int) -> StepDone:
    """Sound for long, then above 100, under a threshold that lets it through."""
    return step(number, 2.0 if number < 110 else 1e4, clip_norm=1e5)


def too_fast(number: int) -> StepDone:
    return step(number, update_ratio=0.4, rate=0.05)


def stuck(number: int) -> StepDone:
    return step(number, 1.0, 1.0, [1e-6, 1e-3, 1.0])


def dead(number: int) -> StepDone:
    return step(number, 1.0, 1.0, [0.0, 1.0, 1.0])


def spoiled(origin: NonFiniteOrigin, before: float = 1.0) -> Build:
    return lambda number: step(number, before, origin=origin if number > 140 else None)


CASES: list[tuple[str, Build, Settings, Disease, SettingChange | None]] = [
    ("clip first", huge, clipping(clip_mode="off"), Disease.EXPLODING, CLIP_BY_NORM),
    ("observing is not clipping", huge, clipping(clip_mode="observe"), Disease.EXPLODING, CLIP_BY_NORM),
    ("an adaptive threshold follows", grown, clipping(clip_mode="adaptive"), Disease.EXPLODING, CLIP_BY_NORM),
    (
        "a threshold from the sound norms",
        loose,
        clipping(clip_norm=1e5),
        Disease.EXPLODING,
        SettingChange("gradients", "clip_norm", 2.0),
    ),
    (
        "a bound for each number",
        lambda number: step(number, 1e4, clipped=False),
        clipping(clip_mode="value", clip_value=100.0),
        Disease.EXPLODING,
        SettingChange("gradients", "clip_value", 0.5),
    ),
    ("then the rate", grown, settings(), Disease.EXPLODING, LOWER_RATE),
    ("then the first weights, where it was so from the start", huge, settings(), Disease.EXPLODING, OTHER_WEIGHTS),
    ("which are sound already", huge, Settings(model=MENDED, training=USUAL), Disease.EXPLODING, LOWER_RATE),
    (
        "a rate for updates of a hundredth",
        too_fast,
        at_rate(0.05),
        Disease.UPDATES_TOO_LARGE,
        SettingChange("training", "learning_rate", 0.0012),
    ),
    ("activation first", stuck, Settings(model=ModelSettings(activation="tanh")), Disease.VANISHING, GELU),
    ("then the first weights", stuck, settings(), Disease.VANISHING, OTHER_WEIGHTS),
    (
        "then the numerics",
        stuck,
        Settings(model=MENDED, training=TrainingSettings(precision="float16")),
        Disease.VANISHING,
        FULL_PRECISION,
    ),
    ("then fewer layers", stuck, Settings(model=MENDED), Disease.VANISHING, SettingChange("model", "layers", 1)),
    (
        "then nothing is left",
        stuck,
        Settings(model=ModelSettings(initialisation="by-activation", layers=1)),
        Disease.VANISHING,
        None,
    ),
    ("a ReLU that died", dead, Settings(model=ModelSettings(activation="relu")), Disease.DEAD_LAYERS, GELU),
    ("a GELU that died", dead, settings(), Disease.DEAD_LAYERS, OTHER_WEIGHTS),
    ("and no more", dead, Settings(model=MENDED), Disease.DEAD_LAYERS, None),
    ("no setting corrects the input", spoiled(NonFiniteOrigin.INPUT), settings(), Disease.NOT_FINITE, None),
    (
        "too few bits",
        spoiled(NonFiniteOrigin.LOSS),
        Settings(training=TrainingSettings(precision="bfloat16")),
        Disease.NOT_FINITE,
        FULL_PRECISION,
    ),
    ("bits enough", spoiled(NonFiniteOrigin.GRADIENTS), settings(), Disease.NOT_FINITE, None),
    ("a step too long", spoiled(NonFiniteOrigin.PARAMETERS), settings(), Disease.NOT_FINITE, LOWER_RATE),
    (
        "it had exploded before",
        spoiled(NonFiniteOrigin.LOSS, before=1e5),
        clipping(clip_mode="off"),
        Disease.NOT_FINITE,
        CLIP_BY_NORM,
    ),
    (
        "an adaptive percentile that is too low",
        lambda number: step(number, clip_norm=0.01),
        clipping(clip_mode="adaptive", clip_percentile=1.0),
        Disease.ALWAYS_CLIPPING,
        SettingChange("gradients", "clip_percentile", 90.0),
    ),
]


@pytest.mark.parametrize(
    ("build", "chosen", "disease", "change"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_the_first_fitting_change_is_proposed_and_can_be_applied(
    build: Build, chosen: Settings, disease: Disease, change: SettingChange | None
) -> None:
    found = verdict(build, chosen=chosen)
    assert (found.disease, found.change) == (disease, change)
    assert found.advice.endswith(".")
    if change is not None:
        applied, warnings = applied_to(chosen, change)
        assert warnings == ()
        assert getattr(getattr(applied, change.group), change.name) == change.value


@pytest.mark.parametrize("threshold", [0.3, 5.0, 6.4, 12.0, 30.0, 1e3])
def test_a_proposed_lower_threshold_is_below_the_current_one(threshold: float) -> None:
    """Norms that were larger once would make it higher: then clipping is at work, and the rate is next."""

    def drifted(number: int) -> StepDone:
        return step(number, 6.3 if number < 200 else (500.0 if number % 3 == 0 else 0.5), clip_norm=threshold)

    found = verdict(drifted, 300, clipping(clip_norm=threshold))
    assert found.disease is Disease.EXPLODING and found.change is not None
    assert isinstance(found.change.value, float)
    if threshold > 12.6:
        assert found.change.name == "clip_norm" and found.change.value < threshold
    else:
        assert found.change == LOWER_RATE


def test_a_value_bound_at_its_minimum_is_not_raised() -> None:
    chosen = clipping(clip_mode="value", clip_value=1e-13)
    found = verdict(lambda number: step(number, 1e4, clipped=False), chosen=chosen)
    assert found.change is None or found.change.name != "clip_value"


def test_a_rate_at_its_minimum_is_not_lowered() -> None:
    found = verdict(lambda number: step(number, update_ratio=0.4, rate=1e-12), chosen=at_rate(1e-12))
    assert (found.disease, found.change) == (Disease.UPDATES_TOO_LARGE, None)


@pytest.mark.parametrize("rate", [3e-5, 0.0123, 1.0])
def test_each_application_lowers_the_rate(rate: float) -> None:
    found = verdict(lambda number: step(number, update_ratio=0.11, rate=rate), chosen=at_rate(rate))
    assert found.change is not None and isinstance(found.change.value, float)
    assert rate / 100 <= found.change.value <= rate / 3


def test_at_the_end_of_a_schedule_the_set_rate_is_scaled_like_the_used_rate() -> None:
    """The button sets what the schedule starts from: a tenth of it is in use at the cosine's end."""
    chosen = at_rate(1e-2, schedule="cosine", schedule_steps=300)
    found = verdict(lambda number: step(number, update_ratio=0.2, rate=1e-3), chosen=chosen)
    assert found.change == SettingChange("training", "learning_rate", 5e-4)
    assert "0.01 to" in found.advice and "used 0.001" in found.advice


@pytest.mark.parametrize("schedule", ["constant", "adaptive", "cosine"])
def test_a_schedule_without_effect_yet_is_not_mentioned(schedule: str) -> None:
    chosen = at_rate(1e-2, schedule=schedule)
    found = verdict(lambda number: step(number, update_ratio=0.2, rate=1e-2), chosen=chosen)
    assert found.advice.endswith("lower the learning rate from 0.01 to 0.0005.")


def test_after_rollbacks_the_effective_rate_is_lowered() -> None:
    """It used to be derived from the highest rate in the window: the button then raised it."""
    in_force = 1e-4 / 16

    def rolled_back(number: int) -> StepDone:
        origin = NonFiniteOrigin.PARAMETERS if number > 255 and number % 10 == 0 else None
        return step(number, rate=1e-4 if number < 260 else in_force, origin=origin)

    found = verdict(rolled_back, 300, at_rate(in_force))
    assert found.change is not None and isinstance(found.change.value, float)
    assert in_force / 20 < found.change.value < in_force / 5


def applied_to(chosen: Settings, change: SettingChange) -> tuple[Settings, tuple[str, ...]]:
    plain = to_dict(chosen)
    plain[change.group][change.name] = change.value
    return from_dict(plain)

"""For any steps the doctor answers, deterministically, and with finite numbers."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.diagnosis import GradientStatistics, LayerStatistics, NonFiniteOrigin
from core.domain.events import StepDone
from core.settings.tree import GradientSettings, ModelSettings, Settings, TrainingSettings, from_dict, to_dict
from core.training.doctor.doctor import GradientDoctor

NAMES = ("embed", "block", "norm", "head")
wild = st.one_of(
    st.none(),
    st.sampled_from([0.0, -0.0, 1.0, 1e-320, 1e-7, 1e308, -1e308, float("nan"), float("inf"), -float("inf")]),
    st.floats(),
)
usual = st.one_of(st.floats(1e-12, 1e6), wild)
rates = st.one_of(st.sampled_from([0.0, 1e-12, 1e-4, 1.0, 1e9]), st.floats(allow_nan=True))
layers = st.builds(LayerStatistics, usual, wild, wild, usual, wild, usual)
statistics = st.builds(
    GradientStatistics,
    layers=st.one_of(st.tuples(layers, layers, layers, layers), st.lists(layers, max_size=5).map(tuple)),
    norm_after=wild,
    parameter_norm=wild,
    update_ratio=usual,
    loss_parts=st.just(()),
    loss_scale=wild,
    non_finite=st.one_of(st.none(), st.none(), st.none(), st.sampled_from(NonFiniteOrigin)),
)
steps = st.builds(
    StepDone,
    run_id=st.just("run"),
    step=st.integers(0, 10**12),
    candle_open_time_ms=st.just(0),
    loss=usual,
    prequential_loss=wild,
    gradient_norm=usual,
    clipped=st.booleans(),
    learning_rate=rates,
    clip_norm=rates,
    samples=st.just(32),
    duration_ms=st.just(1.0),
    at_ms=st.just(0),
    skipped_because=st.one_of(st.none(), st.none(), st.just("a reason")),
    gradients=st.one_of(statistics, statistics, st.none()),
)
settings_trees = st.builds(
    Settings,
    model=st.builds(
        ModelSettings,
        activation=st.sampled_from(["gelu", "relu", "silu", "tanh"]),
        initialisation=st.sampled_from(["torch", "by-activation"]),
        layers=st.integers(1, 3),
    ),
    training=st.builds(TrainingSettings, precision=st.sampled_from(["float32", "bfloat16", "float16"])),
    gradients=st.builds(
        GradientSettings,
        clip_mode=st.sampled_from(["norm", "value", "layer", "adaptive", "off", "observe"]),
        clip_value=st.sampled_from([1e-320, 1e-6, 0.5, 1e6]),
        clip_percentile=st.sampled_from([1.0, 90.0]),
    ),
)
# each of a few different steps, many times over: long runs that hold still long enough to be diagnosed
Run = list[tuple[StepDone, int]]
runs = st.lists(st.tuples(steps, st.integers(1, 150)), max_size=4)


def observe_all(run: Run, tree: Settings) -> GradientDoctor:
    doctor = GradientDoctor("run", NAMES, lambda: tree)
    for one, times in run:
        for _ in range(times):
            doctor.observe(one)
    return doctor


@settings(max_examples=60)
@given(runs, settings_trees)
def test_the_doctor_never_fails_and_prints_no_missing_number(run: Run, tree: Settings) -> None:
    found = observe_all(run, tree).diagnose()
    assert found.evidence.endswith(".")
    assert not re.search(r"nan|inf|none", f"{found.evidence} {found.advice}".lower().replace("none of", ""))


@settings(max_examples=25)
@given(runs, settings_trees)
def test_the_same_steps_give_the_same_diagnosis(run: Run, tree: Settings) -> None:
    doctor = observe_all(run, tree)
    assert doctor.diagnose() == doctor.diagnose() == observe_all(run, tree).diagnose()


@settings(max_examples=60)
@given(runs, settings_trees)
def test_every_proposed_change_is_a_valid_setting(run: Run, tree: Settings) -> None:
    change = observe_all(run, tree).diagnose().change
    if change is None:
        return
    plain = to_dict(tree)
    if change.name not in ("learning_rate", "clip_norm"):  # of these the steps say which is in force
        assert plain[change.group][change.name] != change.value
    plain[change.group][change.name] = change.value
    applied, warnings = from_dict(plain)
    assert warnings == ()
    assert getattr(getattr(applied, change.group), change.name) == change.value

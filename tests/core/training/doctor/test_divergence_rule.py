"""The divergence rule on chosen losses; on real training in tests/faults/test_divergence.py."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from core.domain.diagnosis import Disease, NonFiniteOrigin
from core.domain.events import StepDone
from core.training.doctor.divergence_rule import RECENT, Divergence, DivergenceWatch
from core.training.doctor.doctor import GradientDoctor
from core.training.doctor.remedies import text
from tests.core.training.doctor.steps import NAMES, settings, step

ANCHOR = 0.2


def beside(number: int, excess: float, anchor: float | None = ANCHOR) -> StepDone:
    """A sound step whose loss is so far above its anchor's: the logarithm of the two."""
    done = step(number, loss=(anchor or 1.0) * math.exp(excess))
    assert done.gradients is not None
    return replace(done, gradients=replace(done.gradients, anchor_loss=anchor))


def noisy(level: float, count: int, spread: float = 0.01, seed: int = 0) -> list[float]:
    return [level + spread * number for number in np.random.default_rng(seed).normal(size=count)]


def watch_of(excesses: Iterable[float], changes: Iterable[int] = ()) -> tuple[DivergenceWatch, list[Divergence | None]]:
    """changes: the steps after which a setting was changed. Returns the findings after each step, too."""
    watch, changed, found = DivergenceWatch(), set(changes), []
    for number, excess in enumerate(excesses, 1):
        watch.observe(beside(number, excess))
        found.append(watch.found)
        if number in changed:
            watch.changed()
    return watch, found


def first(found: list[Divergence | None]) -> int | None:
    """The step at which it was reported."""
    return next((number for number, one in enumerate(found, 1) if one is not None), None)


def test_a_model_worse_than_no_correction_is_reported_within_ten_steps() -> None:
    watch, found = watch_of([*noisy(-0.02, 100), *noisy(0.2, 20)])
    assert 101 <= (first(found) or 0) <= 110
    assert watch.found is not None and watch.found.before is None
    assert watch.found.sound_until == 99 and watch.found.best is not None and watch.found.best < 0.0
    assert watch.found.anchor_loss == pytest.approx(ANCHOR)
    assert watch.found.loss == pytest.approx(ANCHOR * math.exp(0.2), rel=0.05)


def test_a_model_that_starts_diverged_is_reported() -> None:
    """After a restart nothing of the past is known."""
    watch, found = watch_of(noisy(1.5, 12, 0.3))
    assert first(found) == RECENT
    assert watch.found is not None and watch.found.sound_until is None


def test_a_never_healthy_model_is_not_excused_by_its_own_spread() -> None:
    """A rate of 0.9 from the first step, then of 0.09: its loss falls to 5 % above the anchor, and stays there."""
    wreck = [*noisy(6.0, 30, 1.0), *noisy(0.35, 100, 0.25), *noisy(0.055, 270, 0.02)]
    _, found = watch_of([*wreck, *noisy(-0.005, 30)], changes=[30])
    assert first(found) == RECENT
    assert all(one is not None for one in found[RECENT : len(wreck)]), "usual by now, and not sound"
    assert found[-1] is None, "it does as well as its anchor again"


def test_a_model_resumed_diverged_is_reported_though_no_worse_than_usual() -> None:
    """After a restart nothing else is known of it, and its loss jumps about."""
    watch, found = watch_of(noisy(0.06, 300, 0.04))
    assert RECENT < (first(found) or 0) <= 100
    assert watch.found is not None and watch.found.sound_until is None


def test_a_rise_after_a_change_counts_even_below_the_anchor() -> None:
    learned, spoilt = noisy(-0.5, 100), noisy(-0.1, 30)
    assert first(watch_of([*learned, *spoilt])[1]) is None, "without a change, the market may have done it"
    watch, found = watch_of([*learned, *spoilt], changes=[100])
    assert first(found) == 110
    assert watch.found is not None and watch.found.changed_at == watch.found.sound_until == 100
    assert watch.found.before == pytest.approx(-0.5, abs=0.02)


def test_a_change_long_ago_is_not_blamed() -> None:
    assert first(watch_of([*noisy(-0.5, 100), *noisy(-0.5, 150), *noisy(-0.1, 30)], changes=[100])[1]) is None


def test_consecutive_changes_are_compared_with_the_state_before_all_of_them() -> None:
    """As when the arrows of the spin box are clicked repeatedly."""
    excesses = [*noisy(-0.1, 100), *noisy(0.2, 6), *noisy(0.5, 20)]
    watch, _ = watch_of(excesses, changes=[100, 102, 104])
    assert watch.found is not None and watch.found.changed_at == watch.found.sound_until == 100
    assert watch.found.before == pytest.approx(-0.1, abs=0.02)


def test_a_change_during_divergence_resets_nothing() -> None:
    """The issue's: a rate of 1, then of 0.9. What the loss was before 0.9 is no measure."""
    watch, found = watch_of([*noisy(-0.03, 300), *noisy(2.0, 60, 0.3)], changes=[300, 330])
    assert all(one is not None for one in found[310:])
    assert watch.found is not None and watch.found.changed_at == watch.found.sound_until == 300
    assert watch.found.before == pytest.approx(-0.03, abs=0.01)


def test_the_best_loss_of_the_run_tightens_the_limit() -> None:
    """2 % above the anchor may be a model that has not learned yet; one that had learned lost it."""
    assert first(watch_of([*noisy(-0.005, 100, 0.003), *noisy(0.02, 50, 0.003)])[1]) is None
    assert first(watch_of([*noisy(-0.2, 100, 0.003), *noisy(0.02, 50, 0.003)])[1]) is not None


def test_a_restored_model_is_compared_with_its_anchor_and_the_best_of_the_run() -> None:
    for learned, is_named in ((-0.2, True), (-0.005, False)):
        watch, _ = watch_of(noisy(learned, 100, 0.003))
        watch = watch.for_restored_model()
        for number, excess in enumerate(noisy(0.02, 20, 0.003, seed=1), 101):
            watch.observe(beside(number, excess))
        assert (watch.found is not None) is is_named
        assert watch.found is None or (watch.found.sound_until, watch.found.changed_at) == (None, None)


def test_a_restored_model_that_has_learned_less_is_not_reported() -> None:
    watch, _ = watch_of(noisy(-0.5, 100))
    watch = watch.for_restored_model()
    for number, excess in enumerate(noisy(0.0, 60, 0.003), 101):
        watch.observe(beside(number, excess))
        assert watch.found is None


def test_divergence_ends_when_the_model_is_healthy_again() -> None:
    _, found = watch_of([*noisy(-0.02, 60), *noisy(0.3, 30), *noisy(-0.02, 80)], changes=[60])
    assert found[69] is not None and found[-1] is None
    turns = sum((one is None) is not (other is None) for one, other in pairwise(found))
    assert turns == 2, "it does not go to and fro"


@pytest.mark.parametrize("spread", [0.002, 0.01, 0.05, 0.2])
@pytest.mark.parametrize("learns", [lambda _: 0.0, lambda n: -0.0001 * n, lambda n: -0.3 * (1 - math.exp(-n / 500))])
def test_noise_alone_is_never_reported(spread: float, learns: Callable[[int], float]) -> None:
    """1,000 steps each, with a harmless change every 90: also where a batch is small and its loss jumps about."""
    generator = np.random.default_rng(7)
    excesses = [learns(number) + spread * generator.standard_t(5) for number in range(1000)]
    assert first(watch_of(excesses, changes=range(90, 1000, 90))[1]) is None


def test_single_spikes_are_no_divergence() -> None:
    excesses = [3.0 if number % 4 == 0 else excess for number, excess in enumerate(noisy(-0.02, 400))]
    assert first(watch_of(excesses)[1]) is None


def test_steps_without_a_loss_or_an_anchor_are_ignored() -> None:
    watch = DivergenceWatch()
    for number in range(1, 60):
        watch.observe(beside(number, 2.0, None))
        watch.observe(step(number, origin=NonFiniteOrigin.LOSS))
        watch.observe(replace(beside(number, 2.0), loss=math.inf))
    assert watch.found is None


@pytest.mark.parametrize("seed", range(5))
def test_the_ratio_in_the_sentence_matches_its_two_losses(seed: int) -> None:
    """Anchors differ from step to step, so a ratio of medians is not the median of ratios."""
    generator, doctor = np.random.default_rng(seed), GradientDoctor("run", NAMES, lambda: settings(rate=0.3))
    for number in range(1, 31):
        doctor.observe(beside(number, generator.normal(1.5, 1.0), generator.uniform(0.05, 2.0)))
    words = re.search(r"the loss was (\S+), (\S+) (times|% above) the (\S+) of", doctor.diagnose().evidence)
    assert words is not None, doctor.diagnose().evidence
    loss, shown, unit, anchor = words.groups()
    ratio = float(loss.replace(",", "")) / float(anchor)
    assert shown == (text(ratio) if unit == "times" else f"{100.0 * (ratio - 1.0):.1f}")


def test_large_ratios_are_written_out() -> None:
    """The window said ``1.74e3 times the 0.146``."""
    doctor = GradientDoctor("run", NAMES, lambda: settings(rate=0.3))
    for number in range(1, 31):
        doctor.observe(beside(number, math.log(1_739.8), 0.146))
    assert "254, 1,740 times the 0.146 of" in doctor.diagnose().evidence
    for number in range(31, 61):
        doctor.observe(beside(number, math.log(12_345.0)))
    assert "2,470, 12,300 times the 0.2 of" in doctor.diagnose().evidence


def test_the_doctor_reports_divergence_first_with_its_numbers() -> None:
    doctor = GradientDoctor("run", NAMES, lambda: settings(rate=0.3))
    for number in range(1_001, 1_301):
        doctor.observe(beside(number, -0.02))
    assert doctor.diagnose().disease is Disease.HEALTHY
    doctor.forget()
    for number in range(1_301, 1_312):
        doctor.observe(beside(number, math.log(3.0)))
    found = doctor.diagnose()
    assert found.disease is Disease.DIVERGED, "before it is too early to tell anything else"
    assert "0.6, 3 times the 0.2" in found.evidence and "Before the change at step 1,300" in found.evidence
    assert found.change is not None and found.change.value == pytest.approx(0.03)
    doctor.forget(is_other_model=True)
    assert doctor.diagnose().disease is Disease.UNKNOWN


def test_a_diverged_model_that_corrects_nothing_is_not_healthy_again() -> None:
    """A rate of 0.9 that was left for 1,170 steps: it was as good as its anchor, and was called healthy."""
    wreck = [*noisy(0.4, 60, 0.2), *noisy(0.0, 1_500, 0.02)]
    for learned in (-0.005, -0.08):
        watch, found = watch_of([*noisy(learned, 300), *wreck], changes=[300])
        assert all(one is not None for one in found[310:])
        assert watch.found is not None and watch.found.sound_until == watch.found.changed_at == 300
        watch.changed()  # back to the former rate: by itself it learns again, from nothing
        for number, excess in enumerate(noisy(0.0, 20, 0.02), 2_000):
            watch.observe(beside(number, excess))
        assert watch.found is None or learned < -0.05, "held against what it was before the change"


def test_a_diverged_model_stays_diverged_after_a_resume() -> None:
    watch, found = watch_of(noisy(0.0, 300, 0.02))
    assert first(found) is None
    watch.resume_diverged(250)
    for number, excess in enumerate(noisy(0.0, 200, 0.02, seed=1), 301):
        watch.observe(beside(number, excess))
        assert watch.found is not None and watch.found.sound_until == 250
    for number, excess in enumerate(noisy(-0.05, 60, 0.02, seed=2), 501):
        watch.observe(beside(number, excess))
    assert watch.found is None
    nothing = DivergenceWatch()
    nothing.resume_diverged(250)
    assert nothing.found is None, "nothing is known of its losses"

"""When a verdict is reported, when it makes an incident, and its fate after a rollback."""

from __future__ import annotations

import pytest

from core.domain.diagnosis import Diagnosis, Disease, NonFiniteOrigin
from core.domain.events import StepDone
from core.settings.tree import Settings
from core.training.doctor.doctor import GradientDoctor
from core.training.online.health import GradientHealth
from tests.core.training.doctor.steps import NAMES, step


@pytest.fixture
def health() -> GradientHealth:
    return GradientHealth(GradientDoctor("run", NAMES, Settings))


def observe(health: GradientHealth, first: int, last: int, norm: float = 1.0) -> list[Diagnosis]:
    """Steps one by one, as a session does them. Returns all reported verdicts."""
    return [verdicts for number in range(first, last + 1) for verdicts in health.observe([step(number, norm)])]


def test_a_verdict_is_reported_when_it_changes_and_every_hundred_steps(health: GradientHealth) -> None:
    verdicts = observe(health, 1, 300)
    assert [(one.step, one.disease) for one in verdicts] == [
        *((number, Disease.UNKNOWN) for number in (10, 20, 30, 40)),
        (50, Disease.HEALTHY),
        (150, Disease.HEALTHY),
        (250, Disease.HEALTHY),
    ]
    (ill,) = [one for one in observe(health, 301, 349, 1e4) if one.disease is Disease.EXPLODING]
    assert ill.step == 320, "a fifth of the newest hundred"


def test_several_steps_at_once_get_one_diagnosis(health: GradientHealth) -> None:
    assert len(health.observe([step(number) for number in range(1, 60)])) == 1
    assert health.observe([]) == ()


def test_the_history_in_the_record_is_resumed(health: GradientHealth) -> None:
    primed = health.prime(step(number, 1e4) for number in range(1, 100))
    assert (primed.disease, primed.step) == (Disease.EXPLODING, 99)
    assert observe(health, 100, 120, 1e4) == [], "it says the same"


def reported(health: GradientHealth, verdicts: list[Diagnosis]) -> list[int]:
    """The steps of the verdicts that made an incident."""
    return [one.step for one in verdicts if health.incident(one) is not None]


def test_an_episode_of_any_length_is_one_incident(health: GradientHealth) -> None:
    assert reported(health, observe(health, 1, 1200, 1e4)) == [50]
    assert reported(health, observe(health, 1201, 1600)) == [], "healthy, but not for long"
    assert reported(health, observe(health, 1601, 1700, 1e4)) == []
    assert reported(health, observe(health, 1701, 2700)) == []
    assert len(reported(health, observe(health, 2701, 2900, 1e4))) == 1, "another, after five hundred steps without"


def test_another_model_starts_another_episode(health: GradientHealth) -> None:
    assert reported(health, observe(health, 1, 100, 1e4)) == [50]
    health.forget(is_other_model=True)
    assert len(reported(health, observe(health, 101, 200, 1e4))) == 1


def test_an_incident_stays_accurate_after_its_advice_is_applied(health: GradientHealth) -> None:
    """Its row is still there after the button was pressed."""
    verdicts = observe(health, 1, 100, 1e4)
    incident = health.incident(verdicts[-1])
    assert incident is not None
    assert incident.done == f"Nothing was changed automatically. Advice at the time: {verdicts[-1].advice}"


def test_a_rollback_is_diagnosed_at_once_without_the_steps_before_it(health: GradientHealth) -> None:
    observe(health, 1, 102, 1e4)
    (verdicts,) = health.observe([step(103, 1e4)], has_rolled_back=True)
    assert verdicts.disease is Disease.UNKNOWN and verdicts.step == 103
    assert [one.disease for one in observe(health, 104, 200)] == [*[Disease.UNKNOWN] * 5, Disease.HEALTHY]


def spoiled(number: int, norm: float = 1.0) -> StepDone:
    return step(number, norm, origin=NonFiniteOrigin.PARAMETERS)


def test_a_rollback_does_not_hide_the_numbers_that_led_to_it(health: GradientHealth) -> None:
    """Training may pause right there, and the banner sends people to the verdict."""
    observe(health, 1, 112)
    (verdicts,) = health.observe([spoiled(113)], has_rolled_back=True)
    assert verdicts.disease is Disease.NOT_FINITE and "began at step 113" in verdicts.evidence
    assert verdicts.change is not None and verdicts.change.name == "learning_rate"
    assert observe(health, 114, 212) == [], "it says the same within a hundred steps"
    assert [one.disease for one in observe(health, 213, 240)] == [Disease.HEALTHY]


def test_a_rollback_keeps_what_led_to_the_bad_number(health: GradientHealth) -> None:
    """Norms that had exploded before it under clipping: the advice rests on them, though they count no more."""
    observe(health, 1, 60)
    observe(health, 61, 112, 1e4)
    (verdicts,) = health.observe([spoiled(113)], has_rolled_back=True)
    assert verdicts.disease is Disease.NOT_FINITE and "Clipping is active" in verdicts.advice


def test_changed_settings_start_a_new_window(health: GradientHealth) -> None:
    observe(health, 1, 112, 1e4)
    health.observe([spoiled(113)])
    assert health.forget().disease is Disease.UNKNOWN


@pytest.mark.parametrize("is_other_model", [True, False])
def test_counting_continues_until_a_verdict_is_possible(health: GradientHealth, is_other_model: bool) -> None:
    """43 steps after a restore the card still said that there were none."""
    observe(health, 1, 112)
    assert health.forget(is_other_model=is_other_model).evidence.startswith("0 steps with")
    verdicts = observe(health, 113, 155)
    assert [one.evidence.split(" with")[0] for one in verdicts] == ["8 steps", "18 steps", "28 steps", "38 steps"]
    assert health.observe([]) == () and observe(health, 156, 159) == []

"""When the doctor is asked, and when its verdict is worth telling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from core.domain.diagnosis import Diagnosis, Disease
from core.domain.events import Severity, StepDone
from core.training.doctor.divergence import Divergence
from core.training.doctor.doctor import GradientDoctor
from core.training.recovery.incident_draft import Mishap

_ASKED_EVERY = 10
_REPEATED_EVERY = 100
"""Steps after which an unchanged verdict is told again: its evidence has newer numbers."""
_QUIET_STEPS = 500
"""Steps without a disease after which it makes an incident again: a verdict may go to and fro."""
_SERIOUS = frozenset(
    {
        Disease.DIVERGED,
        Disease.EXPLODING,
        Disease.VANISHING,
        Disease.UPDATES_TOO_LARGE,
        Disease.DEAD_LAYERS,
        Disease.NOT_FINITE,
    }
)

_COST = {Disease.DIVERGED: "Forecasts of the model are worse than without it until it is taken back."}

FindWayBack = Callable[[Diagnosis, Divergence], Diagnosis]


class GradientHealth:
    """Owns the doctor of one run, and remembers what was told.

    find_way_back: completes the verdict on a diverged model; None: as the doctor gives it.
    """

    def __init__(self, doctor: GradientDoctor, find_way_back: FindWayBack | None = None) -> None:
        self._doctor = doctor
        self._find_way_back = find_way_back
        self._told: Diagnosis | None = None
        self._seen: dict[Disease, int] = {}
        """The step of the newest verdict of each."""

    @property
    def newest(self) -> Disease:
        """What was told last; too early to say before anything was."""
        return Disease.UNKNOWN if self._told is None else self._told.disease

    @property
    def way_back(self) -> str | None:
        """The id of the checkpoint that was told as the one to go back to; None where there is none to."""
        way = None if self._told is None else self._told.way_back
        return None if way is None else way.checkpoint_id

    def prime(
        self, steps: Iterable[StepDone], line_after_ms: int | None = None, wrecked_at: int | None = None
    ) -> Diagnosis:
        """Take up what the record holds. Returns the verdict on it.

        line_after_ms: what was learned of candles up to here, other weights learned: of their steps, only numbers that
        were not finite say something of this model. wrecked_at: the model was saved as diverged, after a setting was
        changed at this step.
        """
        for step in steps:
            if line_after_ms is None or step.candle_open_time_ms > line_after_ms or step.loss is None:
                self._doctor.observe(step)
        if wrecked_at is not None:
            self._doctor.still_diverged(wrecked_at)
        self._told = self._diagnose()
        return self._told

    def observe(self, steps: Sequence[StepDone], went_back: bool = False) -> tuple[Diagnosis, ...]:
        """Take note of steps. Returns a verdict where there is one to tell.

        went_back: everything went back to the known good state after them. The doctor is asked at once then: it may
        have been the last rollback before a pause, and people are sent to the verdict.
        """
        is_asked = went_back
        for step in steps:
            was_diverged = self._doctor.divergence is not None
            self._doctor.observe(step)
            has_turned = was_diverged is not (self._doctor.divergence is not None)
            is_asked = is_asked or has_turned or step.step % _ASKED_EVERY == 0
        if went_back:
            self._doctor.went_back()
        if not is_asked:
            return ()
        verdict, told = self._diagnose(), self._told
        is_old = told is None or not 0 <= verdict.step - told.step < _REPEATED_EVERY
        if told is not None and not is_old and _essence(verdict) == _essence(told):
            return ()
        self._told = verdict
        return (verdict,)

    def mishap(self, verdict: Diagnosis) -> Mishap | None:
        """The incident that a serious verdict is worth."""
        if verdict.disease not in _SERIOUS:
            return None
        before = self._seen.get(verdict.disease)
        self._seen[verdict.disease] = verdict.step
        if before is not None and 0 <= verdict.step - before < _QUIET_STEPS:
            return None
        cost = _COST.get(verdict.disease, "Perhaps learning.")
        return Mishap(
            Severity.WARNING,
            "gradient doctor",
            f"The gradient doctor says: {verdict.disease.value}. {verdict.evidence}",
            f"Nothing was changed automatically. Advice at the time: {verdict.advice}",
            f"{cost} The Gradients panel has a button that applies the advice.",
        )

    def forget(self, *, is_other_model: bool = False) -> Diagnosis:
        """A setting was changed, or the model: the steps so far say nothing of the next ones. Returns the verdict."""
        self._doctor.forget(is_other_model=is_other_model)
        if is_other_model:
            self._seen.clear()
        self._told = self._diagnose()
        return self._told

    def _diagnose(self) -> Diagnosis:
        verdict, divergence = self._doctor.diagnose(), self._doctor.divergence
        if divergence is None or verdict.disease is not Disease.DIVERGED or self._find_way_back is None:
            return verdict
        return self._find_way_back(verdict, divergence)


def _essence(verdict: Diagnosis) -> tuple[object, ...]:
    """What makes it another one; while it is too early to say, how many steps there are."""
    counted = verdict.evidence if verdict.disease is Disease.UNKNOWN else ""
    return verdict.disease, verdict.change, counted

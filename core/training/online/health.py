"""Decides when to run the gradient doctor, and when its verdict is worth reporting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from core.domain.diagnosis import Diagnosis, Disease
from core.domain.events import Severity, StepDone
from core.domain.incident_kinds import IncidentKind
from core.training.doctor.divergence_rule import Divergence
from core.training.doctor.doctor import GradientDoctor
from core.training.recovery.incident_draft import IncidentDraft

_ASKED_EVERY = 10
_REPEATED_EVERY = 100
"""Steps after which an unchanged verdict is reported again, with newer numbers."""
_QUIET_STEPS = 500
"""Steps without a disease after which it makes an incident again: verdicts may alternate."""
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

_COST = {Disease.DIVERGED: "Forecasts of the model are worse than without it until it is restored."}

FindRecovery = Callable[[Diagnosis, Divergence], Diagnosis]


class GradientHealth:
    """Owns the gradient doctor of one run, and remembers the last reported verdict.

    find_recovery: adds the recovery to a verdict on a diverged model; None leaves the verdict unchanged.
    """

    def __init__(self, doctor: GradientDoctor, find_recovery: FindRecovery | None = None) -> None:
        self._doctor = doctor
        self._find_recovery = find_recovery
        self._reported: Diagnosis | None = None
        self._seen: dict[Disease, int] = {}
        """The step of the newest verdict of each disease."""

    @property
    def newest(self) -> Disease:
        """The last reported disease; UNKNOWN before the first report."""
        return Disease.UNKNOWN if self._reported is None else self._reported.disease

    @property
    def recovery_checkpoint_id(self) -> str | None:
        """The id of the checkpoint recommended for recovery, or None."""
        recovery = None if self._reported is None else self._reported.recovery
        return None if recovery is None else recovery.checkpoint_id

    def prime(
        self, steps: Iterable[StepDone], line_after_ms: int | None = None, diverged_since: int | None = None
    ) -> Diagnosis:
        """Start from recorded steps. Returns the verdict on them.

        line_after_ms: steps on candles up to here were made by other weights; only their non-finite numbers count for
        this model. diverged_since: the step of the setting change after which the model was saved as diverged.
        """
        for step in steps:
            if line_after_ms is None or step.candle_open_time_ms > line_after_ms or step.loss is None:
                self._doctor.observe(step)
        if diverged_since is not None:
            self._doctor.resume_diverged(diverged_since)
        self._reported = self._diagnose()
        return self._reported

    def observe(self, steps: Sequence[StepDone], has_rolled_back: bool = False) -> tuple[Diagnosis, ...]:
        """Append steps. Returns a verdict if there is a new one to report.

        has_rolled_back: training was rolled back to the known good state after them. The doctor is then run at once,
        since this may be the last rollback before a pause, which refers users to the verdict.
        """
        is_asked = has_rolled_back
        for step in steps:
            was_diverged = self._doctor.divergence is not None
            self._doctor.observe(step)
            has_turned = was_diverged is not (self._doctor.divergence is not None)
            is_asked = is_asked or has_turned or step.step % _ASKED_EVERY == 0
        if has_rolled_back:
            self._doctor.rolled_back()
        if not is_asked:
            return ()
        verdict, reported = self._diagnose(), self._reported
        is_old = reported is None or not 0 <= verdict.step - reported.step < _REPEATED_EVERY
        if reported is not None and not is_old and _key(verdict) == _key(reported):
            return ()
        self._reported = verdict
        return (verdict,)

    def incident(self, verdict: Diagnosis) -> IncidentDraft | None:
        """The incident for a serious verdict, or None."""
        if verdict.disease not in _SERIOUS:
            return None
        before = self._seen.get(verdict.disease)
        self._seen[verdict.disease] = verdict.step
        if before is not None and 0 <= verdict.step - before < _QUIET_STEPS:
            return None
        cost = _COST.get(verdict.disease, "Perhaps learning.")
        return IncidentDraft(
            Severity.WARNING,
            IncidentKind.GRADIENT_DOCTOR,
            f"Gradient doctor: {verdict.disease.value}. {verdict.evidence}",
            f"Nothing was changed automatically. Advice at the time: {verdict.advice}",
            f"{cost} The Gradients panel has a button that applies the advice.",
        )

    def forget(self, *, is_other_model: bool = False) -> Diagnosis:
        """Forget the steps before a change of a setting or the model. Returns the verdict."""
        self._doctor.forget(is_other_model=is_other_model)
        if is_other_model:
            self._seen.clear()
        self._reported = self._diagnose()
        return self._reported

    def _diagnose(self) -> Diagnosis:
        verdict, divergence = self._doctor.diagnose(), self._doctor.divergence
        if divergence is None or verdict.disease is not Disease.DIVERGED or self._find_recovery is None:
            return verdict
        return self._find_recovery(verdict, divergence)


def _key(verdict: Diagnosis) -> tuple[object, ...]:
    """The parts of a verdict that make it a new one; while there are too few steps, also their number."""
    counted = verdict.evidence if verdict.disease is Disease.UNKNOWN else ""
    return verdict.disease, verdict.change, counted

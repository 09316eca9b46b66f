"""The gradient doctor: watches the steps of a run, diagnoses problems, and names what to change first.

Usage, next to the code that makes `StepDone` events:

    doctor = GradientDoctor(run_id, layer_names, lambda: settings)   # called at each diagnosis
    doctor.observe(step_done)                                        # after every step, skipped ones too
    diagnosis = doctor.diagnose()                                    # every 10 steps; a separate event
    doctor.forget()                                                  # after a restore or a changed setting
    doctor.rolled_back()                                               # after a rollback

The settings are the current ones: their learning rate is the base of the schedule, after all rollbacks. `layer_names`
are `TrainerReady.layers`, in that order. Without `forget` a cured disease stays in the window for up to 100 steps more;
with it the verdict is "too early to say" for 50. `rolled_back` does the same, but keeps the steps that led
to the rollback: a run that it paused must not look healthy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from core.domain.diagnosis import Diagnosis, Disease
from core.domain.events import StepDone
from core.settings.tree import Settings
from core.training.doctor.divergence_rule import RECENT, Divergence, DivergenceWatch
from core.training.doctor.evidence import Evidence, RunStart, measure
from core.training.doctor.remedies import lower_rate, text
from core.training.doctor.verdicts import Verdict, judge
from core.training.doctor.window import StepWindow


class GradientDoctor:
    """Owns the last few hundred steps of one run. Deterministic: the same steps give the same sentences."""

    def __init__(self, run_id: str, layers: Sequence[str], settings: Callable[[], Settings]) -> None:
        """layers: their names, as in `TrainerReady`. settings: returns the current ones."""
        self._run_id = run_id
        self._names = tuple(layers)
        self._settings = settings
        self._window = StepWindow(len(self._names))
        self._start = RunStart()
        self._divergence = DivergenceWatch()
        self._step = 0

    @property
    def divergence(self) -> Divergence | None:
        """The divergence as of the newest step; None while the model is sound."""
        return self._divergence.found

    def observe(self, step: StepDone) -> None:
        """Append a step. One without measurements only counts as a step."""
        self._window.append(step)
        self._start.observe(step)
        self._divergence.observe(step)
        self._step = step.step

    def diagnose(self) -> Diagnosis:
        evidence = measure(self._window, self._names, self._start, self._window.before_rollback)
        with_rolled_back = (
            measure(self._window, self._names, self._start) if self._window.has_steps_before_rollback else evidence
        )
        verdict = judge(evidence, self._settings(), with_rolled_back)
        if self.divergence is not None and verdict.disease is not Disease.NOT_FINITE:
            verdict = diverged(self.divergence, evidence, self._settings())
        return Diagnosis(
            run_id=self._run_id,
            step=self._step,
            disease=verdict.disease,
            evidence=verdict.evidence,
            advice=verdict.remedy.advice,
            change=verdict.remedy.change,
            layers=verdict.layers,
        )

    def forget(self, *, is_other_model: bool = False) -> None:
        """Earlier steps say nothing about later ones. The run's first losses are kept, and so is the loss before the
        change, unless the model was replaced."""
        self._window.clear("the restore" if is_other_model else "the setting was changed")
        self._start.forget_updates()
        if is_other_model:
            self._divergence = self._divergence.for_restored_model()
        else:
            self._divergence.changed()

    def resume_diverged(self, changed_at: int) -> None:
        """The model was saved as diverged, after a setting was changed at this step."""
        self._divergence.resume_diverged(changed_at)

    def rolled_back(self) -> None:
        """Training was rolled back to the known good state. Non-finite numbers still count."""
        self._window.mark_rollback()
        self._start.forget_updates()


_TIMES_FROM = math.log(2.0)
_LARGEST = 700.0
_THOUSAND, _LARGEST_WRITTEN_OUT = 999.5, 1e7
_SMALLEST_PERCENT = 0.05


def diverged(found: Divergence, evidence: Evidence, settings: Settings) -> Verdict:
    """The verdict, with a tenth of the rate as the remedy, used if there is no checkpoint to restore."""
    loss, anchor_loss = _figure(found.loss), _figure(found.anchor_loss)
    sentence = (
        f"In the median of the last {RECENT} steps the loss was {loss}, {_relation(_as_shown(loss, anchor_loss))} the "
        f"{anchor_loss} of the uncorrected forecast."
    )
    if found.before is not None:
        sentence += f" Before the change at step {found.changed_at:,} it was {_relation(found.before)} that."
    if found.best is not None and (found.before is None or found.best < found.before):
        sentence += f" At its best it was {_relation(found.best)} that."
    why = "The model does worse than without its corrections, on candles that it was trained on"
    return Verdict(Disease.DIVERGED, sentence, lower_rate(evidence, settings, 0.1, why))


def _figure(value: float) -> str:
    """Three digits; thousands are written out: 0.146, 1,740, 2.5e8."""
    return f"{float(f'{value:.3g}'):,.0f}" if _THOUSAND <= value < _LARGEST_WRITTEN_OUT else text(value)


def _as_shown(loss: str, anchor_loss: str) -> float:
    """The level computed from the two displayed figures, which are rounded, so that the sentence agrees with them."""
    return math.log(float(loss.replace(",", ""))) - math.log(float(anchor_loss.replace(",", "")))


def _relation(level: float) -> str:
    """``3.1 times``, ``5.3 % above``, ``1.9 % below``, to be followed by a noun."""
    if level >= _TIMES_FROM:
        return f"{_figure(math.exp(min(level, _LARGEST)))} times"
    percent = 100.0 * math.expm1(level)
    if abs(percent) < _SMALLEST_PERCENT:
        return "as high as"
    return f"{abs(percent):.1f} % {'above' if level >= 0.0 else 'below'}"

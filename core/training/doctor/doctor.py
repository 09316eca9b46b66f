"""The gradient doctor: watches the steps of a run and says what is wrong with them, and what to change first.

How it is wired in, by whoever makes `StepDone` events:

    doctor = GradientDoctor(run_id, layer_names, lambda: settings)   # asked at each diagnosis
    doctor.observe(step_done)                                        # after every step, skipped ones too
    diagnosis = doctor.diagnose()                                    # every 10 steps; an event of its own
    doctor.forget()                                                  # after a restore or a changed setting
    doctor.went_back()                                               # after a rollback

The settings are those in force: their learning rate is the one that the schedule starts from, after all rollbacks.
`layer_names` are those of `TrainerReady.layers`, in that order. Without `forget` a mended disease stays in the window
for up to 100 steps more; with it the verdict is "too early to say" for 50. `went_back` does the same, but what led to
the rollback stays in sight: a run that was paused by it must not look healthy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.domain.diagnosis import Diagnosis, Disease
from core.domain.events import StepDone
from core.settings.tree import Settings
from core.training.doctor.diverged import diverged
from core.training.doctor.divergence import Divergence, DivergenceWatch
from core.training.doctor.evidence import RunStart, measure
from core.training.doctor.verdicts import judge
from core.training.doctor.window import WINDOW, StepWindow


class GradientDoctor:
    """Owns the last few hundred steps of one run. Deterministic: the same steps lead to the same words."""

    def __init__(
        self, run_id: str, layers: Sequence[str], settings: Callable[[], Settings] = Settings, capacity: int = WINDOW
    ) -> None:
        """layers: their names, as in `TrainerReady`. settings: those in force; by itself, the defaults."""
        self._run_id = run_id
        self._names = tuple(layers)
        self._settings = settings
        self._window = StepWindow(len(self._names), capacity)
        self._start = RunStart()
        self._divergence = DivergenceWatch()
        self._step = 0

    @property
    def divergence(self) -> Divergence | None:
        """As of the newest step; None while the model is sound."""
        return self._divergence.found

    def observe(self, step: StepDone) -> None:
        """Take note of a step. One that measured nothing counts as a step and no more."""
        self._window.append(step)
        self._start.observe(step)
        self._divergence.observe(step)
        self._step = step.step

    def diagnose(self) -> Diagnosis:
        """What the steps so far show."""
        evidence = measure(self._window, self._names, self._start, self._window.closed)
        with_closed = measure(self._window, self._names, self._start) if self._window.has_closed_steps else evidence
        verdict = judge(evidence, self._settings(), with_closed)
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
        """The steps so far say nothing of the next ones. Where the run's loss began is kept, and what the loss was
        before a change, unless another model took this one's place."""
        self._window.clear()
        self._start.forget_updates()
        if is_other_model:
            self._divergence = self._divergence.of_other_model()
        else:
            self._divergence.changed()

    def still_diverged(self, changed_at: int) -> None:
        """The model had diverged when it was saved, after the change of a setting at this step."""
        self._divergence.still_diverged(changed_at)

    def went_back(self) -> None:
        """Everything went back to the known good state. Numbers that were not finite still count."""
        self._window.close()
        self._start.forget_updates()

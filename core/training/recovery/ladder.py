"""The ladder: which remedies are tried, in which order, when a training step goes wrong.

bad batch            quarantined, not trained on
not finite           the step is skipped on the device; several in a row: back to the known good state
bad parameters       back to the known good state, the rate halved; too often: pause
changed in place     the step is dropped, and the operation named
out of memory        the same batch in smaller pieces
loss spike           marked, clipped harder, or skipped; the batch quarantined
unusable device      cannot be fixed in this process: raised, so that the trainer exits and is restarted
anything else        back to the known good state and one more try; then pause
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.domain.counts import counted, decimal_text
from core.domain.diagnosis import NonFiniteOrigin
from core.domain.events import Severity
from core.domain.incident_kinds import IncidentKind
from core.domain.quantities import FloatArray
from core.settings.tree import RecoverySettings
from core.training.engine.device_faults import DeviceFault
from core.training.engine.engine import StepResult, TrainingEngine
from core.training.engine.samples import Batch
from core.training.recovery.failure import Failure, name_operation, survivable_failure
from core.training.recovery.incident_draft import IncidentDraft
from core.training.recovery.known_good import KnownGood
from core.training.recovery.quarantine import Quarantine, non_finite_parts
from core.training.recovery.step_watches import MicroBatching, RollbackBudget, ScaleSearch, SpikeWatch

_RATE_AFTER_ROLLBACK = 0.5
_AS_USUAL = "The step was done as usual."
_CLIPS_NOTHING = ("off", "observe")
_TAKEN_BACK = "it left a parameter that was not finite, so it was undone"
_PERHAPS_MORE = "One spike costs little. If losses stay this high, see the gradient doctor."
_ONE_STEP = "One step. The candle was still scored and forecast."
_WHOLE = "The batch is no longer split."
_PAUSED = (
    "Training is paused with the known good state of step {step:,}. Candles are still forecast and scored. Look at the "
    "Gradients panel, change what it advises, and press Resume."
)


@dataclass(frozen=True, slots=True)
class TrainedStep:
    """The result of one training step, with its incidents. must_pause: a user has to act."""

    result: StepResult
    incidents: tuple[IncidentDraft, ...] = ()
    must_pause: bool = False


@dataclass(frozen=True, slots=True)
class Recovered:
    """Recovery outside of a step. must_pause: a user has to act."""

    incidents: tuple[IncidentDraft, ...]
    must_pause: bool


class RecoveryLadder:
    """Every training step goes through `train`. Owns the known good state and the failure counts."""

    def __init__(
        self,
        engine: TrainingEngine,
        settings: RecoverySettings,
        known_good: KnownGood,
        quarantine: Quarantine,
        may_retry: bool = True,
        when_paused: str = _PAUSED,
    ) -> None:
        """may_retry: False lets every exception through. One of several replicas cannot retry alone: the others wait in
        the exchange of the first try. when_paused: completes the incident after which training must pause."""
        self._engine = engine
        self._may_retry = may_retry
        self._when_paused = when_paused
        self._settings = settings
        self.known_good = known_good
        self._quarantine = quarantine
        self._memory = MicroBatching(engine)
        self._budget = RollbackBudget(settings)
        self._spikes = SpikeWatch(settings.spike_factor)
        self._scale = ScaleSearch()
        self._skipped_in_a_row = 0
        self._incidents: list[IncidentDraft] = []
        self._must_pause = False

    @property
    def is_sound(self) -> bool:
        """Whether the newest step was completed, so that the current state is known good if it is finite."""
        return self._skipped_in_a_row == 0

    def train(self, batch: Batch, reference: FloatArray, step: int, recent_losses: Sequence[float]) -> TrainedStep:
        """One step, with recovery. Raises only errors that end the process: an unusable or lost device.

        recent_losses: of the steps before, to detect a spike.
        """
        self._incidents, self._must_pause = [], False
        bad = non_finite_parts(batch, reference)
        if bad:
            result = self._set_aside(batch, reference, step, bad)
        else:
            self._engine.expect_loss_below(self._spikes.limit(step, recent_losses))
            result = self._attempt(batch, reference, step)
        return TrainedStep(result, tuple(self._incidents), self._must_pause)

    def roll_back_model(self, step: int) -> Recovered:
        """A forecast was not finite, so the model is not either: roll back."""
        self._incidents, self._must_pause = [], False
        self._roll_back(step, "The model's forecast was not finite.")
        return Recovered(tuple(self._incidents), self._must_pause)

    def look_for_known_good(self, step: int) -> Recovered:
        """Remember the current state as known good if the newest step was completed; roll back if it is not finite.

        Each step checks the parameters. Moments and averages appear in no measurement of a step: an infinite second
        moment makes updates of zero, and the weights would silently stop changing.
        """
        self._incidents, self._must_pause = [], False
        if self.is_sound and not self.known_good.remember(step):
            self._roll_back(step, "A weight, a moment or an average of the model was not finite.")
        return Recovered(tuple(self._incidents), self._must_pause)

    def resumed(self) -> None:
        """The user resumed training: reset all failure counts."""
        self._skipped_in_a_row = 0
        self._scale.reset_count()
        self._budget.renew()

    def note_new_weights(self, step: int) -> None:
        """The user replaced the weights: skipped steps were of the former ones, and these are known good."""
        self._skipped_in_a_row = 0
        self.known_good.remember(step)

    def state(self) -> dict[str, Any]:
        """The state for a checkpoint, so that a killed run continues as if it had not been killed."""
        return {
            "skipped_in_a_row": self._skipped_in_a_row,
            "rollbacks": self._budget.state(),
            "spikes": self._spikes.state(),
            "scale": self._scale.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self._skipped_in_a_row = int(state["skipped_in_a_row"])
        self._budget.restore(state["rollbacks"])
        self._spikes.restore(state["spikes"])
        self._scale.restore(state["scale"])

    def _attempt(self, batch: Batch, reference: FloatArray, step: int) -> StepResult:
        """The step, retried while that can help."""
        may_retry = True
        while True:
            done = self._attempt_once(batch, reference)
            if isinstance(done, StepResult):
                return self._after(done, batch, reference, step)
            if done.fault is DeviceFault.OUT_OF_MEMORY and self._memory.shrink(batch.size):
                self._report_out_of_memory(done, step)
            elif done.is_in_place:
                return self._drop(batch, reference, done, step)
            elif not may_retry:
                return self._give_up(done, IncidentKind.STEP_FAILED_AGAIN, "The step failed a second time")
            elif not self._go_back_and_retry(done, step):
                return self._give_up(done, IncidentKind.ROLLBACKS_USED_UP, f"{self._budget_spent} Step {step:,} failed")
            else:
                may_retry = False

    def _attempt_once(self, batch: Batch, reference: FloatArray) -> StepResult | Failure:
        try:
            return self._engine.step(batch, reference)
        except Exception as error:
            if not self._may_retry:
                raise
            return survivable_failure(error)

    def _after(self, result: StepResult, batch: Batch, reference: FloatArray, step: int) -> StepResult:
        """Handle a step that did not raise."""
        self._spikes.observe(step, result)
        is_overflow = self._scale.explains(result)
        if result.is_spike:
            self._report_spike(result, batch, reference, step)
        if not result.parameters_are_finite:
            self._roll_back(step, "A parameter of the model was not finite.")
            return replace(result, loss=None, skipped_because=result.skipped_because or _TAKEN_BACK)
        if result.skipped_because is None or result.is_spike:
            self._skipped_in_a_row = 0
            self._report_growth()
        elif not is_overflow:
            self._count_skip(result, step)
        return result

    def _set_aside(self, batch: Batch, reference: FloatArray, step: int, bad: list[str]) -> StepResult:
        where = self._quarantine.put(batch, reference, step, "not finite")
        self._report(
            Severity.WARNING,
            IncidentKind.BAD_BATCH,
            f"The batch of step {step:,} held numbers that are not finite (in its {' and '.join(bad)}).",
            f"It was not trained on. {where}",
            _ONE_STEP,
        )
        return self._engine.skipped_step("the batch was not finite", NonFiniteOrigin.INPUT)

    def _count_skip(self, result: StepResult, step: int) -> None:
        self._skipped_in_a_row += 1
        if self._skipped_in_a_row >= self._settings.skips_before_rollback:
            were = "1 step was" if self._skipped_in_a_row == 1 else f"{self._skipped_in_a_row} steps in a row were"
            self._roll_back(step, f"{were} skipped: {result.skipped_because}.")
            return
        self._report(
            Severity.WARNING,
            IncidentKind.STEP_SKIPPED,
            f"Step {step:,} was not done: {result.skipped_because}.",
            "The gradients were cleared; parameters, moments, average, clip statistics and best score are as before.",
            _ONE_STEP,
        )

    def _roll_back(self, step: int, because: str) -> None:
        had_optimizer, factor = self._restore()
        self._skipped_in_a_row = 0
        if not self._budget.spend(step):
            self._pause(IncidentKind.ROLLBACKS_USED_UP, f"{because} {self._budget_spent}")
            return
        self._engine.rate_factor = factor * _RATE_AFTER_ROLLBACK
        fresh = "" if had_optimizer else " Its optimizer state was unusable, so a new optimizer started."
        self._report(
            Severity.ERROR,
            IncidentKind.ROLLED_BACK,
            because,
            f"Training was rolled back to the known good state of step {self.known_good.step:,}, and the learning rate "
            f"was halved to {decimal_text(self._engine.rate_now)}.{fresh}",
            self._since_known_good(step),
        )

    def _since_known_good(self, step: int) -> str:
        return f"The {counted(max(0, step - self.known_good.step), 'training step')} since then."

    def _restore(self) -> tuple[bool, float]:
        """Restore the known good state but keep the current rate factor: halvings add up."""
        factor = self._engine.rate_factor
        had_optimizer = self.known_good.restore()
        self._scale.reset_count()
        self._engine.rate_factor = factor
        return had_optimizer, factor

    @property
    def _budget_spent(self) -> str:
        return f"The budget of {counted(self._settings.rollbacks, 'rollback')} is spent."

    def _go_back_and_retry(self, failure: Failure, step: int) -> bool:
        """False if the budget of rollbacks was spent before: then a retry would not help."""
        if not self._budget.spend(step):
            return False
        self._restore()
        self._report(
            Severity.ERROR,
            IncidentKind.STEP_FAILED,
            f"Step {step:,} failed: {failure.sentence}.",
            f"The known good state of step {self.known_good.step:,} was restored, and the step is tried once more.",
            self._since_known_good(step),
            failure.details,
        )
        return True

    def _give_up(self, failure: Failure, kind: IncidentKind, happened: str) -> StepResult:
        self._restore()
        self._pause(kind, f"{happened}: {failure.sentence}.", failure.details)
        return self._engine.skipped_step("the step failed", None)

    def _drop(self, batch: Batch, reference: FloatArray, failure: Failure, step: int) -> StepResult:
        account = name_operation(lambda: self._engine.reproduce(batch, reference))
        self._report(
            Severity.ERROR,
            IncidentKind.CHANGED_IN_PLACE,
            "A tensor that the backward pass needs was changed in place.",
            "The step was dropped and the gradients cleared. One pass under anomaly mode names the operation, below.",
            _ONE_STEP,
            f"{account}\n\n{failure.details}",
        )
        self._skipped_in_a_row += 1
        if self._skipped_in_a_row >= self._settings.skips_before_rollback:
            steps = "1 step" if self._skipped_in_a_row == 1 else f"{self._skipped_in_a_row} steps in a row"
            self._roll_back(step, f"{steps} could not be done.")
        return self._engine.skipped_step("a tensor was changed in place", None)

    def _pause(self, kind: IncidentKind, happened: str, details: str = "") -> None:
        self._must_pause = True
        self._report(
            Severity.ERROR,
            kind,
            happened,
            self._when_paused.format(step=self.known_good.step),
            "Nothing is learned until then.",
            details,
        )

    def _report_out_of_memory(self, failure: Failure, step: int) -> None:
        """The micro-batches are smaller already. A half-done step would be done one and a half times, so restore
        first."""
        went_back, cost = "", "Time: each step takes a little longer."
        if self._engine.is_half_done:
            self._restore()
            went_back = f" The step was half done: the known good state of step {self.known_good.step:,} was restored."
            cost = self._since_known_good(step)
        self._report(
            Severity.WARNING,
            IncidentKind.OUT_OF_MEMORY,
            f"The device ran out of memory in the step ({failure.sentence}).",
            f"The batch is now split into {self._engine.micro_batches} micro-batches, with the same result.{went_back}",
            f"{cost} Larger pieces are tried again later.",
            failure.details,
        )

    def _report_growth(self) -> None:
        if self._memory.step_was_clean():
            pieces = self._engine.micro_batches
            self._report(
                Severity.INFO,
                IncidentKind.MEMORY_IS_BACK,
                "No step ran short of memory for a while.",
                f"The batch is now split into only {pieces} micro-batches." if pieces > 1 else _WHOLE,
                "Nothing.",
            )

    def _report_spike(self, result: StepResult, batch: Batch, reference: FloatArray, step: int) -> None:
        where = self._quarantine.put(batch, reference, step, "spike")
        was_eased, done = self._spike_answer(result)
        self._report(
            Severity.WARNING if was_eased else Severity.INFO,
            IncidentKind.LOSS_SPIKE,
            f"The loss of step {step:,} was more than {self._settings.spike_factor:g} times its running median.",
            f"{done} {where}",
            _ONE_STEP if result.loss is None else _PERHAPS_MORE,
        )

    def _spike_answer(self, result: StepResult) -> tuple[bool, str]:
        """Whether the spike changed the step, and a sentence that describes the response."""
        if result.skipped_because is not None:
            return True, "The step was not done."
        if self._settings.spike_action != "clip":
            return False, _AS_USUAL
        if self._engine.clip_mode in _CLIPS_NOTHING:
            return False, f"{_AS_USUAL} Clip mode {self._engine.clip_mode} clips nothing, not even a spike."
        if not result.clipped:
            return False, f"{_AS_USUAL} Its gradients were within a tenth of the clip threshold."
        return True, "The gradients were clipped to a tenth of the threshold."

    def _report(
        self, severity: Severity, kind: IncidentKind, happened: str, done: str, cost: str, details: str = ""
    ) -> None:
        self._incidents.append(IncidentDraft(severity, kind, happened, done, cost, details))

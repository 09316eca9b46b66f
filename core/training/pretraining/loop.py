"""The epochs: train on all samples in a new order, validate, save the best, stop when nothing improves."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain.clock import Clock
from core.domain.quantities import FloatArray
from core.training.engine.engine import StepResult, TrainingEngine
from core.training.engine.samples import Batch
from core.training.online.ledger import LossLedger
from core.training.pretraining.dataset import Dataset, share_of
from core.training.pretraining.team import Team
from core.training.pretraining.validation import Validation, validate
from core.training.recovery.incident_draft import IncidentDraft
from core.training.recovery.ladder import RecoveryLadder
from core.training.recovery.quarantine import non_finite_parts

_KNOWN_GOOD_EVERY = 50
"""Steps between two checks for a known good state: the most that a rollback can cost."""
_Trained = tuple[float, int]
"""The loss of a step, and its samples."""


class StopReason(StrEnum):
    """Why pretraining ended."""

    COMPLETE = "all epochs are done"
    NO_PROGRESS = "no progress"
    INTERRUPTED = "interrupted"
    GAVE_UP = "training could not continue"


@dataclass(frozen=True, slots=True)
class PretrainingRequest:
    """The user's request. batch_size: samples of a step, over all processes. patience: epochs without progress before
    stopping. validation_share: of each file, its last part."""

    files: tuple[Path, ...]
    epochs: int
    batch_size: int = 32
    patience: int = 3
    validation_share: float = 0.2


@dataclass(frozen=True, slots=True)
class Epoch:
    """loss: the mean over the trained samples; None if every step was skipped."""

    number: int
    loss: float | None
    validation: Validation
    seconds: float
    is_whole: bool

    def summary(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "epoch": self.number,
            "loss": self.loss,
            "validation": self.validation.summary(),
            "seconds": round(self.seconds, 3),
            "complete": self.is_whole,
        }


@dataclass
class TrainingHistory:
    """Progress so far."""

    epochs: list[Epoch] = field(default_factory=list)
    best: Epoch | None = None
    steps: int = 0
    skipped: int = 0
    incidents: list[IncidentDraft] = field(default_factory=list)


class Pretraining:
    """Owns the history. Every process of the team runs the same code, and they end together."""

    def __init__(
        self,
        request: PretrainingRequest,
        seed: int,
        dataset: Dataset,
        engine: TrainingEngine,
        ladder: RecoveryLadder,
        team: Team,
        clock: Clock,
        keep: Callable[[Epoch, int], None],
        should_stop: Callable[[], bool],
        on_progress: Callable[[int], None],
        on_epoch: Callable[[Epoch], None],
        on_incident: Callable[[IncidentDraft], None],
    ) -> None:
        """keep: writes the current state, the best so far; takes the epoch and the number of steps. should_stop: called
        after each step. on_progress: takes the number of samples trained or validated on so far; each counts once an
        epoch."""
        self.history = TrainingHistory()
        self._request = request
        self._seed = seed
        self._dataset = dataset
        self._engine = engine
        self._ladder = ladder
        self._team = team
        self._clock = clock
        self._keep = keep
        self._should_stop = should_stop
        self._on_progress = on_progress
        self._on_epoch = on_epoch
        self._on_incident = on_incident
        self._losses = LossLedger()
        self._samples_done = 0
        self._without_progress = 0

    def run(self) -> StopReason:
        """Train to the end. Raises what the ladder lets through, and what `keep` raises."""
        for number in range(1, self._request.epochs + 1):
            stop_reason = self._train_epoch(number)
            if stop_reason is not None:
                return stop_reason
            if self._without_progress >= self._request.patience and number < self._request.epochs:
                return StopReason.NO_PROGRESS
        return StopReason.COMPLETE

    def _train_epoch(self, number: int) -> StopReason | None:
        """Returns why the epoch was stopped early, or None. The first epoch is validated even then, as the only one."""
        started_s, steps_before = self._clock.monotonic_s(), self.history.steps
        trained: list[_Trained] = []
        stop_reason = self._train_on(self._dataset.order(self._seed, number), trained)
        is_whole = stop_reason is None
        if is_whole or (not self.history.epochs and self.history.steps > steps_before):
            validation = validate(self._engine, self._dataset, self._team)
            self._add_progress(self._dataset.validation_samples)
            seconds = self._clock.monotonic_s() - started_s
            must_pause = self._judge(Epoch(number, _mean(trained), validation, seconds, is_whole))
            if must_pause and stop_reason is None:
                return StopReason.GAVE_UP
        return stop_reason

    def _train_on(self, order: NDArray[np.int64], trained: list[_Trained]) -> StopReason | None:
        for start in range(0, order.shape[0], self._request.batch_size):
            places = order[start : start + self._request.batch_size]
            must_pause = self._step(places, trained)
            self._add_progress(places.shape[0])
            if must_pause:
                return StopReason.GAVE_UP
            if self._team.any(self._should_stop()):
                return StopReason.INTERRUPTED
        return None

    def _add_progress(self, samples: int) -> None:
        self._samples_done += samples
        self._on_progress(self._samples_done)

    def _step(self, places: NDArray[np.int64], trained: list[_Trained]) -> bool:
        """One step. Returns whether training must stop."""
        batch, reference = self._dataset.batch(places, self._rows)
        step = self.history.steps + 1
        done = self._ladder.train(*self._own_share(batch, reference), step, self._losses.newest)
        self.history.steps = step
        self._account(done.result, places.shape[0], trained)
        self._add_incidents(done.incidents)
        if step % _KNOWN_GOOD_EVERY or done.must_pause:
            return done.must_pause
        looked = self._ladder.look_for_known_good(step)
        self._add_incidents(looked.incidents)
        return looked.must_pause

    @property
    def _rows(self) -> int:
        """The batch size, rounded up so that every process has the same number of rows."""
        size = self._team.world_size
        return -(-min(self._request.batch_size, self._dataset.samples) // size) * size

    def _own_share(self, batch: Batch, reference: FloatArray) -> tuple[Batch, FloatArray]:
        """A batch that will be quarantined is given whole to all processes: then all of them quarantine it."""
        if non_finite_parts(batch, reference):
            return batch, reference
        return share_of(batch, reference, self._team.rank, self._team.world_size)

    def _account(self, result: StepResult, samples: int, trained: list[_Trained]) -> None:
        if result.loss is None:
            self.history.skipped += 1
            return
        self._losses.add(result.loss)
        trained.append((result.loss, samples))

    def _judge(self, epoch: Epoch) -> bool:
        """Returns whether training must stop."""
        history, skill = self.history, epoch.validation.skill
        history.epochs.append(epoch)
        best = None if history.best is None else history.best.validation.skill
        if skill is not None and (best is None or skill > best) and self._engine.is_finite():
            history.best, self._without_progress = epoch, 0
            self._keep(epoch, history.steps)
        else:
            self._without_progress += 1
        must_pause = False
        if not epoch.validation.is_finite:
            rolled_back = self._ladder.roll_back_model(history.steps)
            must_pause = rolled_back.must_pause
            self._add_incidents(rolled_back.incidents)
        self._on_epoch(epoch)
        return must_pause

    def _add_incidents(self, incidents: tuple[IncidentDraft, ...]) -> None:
        self.history.incidents.extend(incidents)
        for draft in incidents:
            self._on_incident(draft)


def _mean(trained: list[_Trained]) -> float | None:
    """The mean loss over the samples."""
    if not trained:
        return None
    return statistics.fmean([loss for loss, _ in trained], [samples for _, samples in trained])

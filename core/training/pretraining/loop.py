"""The epochs: train on all samples in a new order, validate, keep the best, stop when nothing gets better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain.clock import Clock
from core.domain.quantities import FloatArray
from core.training.engine.engine import TrainingEngine
from core.training.engine.result import StepResult
from core.training.engine.samples import Batch
from core.training.online.ledger import LossLedger
from core.training.pretraining.dataset import Dataset, share_of
from core.training.pretraining.team import Team
from core.training.pretraining.validation import Validation, validate
from core.training.recovery.incident_draft import IncidentDraft
from core.training.recovery.ladder import RecoveryLadder
from core.training.recovery.quarantine import non_finite_parts

_KNOWN_GOOD_EVERY = 50
"""Steps between two looks at whether the state is known good: what a rollback can cost."""


class Ending(StrEnum):
    """Why it is over."""

    COMPLETE = "all epochs are done"
    NO_PROGRESS = "no progress"
    INTERRUPTED = "interrupted"
    GAVE_UP = "training could not go on"


@dataclass(frozen=True, slots=True)
class Plan:
    """batch_size: samples of one step, of all processes together. patience: epochs without progress before the end."""

    epochs: int
    batch_size: int
    patience: int
    seed: int


@dataclass(frozen=True, slots=True)
class Epoch:
    """loss: the mean over the samples that were learned from; None where every step was skipped."""

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
class Course:
    """How it went so far."""

    epochs: list[Epoch] = field(default_factory=list)
    best: Epoch | None = None
    steps: int = 0
    skipped: int = 0
    incidents: list[IncidentDraft] = field(default_factory=list)


class Pretraining:
    """Owns the course. Every process of the team runs the same, and they end together."""

    def __init__(
        self,
        plan: Plan,
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
        """keep: writes the present state, which is the best so far; told the epoch and the steps done.
        should_stop: asked after each step. on_progress: told how many samples have been learned from or measured on
        so far; each counts once an epoch."""
        self.course = Course()
        self._plan = plan
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
        self._gone_through = 0
        self._without_progress = 0

    def run(self) -> Ending:
        """Train to the end. Raises what the ladder lets through, and what `keep` raises."""
        for number in range(1, self._plan.epochs + 1):
            broken_off = self._train_epoch(number)
            if broken_off is not None:
                return broken_off
            if self._without_progress >= self._plan.patience and number < self._plan.epochs:
                return Ending.NO_PROGRESS
        return Ending.COMPLETE

    def _train_epoch(self, number: int) -> Ending | None:
        """Returns why the epoch was broken off, or None. The first epoch is validated even then: there is no other."""
        started_s, steps_before = self._clock.monotonic_s(), self.course.steps
        mean = _Mean()
        broken_off = self._go_through(self._dataset.order(self._plan.seed, number), mean)
        is_whole = broken_off is None
        if is_whole or (not self.course.epochs and self.course.steps > steps_before):
            validation = validate(self._engine, self._dataset, self._team)
            self._go_on(self._dataset.validation_samples)
            seconds = self._clock.monotonic_s() - started_s
            self._judge(Epoch(number, mean.value, validation, seconds, is_whole))
        return broken_off

    def _go_through(self, order: NDArray[np.int64], mean: _Mean) -> Ending | None:
        for start in range(0, order.shape[0], self._plan.batch_size):
            places = order[start : start + self._plan.batch_size]
            must_pause = self._step(places, mean)
            self._go_on(places.shape[0])
            if must_pause:
                return Ending.GAVE_UP
            if self._team.any(self._should_stop()):
                return Ending.INTERRUPTED
        return None

    def _go_on(self, samples: int) -> None:
        self._gone_through += samples
        self._on_progress(self._gone_through)

    def _step(self, places: NDArray[np.int64], mean: _Mean) -> bool:
        """One step. Returns whether training must not go on."""
        batch, reference = self._dataset.batch(places, self._rows)
        step = self.course.steps + 1
        trained = self._ladder.train(*self._own_share(batch, reference), step, self._losses.newest)
        self.course.steps = step
        self._account(trained.result, places.shape[0], mean)
        self._note(trained.incidents)
        if step % _KNOWN_GOOD_EVERY or trained.must_pause:
            return trained.must_pause
        looked = self._ladder.look_for_known_good(step)
        self._note(looked.incidents)
        return looked.must_pause

    @property
    def _rows(self) -> int:
        """The batch size, rounded up so that every process has as many rows."""
        size = self._team.world_size
        return -(-min(self._plan.batch_size, self._dataset.samples) // size) * size

    def _own_share(self, batch: Batch, reference: FloatArray) -> tuple[Batch, FloatArray]:
        """A batch that will be set aside is handed to all of them whole: then all of them set it aside."""
        if non_finite_parts(batch, reference):
            return batch, reference
        return share_of(batch, reference, self._team.rank, self._team.world_size)

    def _account(self, result: StepResult, samples: int, mean: _Mean) -> None:
        if result.loss is None:
            self.course.skipped += 1
            return
        self._losses.add(result.loss)
        mean.add(result.loss, samples)

    def _judge(self, epoch: Epoch) -> None:
        course, skill = self.course, epoch.validation.skill
        course.epochs.append(epoch)
        best = None if course.best is None else course.best.validation.skill
        if skill is not None and (best is None or skill > best) and self._engine.is_finite():
            course.best, self._without_progress = epoch, 0
            self._keep(epoch, course.steps)
        else:
            self._without_progress += 1
        if not epoch.validation.is_finite:
            self._note(self._ladder.roll_back_model(course.steps).incidents)
        self._on_epoch(epoch)

    def _note(self, incidents: tuple[IncidentDraft, ...]) -> None:
        self.course.incidents.extend(incidents)
        for draft in incidents:
            self._on_incident(draft)


class _Mean:
    """A weighted mean that grows."""

    def __init__(self) -> None:
        self._sum = 0.0
        self._weight = 0

    def add(self, value: float, weight: int) -> None:
        self._sum += value * weight
        self._weight += weight

    @property
    def value(self) -> float | None:
        return self._sum / self._weight if self._weight else None

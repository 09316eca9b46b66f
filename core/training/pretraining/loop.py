"""The epochs: learn all samples in a new order, validate, save the best, stop without progress; and the report."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from core.domain.clock import Clock
from core.domain.events import Estimate, JobProgress
from core.settings.tree import Settings
from core.storage.folder import DataFolder
from core.training.engine.engine import TrainingEngine
from core.training.hosting.pretrained import Pretrained, PretrainedStore
from core.training.online.loss_ledger import LossLedger
from core.training.online.snapshot import SCHEMA, describe_model
from core.training.pretraining.dataset import Dataset, share_of
from core.training.pretraining.errors import PretrainingError
from core.training.pretraining.sources import Source
from core.training.pretraining.team import Team
from core.training.pretraining.validation import Validation, validate
from core.training.recovery.incident_draft import IncidentDraft
from core.training.recovery.known_good import KnownGood
from core.training.recovery.ladder import RecoveryLadder
from core.training.recovery.quarantine import Quarantine, non_finite_parts

NAME = "pretraining"
"""The name of the job, and of the folder of its quarantined batches."""
_KNOWN_GOOD_EVERY = 50
"""Steps between two checks for a known good state: the most that a rollback can cost."""
_MOST_INCIDENTS = 100
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
    """The user's request. batch_size: samples per step, over all processes. patience: epochs without progress before
    stopping. validation_share: the last part of each file."""

    files: tuple[Path, ...]
    epochs: int
    batch_size: int = 32
    patience: int = 3
    validation_share: float = 0.2


@dataclass(frozen=True, slots=True)
class PretrainingContext:
    """The environment of pretraining. show, say: take progress and sentences; of several processes only the first
    reports. should_stop: called between steps."""

    settings: Settings
    folder: DataFolder
    clock: Clock
    show: Callable[[JobProgress], None]
    say: Callable[[str], None]
    should_stop: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Epoch:
    """loss: the mean over the trained samples; None if every step was skipped."""

    number: int
    loss: float | None
    validation: Validation
    seconds: float
    is_whole: bool

    def summary(self) -> dict[str, Any]:
        return {
            "epoch": self.number,
            "loss": self.loss,
            "validation": self.validation.summary(),
            "seconds": round(self.seconds, 3),
            "complete": self.is_whole,
        }


class Pretraining:
    """Every process of the team runs the same code, and they end together. Only the first one writes files; the others'
    sentences are not shown (`run`)."""

    def __init__(
        self,
        request: PretrainingRequest,
        context: PretrainingContext,
        sources: Sequence[Source],
        dataset: Dataset,
        engine: TrainingEngine,
        seed: int,
        team: Team,
        on_progress: Callable[[int], None],
    ) -> None:
        """on_progress: takes the number of samples trained or validated on so far; each counts once an epoch."""
        self._request = request
        self._context = context
        self._sources = sources
        self._dataset = dataset
        self._engine = engine
        self._seed = seed
        self._team = team
        self._on_progress = on_progress
        self._ladder = RecoveryLadder(
            engine,
            context.settings.recovery,
            KnownGood(engine, np.random.default_rng(seed)),
            Quarantine(context.folder.bad_batches(NAME) if team.rank == 0 else None),
            may_retry=team.world_size == 1,
            when_paused="Training ends here. A lower learning rate may help.",
        )
        self._losses = LossLedger()
        self._epochs: list[Epoch] = []
        self._best: Epoch | None = None
        self._store = PretrainedStore(context.folder)
        self._kept: Pretrained | None = None
        """The file of the best epoch, in the first process."""
        self._steps = self._skipped = self._samples_done = 0
        self._incidents: list[IncidentDraft] = []

    def run(self) -> StopReason:
        """Train to the end. Raises errors that the ladder does not handle, and PretrainingError if the best epoch
        cannot be saved."""
        for number in range(1, self._request.epochs + 1):
            stop_reason = self._train_epoch(number)
            if stop_reason is not None:
                return stop_reason
            without_progress = number if self._best is None else number - self._best.number
            if without_progress >= self._request.patience and number < self._request.epochs:
                return StopReason.NO_PROGRESS
        return StopReason.COMPLETE

    def report(self, stop_reason: StopReason, device: str, wall_s: float) -> dict[str, Any]:
        """The result as JSON. Raises PretrainingError if nothing was saved, or if training could not
        continue."""
        best, kept = self._best, self._kept
        if stop_reason is StopReason.GAVE_UP:
            last = self._incidents[-1]
            where = "Nothing was saved." if kept is None else f"The best epoch so far is saved in {kept.file}."
            raise PretrainingError(f"Training could not continue. {last.happened} {last.done} {where}")
        if kept is None or best is None:
            raise PretrainingError(
                "No epoch could be validated, so none was saved: the reference makes no error on the held-back "
                "candles, or the model's forecasts were not finite. Use a file whose prices move."
            )
        return {
            "epochs": [epoch.summary() for epoch in self._epochs],
            "stopped_early": stop_reason is StopReason.NO_PROGRESS,
            "interrupted": stop_reason is StopReason.INTERRUPTED,
            "ended_because": stop_reason.value,
            "best_epoch": best.number,
            "samples": self._dataset.samples,
            "validation_samples": self._dataset.validation_samples,
            "steps": self._steps,
            "skipped_steps": self._skipped,
            "seed": self._seed,
            "device": device,
            "world_size": self._team.world_size,
            "checkpoint": {"id": kept.checkpoint_id, "file": kept.file, "sha256": kept.sha256},
            "incidents": [_incident(draft) for draft in self._incidents[:_MOST_INCIDENTS]],
            "wall_s": round(wall_s, 3),
        }

    def _train_epoch(self, number: int) -> StopReason | None:
        """Returns why the epoch was stopped early, or None. The first epoch is validated even then, as the only one."""
        clock, steps_before = self._context.clock, self._steps
        started_s = clock.monotonic_s()
        trained: list[_Trained] = []
        stop_reason = self._train_on(self._dataset.order(self._seed, number), trained)
        is_whole = stop_reason is None
        if is_whole or (not self._epochs and self._steps > steps_before):
            validation = validate(self._engine, self._dataset, self._team)
            self._add_progress(self._dataset.validation_samples)
            seconds = clock.monotonic_s() - started_s
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
            if self._team.any(self._context.should_stop()):
                return StopReason.INTERRUPTED
        return None

    def _add_progress(self, samples: int) -> None:
        self._samples_done += samples
        self._on_progress(self._samples_done)

    def _step(self, places: NDArray[np.int64], trained: list[_Trained]) -> bool:
        """One step. Returns whether training must stop."""
        batch, reference = self._dataset.batch(places, self._rows)
        step = self._steps + 1
        if not non_finite_parts(batch, reference):  # else all processes get all of it, and all of them quarantine it
            batch, reference = share_of(batch, reference, self._team.rank, self._team.world_size)
        done = self._ladder.train(batch, reference, step, self._losses.newest)
        self._steps = step
        if done.result.loss is None:
            self._skipped += 1
        else:
            self._losses.add(done.result.loss)
            trained.append((done.result.loss, places.shape[0]))
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

    def _judge(self, epoch: Epoch) -> bool:
        """Returns whether training must stop."""
        skill = epoch.validation.skill
        self._epochs.append(epoch)
        best = None if self._best is None else self._best.validation.skill
        if skill is not None and (best is None or skill > best) and self._engine.is_finite():
            self._best = epoch
            self._keep(epoch)
        must_pause = False
        if not epoch.validation.is_finite:
            rolled_back = self._ladder.roll_back_model(self._steps)
            must_pause = rolled_back.must_pause
            self._add_incidents(rolled_back.incidents)
        self._context.say(_epoch_sentence(epoch, self._request.epochs))
        return must_pause

    def _add_incidents(self, incidents: tuple[IncidentDraft, ...]) -> None:
        self._incidents.extend(incidents)
        for draft in incidents:
            self._context.say(f"{draft.happened} {draft.done}")

    def _keep(self, epoch: Epoch) -> None:
        """Write the current state, then delete the previous one: at once, so that a later crash cannot lose it. Raises
        PretrainingError, in all processes."""
        problem = self._write(epoch) if self._team.rank == 0 else None
        if self._team.any(problem is not None):
            raise PretrainingError(problem or "The first process could not write the checkpoint.")

    def _write(self, epoch: Epoch) -> str | None:
        """Write the epoch. Returns a sentence with the reason of a failure."""
        former = self._kept
        try:
            self._kept = self._store.write(
                self._engine.tensors(), self._metadata(epoch), self._context.clock.now_ms(), self._facts(epoch)
            )
            if former is not None:
                self._store.remove(former)
        except OSError as error:
            before = "" if former is None else f" The previous best epoch is in {former.file}."
            return (
                f"The checkpoint of epoch {epoch.number} could not be written ({error.strerror or error}).{before} "
                "Free space on the disk of the data folder, or choose another with --data-dir."
            )
        return None

    def _facts(self, epoch: Epoch) -> dict[str, Any]:
        interval = self._sources[0].file.interval
        return {
            "interval_ms": interval.duration_ms,
            "seen_until_ms": max(interval.close_time_ms(one.file.candles[-1].open_time_ms) for one in self._sources),
            "epoch": epoch.number,
            "skill": epoch.validation.skill,
        }

    def _metadata(self, epoch: Epoch) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "training_type": "pretrained",
            "model": describe_model(self._context.settings.model),
            "step": self._steps,
            "engine": self._engine.scalars(),
            "seed": self._seed,
            "epoch": epoch.number,
            "validation": epoch.validation.summary(),
            "files": [
                {"name": one.name, "sha256": one.file.fingerprint, "candles": len(one.file.candles)}
                for one in self._sources
            ],
            "torch": torch.__version__,
            **self._facts(epoch),
        }


def _epoch_sentence(epoch: Epoch, epochs: int) -> str:
    loss = "every step was skipped" if epoch.loss is None else f"loss {epoch.loss:.4f}"
    validation = epoch.validation
    skills = f"close {_skill_text(validation.close)}, range {_skill_text(validation.range)}"
    return f"Epoch {epoch.number} of {epochs}: {loss}; skill on {validation.n:,} held-back candles: {skills}."


def _skill_text(skill: Estimate) -> str:
    """``+1.25 % (0.31 to 2.19)``"""
    if skill.value is None:
        return "unknown"
    if skill.low is None or skill.high is None:
        return f"{100.0 * skill.value:+.2f} %"
    return f"{100.0 * skill.value:+.2f} % ({100.0 * skill.low:.2f} to {100.0 * skill.high:.2f})"


def _incident(draft: IncidentDraft) -> dict[str, str]:
    return {
        "severity": draft.severity.value,
        "kind": draft.kind,
        "what_happened": draft.happened,
        "what_was_done": draft.done,
    }


def _mean(trained: list[_Trained]) -> float | None:
    """The mean loss over the samples."""
    if not trained:
        return None
    return statistics.fmean([loss for loss, _ in trained], [samples for _, samples in trained])

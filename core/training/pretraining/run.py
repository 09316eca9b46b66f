"""Pretraining from start to end: files in, a checkpoint and its report out."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from core.domain.clock import Clock
from core.domain.events import Estimate, JobProgress
from core.forecast.score import FEWEST_FOR_AN_ESTIMATE
from core.settings.tree import Settings
from core.storage.folder import DataFolder
from core.training.engine.device import cpu_label, prepare_thread, release_thread
from core.training.engine.device_faults import DeviceFault, classify
from core.training.engine.engine import TrainingEngine
from core.training.hosting.opening import build_engine
from core.training.hosting.pretrained import Pretrained, PretrainedStore
from core.training.hosting.threads import choose_threads
from core.training.online.snapshot import SCHEMA, describe_model
from core.training.pretraining.dataset import Dataset, Series, build_series
from core.training.pretraining.errors import Interrupted, PretrainingError
from core.training.pretraining.loop import Epoch, Pretraining, PretrainingRequest, StopReason, TrainingHistory
from core.training.pretraining.sources import Source, read_sources
from core.training.pretraining.team import Team, is_one_of_several, join_team
from core.training.recovery.incident_draft import IncidentDraft
from core.training.recovery.known_good import KnownGood
from core.training.recovery.ladder import RecoveryLadder
from core.training.recovery.quarantine import Quarantine

_MOST_INCIDENTS = 100
_NAME = "pretraining"
_LEARNING_TO_READING = 9.0
"""Candles trained on in the time of reading one, on one thread: the basis of the first estimate of the time left."""
_REPORT_EVERY_S = 0.25
_log = logging.getLogger("ghostcandle.training")


@dataclass(frozen=True, slots=True)
class PretrainingContext:
    """What pretraining needs from outside. show, say: take progress and sentences; of several processes only the first
    reports. should_stop: called between steps."""

    settings: Settings
    folder: DataFolder
    clock: Clock
    show: Callable[[JobProgress], None]
    say: Callable[[str], None]
    should_stop: Callable[[], bool]


def pretrain(request: PretrainingRequest, context: PretrainingContext) -> dict[str, Any] | None:
    """Learn from the files and return the report, fit for JSON; None in all processes except the first.

    Raises CandleFileError, DeviceError, and PretrainingError (Interrupted if stopped before the first step).
    """
    started_s = context.clock.monotonic_s()
    sources = read_sources(request.files, context.settings.model, request.validation_share)
    prepare_thread()
    try:
        with join_team(context.settings.training.device) as team:
            return _learn(request, context, sources, team, started_s)
    except Exception as error:
        raise _as_sentence(error) from error
    finally:
        release_thread()


def _as_sentence(error: Exception) -> Exception:
    """Device errors as sentences. One process has already split the batch in the ladder; several cannot."""
    match classify(error):
        case DeviceFault.OUT_OF_MEMORY:
            advice = "Give a smaller --batch-size, or raise the setting gradients.accumulation."
        case DeviceFault.STICKY | DeviceFault.GONE:
            advice = "Start again; the best epoch so far is saved. With --device cpu the GPU is not used."
        case _:
            return error
    sentence = f"The device failed ({str(error).splitlines()[0]}). {advice}"
    if is_one_of_several():
        _log.error("%s", sentence)  # it may have failed in this process alone, whose errors are not reported otherwise
    return PretrainingError(sentence)


def _learn(
    request: PretrainingRequest, context: PretrainingContext, sources: Sequence[Source], team: Team, started_s: float
) -> dict[str, Any] | None:
    """One process's whole part. Returns the report, in the first one. While they work together, PretrainingError is
    raised by all of them alike."""
    device = _device_label(team, context)
    wanted = context.settings.training.seed
    seed = team.from_first(secrets.randbits(32) if wanted is None else wanted)
    candles = sum(len(source.file.candles) for source in sources)
    rest = request.epochs * candles  # an upper bound: a candle is trained or validated on, once an epoch
    show = context.show if team.rank == 0 else lambda job: None
    meter = Meter(
        *(_NAME, "Reading candles", candles + rest, context.clock, show), rest=rest, pace_of_rest=_LEARNING_TO_READING
    )
    dataset = _read(context, sources, team, meter)
    engine = build_engine(context.settings, team.device.torch_device, seed, team.join)
    keeper = BestKeeper(context, engine, sources, seed, team)
    of_an_epoch = dataset.samples + dataset.validation_samples
    meter.next_part("Pretraining", candles, candles + request.epochs * of_an_epoch)
    work = _prepare(request, seed, dataset, engine, team, context, keeper, meter)
    stop_reason = work.run()
    if team.rank != 0:
        return None
    circumstances = {"seed": seed, "device": device, "world_size": team.world_size}
    wall_s = context.clock.monotonic_s() - started_s
    return _report(stop_reason, work.history, dataset, keeper.kept, circumstances, wall_s)


def _device_label(team: Team, context: PretrainingContext) -> str:
    """Chooses the number of CPU threads if there is one process; several use one each."""
    if team.device.torch_device.type != "cpu" or team.world_size > 1:
        return team.device.label
    threads = choose_threads(context.settings, context.folder.threads, context.clock)
    torch.set_num_threads(threads)
    return cpu_label(threads)


def _read(context: PretrainingContext, sources: Sequence[Source], team: Team, meter: Meter) -> Dataset:
    """Process all candles. Raises PretrainingError if nothing can be validated, Interrupted on a stop."""
    series = _series(context, sources, meter)
    if team.any(series is None) or series is None:
        raise Interrupted("Stopped before the first step; nothing was learned and nothing was written.")
    dataset = Dataset(series, context.settings.model.context)
    if not dataset.samples or dataset.validation_samples < FEWEST_FOR_AN_ESTIMATE:
        raise PretrainingError(
            f"The files have {dataset.samples:,} samples to learn from and {dataset.validation_samples:,} to validate "
            f"on, of which {FEWEST_FOR_AN_ESTIMATE} are needed: too few candles follow each other without a gap."
        )
    return dataset


def _series(context: PretrainingContext, sources: Sequence[Source], meter: Meter) -> list[Series] | None:
    """None if this process was asked to stop."""
    done_before = 0

    def progress(done: int) -> None:
        meter.at(done_before + done)
        if context.should_stop():
            raise Interrupted

    series = []
    try:
        for source in sources:
            series.append(build_series(source, context.settings.model.horizons, progress))
            done_before += len(source.file.candles)
    except Interrupted:
        return None
    return series


def _prepare(
    request: PretrainingRequest,
    seed: int,
    dataset: Dataset,
    engine: TrainingEngine,
    team: Team,
    context: PretrainingContext,
    keeper: BestKeeper,
    meter: Meter,
) -> Pretraining:
    folder = context.folder.bad_batches(_NAME) if team.rank == 0 else None
    ladder = RecoveryLadder(
        engine,
        context.settings.recovery,
        KnownGood(engine, np.random.default_rng(seed)),
        Quarantine(folder),
        may_retry=team.world_size == 1,
        when_paused="Training ends here. A lower learning rate may help.",
    )
    is_first, say = team.rank == 0, context.say
    return Pretraining(
        request,
        seed,
        dataset,
        engine,
        ladder,
        team,
        context.clock,
        keep=keeper.keep,
        should_stop=context.should_stop,
        on_progress=meter.at,
        on_epoch=lambda epoch: say(_epoch_sentence(epoch, request.epochs)) if is_first else None,
        on_incident=lambda draft: say(f"{draft.happened} {draft.done}") if is_first else None,
    )


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


def _report(
    stop_reason: StopReason,
    history: TrainingHistory,
    dataset: Dataset,
    kept: Pretrained | None,
    circumstances: dict[str, Any],
    wall_s: float,
) -> dict[str, Any]:
    """What came of it, fit for JSON. circumstances: seed, device, world_size.

    Raises PretrainingError if nothing was saved, or if training could not continue."""
    if stop_reason is StopReason.GAVE_UP:
        last = history.incidents[-1]
        where = "Nothing was saved." if kept is None else f"The best epoch so far is saved in {kept.file}."
        raise PretrainingError(f"Training could not continue. {last.happened} {last.done} {where}")
    if kept is None or history.best is None:
        raise PretrainingError(
            "No epoch could be validated, so none was saved: the reference makes no error on the held-back candles, or "
            "the model's forecasts were not finite. Use a file whose prices move."
        )
    return {
        "epochs": [epoch.summary() for epoch in history.epochs],
        "stopped_early": stop_reason is StopReason.NO_PROGRESS,
        "interrupted": stop_reason is StopReason.INTERRUPTED,
        "ended_because": stop_reason.value,
        "best_epoch": history.best.number,
        "samples": dataset.samples,
        "validation_samples": dataset.validation_samples,
        "steps": history.steps,
        "skipped_steps": history.skipped,
        **circumstances,
        "checkpoint": {"id": kept.checkpoint_id, "file": kept.file, "sha256": kept.sha256},
        "incidents": [_incident(draft) for draft in history.incidents[:_MOST_INCIDENTS]],
        "wall_s": round(wall_s, 3),
    }


def _incident(draft: IncidentDraft) -> dict[str, str]:
    return {
        "severity": draft.severity.value,
        "kind": draft.kind,
        "what_happened": draft.happened,
        "what_was_done": draft.done,
    }


class BestKeeper:
    """Owns the one file of this pretraining: each new best epoch is saved at once, so that a later crash cannot lose
    it. Only the first process writes; all learn whether it succeeded."""

    def __init__(
        self,
        context: PretrainingContext,
        engine: TrainingEngine,
        sources: Sequence[Source],
        seed: int,
        team: Team,
    ) -> None:
        self.kept: Pretrained | None = None
        """None in all processes except the first."""
        self._store = PretrainedStore(context.folder)
        self._engine = engine
        self._model = context.settings.model
        self._sources = sources
        self._seed = seed
        self._team = team
        self._clock = context.clock

    def keep(self, epoch: Epoch, steps: int) -> None:
        """Write the current state, then delete the previous one. Raises PretrainingError, in all processes."""
        problem = self._write(epoch, steps) if self._team.rank == 0 else None
        if self._team.any(problem is not None):
            raise PretrainingError(problem or "The first process could not write the checkpoint.")

    def _write(self, epoch: Epoch, steps: int) -> str | None:
        """None, or a sentence that says why it failed."""
        former = self.kept
        try:
            self.kept = self._store.write(
                self._engine.tensors(), self._metadata(epoch, steps), self._clock.now_ms(), self._facts(epoch)
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

    def _metadata(self, epoch: Epoch, steps: int) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "training_type": "pretrained",
            "model": describe_model(self._model),
            "step": steps,
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


class Meter:
    """Takes the amount done; reports now and then, and at the end. A job of several parts has one count, which never
    goes back."""

    def __init__(
        self,
        job_id: str,
        title: str,
        total: int,
        clock: Clock,
        show: Callable[[JobProgress], None],
        *,
        rest: int = 0,
        pace_of_rest: float = 1.0,
    ) -> None:
        """rest: the amount of the total that is in later parts, which are `pace_of_rest` times as fast."""
        self._saved_by_pace = rest - rest / pace_of_rest
        """Units of the first part that the faster rest saves."""
        self._job_id = job_id
        self._title = title
        self._total = total
        self._clock = clock
        self._show = show
        self._started_s = clock.monotonic_s()
        self._shown_s: float | None = None
        self._before = 0

    def next_part(self, title: str, before: int, total: int) -> None:
        """`before` of the total was done in earlier parts; this part has another pace."""
        self._title, self._before, self._total, self._saved_by_pace = title, before, total, 0.0
        self._started_s, self._shown_s = self._clock.monotonic_s(), None

    def at(self, done: int) -> None:
        """This much of the part is done."""
        now_s, of_all = self._clock.monotonic_s(), self._before + done
        is_due = self._shown_s is None or now_s - self._shown_s >= _REPORT_EVERY_S
        if is_due or of_all >= self._total:
            self._shown_s = now_s
            left = self._total - of_all - self._saved_by_pace
            left_s = (now_s - self._started_s) / done * left if done else None
            self._show(JobProgress(self._job_id, self._title, of_all, self._total, left_s))

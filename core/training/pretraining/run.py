"""Pretraining from start to end: files in, a checkpoint and an account of it out."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

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
from core.training.hosting.pretrained_store import Pretrained, PretrainedStore
from core.training.hosting.threads import choose_threads
from core.training.pretraining.dataset import Dataset, Series, build_series
from core.training.pretraining.errors import Interrupted, PretrainingError
from core.training.pretraining.keeping import BestKeeper
from core.training.pretraining.loop import Course, Ending, Epoch, Plan, Pretraining
from core.training.pretraining.meter import Meter
from core.training.pretraining.sources import Source, read_sources
from core.training.pretraining.team import Team, gather, is_one_of_several
from core.training.recovery.incident_draft import IncidentDraft
from core.training.recovery.known_good import KnownGood
from core.training.recovery.ladder import RecoveryLadder
from core.training.recovery.quarantine import Quarantine

_MOST_INCIDENTS = 100
_NAME = "pretraining"
_LEARNING_TO_READING = 9.0
"""Candles that are learned from while one is read, on one thread: the first guess of the time left rests on it."""
_log = logging.getLogger("ghostcandle.training")


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for. batch_size: samples of a step, of all processes together."""

    files: tuple[Path, ...]
    epochs: int
    batch_size: int = 32
    patience: int = 3
    validation_share: float = 0.2


class Audience(Protocol):
    """Who is told how it goes. In several processes only the first one tells."""

    def show(self, job: JobProgress) -> None: ...

    def say(self, sentence: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What pretraining happens in. should_stop: asked between steps."""

    settings: Settings
    folder: DataFolder
    clock: Clock
    audience: Audience
    should_stop: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of it, as one process knows it. kept: only the first one has it."""

    ending: Ending
    course: Course
    dataset: Dataset
    seed: int
    device: str
    rank: int
    world_size: int
    kept: Pretrained | None


def pretrain(request: Request, around: Surroundings) -> dict[str, Any] | None:
    """Learn from the files and return the account of it, fit for JSON; None in all processes but the first.

    Raises CandleFileError, DeviceError, and PretrainingError (Interrupted where a stop came before the first step).
    """
    started_s = around.clock.monotonic_s()
    sources = read_sources(request.files, around.settings.model, request.validation_share)
    prepare_thread()
    try:
        with gather(around.settings.training.device) as team:
            outcome = _learn(request, around, sources, team)
    except Exception as error:
        raise _explained(error) from error
    finally:
        release_thread()
    if outcome.rank != 0:
        return None
    return _account(outcome, around.clock.monotonic_s() - started_s)


def _explained(error: Exception) -> Exception:
    """What the device did, as a sentence. In one process the ladder has split the batch before; several cannot."""
    match classify(error):
        case DeviceFault.OUT_OF_MEMORY:
            advice = "Give a smaller --batch-size, or raise the setting gradients.accumulation."
        case DeviceFault.STICKY | DeviceFault.GONE:
            advice = "Start again; the best epoch so far is kept. With --device cpu the GPU is left alone."
        case _:
            return error
    sentence = f"The device failed ({str(error).splitlines()[0]}). {advice}"
    if is_one_of_several():
        _log.error("%s", sentence)  # it may have failed in this process alone, whose errors nobody else tells
    return PretrainingError(sentence)


def _learn(request: Request, around: Surroundings, sources: Sequence[Source], team: Team) -> _Outcome:
    """One process's whole part. PretrainingError is raised by all of them alike."""
    device = _device_label(team, around)
    wanted = around.settings.training.seed
    seed = team.first_ones(secrets.randbits(32) if wanted is None else wanted)
    candles = sum(len(source.file.candles) for source in sources)
    rest = request.epochs * candles  # no more than this: a candle is learned from or measured on, once an epoch
    meter = Meter(
        *(_NAME, "Reading candles", candles + rest, around.clock, _shows(around, team)),
        rest=rest,
        pace_of_rest=_LEARNING_TO_READING,
    )
    dataset = _read(around, sources, team, meter)
    engine = build_engine(around.settings, team.device.torch_device, seed, team.join)
    keeper = BestKeeper(
        PretrainedStore(around.folder), engine, around.settings.model, sources, seed, team, around.clock
    )
    plan = Plan(request.epochs, request.batch_size, request.patience, seed)
    of_an_epoch = dataset.samples + dataset.validation_samples
    meter.next_part("Pretraining", candles, candles + request.epochs * of_an_epoch)
    work = _prepare(plan, dataset, engine, team, around, keeper, meter)
    ending = work.run()
    return _Outcome(ending, work.course, dataset, seed, device, team.rank, team.world_size, keeper.kept)


def _device_label(team: Team, around: Surroundings) -> str:
    """Chooses the threads of a CPU that one process has for itself; several take one each."""
    if team.device.torch_device.type != "cpu" or team.world_size > 1:
        return team.device.label
    threads = choose_threads(around.settings, around.folder.threads, around.clock)
    torch.set_num_threads(threads)
    return cpu_label(threads)


def _read(around: Surroundings, sources: Sequence[Source], team: Team, meter: Meter) -> Dataset:
    """Go through all candles. Raises PretrainingError where nothing can be measured, Interrupted on a stop."""
    series = _series(around, sources, meter)
    if team.any(series is None) or series is None:
        raise Interrupted("Stopped before the first step; nothing was learned and nothing was written.")
    dataset = Dataset(series, around.settings.model.context)
    if not dataset.samples or dataset.validation_samples < FEWEST_FOR_AN_ESTIMATE:
        raise PretrainingError(
            f"The files have {dataset.samples:,} samples to learn from and {dataset.validation_samples:,} to validate "
            f"on, of which {FEWEST_FOR_AN_ESTIMATE} are needed: between their holes too few candles follow each other."
        )
    return dataset


def _series(around: Surroundings, sources: Sequence[Source], meter: Meter) -> list[Series] | None:
    """None where this process was asked to stop."""
    done_before = 0

    def progress(done: int) -> None:
        meter.at(done_before + done)
        if around.should_stop():
            raise Interrupted

    series = []
    try:
        for source in sources:
            series.append(build_series(source, around.settings.model.horizons, progress))
            done_before += len(source.file.candles)
    except Interrupted:
        return None
    return series


def _prepare(
    plan: Plan,
    dataset: Dataset,
    engine: TrainingEngine,
    team: Team,
    around: Surroundings,
    keeper: BestKeeper,
    meter: Meter,
) -> Pretraining:
    folder = around.folder.bad_batches(_NAME) if team.rank == 0 else None
    ladder = RecoveryLadder(
        engine,
        around.settings.recovery,
        KnownGood(engine, np.random.default_rng(plan.seed)),
        Quarantine(folder),
        may_retry=team.world_size == 1,
    )
    is_first, say = team.rank == 0, around.audience.say
    return Pretraining(
        plan,
        dataset,
        engine,
        ladder,
        team,
        around.clock,
        keep=keeper.keep,
        should_stop=around.should_stop,
        on_progress=meter.at,
        on_epoch=lambda epoch: say(_told(epoch, plan)) if is_first else None,
        on_incident=lambda draft: say(f"{draft.happened} {draft.done}") if is_first else None,
    )


def _shows(around: Surroundings, team: Team) -> Callable[[JobProgress], None]:
    return around.audience.show if team.rank == 0 else lambda job: None


def _told(epoch: Epoch, plan: Plan) -> str:
    loss = "every step was skipped" if epoch.loss is None else f"loss {epoch.loss:.4f}"
    validation = epoch.validation
    skills = f"close {_skill_words(validation.close)}, range {_skill_words(validation.range)}"
    return f"Epoch {epoch.number} of {plan.epochs}: {loss}; skill on {validation.n:,} held-back candles: {skills}."


def _skill_words(skill: Estimate) -> str:
    """``+1.25 % (0.31 to 2.19)``"""
    if skill.value is None:
        return "unknown"
    if skill.low is None or skill.high is None:
        return f"{100.0 * skill.value:+.2f} %"
    return f"{100.0 * skill.value:+.2f} % ({100.0 * skill.low:.2f} to {100.0 * skill.high:.2f})"


def _account(outcome: _Outcome, wall_s: float) -> dict[str, Any]:
    """Raises PretrainingError where nothing was kept, or where training could not go on."""
    course, kept = outcome.course, outcome.kept
    if outcome.ending is Ending.GAVE_UP:
        raise PretrainingError(_gave_up(course.incidents, kept))
    if kept is None or course.best is None:
        raise PretrainingError(
            "No epoch could be measured, so none was kept: the reference makes no error on the held-back candles, or "
            "the model's forecasts were not finite. Give a file whose prices move."
        )
    return {
        "epochs": [epoch.summary() for epoch in course.epochs],
        "stopped_early": outcome.ending is Ending.NO_PROGRESS,
        "interrupted": outcome.ending is Ending.INTERRUPTED,
        "ended_because": outcome.ending.value,
        "best_epoch": course.best.number,
        "samples": outcome.dataset.samples,
        "validation_samples": outcome.dataset.validation_samples,
        "steps": course.steps,
        "skipped_steps": course.skipped,
        "seed": outcome.seed,
        "device": outcome.device,
        "world_size": outcome.world_size,
        "checkpoint": {"id": kept.checkpoint_id, "file": kept.file, "sha256": kept.sha256},
        "incidents": [_incident(draft) for draft in course.incidents[:_MOST_INCIDENTS]],
        "wall_s": round(wall_s, 3),
    }


def _gave_up(incidents: Sequence[IncidentDraft], kept: Pretrained | None) -> str:
    last = incidents[-1]
    where = "Nothing was kept." if kept is None else f"The best epoch so far is kept in {kept.file}."
    return f"Training could not go on. {last.happened} {last.done} {where}"


def _incident(draft: IncidentDraft) -> dict[str, str]:
    return {
        "severity": draft.severity.value,
        "kind": draft.kind,
        "what_happened": draft.happened,
        "what_was_done": draft.done,
    }

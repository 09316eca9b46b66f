"""A new run begins with the newest pretrained model that fits it, where there is one."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.candle import Interval
from core.domain.dates import utc_text
from core.domain.events import Severity
from core.settings.tree import ModelSettings
from core.storage.errors import StorageError
from core.storage.weights import CheckpointError
from core.training.engine.engine import TrainingEngine
from core.training.hosting.pretrained_store import Pretrained, PretrainedStore
from core.training.online.snapshot import (
    as_checkpoint_errors,
    engine_restored_on_error,
    require_fit,
    require_sound_weights,
)
from core.training.recovery.incident_draft import IncidentDraft


@dataclass(frozen=True, slots=True)
class Beginning:
    """taken: None where the model is new. incidents: what is to be told of it."""

    taken: Pretrained | None
    incidents: tuple[IncidentDraft, ...]


def begin_with_newest(
    engine: TrainingEngine, store: PretrainedStore, model: ModelSettings, interval: Interval
) -> Beginning:
    """Put the newest fitting model and its optimizer into the engine. Whatever else the engine holds stays new."""
    incidents: list[IncidentDraft] = []
    reason = None
    for pretrained in store.newest_first():
        unfit = _unfit_because(pretrained, interval)
        if unfit is None:
            try:
                return Beginning(pretrained, (*incidents, _take(engine, store, pretrained, model)))
            except _Unfit as error:
                unfit = str(error)
            except (CheckpointError, StorageError) as error:
                incidents.append(_refused(str(error)))
                continue
        reason = reason or unfit
    if reason is not None:
        incidents.append(_not_used(reason))
    return Beginning(None, tuple(incidents))


class _Unfit(Exception):  # noqa: N818 - whole, but for another run
    pass


def _unfit_because(pretrained: Pretrained, interval: Interval) -> str | None:
    learned = Interval(pretrained.interval_ms)
    if learned == interval:
        return None
    return f"{pretrained.checkpoint_id} has learned candles of {learned}, and this run's are of {interval}."


def _take(
    engine: TrainingEngine, store: PretrainedStore, pretrained: Pretrained, model: ModelSettings
) -> IncidentDraft:
    tensors, metadata = store.load(pretrained)
    try:
        require_fit(metadata, model, pretrained.checkpoint_id)
    except CheckpointError as error:
        raise _Unfit(str(error)) from error
    require_sound_weights(engine, tensors)
    fresh = {"rate_factor": 1.0, "schedule": engine.schedule.state()}
    with engine_restored_on_error(engine), as_checkpoint_errors():
        has_moments = engine.restore(tensors, {**metadata["engine"], **fresh})
    return _started(pretrained, has_moments)


def _started(pretrained: Pretrained, has_moments: bool) -> IncidentDraft:
    until = utc_text(pretrained.seen_until_ms, "%Y-%m-%d %H:%M")
    optimizer = "" if has_moments else " Its optimizer state was of no use, so a new optimizer began."
    return IncidentDraft(
        Severity.INFO,
        "started from a pretrained model",
        f"This run starts from {pretrained.checkpoint_id}, whose skill on held-back candles was "
        f"{100.0 * pretrained.skill:+.2f} %.",
        f"Weights and optimizer are its own; calibration, expert weights and scores begin anew.{optimizer} Forecasts "
        f"of candles before {until} UTC, which it may have seen, are scored apart.",
        "Nothing. The setting training.start_from, or --start-from none, begins with a new model instead.",
    )


def _refused(sentence: str) -> IncidentDraft:
    return IncidentDraft(
        Severity.WARNING,
        "pretrained model refused",
        sentence,
        "It was passed over.",
        "What was learned in that pretraining; pretrain again to have it.",
    )


def _not_used(reason: str) -> IncidentDraft:
    return IncidentDraft(
        Severity.INFO,
        "pretrained model not used",
        f"No pretrained model fits this run. {reason}",
        "The run begins with a new model.",
        "Nothing.",
    )

"""Starts a new run from the newest pretrained model that fits it, if there is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from core.domain.candle import Interval
from core.domain.dates import utc_text
from core.domain.events import Severity
from core.domain.incident_kinds import IncidentKind
from core.settings.tree import ModelSettings
from core.storage.errors import StorageError
from core.storage.weights import CheckpointError
from core.training.engine.engine import TrainingEngine, part_of
from core.training.hosting.pretrained_store import Pretrained, PretrainedStore
from core.training.online.snapshot import (
    as_checkpoint_errors,
    engine_restored_on_error,
    require_fit,
    require_sound_weights,
)
from core.training.recovery.incident_draft import IncidentDraft

_OF_OTHERS = ".embed_others.weight"


@dataclass(frozen=True, slots=True)
class PretrainedStart:
    """taken: None for a new model. incidents: incidents to report."""

    taken: Pretrained | None
    incidents: tuple[IncidentDraft, ...]


def start_from_newest(
    engine: TrainingEngine, store: PretrainedStore, model: ModelSettings, interval: Interval
) -> PretrainedStart:
    """Load the newest fitting model and its optimizer into the engine. The rest of the engine stays new."""
    incidents: list[IncidentDraft] = []
    reason = None
    for pretrained in store.newest_first():
        unfit = _unfit_because(pretrained, interval)
        if unfit is None:
            try:
                return PretrainedStart(pretrained, (*incidents, _take(engine, store, pretrained, model)))
            except _Unfit as error:
                unfit = str(error)
            except (CheckpointError, StorageError) as error:
                incidents.append(_refused(str(error)))
                continue
        reason = reason or unfit
    if reason is not None:
        incidents.append(_not_used(reason))
    return PretrainedStart(None, tuple(incidents))


class _Unfit(Exception):  # noqa: N818 - intact, but for another run
    pass


def _unfit_because(pretrained: Pretrained, interval: Interval) -> str | None:
    learned = Interval(pretrained.interval_ms)
    if learned == interval:
        return None
    return f"{pretrained.checkpoint_id} was trained on candles of {learned}, and this run's are of {interval}."


def _take(
    engine: TrainingEngine, store: PretrainedStore, pretrained: Pretrained, model: ModelSettings
) -> IncidentDraft:
    tensors, metadata = store.load(pretrained)
    try:
        require_fit(metadata, model, pretrained.checkpoint_id)
    except CheckpointError as error:
        raise _Unfit(str(error)) from error
    return _started(pretrained, take_weights(engine, tensors, metadata))


def take_weights(engine: TrainingEngine, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> bool:
    """Load the weights of a model of one market or of several into one of either, and its optimizer where both are of
    one kind.

    Returns False if a new optimizer starts. Raises CheckpointError; then the engine is unchanged.
    """
    tensors = _fitted(engine, tensors)
    require_sound_weights(engine, tensors)
    fresh = {"rate_factor": 1.0, "schedule": engine.schedule.state()}
    with engine_restored_on_error(engine), as_checkpoint_errors():
        return engine.restore(tensors, {**metadata["engine"], **fresh}) and bool(part_of(tensors, "optimizer"))


def _fitted(engine: TrainingEngine, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same with or without the weights of other markets, as the engine's model has them or not. Those that are new
    stay zero, so it forecasts as before; without them it forecasts as where nothing is known of other markets. The
    optimizer's state, which does not fit then, is left out."""
    own = engine.tensors()
    parts = {name.partition(".")[0] for name in tensors}
    added = {name for name in own.keys() - tensors if _is_of_others(name) and name.partition(".")[0] in parts}
    removed = {name for name in tensors.keys() - own if _is_of_others(name)}
    if not added and not removed:
        return tensors
    kept = {name: each for name, each in tensors.items() if name not in removed and not name.startswith("optimizer.")}
    return kept | {name: own[name] for name in added}


def _is_of_others(name: str) -> bool:
    return name.endswith(_OF_OTHERS)


def _started(pretrained: Pretrained, has_moments: bool) -> IncidentDraft:
    until = utc_text(pretrained.seen_until_ms, "%Y-%m-%d %H:%M")
    taken = "weights and optimizer" if has_moments else "weights"
    optimizer = "" if has_moments else " Its optimizer state does not fit here, so a new optimizer started."
    return IncidentDraft(
        Severity.INFO,
        IncidentKind.PRETRAINED_START,
        f"This run starts from {pretrained.checkpoint_id}, whose skill on held-back candles was "
        f"{100.0 * pretrained.skill:+.2f} %.",
        f"It provides {taken}; calibration, expert weights and scores start new.{optimizer} Forecasts of candles "
        f"before {until} UTC, which it may have seen, are scored separately.",
        "Nothing. The setting training.start_from, or --start-from none, starts with a new model instead.",
    )


def _refused(sentence: str) -> IncidentDraft:
    return IncidentDraft(
        Severity.WARNING,
        IncidentKind.PRETRAINED_REFUSED,
        sentence,
        "It was skipped.",
        "That pretraining; repeat it if you need it.",
    )


def _not_used(reason: str) -> IncidentDraft:
    return IncidentDraft(
        Severity.INFO,
        IncidentKind.PRETRAINED_NOT_USED,
        f"No pretrained model fits this run. {reason}",
        "The run starts with a new model.",
        "Nothing.",
    )

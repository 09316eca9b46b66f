"""Pretrained models: on disk, each a checkpoint file and a JSON file with its facts and sha256; and the start of a new
run from the newest one that fits it, if there is one."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError
from torch import Tensor

from core.domain.candle import Interval
from core.domain.dates import utc_text
from core.domain.events import Severity
from core.domain.incident_kinds import IncidentKind
from core.files.durable import write_durably
from core.settings.tree import ModelSettings
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.weights import CheckpointError, read_weights, write_weights
from core.training.engine.engine import TrainingEngine, part_of
from core.training.online.snapshot import (
    UnfitError,
    as_checkpoint_errors,
    engine_restored_on_error,
    require_fit,
    require_sound_weights,
)
from core.training.recovery.incident_draft import IncidentDraft

_FOLDER = "pretrained"
_OPTIONAL = ".embed_others.weight"


@dataclass(frozen=True, slots=True)
class Pretrained:
    """A stored pretrained model."""

    checkpoint_id: str
    file: str
    """Relative to the data folder."""
    sha256: str
    size_bytes: int
    created_at_ms: int
    interval_ms: Annotated[int, Field(gt=0)]
    seen_until_ms: int
    """Time up to which it has seen candles, in training or in validation."""
    epoch: int
    skill: float
    number: int = 0
    """Counts the models of this folder: the newest has the highest, whatever its clock."""


_DESCRIPTIONS = TypeAdapter(Pretrained)


class PretrainedStore:
    """Owns `models/transformer/pretrained` in the data folder."""

    def __init__(self, folder: DataFolder) -> None:
        self._data = folder
        self._folder = folder.checkpoints(_FOLDER)

    def write(
        self, tensors: Mapping[str, Tensor], metadata: Mapping[str, Any], created_at_ms: int, facts: Mapping[str, Any]
    ) -> Pretrained:
        """Write the weights, then the facts: a crash in between leaves a file that is never read.

        facts: the fields of `Pretrained` that are not about the file. Raises OSError.
        """
        checkpoint_id = f"{_FOLDER}-{utc_text(created_at_ms, '%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        path = self._folder / f"{checkpoint_id}.safetensors"
        written = write_weights(path, tensors, {**metadata, "checkpoint_id": checkpoint_id})
        file, number = self._data.relative(path), 1 + max((each.number for each in self.newest_first()), default=0)
        described = (checkpoint_id, file, written.sha256, written.size_bytes, created_at_ms)
        kept = Pretrained(*described, **{**facts, "number": number})
        write_durably(path.with_suffix(".json"), json.dumps(asdict(kept), indent=2).encode())
        return kept

    def remove(self, pretrained: Pretrained) -> None:
        """Delete a model that a better one has replaced. Raises OSError."""
        path = self._data.absolute(pretrained.file)
        path.with_suffix(".json").unlink(missing_ok=True)
        path.unlink(missing_ok=True)

    def newest_first(self) -> list[Pretrained]:
        """All models with a readable description."""
        if not self._folder.is_dir():
            return []
        read = [_read(path) for path in sorted(self._folder.glob("*.json"))]
        known = [pretrained for pretrained in read if pretrained is not None]
        return sorted(known, key=lambda one: (one.number, one.created_at_ms, one.checkpoint_id), reverse=True)

    def load(self, pretrained: Pretrained) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Read and check one. Raises CheckpointError, and StorageError for a path outside the folder."""
        return read_weights(self._data.absolute(pretrained.file), pretrained.sha256)


def _read(path: Path) -> Pretrained | None:
    try:
        return _DESCRIPTIONS.validate_json(path.read_bytes(), strict=True)
    except (OSError, ValidationError):
        return None


def start_from_newest(
    engine: TrainingEngine, store: PretrainedStore, model: ModelSettings, interval: Interval
) -> tuple[Pretrained | None, list[IncidentDraft]]:
    """Load the newest fitting model and its optimizer into the engine. The rest of the engine stays new.

    Returns the model, None if there is none that fits, and the incidents to report.
    """
    incidents: list[IncidentDraft] = []
    reason = None
    for pretrained in store.newest_first():
        try:
            _require_interval(pretrained, interval)
            tensors, metadata = store.load(pretrained)
            require_fit(metadata, model, pretrained.checkpoint_id)
            return pretrained, [*incidents, _started(pretrained, take_weights(engine, tensors, metadata))]
        except UnfitError as error:
            reason = reason or str(error)
        except (CheckpointError, StorageError) as error:
            incidents.append(_refused(str(error)))
    if reason is not None:
        incidents.append(_not_used(reason))
    return None, incidents


def _require_interval(pretrained: Pretrained, interval: Interval) -> None:
    learned = Interval(pretrained.interval_ms)
    if learned != interval:
        name = pretrained.checkpoint_id
        raise UnfitError(f"{name} was trained on candles of {learned}, and this run's are of {interval}.")


def take_weights(engine: TrainingEngine, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> bool:
    """Load the weights of a model of one market or several into a model of either kind, and its optimizer if the kinds
    match.

    Returns False if a new optimizer starts. Raises CheckpointError; then the engine is unchanged.
    """
    tensors = _fitted(engine, tensors)
    require_sound_weights(engine, tensors)
    fresh = {"rate_factor": 1.0, "schedule": engine.schedule.state()}
    with engine_restored_on_error(engine), as_checkpoint_errors():
        return engine.restore(tensors, {**metadata["engine"], **fresh}) and bool(part_of(tensors, "optimizer"))


def _fitted(engine: TrainingEngine, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors with or without the weights of other markets and of insides, as the engine's model requires. New
    weights stay zero, so it forecasts as before; without them it forecasts as if nothing were known of either. The
    optimizer's state, which does not fit then, is left out."""
    own = engine.tensors()
    parts = {name.partition(".")[0] for name in tensors}
    added = {name for name in own.keys() - tensors if name.endswith(_OPTIONAL) and name.partition(".")[0] in parts}
    removed = {name for name in tensors.keys() - own if name.endswith(_OPTIONAL)}
    if not added and not removed:
        return tensors
    kept = {name: each for name, each in tensors.items() if name not in removed and not name.startswith("optimizer.")}
    return kept | {name: own[name] for name in added}


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

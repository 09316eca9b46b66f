"""Pretrained models on disk: a checkpoint file, and a JSON file with its facts and sha256."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from core.domain.dates import utc_text
from core.files.durable import write_durably
from core.storage.folder import DataFolder
from core.storage.weights import read_weights, write_weights

_FOLDER = "pretrained"


@dataclass(frozen=True, slots=True)
class Pretrained:
    """A stored pretrained model."""

    checkpoint_id: str
    file: str
    """Relative to the data folder."""
    sha256: str
    size_bytes: int
    created_at_ms: int
    interval_ms: int
    seen_until_ms: int
    """Time up to which it has seen candles, in training or in validation."""
    epoch: int
    skill: float


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
        checkpoint_id = _new_id(created_at_ms)
        path = self._folder / f"{checkpoint_id}.safetensors"
        written = write_weights(path, tensors, {**metadata, "checkpoint_id": checkpoint_id})
        kept = Pretrained(
            checkpoint_id, self._data.relative(path), written.sha256, written.size_bytes, created_at_ms, **facts
        )
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
        return sorted(known, key=lambda one: (one.created_at_ms, one.checkpoint_id), reverse=True)

    def load(self, pretrained: Pretrained) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Read and check one. Raises CheckpointError, and StorageError for a path outside the folder."""
        return read_weights(self._data.absolute(pretrained.file), pretrained.sha256)


def _new_id(created_at_ms: int) -> str:
    return f"{_FOLDER}-{utc_text(created_at_ms, '%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"


def _read(path: Path) -> Pretrained | None:
    try:
        return Pretrained(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None

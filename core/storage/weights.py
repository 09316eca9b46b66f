"""Checkpoint files: safetensors with JSON metadata, written atomically.

Never a pickle, not even as a fallback: loading one executes code in it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor

from core.checkpoints.weight_file import METADATA_KEY, BadFileError, read_description, read_verified
from core.files.durable import write_durably


class CheckpointError(Exception):
    """A checkpoint file is rejected. The message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """The data in SQLite about a file."""

    sha256: str
    size_bytes: int


def write_weights(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, Any]) -> WrittenFile:
    """Write the file atomically and durably.

    Raises OSError, and then leaves no file.
    """
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    data = safetensors.torch.save(contiguous, {METADATA_KEY: json.dumps(metadata, allow_nan=False)})
    path.parent.mkdir(parents=True, exist_ok=True)
    write_durably(path, data)
    return WrittenFile(hashlib.sha256(data).hexdigest(), len(data))


def read_weights(path: Path, sha256: str | None = None) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read tensors and metadata. `sha256`: the expected hash of the file.

    Raises CheckpointError for a file that is missing, altered, truncated, too large, a pickle, or not ours.
    """
    try:
        data = read_verified(path, sha256)
        return safetensors.torch.load(data), read_description(path)
    except BadFileError as error:
        raise CheckpointError(str(error)) from error
    except (SafetensorError, ValueError) as error:
        raise CheckpointError(f"{path.name} is not a whole safetensors file ({error}).") from error

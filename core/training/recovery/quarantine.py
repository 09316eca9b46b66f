"""Batches that were kept aside, on disk, for a person to look at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from core.domain.quantities import FloatArray
from core.storage.weights import write_weights
from core.training.engine.samples import Batch

_MOST_KEPT = 50
"""The oldest go first: a feed that is bad for a night must not fill the disk."""


class Quarantine:
    """A folder of batches. Nothing in it is ever trained on. Without a folder nothing is kept: another process does."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def put(self, batch: Batch, reference: FloatArray, step: int, reason: str) -> str:
        """Write the batch, and say in a sentence where it is, or why it could not be written."""
        if self._folder is None:
            return "Another process keeps it for inspection."
        arrays = {
            "features": batch.features,
            "is_real": batch.is_real,
            "targets": batch.targets,
            "weights": batch.weights,
            "reference": reference,
        }
        tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}
        path = self._folder / f"step-{step:08d}-{reason.replace(' ', '-')}.safetensors"
        try:
            write_weights(path, tensors, {"step": step, "reason": reason})
            _thin_out(self._folder)
        except OSError as error:
            return f"The batch could not be kept for inspection ({error.strerror or error})."
        return f"The batch is kept for inspection in {self._folder.name}/{path.name}."


def _thin_out(folder: Path) -> None:
    kept = sorted(folder.glob("*.safetensors"), key=lambda path: (path.stat().st_mtime_ns, path.name))
    for path in kept[:-_MOST_KEPT]:
        path.unlink(missing_ok=True)


def bad_parts(batch: Batch, reference: FloatArray) -> list[str]:
    """Which of a batch's arrays hold a number that is not finite."""
    arrays: dict[str, NDArray[np.floating]] = {
        "features": batch.features,
        "targets": batch.targets,
        "weights": batch.weights,
        "reference": reference,
    }
    return [name for name, array in arrays.items() if not _is_finite(array)]


def _is_finite(array: NDArray[np.floating]) -> bool:
    """One sum tells in most cases, five times faster; a sum can overflow where each number is finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(array.sum()) or np.isfinite(array).all())

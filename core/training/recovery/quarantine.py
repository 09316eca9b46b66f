"""Quarantined batches, stored on disk for inspection."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from core.domain.quantities import FloatArray
from core.storage.weights import write_weights
from core.training.engine.samples import Batch

_MOST_STORED = 50
"""The oldest are deleted first: a bad feed must not fill the disk overnight."""


class Quarantine:
    """A folder of batches that are not trained on. Without a folder nothing is stored: another process does it."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def put(self, batch: Batch, reference: FloatArray, step: int, reason: str) -> str:
        """Write the batch. Returns a sentence with its path, or why it could not be written."""
        if self._folder is None:
            return "Another process keeps it for inspection."
        arrays = {
            "features": batch.features,
            "is_real": batch.is_real,
            "targets": batch.targets,
            "weights": batch.weights,
            "regimes": batch.regimes,
            "reference": reference,
        }
        tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}
        path = self._folder / f"step-{step:08d}-{reason.replace(' ', '-')}.safetensors"
        try:
            write_weights(path, tensors, {"step": step, "reason": reason})
            others = sorted(each for each in self._folder.glob("*.safetensors") if each != path)  # by their steps
            for oldest in others[: 1 - _MOST_STORED]:
                oldest.unlink(missing_ok=True)
        except OSError as error:
            return f"The batch could not be kept for inspection ({error.strerror or error})."
        return f"The batch is kept for inspection in {self._folder.name}/{path.name}."


def non_finite_parts(batch: Batch, reference: FloatArray) -> list[str]:
    """The names of a batch's arrays that hold a non-finite number."""
    arrays: dict[str, NDArray[np.floating]] = {
        "features": batch.features,
        "targets": batch.targets,
        "weights": batch.weights,
        "regimes": batch.regimes,
        "reference": reference,
    }
    with np.errstate(over="ignore", invalid="ignore"):  # a sum is fast, and can overflow although each number is finite
        return [name for name, each in arrays.items() if not (math.isfinite(each.sum()) or np.isfinite(each).all())]

"""The loss of a batch without the model's corrections, to compare with the model's own loss on the same samples.

The difficulty of the samples is in both and cancels out: a few steps show what a loss alone shows in hundreds.
"""

from __future__ import annotations

import math

import numpy as np

from core.domain.quantities import LEVELS, FloatArray
from core.training.engine.samples import Batch

_LEVELS = np.array(LEVELS)


def anchor_loss(batch: Batch, anchors: FloatArray) -> float | None:
    """The loss as `TrainingEngine` computes it, with all corrections zero. None if it is not finite.

    anchors: normalised quantiles that the model corrects: [H, Q, L] for all samples, or [B, H, Q, L].
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        error = batch.targets.astype(np.float64)[..., None] - np.sort(anchors, axis=-1)
        losses = np.maximum(_LEVELS * error, (_LEVELS - 1.0) * error).mean(axis=-1)
        loss = float((losses * batch.weights).sum() / batch.weights.sum(dtype=np.float64))
    return loss if math.isfinite(loss) else None

"""Batches of random numbers in the shapes of a model, for timing steps."""

from __future__ import annotations

import numpy as np

from core.domain.quantities import LEVELS, QUANTITIES, FloatArray
from core.forecast.history import FEATURES
from core.settings.tree import ModelSettings
from core.training.engine.samples import Batch


def synthetic_batch(model: ModelSettings, samples: int, seed: int = 0) -> Batch:
    generator = np.random.default_rng(seed)
    targets = (samples, model.horizons, QUANTITIES)
    return Batch(
        generator.normal(size=(samples, model.context, FEATURES)).astype(np.float32),
        np.ones((samples, model.context), dtype=bool),
        generator.normal(size=targets).astype(np.float32),
        np.ones(targets, dtype=np.float32),
    )


def synthetic_reference(model: ModelSettings) -> FloatArray:
    return np.tile(np.linspace(-1.5, 1.5, len(LEVELS)), (model.horizons, QUANTITIES, 1))

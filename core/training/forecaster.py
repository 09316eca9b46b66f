"""From the past to quantiles: the experts, their combination, its calibration; and what each outcome teaches them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.forecast.baselines import ReferenceForecast
from core.forecast.calibrate import AdaptiveCalibration
from core.forecast.combine import ExpertWeights
from core.forecast.experts import EXPERTS, Quantiles
from core.forecast.history import History
from core.forecast.quantities import FloatArray, within_bounds
from core.training.engine.engine import TrainingEngine


class Forecaster:
    """Owns what turns the past into a forecast, apart from the model, which the engine owns."""

    def __init__(self, history: History, engine: TrainingEngine, context: int) -> None:
        self._history = history
        self._engine = engine
        self._context = context
        self._reference = ReferenceForecast(history)
        self.weights = ExpertWeights(len(EXPERTS), history.horizons)
        self.calibration = AdaptiveCalibration(history.horizons)

    def reference(self) -> FloatArray:
        """The reference's normalised quantiles now: [H, Q, L]."""
        return self._reference.quantiles()

    def forecast(self, reference: FloatArray) -> Quantiles:
        """Forecast the candles after the newest one. reference: what `reference()` says now."""
        newest = np.array([len(self._history) - 1], dtype=np.int64)
        features, is_real = self._history.windows(newest, self._context)
        corrections = self._engine.corrections(features, is_real)[0]
        return self._combine(np.sort(reference + corrections, axis=-1), reference)

    def without_model(self, reference: FloatArray) -> Quantiles:
        """The forecast where the model gives none: the reference stands in its place."""
        return self._combine(reference, reference)

    def _combine(self, model: FloatArray, reference: FloatArray) -> Quantiles:
        """model, reference: normalised quantiles [H, Q, L]."""
        newest = np.array([len(self._history) - 1], dtype=np.int64)
        experts = np.stack([model, reference])
        shown = self.calibration.apply(self.weights.combine(experts))
        factor, offset = (units[0][..., None] for units in self._history.units(newest))
        return Quantiles(within_bounds(offset + factor * shown), within_bounds(offset + factor * experts))

    def learn(self, origin: int, horizon: int, losses: FloatArray, shown: FloatArray, outcome: FloatArray) -> None:
        """Take the outcome of the forecast made at row `origin`.

        losses: the experts' in natural units [E, Q]; shown [Q, L] and outcome [Q] in natural units.
        """
        factor, _ = self._history.units(np.array([origin], dtype=np.int64))
        self.weights.update(horizon, losses / factor[0, horizon - 1])
        self.calibration.update(horizon, shown, outcome)

    def state(self) -> dict[str, NDArray[np.generic]]:
        parts = {"weights": self.weights.state(), "calibration": self.calibration.state()}
        return {f"{part}.{name}": array for part, state in parts.items() for name, array in state.items()}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        self.weights.restore(_part(state, "weights"))
        self.calibration.restore(_part(state, "calibration"))


def _part(state: dict[str, NDArray[np.generic]], part: str) -> dict[str, NDArray[np.generic]]:
    prefix = f"{part}."
    return {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}

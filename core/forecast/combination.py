"""What is shown: the experts' mixture, calibrated; once with all experts, once as it would be without the model."""

from __future__ import annotations

import numpy as np

from core.domain.quantities import FloatArray
from core.forecast.arrays import Arrays, named, part_of
from core.forecast.calibrate import AdaptiveCalibration
from core.forecast.combine import ExpertWeights
from core.forecast.experts import EWMA, HAR, MODEL, REFERENCE, REPEAT, REVERSE, SPEAKS

_TRUST = {MODEL: 0.5, REFERENCE: 1.0, REPEAT: 0.02, REVERSE: 0.02, EWMA: 0.5, HAR: 1.0}
_USUAL_TRUST = 0.5


def prior(with_model: bool) -> FloatArray:
    """How much each expert is trusted before any outcome: [E, Q], 0 where it does not speak."""
    trust = np.array([_TRUST.get(expert, _USUAL_TRUST) for expert in range(SPEAKS.shape[0])])
    if not with_model:
        trust[MODEL] = 0.0
    return trust[:, None] * SPEAKS


class Combination:
    """Expert weights and the calibration of what they give."""

    def __init__(self, prior: FloatArray, horizons: int) -> None:
        self.weights = ExpertWeights(prior, horizons)
        self.calibration = AdaptiveCalibration(horizons)

    def predict(self, experts: FloatArray) -> FloatArray:
        """[E, H, Q, L] to [H, Q, L], ascending."""
        return self.calibration.apply(self.weights.combine(experts))

    def learn(self, horizon: int, experts: FloatArray, said: FloatArray, outcome: FloatArray) -> None:
        """One outcome [Q] of `horizon`; experts [E, Q, L] and said [Q, L]: the forecasts of it. All in one unit."""
        self.weights.update(horizon, experts, outcome)
        self.calibration.update(horizon, said, outcome)

    def state(self) -> Arrays:
        return named({"weights": self.weights.state(), "calibration": self.calibration.state()})

    def restore(self, state: Arrays) -> None:
        self.weights.restore(part_of(state, "weights"))
        self.calibration.restore(part_of(state, "calibration"))

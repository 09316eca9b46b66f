"""The displayed forecast: the calibrated mixture of the experts; once with all experts, once without the model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import MEDIAN, FloatArray, Quantity
from core.forecast.arrays import Arrays, named, part_of
from core.forecast.calibrate import AdaptiveCalibration
from core.forecast.expert_weights import ExpertWeights
from core.forecast.experts import EWMA, HAR, MODEL, NO_CHALLENGERS, REFERENCE, REPEAT, REVERSE, ExpertList

_TRUST = {MODEL: 0.5, REFERENCE: 1.0, REPEAT: 0.02, REVERSE: 0.02, EWMA: 0.5, HAR: 1.0}
_USUAL_TRUST = 0.5


def prior(with_model: bool, experts: ExpertList = NO_CHALLENGERS) -> FloatArray:
    """Prior weight of each expert: [E, Q], 0 for quantities that it does not forecast."""
    trust = np.array([_TRUST.get(expert, _USUAL_TRUST) for expert in range(len(experts.names))])
    if not with_model:
        trust[MODEL] = 0.0
    return trust[:, None] * experts.forecasts


class Combination:
    """Expert weights, and the calibration of their mixture."""

    def __init__(self, prior: FloatArray, horizons: int) -> None:
        self.weights = ExpertWeights(prior, horizons)
        self.calibration = AdaptiveCalibration(horizons)

    def predict(self, experts: FloatArray) -> FloatArray:
        """[E, H, Q, L] to [H, Q, L], ascending."""
        return _with_moves_kept(self.calibration.apply(self.weights.combine(experts)))

    def learn(
        self,
        horizons: NDArray[np.int64],
        experts: FloatArray,
        shown: FloatArray,
        outcomes: FloatArray,
        is_absent: NDArray[np.bool_] | None = None,
    ) -> None:
        """Outcomes [n, Q] of these horizons [n]; experts [E, n, Q, L] and shown [n, Q, L]: their forecasts. All in one
        unit. is_absent: as in `ExpertWeights.update`."""
        self.weights.update(horizons, experts, outcomes, is_absent)
        self.calibration.update(horizons, shown, outcomes)

    def state(self) -> Arrays:
        return named({"weights": self.weights.state(), "calibration": self.calibration.state()})

    def restore(self, state: Arrays) -> None:
        self.weights.restore(part_of(state, "weights"))
        self.calibration.restore(part_of(state, "calibration"))


def _with_moves_kept(quantiles: FloatArray) -> FloatArray:
    """[H, Q, L], normalised, with each median close at least as far from the origin's as the one before it, where both
    lie on the same side; the band moves with its median.

    Each horizon is forecast by itself, and the noisier it is, the nearer its median comes to no move. But a move that
    is expected is not expected to be undone. Nothing is learned for this; `docs/how-good.md` has what it gains.
    """
    root = np.sqrt(np.arange(1, len(quantiles) + 1))  # of the unit of the close: `core.domain.quantities.units`
    median = quantiles[:, Quantity.CLOSE, MEDIAN] * root
    side, kept = np.sign(median), np.abs(median)
    for ahead in range(1, len(kept)):
        if side[ahead] == side[ahead - 1]:
            kept[ahead] = max(kept[ahead], kept[ahead - 1])
    moved = quantiles.copy()
    moved[:, Quantity.CLOSE] += ((side * kept - median) / root)[:, None]
    return moved

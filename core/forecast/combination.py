"""The displayed forecast: the calibrated mixture of the experts; once with all experts, once without the model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import MEDIAN, FloatArray, Quantity
from core.forecast.arrays import Arrays, Places, named, part_of
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
    """Expert weights, and the calibration of their mixture, of each market."""

    def __init__(self, prior: FloatArray, horizons: int, markets: int) -> None:
        self.weights = ExpertWeights(prior, horizons, markets)
        self.calibration = AdaptiveCalibration(horizons, markets)

    def predict(self, places: Places, experts: FloatArray) -> FloatArray:
        """[n, H, E, Q, L] to [n, H, Q, L], ascending."""
        return _without_reversals(self.calibration.apply(places, self.weights.combine(places, experts)))

    def learn(
        self,
        places: Places,
        experts: FloatArray,
        shown: FloatArray,
        outcomes: FloatArray,
        is_known: NDArray[np.bool_],
        is_absent: NDArray[np.bool_] | None = None,
    ) -> None:
        """Learn from the outcomes [n, H, Q] of those horizons that are known [n, H]; experts [n, H, E, Q, L] and shown
        [n, H, Q, L]: their forecasts. All in one unit. is_absent: as in `ExpertWeights.update`."""
        self.weights.update(places, experts, outcomes, is_known, is_absent)
        self.calibration.update(places, shown, outcomes, is_known)

    def state(self, market: int) -> Arrays:
        return named({"weights": self.weights.state(market), "calibration": self.calibration.state(market)})

    def restore(self, state: Arrays, market: int) -> None:
        self.weights.restore(part_of(state, "weights"), market)
        self.calibration.restore(part_of(state, "calibration"), market)


def _without_reversals(quantiles: FloatArray) -> FloatArray:
    """[n, H, Q, L], normalised, with each median close at least as far from the origin's as the one before it, where
    both lie on the same side; the band moves with its median.

    Each horizon is forecast by itself, and the noisier it is, the nearer its median comes to no move. But a move that
    is expected is not expected to be undone. Nothing is learned for this; `docs/research/results.md` has what it gains.
    """
    horizons = quantiles.shape[1]
    root = np.sqrt(np.arange(1, horizons + 1))  # of the unit of the close: `core.domain.quantities.units`
    median = quantiles[:, :, Quantity.CLOSE, MEDIAN] * root
    side, size = np.sign(median), np.abs(median)
    for ahead in range(1, horizons):
        is_same = side[:, ahead] == side[:, ahead - 1]
        size[:, ahead] = np.where(is_same, np.maximum(size[:, ahead], size[:, ahead - 1]), size[:, ahead])
    moved = quantiles.copy()
    moved[:, :, Quantity.CLOSE] += ((side * size - median) / root)[..., None]
    return moved

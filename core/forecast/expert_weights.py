"""Online aggregation of experts: one set of weights per horizon, quantity and level.

Source: Gaillard, Stoltz and van Erven, A second-order bound with excess losses (2014): ML-Prod, with gradients, so that
the mixture competes with the best fixed mixture of the experts and not only with the best of them; per level as in
Berrisch and Ziel, CRPS learning (2023). Half of what a level learns is the mean over all levels, as one level has few
outcomes. Old outcomes fade, and a fixed share (Herbster and Warmuth, 1998) lets an expert recover.

The logarithm matters when an expert gains much at once, by wide tails at a price jump: Bernstein aggregation, its
second-order expansion, subtracts the square, and so loses half of such a gain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import LEVELS, QUANTITIES, FloatArray
from core.forecast.arrays import ArrayState

_LARGEST_RELATIVE_REGRET = 20.0
"""One outlier moves the weights at most this many times a usual loss."""
_LARGEST_RATE = 0.5
_LARGEST_SETBACK = 0.5
"""One outcome removes at most this share of an expert's weight; beyond it the logarithm's bound does not hold."""
_KEEP = 0.9995
_KEEP_USUAL_LOSS = 0.98
_SHARED_BY_LEVELS = 0.5
_FIXED_SHARE = 1e-3


class ExpertWeights(ArrayState):
    """Weights [expert, horizon, quantity, level], at least 0, summing to 1 over the experts.

    prior: [E, Q], the experts' weights before any outcome; 0 for one that never gets a weight.
    """

    _STATE = ("_gain", "_variance", "_usual_loss", "weights")

    def __init__(self, prior: FloatArray, horizons: int) -> None:
        self._prior = (prior / prior.sum(axis=0))[:, None, :, None]
        self._log_experts = np.log(np.maximum((prior > 0.0).sum(axis=0), 2))[:, None]
        shape = (prior.shape[0], horizons, QUANTITIES, len(LEVELS))
        self._gain = np.zeros(shape)
        """The loss that each expert would have saved the mixture, as the logarithm of its growth, in usual losses."""
        self._variance = np.zeros(shape)
        self._usual_loss = np.zeros((horizons, QUANTITIES))
        self.weights = np.broadcast_to(self._prior, shape).copy()

    @property
    def shares(self) -> FloatArray:
        """The weights' mean over the levels: [expert, horizon, quantity]."""
        means: FloatArray = self.weights.mean(axis=-1)
        return means

    def combine(self, quantiles: FloatArray) -> FloatArray:
        """Weighted mean of the experts' quantiles, put in ascending order: [E, H, Q, L] to [H, Q, L]."""
        combined: FloatArray = np.sort((self.weights * quantiles).sum(axis=0), axis=-1)
        return combined

    def update(
        self,
        horizons: NDArray[np.int64],
        quantiles: FloatArray,
        outcomes: FloatArray,
        is_absent: NDArray[np.bool_] | None = None,
    ) -> None:
        """Learn from an outcome of each of these horizons [n], 1-based. quantiles: the experts' forecasts [E, n, Q, L];
        outcomes: [n, Q].

        is_absent: [E, n, Q], True where another forecast took an expert's place: it gains and loses nothing by that,
        and has no weight until the next outcome of a forecast by itself (a sleeping expert: Freund, Schapire, Singer
        and Warmuth, Using and combining predictors that specialize, 1997).
        """
        rows = horizons - 1
        mixture = np.sort((self.weights[:, rows] * quantiles).sum(axis=0), axis=-1)
        error = outcomes[..., None] - mixture
        slope = np.where(error < 0.0, 1.0 - LEVELS, -LEVELS)  # of the pinball loss, at the mixture
        self._observe_losses(rows, (-slope * error).mean(axis=-1))
        unit = np.maximum(self._usual_loss[rows], 1e-12)[..., None]
        gain = np.clip(slope * (mixture - quantiles) / unit, -_LARGEST_RELATIVE_REGRET, _LARGEST_RELATIVE_REGRET)
        gain = _SHARED_BY_LEVELS * gain.mean(axis=-1, keepdims=True) + (1.0 - _SHARED_BY_LEVELS) * gain
        is_present = np.ones_like(gain) if is_absent is None else np.where(is_absent[..., None], 0.0, 1.0)
        gain = gain * is_present
        rate = self._rate(rows)
        self._variance[:, rows] = _KEEP * self._variance[:, rows] + gain**2
        grown: FloatArray = np.log1p(np.maximum(rate * gain, -_LARGEST_SETBACK)) / rate
        self._gain[:, rows] = _KEEP * self._gain[:, rows] + grown
        self.weights[:, rows] = self._weights_of(rows, is_present)

    def _observe_losses(self, rows: NDArray[np.int64], losses: FloatArray) -> None:
        usual = self._usual_loss[rows]
        blended = _KEEP_USUAL_LOSS * usual + (1.0 - _KEEP_USUAL_LOSS) * losses
        self._usual_loss[rows] = np.where(usual > 0.0, blended, losses)

    def _rate(self, rows: NDArray[np.int64]) -> FloatArray:
        """[E, n, Q, L]. The larger the variance of an expert's gains, the slower its weight moves.

        Forecasts of h candles overlap: the variance of the sum of their gains is up to h times as large.
        """
        rate: FloatArray = np.sqrt(self._log_experts / np.maximum(self._variance[:, rows], 1e-9))
        slowed: FloatArray = np.minimum(_LARGEST_RATE, rate) / np.sqrt(rows + 1)[:, None, None]
        return slowed

    def _weights_of(self, rows: NDArray[np.int64], is_present: FloatArray) -> FloatArray:
        rate = self._rate(rows)
        exponent = rate * self._gain[:, rows]
        unnormalised = self._prior * rate * np.exp(exponent - exponent.max(axis=0)) * is_present
        earned = unnormalised / unnormalised.sum(axis=0)
        of_absent = (self._prior * (1.0 - is_present)).sum(axis=0)
        fixed = self._prior * is_present + of_absent * earned
        mixed: FloatArray = (1.0 - _FIXED_SHARE) * earned + _FIXED_SHARE * fixed
        return mixed

"""Online aggregation of experts: one set of weights per market, horizon, quantity and level.

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
from core.forecast.arrays import ArrayState, Places

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
    """Weights [market, horizon, pair, level], at least 0, summing to 1 over the pairs of each quantity.

    A pair is an expert and a quantity for which it can have a weight; pairs are in the order of quantities.

    prior: [E, Q], the experts' weights before any outcome; 0 for one that never gets a weight.
    """

    _STATE = ("_gain", "_variance", "_usual_loss", "_weights")

    def __init__(self, prior: FloatArray, horizons: int, markets: int) -> None:
        self._experts = len(prior)
        self._quantity, self._expert = np.nonzero(prior.T > 0.0)
        self._first = np.searchsorted(self._quantity, np.arange(QUANTITIES))
        """The first pair of each quantity."""
        self._prior = (prior / prior.sum(axis=0))[self._expert, self._quantity][:, None]
        experts = (prior > 0.0).sum(axis=0)
        self._log_experts = np.log(np.maximum(experts, 2))[self._quantity][:, None]
        self._slowness = np.sqrt(np.arange(1, horizons + 1))[:, None, None]
        shape = markets, horizons, len(self._quantity), len(LEVELS)
        self._gain = np.zeros(shape)
        """The loss that each expert would have saved the mixture, as the logarithm of its growth, in usual losses."""
        self._variance = np.zeros(shape)
        self._usual_loss = np.zeros((markets, horizons, QUANTITIES))
        self._weights = np.broadcast_to(self._prior, shape).copy()

    def shares(self, market: int) -> FloatArray:
        """The weights' mean over the levels: [horizon, quantity, expert]."""
        means = np.zeros((self._weights.shape[1], QUANTITIES, self._experts))
        means[:, self._quantity, self._expert] = self._weights[market].mean(axis=-1)
        return means

    def combine(self, places: Places, quantiles: FloatArray) -> FloatArray:
        """Weighted mean of the experts' quantiles, put in ascending order: [n, H, E, Q, L] to [n, H, Q, L]."""
        return np.sort(self._sum(self._weights[places] * self._of_pairs(quantiles)), axis=-1)

    def update(
        self,
        places: Places,
        quantiles: FloatArray,
        outcomes: FloatArray,
        is_known: NDArray[np.bool_],
        is_absent: NDArray[np.bool_] | None = None,
    ) -> None:
        """Learn from an outcome of each horizon that `is_known` [n, H]. quantiles: the experts' forecasts [n, H, E, Q,
        L]; outcomes: [n, H, Q].

        is_absent: [n, H, E, Q], True where another forecast took an expert's place: it gains and loses nothing by that,
        and has no weight until the next outcome of a forecast by itself (a sleeping expert: Freund, Schapire, Singer
        and Warmuth, Using and combining predictors that specialize, 1997).
        """
        market, horizon = is_known.nonzero()
        at = places[market], horizon
        own, target = self._of_pairs(quantiles[is_known]), outcomes[is_known]
        mixture = np.sort(self._sum(self._weights[at] * own), axis=-1)
        error = target[..., None] - mixture
        slope = np.where(error < 0.0, 1.0 - LEVELS, -LEVELS)  # of the pinball loss, at the mixture
        losses, usual = (-slope * error).mean(axis=-1), self._usual_loss[at]
        blended = _KEEP_USUAL_LOSS * usual + (1.0 - _KEEP_USUAL_LOSS) * losses
        self._usual_loss[at] = np.where(usual > 0.0, blended, losses)
        unit = np.maximum(self._usual_loss[at], 1e-12)[..., None]
        gain = self._each(slope) * (self._each(mixture) - own) / self._each(unit)
        gain = np.clip(gain, -_LARGEST_RELATIVE_REGRET, _LARGEST_RELATIVE_REGRET)
        gain = _SHARED_BY_LEVELS * gain.mean(axis=-1, keepdims=True) + (1.0 - _SHARED_BY_LEVELS) * gain
        is_present: FloatArray | None = None
        if is_absent is not None:
            is_present = 1.0 - is_absent[is_known][:, self._expert, self._quantity, None].astype(np.float64)
            gain = gain * is_present
        rate = self._rate(self._variance[at], horizon)
        self._variance[at] = _KEEP * self._variance[at] + gain**2
        grown: FloatArray = np.log1p(np.maximum(rate * gain, -_LARGEST_SETBACK)) / rate
        self._gain[at] = _KEEP * self._gain[at] + grown
        rate = self._rate(self._variance[at], horizon)
        self._weights[at] = self._weights_of(self._gain[at], rate, is_present)

    def _rate(self, variance: FloatArray, horizon: NDArray[np.int64]) -> FloatArray:
        """[k, pair, L]. The larger the variance of an expert's gains, the slower its weight moves.

        Forecasts of h candles overlap: the variance of the sum of their gains is up to h times as large.
        """
        rate: FloatArray = np.sqrt(self._log_experts / np.maximum(variance, 1e-9))
        slowed: FloatArray = np.minimum(_LARGEST_RATE, rate) / self._slowness[horizon]
        return slowed

    def _weights_of(self, gain: FloatArray, rate: FloatArray, is_present: FloatArray | None) -> FloatArray:
        """is_present: None if all are."""
        exponent = rate * gain
        largest = self._each(np.maximum.reduceat(exponent, self._first, axis=-2))
        unnormalised = self._prior * rate * np.exp(exponent - largest)
        if is_present is not None:
            unnormalised *= is_present
        earned = unnormalised / self._each(self._sum(unnormalised))
        fixed = self._prior
        if is_present is not None:
            fixed = fixed * is_present + self._each(self._sum(fixed * (1.0 - is_present))) * earned
        mixed: FloatArray = (1.0 - _FIXED_SHARE) * earned + _FIXED_SHARE * fixed
        return mixed

    def _of_pairs(self, quantiles: FloatArray) -> FloatArray:
        """[..., E, Q, L] to [..., pair, L]"""
        return quantiles[..., self._expert, self._quantity, :]

    def _sum(self, of_pairs: FloatArray) -> FloatArray:
        """[..., pair, L] to [..., Q, L]"""
        total: FloatArray = np.add.reduceat(of_pairs, self._first, axis=-2)
        return total

    def _each(self, of_quantities: FloatArray) -> FloatArray:
        """[..., Q, L] to [..., pair, L]"""
        return of_quantities.take(self._quantity, axis=-2)

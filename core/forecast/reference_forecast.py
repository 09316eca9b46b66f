"""The reference forecast: "no change", with the quantiles of the recent past.

For each horizon and quantity: the empirical quantiles of the normalised outcomes of the newest 1,000 origins whose
target has closed, without those that have a hole between origin and target. Normalised means: a return over the EWMA
standard deviation of returns (span 60) known at the origin, a log range about its EWMA (span 50). Close and body count
with both signs, so that their quantiles are symmetric about no change: the drift of 1,000 overlapping outcomes is
mostly chance, and a reference that followed it would be easier to beat. This definition is fixed: skill is measured
against it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import LEVELS, QUANTITIES, SIGNED, SIZE_LEVELS, FloatArray, Quantity
from core.forecast.history import History

REFERENCE_WINDOW = 1000
FEWEST_OUTCOMES = 30
"""With fewer outcomes than this, draws of an assumed distribution complete the sample."""

_UNSIGNED = [quantity for quantity in Quantity if quantity not in SIGNED]
_NORMAL = (-1.645, -1.282, -0.674, 0.0, 0.674, 1.282, 1.645)
_PRIOR = np.zeros((QUANTITIES, len(LEVELS)))
_PRIOR[Quantity.CLOSE] = _NORMAL
_PRIOR[Quantity.BODY] = _NORMAL
_PRIOR[Quantity.UPPER_WICK] = (0.0, 0.05, 0.15, 0.4, 0.8, 1.3, 1.8)
_PRIOR[Quantity.LOWER_WICK] = _PRIOR[Quantity.UPPER_WICK]
_PRIOR[Quantity.RANGE] = np.multiply(_NORMAL, 0.5)
_PRIOR[Quantity.VOLUME] = np.multiply(_NORMAL, 0.7)
_PRIOR.flags.writeable = False


class ReferenceForecast:
    """Quantiles of the normalised outcomes of the newest origins; to be called once per candle."""

    def __init__(self, history: History) -> None:
        self._history = history

    def quantiles(self) -> FloatArray:
        """The current normalised quantiles: [horizon, quantity, level], ascending along the levels."""
        horizons = self._history.horizons
        result = np.empty((horizons, QUANTITIES, len(LEVELS)))
        for horizon in range(1, horizons + 1):
            end = len(self._history) - horizon
            outcomes = normalised_outcomes(self._history, horizon, max(0, end - REFERENCE_WINDOW), end)
            start = max(0, end - REFERENCE_WINDOW)
            result[horizon - 1] = outcome_quantiles(outcomes[without_hole(self._history, horizon, start, end)])
        return result


def normalised_outcomes(history: History, horizon: int, start: int, end: int) -> FloatArray:
    """The normalised outcomes `horizon` candles after the origin rows from `start` up to `end`: [origin, quantity].

    The targets of all of them must have closed. An `end` that is not above `start` gives none.
    """
    if end <= start:
        return np.empty((0, QUANTITIES))
    origin, target = slice(start, end), slice(start + horizon, end + horizon)
    scale = history.column("scale")[origin]
    outcomes = np.empty((end - start, QUANTITIES))
    travelled = history.column("log_close")[target] - history.column("log_close")[origin]
    outcomes[:, Quantity.CLOSE] = travelled / (scale * np.sqrt(horizon))
    outcomes[:, Quantity.BODY] = history.column("body")[target] / scale
    outcomes[:, Quantity.UPPER_WICK] = history.column("upper_wick")[target] / scale
    outcomes[:, Quantity.LOWER_WICK] = history.column("lower_wick")[target] / scale
    outcomes[:, Quantity.RANGE] = history.column("log_range")[target] - history.column("range_level")[origin]
    outcomes[:, Quantity.VOLUME] = history.column("log_volume")[target] - history.column("volume_level")[origin]
    return outcomes


def without_hole(history: History, horizon: int, start: int, end: int) -> NDArray[np.bool_]:
    """Which outcomes of `normalised_outcomes` have no hole between origin and target: [origin]."""
    segment = history.column("segment")
    return np.asarray(segment[start + horizon : max(start, end) + horizon] == segment[start : max(start, end)])


def outcome_quantiles(outcomes: FloatArray) -> FloatArray:
    """The quantiles of these outcomes [origin, quantity]: [quantity, level], ascending along the levels."""
    missing = FEWEST_OUTCOMES - outcomes.shape[0]
    if missing > 0:
        outcomes = np.concatenate([outcomes, _prior_sample(missing)])
    quantiles: FloatArray = np.empty((QUANTITIES, len(LEVELS)))
    quantiles[_UNSIGNED] = np.quantile(outcomes[:, _UNSIGNED], LEVELS, axis=0).T
    quantiles[SIGNED] = symmetric_quantiles(outcomes[:, SIGNED])
    return quantiles


def symmetric_quantiles(outcomes: FloatArray) -> FloatArray:
    """Quantiles of outcomes [n, S] that count with both signs: [S, level]. The median is 0, the others mirror it."""
    sizes = np.quantile(np.abs(outcomes), SIZE_LEVELS, axis=0).T
    mirrored: FloatArray = np.sign(LEVELS - 0.5) * sizes
    return mirrored


def _prior_sample(size: int) -> FloatArray:
    """`size` evenly spread draws of the assumed distribution: [size, quantity]."""
    points = (np.arange(size) + 0.5) / size
    return np.stack([np.interp(points, LEVELS, row) for row in _PRIOR], axis=1)

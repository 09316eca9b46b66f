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

_NORMAL = (-1.645, -1.282, -0.674, 0.0, 0.674, 1.282, 1.645)
_PRIOR = np.zeros((QUANTITIES, len(LEVELS)))
_PRIOR[Quantity.CLOSE] = _NORMAL
_PRIOR[Quantity.BODY] = _NORMAL
_PRIOR[Quantity.UPPER_WICK] = (0.0, 0.05, 0.15, 0.4, 0.8, 1.3, 1.8)
_PRIOR[Quantity.LOWER_WICK] = _PRIOR[Quantity.UPPER_WICK]
_PRIOR[Quantity.RANGE] = np.multiply(_NORMAL, 0.5)
_PRIOR[Quantity.VOLUME] = np.multiply(_NORMAL, 0.7)
_PRIOR.flags.writeable = False


def reference_quantiles(history: History) -> FloatArray:
    """The normalised quantiles after the newest candle: [horizon, quantity, level], ascending along the levels."""
    outcomes, is_known = _newest_outcomes(history)
    outcomes[SIGNED] = np.abs(outcomes[SIGNED])
    counts = is_known.sum(axis=-1)
    outcomes = np.where(is_known, outcomes, np.inf)
    if (counts < FEWEST_OUTCOMES).any():
        outcomes, counts = _completed(outcomes, counts)
    outcomes.sort(axis=-1)
    quantiles = _quantiles(outcomes, counts, LEVELS)
    quantiles[SIGNED] = np.sign(LEVELS - 0.5) * _quantiles(outcomes[SIGNED], counts, SIZE_LEVELS)
    return np.moveaxis(quantiles, 0, 1)


def _newest_outcomes(history: History) -> tuple[FloatArray, NDArray[np.bool_]]:
    """The normalised outcomes of each horizon whose target is one of the newest candles: [quantity, horizon, target];
    and which of them exist, without a hole between origin and target: [horizon, target]."""
    target = slice(max(0, len(history) - REFERENCE_WINDOW), len(history))
    ahead = np.arange(1, history.horizons + 1)[:, None]
    origins = np.arange(target.start, target.stop) - ahead
    rows = np.maximum(origins, 0)
    column, segment = history.column, history.column("segment")
    scale = column("scale")[rows]
    outcomes = np.empty((QUANTITIES, *rows.shape))
    outcomes[Quantity.CLOSE] = (column("log_close")[target] - column("log_close")[rows]) / (scale * np.sqrt(ahead))
    outcomes[Quantity.BODY] = column("body")[target] / scale
    outcomes[Quantity.UPPER_WICK] = column("upper_wick")[target] / scale
    outcomes[Quantity.LOWER_WICK] = column("lower_wick")[target] / scale
    outcomes[Quantity.RANGE] = column("log_range")[target] - column("range_level")[rows]
    outcomes[Quantity.VOLUME] = column("log_volume")[target] - column("volume_level")[rows]
    return outcomes, (origins >= 0) & (segment[target] == segment[rows])


def _completed(outcomes: FloatArray, counts: NDArray[np.int64]) -> tuple[FloatArray, NDArray[np.int64]]:
    """Draws of the assumed distribution added to each horizon that has fewer than `FEWEST_OUTCOMES`."""
    drawn = np.full((*outcomes.shape[:-1], FEWEST_OUTCOMES), np.inf)
    for row in np.flatnonzero(counts < FEWEST_OUTCOMES):
        missing = FEWEST_OUTCOMES - int(counts[row])
        drawn[:, row, :missing] = _prior_sample(missing).T
    drawn[SIGNED] = np.abs(drawn[SIGNED])
    return np.concatenate([outcomes, drawn], axis=-1), np.maximum(counts, FEWEST_OUTCOMES)


def _quantiles(ordered: FloatArray, counts: NDArray[np.int64], levels: FloatArray) -> FloatArray:
    """Linearly interpolated, as by `numpy.quantile`, of the first `counts` [horizon] of these ascending outcomes
    [quantity, horizon, n]: [quantity, horizon, level]."""
    position = (counts - 1)[:, None] * levels
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, (counts - 1)[:, None])
    low, high = (np.take_along_axis(ordered, index[None], axis=-1) for index in (below, above))
    share = position - below
    interpolated: FloatArray = np.where(share < 0.5, low + (high - low) * share, high - (high - low) * (1.0 - share))
    return interpolated


def _prior_sample(size: int) -> FloatArray:
    """`size` evenly spread draws of the assumed distribution: [size, quantity]."""
    points = (np.arange(size) + 0.5) / size
    return np.stack([np.interp(points, LEVELS, row) for row in _PRIOR], axis=1)

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
from core.forecast.arrays import Places, replace_in_order
from core.forecast.outcomes import Outcomes, outcomes_at
from core.forecast.panel import Panel

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

_IS_SIGNED = np.isin(np.arange(QUANTITIES), SIGNED)[:, None]
_LEVELS_OF = np.where(_IS_SIGNED, SIZE_LEVELS, LEVELS)
"""[Q, L]"""


class ReferenceForecast:
    """The newest outcomes of each market, in order. They follow from the panel, so there is no further state."""

    def __init__(self, panel: Panel) -> None:
        """A panel with less room than for the window and its horizons has a shorter window."""
        self._panel = panel
        self._window = min(REFERENCE_WINDOW, panel.capacity - panel.horizons)
        self._ordered = np.full((panel.markets, panel.horizons, QUANTITIES, self._window), np.inf)
        """Normalised, the sizes of those with a sign; infinite where there is none yet."""
        self._count = np.zeros((panel.markets, panel.horizons), dtype=np.int64)

    def observe(self, places: Places, outcomes: Outcomes) -> None:
        """Take the newest candles as targets, and drop the ones that are too old now."""
        leaving = outcomes_at(self._panel, places, self._panel.newest(places) - self._window)
        old = np.where(leaving.is_known[..., None], _sizes(leaving), np.inf)
        new = np.where(outcomes.is_known[..., None], _sizes(outcomes), np.inf)
        self._count[places] += outcomes.is_known.astype(np.int64) - leaving.is_known
        filled = np.minimum(self._count[places].max(axis=1) + 1, self._window)
        for place, of_place, leaves, comes in zip(places, filled, old, new, strict=True):
            replace_in_order(self._ordered[place, ..., :of_place], leaves, comes)

    def quantiles(self, places: Places) -> FloatArray:
        """The normalised quantiles after the newest candles: [n, horizon, quantity, level], ascending along the
        levels."""
        counts = self._count[places]
        if (counts >= FEWEST_OUTCOMES).all():
            sizes = _quantiles(self._ordered, places, counts)
        else:
            ordered, counts = _completed(self._ordered[places, ..., : max(counts.max(), 1)], counts)
            sizes = _quantiles(ordered, np.arange(len(places)), counts)
        return np.where(_IS_SIGNED, np.sign(LEVELS - 0.5) * sizes, sizes)

    def restore(self, market: int) -> None:
        """Read the outcomes of a market whose past was restored."""
        newest = int(self._panel.size[market]) - 1
        targets = np.arange(max(0, newest + 1 - self._window), newest + 1)
        self._ordered[market] = np.inf
        if not targets.size:
            self._count[market] = 0
            return
        past = outcomes_at(self._panel, np.full(targets.shape, market), targets)
        ordered = np.where(past.is_known[..., None], _sizes(past), np.inf)
        self._ordered[market, ..., : targets.size] = np.sort(np.moveaxis(ordered, 0, -1), axis=-1)
        self._count[market] = past.is_known.sum(axis=0)


def _sizes(outcomes: Outcomes) -> FloatArray:
    """[n, H, Q], the absolute values of quantities with a sign."""
    normalised = outcomes.normalised
    return np.where(_IS_SIGNED[:, 0], np.abs(normalised), normalised)


def _completed(ordered: FloatArray, counts: NDArray[np.int64]) -> tuple[FloatArray, NDArray[np.int64]]:
    """Evenly spread draws of the assumed distribution added to each horizon with fewer than `FEWEST_OUTCOMES`."""
    drawn = np.full((*ordered.shape[:-1], FEWEST_OUTCOMES), np.inf)
    for market, horizon in np.argwhere(counts < FEWEST_OUTCOMES):
        missing = FEWEST_OUTCOMES - int(counts[market, horizon])
        points = (np.arange(missing) + 0.5) / missing
        drawn[market, horizon, :, :missing] = [np.interp(points, LEVELS, prior) for prior in _PRIOR]
    drawn = np.where(_IS_SIGNED, np.abs(drawn), drawn)
    return np.sort(np.concatenate([ordered, drawn], axis=-1), axis=-1), np.maximum(counts, FEWEST_OUTCOMES)


def _quantiles(ordered: FloatArray, places: Places, counts: NDArray[np.int64]) -> FloatArray:
    """Linearly interpolated, as by `numpy.quantile`, of the first `counts` [n, horizon] of the ascending outcomes
    [market, horizon, quantity, k] of these markets: [n, horizon, quantity, level]. Reads few of them, so none is
    copied: 384 kB a market."""
    last = (counts - 1)[..., None, None]
    position = last * _LEVELS_OF
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, last)
    horizon, quantity = np.ogrid[: ordered.shape[1], : ordered.shape[2]]
    at = places[:, None, None, None], horizon[..., None], quantity[..., None]
    low, high = (ordered[*at, index] for index in (below, above))
    share = position - below
    interpolated: FloatArray = np.where(share < 0.5, low + (high - low) * share, high - (high - low) * (1.0 - share))
    return interpolated

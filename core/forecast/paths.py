"""Sample paths of the next candles: what each may do, and how they belong together.

A forecast states the distribution of each quantity of each candle by itself. The Schaake shuffle (Clark, Gangopadhyay,
Hay, Rajagopalan and Wilby, The Schaake shuffle: a method for reconstructing space-time variability in forecasted
precipitation and temperature fields, Journal of Hydrometeorology 2004; an ensemble copula coupling with past outcomes,
Schefzik, Thorarinsdottir and Gneiting, Uncertainty quantification in complex simulation models using ensemble copula
coupling, Statistical Science 2013) joins them. Each quantity's sample is spread evenly over its own quantiles, and
ordered as that quantity is among past outcomes of as many candles, the templates. So each quantity alone keeps the
distribution of its band, and all of them together the rank dependence of the past.

Between two levels the quantiles are interpolated linearly in the normal score. Beyond the outermost level the tail is
exponential, and passes through the two outermost quantiles.

Nothing is drawn at random but the order of equal outcomes, from a fixed seed: anyone with the stored quantiles and the
candles up to the origin gets the same paths.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Interval
from core.domain.quantities import LEVELS, SMALLEST_RANGE, FloatArray, Quantity, within_bounds
from core.forecast.ghosts import upper_wick

FEWEST_TEMPLATES = 100
"""With fewer past outcomes their order is mostly chance: then there are no paths. Of more, whole multiples are used."""
MOST_TEMPLATES = 2000
"""The newest ones."""
_TEMPLATE_CANDLES = 2064
"""Templates begin at the newest candles, as many as this: without a hole that is enough for the most templates."""
_UNIT_CANDLES = 60
"""A template is measured in units of the mean height of as many candles before it: ranks of a calm and of a wild week
would else be those of the weeks."""
NEEDED_CANDLES = _TEMPLATE_CANDLES + _UNIT_CANDLES - 1
"""Up to the origin. Earlier ones change nothing."""
_COUPLED = [Quantity.CLOSE, Quantity.UPPER_WICK, Quantity.LOWER_WICK, Quantity.RANGE]
"""A path's bodies follow from its closes."""
_TIE_BREAK = 1e-9
_TIE_SEED = 0
_TIES_REPEAT_AFTER = 4099
"""Candles; more than there are templates."""


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Log returns from the origin's close, [path, horizon] each. The first candle opens at the origin's close, each
    other one at the close before it."""

    close: FloatArray
    high: FloatArray
    low: FloatArray

    @property
    def open(self) -> FloatArray:
        return np.concatenate([np.zeros((len(self.close), 1)), self.close[:, :-1]], axis=1)


def sample_paths(
    natural: FloatArray, open_time_ms: NDArray[np.int64], prices: FloatArray, interval: Interval
) -> Paths | None:
    """Equally likely paths from the newest of these candles: `PastOutcomes.paths` of one forecast."""
    known = slice(-NEEDED_CANDLES, None)
    past = PastOutcomes(open_time_ms[known], prices[:, known], interval, len(natural))
    return past.paths(natural, open_time_ms[known].size - 1)


def most_central(paths: Paths) -> int:
    """The path whose closes have ranks nearest to the middle, on average over the candles: the deepest one by the
    integrated depth of Fraiman and Muniz (Trimmed means for functional data, TEST 2001)."""
    ranks = paths.close.argsort(axis=0).argsort(axis=0)
    return int(np.abs(ranks - (len(ranks) - 1) / 2.0).mean(axis=1).argmin())


class PastOutcomes:
    """What followed each of these candles, sorted once for the paths of many forecasts."""

    def __init__(self, open_time_ms: NDArray[np.int64], prices: FloatArray, interval: Interval, horizons: int) -> None:
        """open_time_ms: [n], ascending. prices: [4, n], their open, high, low and close."""
        self._origins = _template_origins(open_time_ms, interval, horizons)
        outcomes = _outcomes(self._origins, np.log(prices), horizons)
        ties = _tie_breaks(open_time_ms[self._origins] // interval.duration_ms, horizons)
        self._order = (outcomes + _TIE_BREAK * ties).argsort(axis=-1)

    def paths(self, natural: FloatArray, row: int) -> Paths | None:
        """Equally likely paths of a forecast made after the candle in this row, from those up to it.

        natural: quantiles [H, Q, L], as stored. None if they are not known (an old forecast, of which only the drawn
        part is kept), or with fewer than `FEWEST_TEMPLATES` past outcomes without a hole.
        """
        oldest = row - _TEMPLATE_CANDLES + 1
        first, stop = np.searchsorted(self._origins, [oldest, row - len(natural) + 1]).tolist()
        count = min(stop - first, MOST_TEMPLATES) // FEWEST_TEMPLATES * FEWEST_TEMPLATES
        if count <= 0 or not np.isfinite(natural).all():
            return None
        order = self._order_of(slice(stop - count, stop))
        spread = within_bounds(natural[:, _COUPLED] @ _spreading_weights(count), _COUPLED).swapaxes(0, 1)
        shuffled = np.empty(spread.shape)
        np.put_along_axis(shuffled, order, spread, axis=-1)
        return _as_candles(*shuffled)

    def _order_of(self, chosen: slice) -> NDArray[np.int64]:
        """The places of these templates among themselves, smallest outcome first: [coupled, H, count]."""
        order = self._order
        is_chosen = (chosen.start <= order) & (order < chosen.stop)
        places: NDArray[np.int64] = order[is_chosen].reshape(*order.shape[:-1], -1) - chosen.start
        return places


def _template_origins(open_time_ms: NDArray[np.int64], interval: Interval, horizons: int) -> NDArray[np.int64]:
    """The rows of the candles that are followed by H known ones without a hole."""
    origins = np.arange(_UNIT_CANDLES - 1, len(open_time_ms) - horizons)
    is_whole = open_time_ms[origins + horizons] - open_time_ms[origins] == horizons * interval.duration_ms
    whole: NDArray[np.int64] = origins[is_whole]
    return whole


def _outcomes(origins: NDArray[np.int64], log_prices: FloatArray, horizons: int) -> FloatArray:
    """The coupled quantities after these candles, in units of the height of those before: [coupled, H, template]."""
    opening, high, low, close = log_prices
    height = np.maximum(high - low, SMALLEST_RANGE)
    unit = height[origins - np.arange(_UNIT_CANDLES)[:, None]].mean(axis=0)
    targets = origins + np.arange(1, horizons + 1)[:, None]
    outcomes = np.stack(
        [
            close[targets] - close[origins],
            (high - np.maximum(opening, close))[targets],
            (np.minimum(opening, close) - low)[targets],
            height[targets],  # ordered as its logarithm is
        ]
    )
    in_units: FloatArray = outcomes / unit
    return in_units


def _tie_breaks(numbers: NDArray[np.int64], horizons: int) -> FloatArray:
    """Random numbers for the candles of these numbers [m], whatever candles are beside them: [coupled, H, m]."""
    drawn = np.random.default_rng(_TIE_SEED).random((len(_COUPLED), horizons, _TIES_REPEAT_AFTER))
    repeated: FloatArray = drawn[..., numbers % _TIES_REPEAT_AFTER]
    return repeated


def _as_candles(close: FloatArray, upper: FloatArray, lower: FloatArray, log_range: FloatArray) -> Paths:
    """Candles from samples [H, path]: as tall as the range, or the body if that is longer. Wicks as of a ghost."""
    opening = np.concatenate([np.zeros((1, close.shape[1])), close[:-1]])
    top, bottom = np.maximum(opening, close), np.minimum(opening, close)
    rest = np.maximum(np.exp(log_range) - (top - bottom), 0.0)
    above = upper_wick(rest, upper, lower)
    return Paths(close.T, (top + above).T, (bottom - (rest - above)).T)


@cache
def _spreading_weights(count: int) -> FloatArray:
    """[level, path]: quantiles times these are the quantiles at (path + 1/2) / count."""
    shares = (np.arange(count) + 0.5) / count
    score = np.vectorize(NormalDist().inv_cdf)
    levels, place = score(LEVELS), score(shares)
    weights = np.array([np.interp(place, levels, row) for row in np.eye(len(LEVELS))])
    beyond = shares < LEVELS[0]
    further = np.log(LEVELS[0] / shares[beyond]) / np.log(LEVELS[1] / LEVELS[0])
    weights[0, beyond], weights[1, beyond] = 1.0 + further, -further
    weights[:, beyond[::-1]] = weights[::-1, beyond][:, ::-1]  # the levels are symmetric
    weights.flags.writeable = False
    return weights

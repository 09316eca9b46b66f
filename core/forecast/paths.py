"""Sample paths of the next candles: what each may do, and how they belong together.

A forecast states the distribution of each quantity of each candle by itself. The Schaake shuffle (Clark, Gangopadhyay,
Hay, Rajagopalan and Wilby, The Schaake shuffle: a method for reconstructing space-time variability in forecasted
precipitation and temperature fields, Journal of Hydrometeorology 2004; an ensemble copula coupling with past outcomes,
Schefzik, Thorarinsdottir and Gneiting, Uncertainty quantification in complex simulation models using ensemble copula
coupling, Statistical Science 2013) joins them. Each quantity's sample is spread evenly over its own quantiles, and
ordered as that quantity is among past outcomes of as many candles, the templates. So each quantity alone keeps the
distribution of its band, and all of them together the rank dependence of the past.

Templates follow the past candles most like the origin (Schefzik, A similarity-based implementation of the Schaake
shuffle, Monthly Weather Review 2016): those that closed as high or low in their own range. Where trades alternate
between bid and ask, a candle that closed at the bid is followed by others than one that closed at the ask. For the same
reason a path's first candle opens as far from the origin's close as its template's did.

Between two levels the quantiles are interpolated linearly in the normal score. Beyond the outermost level the tail is
exponential, and passes through the two outermost quantiles.

A market's tick is the greatest step that divides all prices of the candles that a path may depend on.

Nothing is drawn at random but the order of equal outcomes, from a fixed seed: anyone with the stored quantiles and the
candles up to the origin gets the same paths.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Interval
from core.domain.quantities import BAND_50, LEVELS, MEDIAN, SMALLEST_RANGE, FloatArray, Quantity, within_bounds
from core.forecast.ghosts import upper_wick

FEWEST_TEMPLATES = 100
"""With fewer past outcomes their order is mostly chance: then there are no paths. Of more, whole multiples are used."""
MOST_TEMPLATES = 1000
_MOST_CANDIDATES = 4 * MOST_TEMPLATES
"""Templates are `MOST_TEMPLATES` of the newest past outcomes, the most similar, or half of them where there are fewer
than twice as many. Fewer would follow thin markets better still, but the chances of others would be worse."""
_TEMPLATE_CANDLES = 4064
"""Candidates begin at the newest candles, as many as this: without a hole that is enough for the most."""
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
_PRICE_DIGITS = 12
"""Of the oldest close, so that the error of a floating-point number is far below the last of them."""
_SMALLEST_TICK = 1e-9
"""Of the price. Prices that only so small a step divides were computed, not traded."""


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Log returns from the origin's close, [path, horizon] each. The first candle opens where its template's did, each
    other one at the close before it."""

    open: FloatArray
    high: FloatArray
    low: FloatArray
    close: FloatArray
    tick: float
    """The market's, divided by the origin's close; 0 if its prices have none. The paths are not on its grid."""


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


def has_trend(natural: FloatArray, path: FloatArray) -> bool:
    """Whether a forecast [H, Q, L] has a trend that this path [H] of closes shows: the median of the last close is
    farther from the newest close than half of what the next candle usually moves, and the path ends on that side. The
    usual move is half the width of the next candle's 50 % band. "No change" never has a trend."""
    closes = natural[:, Quantity.CLOSE]
    lower, upper = closes[0, list(BAND_50)]
    trend = closes[-1, MEDIAN]
    return bool(abs(trend) > (upper - lower) / 4.0 and path[-1] * trend > 0.0)


class PastOutcomes:
    """What followed each of these candles, sorted once for the paths of many forecasts."""

    def __init__(self, open_time_ms: NDArray[np.int64], prices: FloatArray, interval: Interval, horizons: int) -> None:
        """open_time_ms: [n], ascending. prices: [4, n], their open, high, low and close."""
        self._origins = _template_origins(open_time_ms, interval, horizons)
        opening, high, low, close = log_prices = np.log(prices)
        height = np.maximum(high - low, SMALLEST_RANGE)
        self._unit = _mean_heights(height)
        self._place = (close - (high + low) / 2.0) / self._unit  # how far above the middle of its range a candle closed
        outcomes = _outcomes(self._origins, log_prices, height, horizons) / self._unit[self._origins]
        ties = _tie_breaks(open_time_ms[self._origins] // interval.duration_ms, horizons)
        self._order = (outcomes + _TIE_BREAK * ties).argsort(axis=-1)
        self._gap = (opening[self._origins + 1] - close[self._origins]) / self._unit[self._origins]
        whole = _whole_numbers(prices)
        self._close, self._step = whole[3], np.gcd.reduce(whole)

    def paths(self, natural: FloatArray, row: int) -> Paths | None:
        """Equally likely paths of a forecast made after the candle in this row, from those up to it.

        natural: quantiles [H, Q, L], as stored. None if they are not known (an old forecast, of which only the drawn
        part is kept), or with fewer than `FEWEST_TEMPLATES` past outcomes without a hole.
        """
        oldest = row - _TEMPLATE_CANDLES + 1
        first, stop = np.searchsorted(self._origins, [oldest, row - len(natural) + 1]).tolist()
        candidates = np.arange(max(first, stop - _MOST_CANDIDATES), stop)
        if candidates.size < FEWEST_TEMPLATES or not np.isfinite(natural).all():
            return None
        chosen = self._most_alike(candidates, row)
        spread = within_bounds(natural[:, _COUPLED] @ _spreading_weights(chosen.size), _COUPLED).swapaxes(0, 1)
        shuffled = np.empty(spread.shape)
        np.put_along_axis(shuffled, self._order_of(chosen), spread, axis=-1)
        return _as_candles(self._gap[chosen] * self._unit[row], *shuffled, tick=self._tick(row))

    def _tick(self, row: int) -> float:
        step = float(np.gcd.reduce(self._step[max(0, row - NEEDED_CANDLES + 1) : row + 1]) / self._close[row])
        return step if step >= _SMALLEST_TICK else 0.0

    def _most_alike(self, candidates: NDArray[np.int64], row: int) -> NDArray[np.int64]:
        """Those whose origin is most like the candle in this row, ascending; of equal ones the newest."""
        half = candidates.size // 2 // FEWEST_TEMPLATES * FEWEST_TEMPLATES
        count = min(max(FEWEST_TEMPLATES, half), MOST_TEMPLATES)
        newest_first = candidates[::-1]
        unlike = np.abs(self._place[self._origins[newest_first]] - self._place[row])
        return np.sort(newest_first[unlike.argsort(kind="stable")[:count]])

    def _order_of(self, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places of these templates among themselves, smallest outcome first: [coupled, H, chosen]."""
        place = np.full(self._origins.size, -1)
        place[chosen] = np.arange(chosen.size)
        places = place[self._order]
        ordered: NDArray[np.int64] = places[places >= 0].reshape(*places.shape[:-1], -1)
        return ordered


def _template_origins(open_time_ms: NDArray[np.int64], interval: Interval, horizons: int) -> NDArray[np.int64]:
    """The rows of the candles that are followed by H known ones without a hole."""
    origins = np.arange(_UNIT_CANDLES - 1, len(open_time_ms) - horizons)
    is_whole = open_time_ms[origins + horizons] - open_time_ms[origins] == horizons * interval.duration_ms
    whole: NDArray[np.int64] = origins[is_whole]
    return whole


def _mean_heights(height: FloatArray) -> FloatArray:
    """Of the candles up to each [n]; NaN where there are too few."""
    mean, rows = np.full(height.shape, np.nan), np.arange(_UNIT_CANDLES - 1, height.size)
    mean[rows] = height[rows - np.arange(_UNIT_CANDLES)[:, None]].mean(axis=0)
    return mean


def _whole_numbers(prices: FloatArray) -> NDArray[np.int64]:
    """Prices [4, n] in a unit so small that those of any usual grid are whole."""
    oldest = prices[3, 0] if prices.size else 1.0
    decimals = _PRICE_DIGITS - 1 - math.floor(math.log10(oldest))
    whole: NDArray[np.int64] = np.rint(prices * 10.0**decimals).astype(np.int64)
    return whole


def _outcomes(origins: NDArray[np.int64], log_prices: FloatArray, height: FloatArray, horizons: int) -> FloatArray:
    """The coupled quantities after these candles: [coupled, H, template]."""
    opening, high, low, close = log_prices
    targets = origins + np.arange(1, horizons + 1)[:, None]
    return np.stack(
        [
            close[targets] - close[origins],
            (high - np.maximum(opening, close))[targets],
            (np.minimum(opening, close) - low)[targets],
            height[targets],  # ordered as its logarithm is
        ]
    )


def _tie_breaks(numbers: NDArray[np.int64], horizons: int) -> FloatArray:
    """Random numbers for the candles of these numbers [m], whatever candles are beside them: [coupled, H, m]."""
    drawn = np.random.default_rng(_TIE_SEED).random((len(_COUPLED), horizons, _TIES_REPEAT_AFTER))
    repeated: FloatArray = drawn[..., numbers % _TIES_REPEAT_AFTER]
    return repeated


def _as_candles(
    first_open: FloatArray,
    close: FloatArray,
    upper: FloatArray,
    lower: FloatArray,
    log_range: FloatArray,
    *,
    tick: float,
) -> Paths:
    """Candles from samples [H, path]: as tall as the range, or the body if that is longer. Wicks as of a ghost.

    first_open: [path]; brought nearer to 0 where the first body would otherwise be longer than the range.
    """
    height = np.exp(log_range)
    first_open = np.clip(first_open, np.minimum(close[0] - height[0], 0.0), np.maximum(close[0] + height[0], 0.0))
    opening = np.concatenate([first_open[None], close[:-1]])
    top, bottom = np.maximum(opening, close), np.minimum(opening, close)
    rest = np.maximum(height - (top - bottom), 0.0)
    above = upper_wick(rest, upper, lower)
    return Paths(opening.T, (top + above).T, (bottom - (rest - above)).T, close.T, tick)


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

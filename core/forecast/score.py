"""Losses, shares and skills, with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.domain.events import Estimate
from core.domain.quantities import BAND_90, LEVELS, MEDIAN, FloatArray
from core.forecast.sample_sizes import FEWEST_FOR_AN_ESTIMATE

COVERAGE_WINDOW = 500
"""Window, in candles, for a band's worst and best coverage."""
NOMINAL_COVERAGE = 0.9
"""Of the wider band."""
LEAST_LOSS = 1e-12
"""Mean loss below which a reference loses nothing but rounding, in natural units."""
_LEAST_OF_WHOLE = 0.01
_Z_OF_EACH_CANDLE = 5.0
_RESAMPLES = 400
_SEED = 20_140_613
"""The bootstrap draws from its own generator: the same scores give the same interval."""


def pinball(outcome: FloatArray, quantiles: FloatArray) -> FloatArray:
    """Mean pinball loss over the levels: outcome [...], quantiles [..., level] to [...]."""
    error = outcome[..., None] - quantiles
    loss: FloatArray = np.maximum(LEVELS * error, (LEVELS - 1.0) * error).mean(axis=-1)
    return loss


def close_hits(quantiles: FloatArray, close: float | FloatArray) -> FloatArray:
    """Whether a close [...] was inside the 90 % band and on the forecast side: quantiles [..., level] to [..., 2, 2].

    The first of each pair is 1 for yes, the second 1 where it counts: a direction does not if the forecast has none, or
    the close did not move.
    """
    median = quantiles[..., MEDIAN]
    inside = (quantiles[..., BAND_90[0]] <= close) & (close <= quantiles[..., BAND_90[1]])
    has_direction = (median != 0.0) & (close != 0.0)
    is_right = has_direction & ((median > 0.0) == (close > 0.0))
    pairs = ((inside, np.ones_like(inside)), (is_right, has_direction))
    return np.stack([np.stack(pair, axis=-1) for pair in pairs], axis=-2).astype(np.float64)


def share(hits: int, n: int, z: float = 1.959964) -> Estimate:
    """A share with Wilson's interval (Wilson, 1927), of 95 % unless another z is given."""
    if n < FEWEST_FOR_AN_ESTIMATE:
        return Estimate(None, None, None, n)
    value = hits / n
    centre = (value + z * z / (2 * n)) / (1 + z * z / n)
    margin = z * math.sqrt(value * (1 - value) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Estimate(value, max(centre - margin, 0.0), min(centre + margin, 1.0), n)


def newest_coverage(inside_90: Sequence[bool]) -> Estimate:
    """Of the newest `COVERAGE_WINDOW` candles, in time order; without an estimate before there are so many.

    It is looked at with each candle, so its interval is wide: of 400 calibrated bands, each over 100,000 independent
    candles, it once lay below the nominal coverage in 3.
    """
    newest = inside_90[-COVERAGE_WINDOW:]
    if len(newest) < COVERAGE_WINDOW:
        return Estimate(None, None, None, len(newest))
    return share(sum(newest), COVERAGE_WINDOW, _Z_OF_EACH_CANDLE)


def share_of(hits: NDArray[np.bool_], horizon: int) -> Estimate:
    """The share of hits [n], in time order, of forecasts of `horizon` candles.

    Those of several candles overlap, so neighbours hit and miss together: their interval is the bootstrap's, and never
    narrower than Wilson's.
    """
    found = share(int(hits.sum()), hits.size)
    if horizon == 1 or found.low is None or found.high is None:
        return found
    drawn = mean(hits.astype(np.float64), horizon)
    assert drawn.low is not None and drawn.high is not None
    return Estimate(found.value, min(found.low, drawn.low), max(found.high, drawn.high), found.n)


def mean(values: FloatArray, horizon: int = 1) -> Estimate:
    """A mean with its block bootstrap 95 % interval. values: [n], in time order, of forecasts of `horizon` candles."""
    n = values.shape[0]
    if n < FEWEST_FOR_AN_ESTIMATE:
        return Estimate(None, None, None, n)
    draws = _block_sums(values[None, :], horizon)[0] / n
    low, high = np.quantile(draws, (0.025, 0.975))
    return Estimate(float(values.mean()), float(low), float(high), n)


def skill(loss: FloatArray, reference: FloatArray, horizon: int = 1) -> Estimate:
    """1 - sum of losses / sum of the reference's, with its block bootstrap 95 % interval.

    Both [n], in time order, of forecasts of `horizon` candles.
    """
    return gain(loss, reference, reference, horizon)


def gain(loss: FloatArray, without: FloatArray, reference: FloatArray, horizon: int = 1) -> Estimate:
    """The skill of `loss` minus that of `without`, with its block bootstrap 95 % interval.

    All [n], in time order, of forecasts of `horizon` candles. No estimate where a price or a volume hardly ever moves:
    the reference loses next to nothing, and there is nothing to forecast.
    """
    found = ratio(without - loss, reference, horizon)
    return found if found.low is not None else Estimate(None, None, None, found.n)


def ratio(part: FloatArray, whole: FloatArray, horizon: int = 1) -> Estimate:
    """The sum of `part` over the sum of `whole`, with its block bootstrap 95 % interval; both as in `gain`. No interval
    if a resample may miss the whole."""
    n, total = part.shape[0], float(whole.sum())
    value = quotient(float(part.sum()), total, n)
    if n < FEWEST_FOR_AN_ESTIMATE or value is None:
        return Estimate(None, None, None, n)
    parts, wholes = _block_sums(np.stack([part, whole]), horizon)
    if wholes.min() < _LEAST_OF_WHOLE * total:
        return Estimate(value, None, None, n)
    low, high = np.quantile(parts / wholes, (0.025, 0.975))
    return Estimate(value, float(low), float(high), n)


def quotient(part: float, whole: float, n: int) -> float | None:
    """The quotient of two sums over n candles; None if the whole is rounding: there was nothing to forecast."""
    return part / whole if whole > LEAST_LOSS * n else None


def diebold_mariano(loss: FloatArray, reference: FloatArray) -> float | None:
    """The two-sided p-value of equal accuracy (Diebold and Mariano, 1995).

    Both [n], in time order. The variance of the mean difference allows for autocorrelation up to the cube root of n
    candles (Newey and West, 1987). None with too few losses, where they never differ, or with nothing to forecast.
    """
    difference = reference - loss
    n = difference.shape[0]
    if n < FEWEST_FOR_AN_ESTIMATE or quotient(1.0, float(reference.sum()), n) is None:
        return None
    centred = difference - difference.mean()
    lags = int(n ** (1.0 / 3.0))
    variance = float(centred @ centred) / n
    for lag in range(1, lags + 1):
        variance += 2.0 * (1.0 - lag / (lags + 1.0)) * float(centred[lag:] @ centred[:-lag]) / n
    if variance <= 0.0:
        return None
    statistic = float(difference.mean()) / math.sqrt(variance / n)
    return math.erfc(abs(statistic) / math.sqrt(2.0))


def rolling_means(values: NDArray[np.bool_] | FloatArray, window: int) -> FloatArray:
    """The mean of every window of this length, or its share of hits: [n - window + 1], empty where n is less."""
    running = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    means: FloatArray = (running[window:] - running[:-window]) / window
    return means


def block_length(n: int, horizon: int = 1) -> int:
    """In candles: about twice the cube root of n; twice the horizon where that is more, since forecasts of h candles
    overlap with h - 1 others."""
    length: int = max(1, min(max(round(2.0 * n ** (1.0 / 3.0)), 2 * horizon), n // 4))
    return length


def _block_sums(series: FloatArray, horizon: int) -> FloatArray:
    """Sums over resampled series [row, n] to [row, resample], the same blocks for every row.

    Circular block bootstrap (Politis and Romano, 1992).
    """
    n = series.shape[1]
    length = block_length(n, horizon)
    blocks = -(-n // length)
    running = np.concatenate([np.zeros((series.shape[0], 1)), np.cumsum(np.tile(series, 2), axis=1)], axis=1)
    starts = np.random.default_rng(_SEED).integers(0, n, size=(_RESAMPLES, blocks))
    ends, begins = np.take(running, starts + length, axis=1), np.take(running, starts, axis=1)  # without the GIL
    sums: FloatArray = (ends - begins).sum(axis=-1)
    scaled: FloatArray = sums * (n / (blocks * length))
    return scaled

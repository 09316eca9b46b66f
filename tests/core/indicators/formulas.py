"""Each indicator as its author wrote it down, candle by candle and slow: what the program's values are held to.

Nothing here knows TA-Lib. Where authors leave open how an average begins, it begins as docs/indicators.md says.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.domain.candle_series import CandleSeries

Values = NDArray[np.float64]


def _rolled(x: Values, period: int) -> Values:
    """[window, period]."""
    return np.lib.stride_tricks.sliding_window_view(x, period) if x.size >= period else np.empty((0, period))


def _later(values: Values, first: int, size: int) -> Values:
    """These from candle `first` on, NaN before."""
    return np.concatenate((np.full(min(first, size), math.nan), values))[:size]


def mean(x: Values, period: int) -> Values:
    return _later(np.array([math.fsum(each) / period for each in _rolled(x, period)]), period - 1, x.size)


def decaying(x: Values, weight: float, seed_first: int, start: int) -> Values:
    """y[i] = w x[i] + (1 - w) y[i-1] from `start` on, where it is the mean from `seed_first` to there."""
    found = np.full(x.size, math.nan)
    for index in range(start, x.size):
        if index == start:
            found[index] = math.fsum(x[seed_first : start + 1]) / (start + 1 - seed_first)
        else:
            found[index] = weight * x[index] + (1.0 - weight) * found[index - 1]
    return found


def sma(candles: CandleSeries, x: Values, period: int) -> Values:
    return mean(x, period)


def ema(candles: CandleSeries, x: Values, period: int) -> Values:
    return decaying(x, 2.0 / (period + 1), 0, period - 1)


def wma(candles: CandleSeries, x: Values, period: int) -> Values:
    weights = np.arange(1.0, period + 1)
    return _later(_rolled(x, period) @ weights / weights.sum(), period - 1, x.size)


def bollinger(candles: CandleSeries, x: Values, period: int, deviations: float) -> Values:
    middle = mean(x, period)
    apart = _later(_rolled(x, period).std(axis=1), period - 1, x.size) * deviations
    return np.stack((middle + apart, middle, middle - apart))


def donchian(candles: CandleSeries, x: Values, period: int) -> Values:
    upper = pd.Series(candles.high).rolling(period).max().to_numpy()
    lower = pd.Series(candles.low).rolling(period).min().to_numpy()
    return np.stack((upper, (upper + lower) / 2.0, lower))


def sar(candles: CandleSeries, x: Values, acceleration: float, maximum: float) -> Values:
    """Wilder's stop: it goes towards the trend's furthest price, by a share that grows with each further one, never
    into the last two candles, and to the other side once it is touched."""
    high, low, found = candles.high, candles.low, np.full(len(candles), math.nan)
    if len(candles) < 2:
        return found
    begin = min(acceleration, maximum)
    up, down = high[1] - high[0], low[0] - low[1]
    is_rising = not (down > 0 and down > up)
    share, furthest = begin, high[1] if is_rising else low[1]
    stop = low[0] if is_rising else high[0]
    for index in range(1, len(candles)):
        before = max(1, index - 1)
        is_touched = low[index] <= stop if is_rising else high[index] >= stop
        if is_touched:
            is_rising = not is_rising
            worst = min(low[before], low[index]) if is_rising else max(high[before], high[index])
            stop = min(furthest, worst) if is_rising else max(furthest, worst)
            found[index] = stop
            share, furthest = begin, high[index] if is_rising else low[index]
        else:
            found[index] = stop
            reached = high[index] if is_rising else low[index]
            if reached > furthest if is_rising else reached < furthest:
                furthest, share = reached, min(share + begin, maximum)
        stop += share * (furthest - stop)
        stop = min(stop, low[before], low[index]) if is_rising else max(stop, high[before], high[index])
    return found


def rsi(candles: CandleSeries, x: Values, period: int) -> Values:
    changes = np.diff(x, prepend=math.nan)
    gains = decaying(np.maximum(changes, 0.0), 1.0 / period, 1, period)
    losses = decaying(np.maximum(-changes, 0.0), 1.0 / period, 1, period)
    with np.errstate(invalid="ignore"):
        return np.where(gains + losses == 0.0, 50.0, 100.0 * gains / (gains + losses))


def macd(candles: CandleSeries, x: Values, fast: int, slow: int, signal: int) -> Values:
    begin = slow - 1
    line = decaying(x, 2.0 / (fast + 1), slow - fast, begin) - decaying(x, 2.0 / (slow + 1), 0, begin)
    smooth = decaying(line, 2.0 / (signal + 1), begin, begin + signal - 1)
    return np.stack((np.where(np.isnan(smooth), math.nan, line), smooth, line - smooth))


def _true_range(candles: CandleSeries) -> Values:
    before = np.concatenate(([math.nan], candles.close[:-1]))[: len(candles)]
    parts = (candles.high - candles.low, np.abs(candles.high - before), np.abs(candles.low - before))
    return np.max(np.stack(parts), axis=0, initial=-math.inf) if len(candles) else np.empty(0)


def atr(candles: CandleSeries, x: Values, period: int) -> Values:
    return decaying(_true_range(candles), 1.0 / period, 1, period)


def _place_in_range(candles: CandleSeries, period: int, whole: Callable[[Values, Values], Values]) -> Values:
    upper = pd.Series(candles.high).rolling(period).max().to_numpy()
    lower = pd.Series(candles.low).rolling(period).min().to_numpy()
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(upper == lower, 0.0, 100.0 * whole(upper, lower) / (upper - lower))


def stochastic(candles: CandleSeries, x: Values, period: int, smoothing: int, average: int) -> Values:
    raw = _place_in_range(candles, period, lambda _upper, lower: candles.close - lower)
    smooth = pd.Series(raw).rolling(smoothing).mean()
    slow = smooth.rolling(average).mean()
    return np.stack((smooth.where(slow.notna()), slow))


def williams_r(candles: CandleSeries, x: Values, period: int) -> Values:
    return _place_in_range(candles, period, lambda upper, _lower: candles.close - upper)


def cci(candles: CandleSeries, x: Values, period: int) -> Values:
    windows = _rolled((candles.high + candles.low + candles.close) / 3.0, period)
    means = windows.mean(axis=1, keepdims=True)
    usual = np.abs(windows - means).mean(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.where(usual == 0.0, 0.0, (windows[:, -1] - means[:, 0]) / (0.015 * usual))
    return _later(found, period - 1, len(candles))


def roc(candles: CandleSeries, x: Values, period: int) -> Values:
    return pd.Series(x).pct_change(period).to_numpy() * 100.0


def adx(candles: CandleSeries, x: Values, period: int) -> Values:
    """Wilder's sums: each begins with the moves of n - 1 candles, and gives up 1/n of itself to the next one."""
    up, down = np.diff(candles.high, prepend=math.nan), -np.diff(candles.low, prepend=math.nan)
    moves = (np.where((up > down) & (up > 0), up, 0.0), np.where((down > up) & (down > 0), down, 0.0))
    plus, minus, ranges = (_wilder_sum(each, period) for each in (*moves, _true_range(candles)))
    with np.errstate(invalid="ignore", divide="ignore"):
        plus, minus = (np.where(ranges == 0.0, 0.0, 100.0 * each / ranges) for each in (plus, minus))
        strength = np.where(plus + minus == 0.0, 0.0, 100.0 * np.abs(plus - minus) / (plus + minus))
    found = decaying(strength, 1.0 / period, period, 2 * period - 1)
    is_there = np.isfinite(found)
    return np.stack((found, np.where(is_there, plus, math.nan), np.where(is_there, minus, math.nan)))


def _wilder_sum(moves: Values, period: int) -> Values:
    found, total = np.full(moves.size, math.nan), math.fsum(moves[1:period])
    for index in range(period, moves.size):
        total += moves[index] - total / period
        found[index] = total
    return found


def mfi(candles: CandleSeries, x: Values, period: int) -> Values:
    price = pd.Series((candles.high + candles.low + candles.close) / 3.0)
    flow, steps = price * candles.volume, price.diff()
    steps = steps.where(steps.abs() > 1e-12 * price, 0.0)  # equal prices but for the rounding of their sums
    rising = flow.where(steps > 0.0, 0.0)[1:].rolling(period).sum()
    falling = flow.where(steps < 0.0, 0.0)[1:].rolling(period).sum()
    share = (100.0 * rising / (rising + falling)).where(rising + falling > 0.0, 0.0).where(rising.notna())
    return np.concatenate(([math.nan], share.to_numpy()))[: len(candles)]


def obv(candles: CandleSeries, x: Values) -> Values:
    signs = np.sign(np.diff(candles.close, prepend=-math.inf))
    return np.cumsum(signs * candles.volume)


_FREQUENCIES = {"day": "D", "week": "W-SUN", "month": "M"}


def vwap(candles: CandleSeries, x: Values, anchor: str) -> Values:
    times = pd.DatetimeIndex(pd.to_datetime(candles.open_time_ms, unit="ms"))
    price = (candles.high + candles.low + candles.close) / 3.0
    frame = pd.DataFrame({"traded": price * candles.volume, "volume": candles.volume})
    sums = frame.groupby(np.asarray(times.to_period(_FREQUENCIES[anchor]).asi8)).cumsum()
    found = (sums["traded"] / sums["volume"]).where(sums["volume"] > 0.0, price)
    return found.to_numpy(dtype=np.float64)

"""The forecast's candles and their indices at the shown interval; its sample paths, the ghosts along the most central
one, and the chances of prices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from core.domain.events import QUANTILE_LEVELS, ForecastMade, Ghost
from core.domain.quantities import MEDIAN, FloatArray, Quantity
from core.forecast.chance import WITHIN, Chances, LearnedChances
from core.forecast.ghosts import ghosts as ghosts_along
from core.forecast.paths import NEEDED_CANDLES, Paths, has_trend, most_central
from core.training.online.forecast_events import paths_of, quantiles_of

_BAND_LEVELS = {50: (0.25, 0.75), 90: (0.05, 0.95)}
SHOWN_PATHS = 20
_Key = tuple[ForecastMade, int]


@dataclass(frozen=True, slots=True)
class PlacedGhost:
    """A ghost and its index. `ahead` counts from 1."""

    index: int
    ahead: int
    ghost: Ghost


def band(ghost: Ghost, percent: int) -> tuple[float, float] | None:
    """Lower and upper close of the 50 or 90 % band. None if the quantiles have other levels than `QUANTILE_LEVELS`."""
    if len(ghost.close_quantiles) != len(QUANTILE_LEVELS):
        return None
    low, high = (ghost.close_quantiles[QUANTILE_LEVELS.index(level)] for level in _BAND_LEVELS[percent])
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def is_drawable(candle: Candle | Ghost) -> bool:
    values = (candle.open, candle.high, candle.low, candle.close, candle.volume)
    return all(math.isfinite(value) for value in values)


def joined(ghosts: Sequence[Ghost], own_ms: int, shown: Interval, begun: Candle | None) -> tuple[Ghost, ...]:
    """Merge ghosts of `own_ms` into candles of a coarser interval, as candles are merged. begun: the open candle at the
    first ghost, as far as known. Its part before that ghost is included, without its volume: the share that would count
    twice is unknown.

    Only coarser candles whose end is forecast are returned. A partial one would show a close forecast for another time,
    a range of too few parts and bands that are too narrow, and nothing in the picture would say so.
    """
    found = []
    for open_time_ms, group in groupby(ghosts, key=lambda ghost: shown.open_time_ms(ghost.open_time_ms)):
        parts = list(group)
        if parts[-1].open_time_ms + own_ms != shown.close_time_ms(open_time_ms):
            continue
        whole = Ghost(
            open_time_ms,
            parts[0].open,
            max(part.high for part in parts),
            min(part.low for part in parts),
            parts[-1].close,
            sum(part.volume for part in parts),
            parts[-1].close_quantiles,  # as calibrated
        )
        if parts[0].open_time_ms == open_time_ms:
            found.append(whole)
        elif begun is not None and begun.open_time_ms == open_time_ms:
            high, low = max(whole.high, begun.high), min(whole.low, begun.low)
            found.append(replace(whole, open=begun.open, high=high, low=low, volume=0.0))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class PriceChance:
    """The chances of a price within a number of candles."""

    within: int
    touched: float
    closed_beyond: float


@dataclass(frozen=True, slots=True)
class CentralPath:
    """The most central of `count` sample paths, as ghosts: their bodies end at its closes, and they are as tall as the
    median range. The first ghost and all bands are the forecast's. has_trend: the forecast's, which the path shows as
    candles; without one its bodies would be those of chance alone."""

    ghosts: tuple[Ghost, ...]
    count: int
    has_trend: bool


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The chances and paths of a forecast. lines: the closes of some paths: log returns from the origin's close [line,
    horizon]."""

    lines: FloatArray
    central: CentralPath
    chances: Chances


class Futures:
    """The futures of one forecast at a time. A computation takes about a frame, so it runs in another thread; until it
    is complete there are neither paths nor chances."""

    def __init__(self) -> None:
        self.learned_of: Callable[[ForecastMade], LearnedChances | None] = lambda _made: None
        """Called by the other thread."""
        self._working: _Key | None = None
        self._found: tuple[_Key | None, Found | None] = (None, None)
        """Replaced as a whole, by the other thread."""

    @property
    def found_for(self) -> object:
        """A key that changes with each result."""
        return self._found[0]

    def of(self, made: ForecastMade | None, series: CandleSeries) -> Found | None:
        """The futures of this forecast, made from these candles. None if it has no paths, or not yet."""
        key, found = self._found
        return None if made is None or key != _key_of(made, series) else found

    def at(self, price: float, made: ForecastMade | None, series: CandleSeries) -> tuple[PriceChance, ...]:
        """The chances of a price, the fewest candles first; empty without paths."""
        found = self.of(made, series)
        if found is None or made is None or price <= 0.0:
            return ()
        move, chances = np.array([math.log(price / made.origin_close)]), found.chances
        return tuple(
            PriceChance(within, float(chances.touched(move, within)[0]), float(chances.closed_beyond(move, within)[0]))
            for within in WITHIN
            if within <= chances.horizons
        )

    def is_waiting(self, made: ForecastMade | None, series: CandleSeries) -> bool:
        """Whether a computation for this forecast is missing."""
        return made is not None and self._found[0] != _key_of(made, series)

    def begin(self, made: ForecastMade | None, series: CandleSeries) -> Callable[[], None] | None:
        """The missing computation; None if it is running."""
        if made is None or self._working == (key := _key_of(made, series)):
            return None
        self._working = key
        stop = series.insertion_index(made.origin_open_time_ms + 1)
        known = slice(max(0, stop - NEEDED_CANDLES), stop)
        times, prices, interval = series.open_time_ms[known].copy(), series.values[:4, known].copy(), series.interval

        def make() -> None:
            paths = paths_of(made, times, prices, interval)
            self._found = (key, None if paths is None else _found(paths, made, interval, self.learned_of(made)))
            self._working = None

        return make


def _found(paths: Paths, made: ForecastMade, interval: Interval, learned: LearnedChances | None) -> Found:
    natural = quantiles_of(made)
    assert natural is not None  # or it had no paths
    closes = paths.close[most_central(paths)].copy()
    closes[0] = natural[0, Quantity.CLOSE, MEDIAN]  # the first ghost stays as it is scored
    along = ghosts_along(natural, made.origin_close, made.origin_open_time_ms, interval, closes)
    spaced = np.linspace(0, len(paths.close) - 1, SHOWN_PATHS).astype(np.int64)  # neighbours overlap in the past
    return Found(
        paths.close[spaced], CentralPath(along, len(paths.close), has_trend(natural, closes)), Chances(paths, learned)
    )


def _key_of(made: ForecastMade, series: CandleSeries) -> _Key:
    """The forecast, and how many candles up to its origin are known and count: more may be loaded later."""
    return made, min(series.insertion_index(made.origin_open_time_ms + 1), NEEDED_CANDLES)

"""The sample paths of the shown forecast, and the chances of prices that follow from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.domain.candle_series import CandleSeries
from core.domain.events import ForecastMade
from core.domain.quantities import FloatArray
from core.forecast.chance import WITHIN, Chances
from core.forecast.paths import NEEDED_CANDLES, Paths, most_central
from core.training.online.forecast_events import paths_of

SHOWN_PATHS = 20
"""Beside the most central one."""
_Key = tuple[ForecastMade, int]


@dataclass(frozen=True, slots=True)
class PriceChance:
    """The chances of a price within so many candles."""

    within: int
    touched: float
    closed_beyond: float


class Futures:
    """Of one forecast at a time. A computation takes about half a frame, so it runs in another thread: until it is
    complete there are neither paths nor chances."""

    def __init__(self) -> None:
        self._working: _Key | None = None
        self._found: tuple[_Key | None, FloatArray | None, Chances | None] = (None, None, None)
        """Replaced as a whole, by the other thread."""

    @property
    def found_for(self) -> object:
        """Changes with each result."""
        return self._found[0]

    def lines(self, made: ForecastMade | None, series: CandleSeries) -> FloatArray | None:
        """The closes of some paths of this forecast, made from these candles, the most central one last: log returns
        from the origin's close [line, horizon]. None if it has no paths, or not yet."""
        key, lines, _ = self._found
        return None if made is None or key != _key_of(made, series) else lines

    def at(self, price: float, made: ForecastMade | None, series: CandleSeries) -> tuple[PriceChance, ...]:
        """The chances of a price, the fewest candles first; empty without paths."""
        key, _, chances = self._found
        if made is None or chances is None or price <= 0.0 or key != _key_of(made, series):
            return ()
        move = np.array([math.log(price / made.origin_close)])
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
            self._found = (key, None, None) if paths is None else (key, _lines(paths), Chances(paths))
            self._working = None

        return make


def _lines(paths: Paths) -> FloatArray:
    return np.concatenate([paths.close[:SHOWN_PATHS], paths.close[[most_central(paths)]]])


def _key_of(made: ForecastMade, series: CandleSeries) -> _Key:
    """The forecast, and how many candles up to its origin are known and count: more may be loaded later."""
    return made, min(series.insertion_index(made.origin_open_time_ms + 1), NEEDED_CANDLES)

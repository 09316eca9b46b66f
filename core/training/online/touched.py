"""Prices touched after forecasts, and their chances: cases to judge, and to learn from.

The prices lie at fixed multiples of the volatility at the forecast, times the root of the number of candles. A case
counts if the forecast's exact quantiles are stored, it has enough of a past for paths, and its candles came without a
hole. The forecasts are not repeated: paths follow from the record. No torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Market
from core.domain.quantities import FloatArray, Quantity
from core.forecast.chance import WITHIN, Chances, LearnedChances, brownian_touch
from core.forecast.experts import REFERENCE
from core.forecast.paths import NEEDED_CANDLES, PastOutcomes
from core.storage.candles import CandleStore, StoredColumns
from core.storage.records import StoredForecast

MULTIPLES: FloatArray = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])
MULTIPLES.flags.writeable = False


@dataclass(frozen=True, slots=True, eq=False)
class Touches:
    """The cases of n forecasts within the same number of candles, in time order: [n, len(MULTIPLES)] each."""

    chance: FloatArray
    brownian: FloatArray
    touched: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.chance)


_NONE = np.empty((0, MULTIPLES.size))
NO_CASES = Touches(_NONE, _NONE, _NONE.astype(np.bool_))


def joined(parts: Collection[dict[int, Touches]]) -> dict[int, Touches]:
    """The cases of all parts, which are in time order."""
    return {
        within: Touches(
            *(
                np.concatenate([getattr(part[within], name) for part in parts if within in part])
                for name in Touches.__slots__
            )
        )
        for within in WITHIN
        if any(within in part for part in parts)
    }


def cases_of(
    forecasts: Sequence[StoredForecast],
    store: CandleStore,
    market: Market,
    learned: Callable[[int, int], Callable[[int], LearnedChances]],
) -> Iterator[dict[int, Touches]]:
    """The cases of these forecasts, in time order, by number of candles; forecasts without cases are skipped.

    learned: for a number of candles and the last origin, the learned chances by origin. Raises StorageError.
    """
    for horizons, alike in groupby(forecasts, key=attrgetter("horizons")):
        equal = list(alike)
        candles = _candles_around(equal, store, market)
        yield from _cases(equal, candles, market, learned(horizons, equal[-1].origin_open_time_ms))


def _candles_around(forecasts: Sequence[StoredForecast], store: CandleStore, market: Market) -> StoredColumns:
    """The candles that the paths of these forecasts need, and their targets."""
    first_ms, last = forecasts[0].origin_open_time_ms, forecasts[-1]
    stop_ms = last.origin_open_time_ms + market.interval.duration_ms * last.horizons + 1
    before = store.columns_before(market, first_ms, NEEDED_CANDLES)
    since = store.columns_between(market, first_ms, stop_ms)
    return StoredColumns(
        np.concatenate([before.open_time_ms, since.open_time_ms]), np.concatenate([before.values, since.values], axis=1)
    )


def _cases(
    forecasts: Sequence[StoredForecast],
    candles: StoredColumns,
    market: Market,
    learned: Callable[[int], LearnedChances],
) -> Iterator[dict[int, Touches]]:
    """`cases_of` for forecasts that all have equally many candles."""
    interval, horizons = market.interval, forecasts[0].horizons
    places = np.searchsorted(candles.open_time_ms, [forecast.origin_open_time_ms for forecast in forecasts])
    first = max(0, int(places[0]) - NEEDED_CANDLES + 1)
    known = slice(first, int(places[-1]) + 1)
    past = PastOutcomes(candles.open_time_ms[known], candles.values[:4, known], interval, horizons)
    for forecast, place in zip(forecasts, places.tolist(), strict=True):
        ahead = slice(place + 1, place + 1 + horizons)
        due_ms = forecast.origin_open_time_ms + interval.duration_ms * np.arange(1, horizons + 1)
        if not np.array_equal(candles.open_time_ms[ahead], due_ms):
            continue
        paths = past.paths(forecast.quantiles.shown, place - first)
        if paths is not None:
            reached = np.log(candles.values[1:3, ahead] / forecast.origin_close)
            chances = Chances(paths, learned(forecast.origin_open_time_ms))
            yield _cases_of_one(forecast, chances, reached)


def _cases_of_one(forecast: StoredForecast, chances: Chances, reached: FloatArray) -> dict[int, Touches]:
    """reached: [2, H], highs and lows as log returns from the origin's close."""
    return {
        within: _case(chances, forecast, reached[:, :within], within)
        for within in WITHIN
        if within <= forecast.horizons
    }


def _case(chances: Chances, forecast: StoredForecast, reached: FloatArray, within: int) -> Touches:
    """reached: [2, within], highs and lows as log returns from the origin's close."""
    moves = MULTIPLES * forecast.scale * math.sqrt(within)
    touched = np.where(moves >= 0.0, reached[0].max() >= moves, reached[1].min() <= moves)
    brownian = brownian_touch(moves, forecast.quantiles.experts[REFERENCE, within - 1, Quantity.CLOSE])
    return Touches(chances.touched(moves, within)[None], brownian[None], touched[None])

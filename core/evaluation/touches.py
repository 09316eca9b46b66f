"""How good the chances were that a price is touched: of the sample paths, against a Brownian path and climatology.

The prices lie at fixed multiples of the volatility at the forecast, times the root of the number of candles. A case
counts if the forecast's exact quantiles are stored, it has enough of a past for paths, and its candles came without a
hole. The forecasts are not repeated: paths follow from the record. No torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import FloatArray, Quantity
from core.evaluation.findings import Tenth, TouchAccuracy
from core.evaluation.past_heights import read_heights
from core.forecast.chance import WITHIN, Chances, brownian_touch
from core.forecast.experts import REFERENCE
from core.forecast.paths import NEEDED_CANDLES, PastOutcomes
from core.forecast.score import mean, ratio, skill
from core.forecast.time_of_day import PastHeights
from core.storage.candles import CandleStore, StoredColumns
from core.storage.record_reader import RecordReader
from core.storage.records import StoredForecast
from core.storage.runs import Run
from core.training.online.trainer_spec import own_mode_of

if TYPE_CHECKING:
    from sqlite_utils import Database

MULTIPLES: FloatArray = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])
MULTIPLES.flags.writeable = False
_AT_ONCE = 500
_TENTHS = 10


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


def read_touches(db: Database, run: Run, from_ms: int) -> Iterator[dict[int, Touches]]:
    """The run's own forecasts whose targets open then or later, some at a time: by how many candles, of those in
    `WITHIN` that were forecast. Raises StorageError."""
    heights = cache(lambda horizons: read_heights(db, run.run_id, run.market, horizons))
    reader, candles, after_ms = RecordReader(db, run.run_id), CandleStore(db).columns_between(run.market, 0), None
    while rows := reader.forecasts_after(after_ms, _AT_ONCE):
        after_ms = rows[-1].origin_open_time_ms
        yield joined(list(cases_of(own_forecasts(rows, run, from_ms), candles, run, heights)))


def own_forecasts(rows: Sequence[StoredForecast], run: Run, from_ms: int) -> list[list[StoredForecast]]:
    """The run's own of these whose targets open then or later: of each its horizons in order."""
    forecasts = (list(of) for _, of in groupby(rows, key=lambda row: row.origin_open_time_ms))
    return [
        forecast
        for forecast in forecasts
        if forecast[0].mode is own_mode_of(run.market) and forecast[0].inputs_until_ms >= from_ms
    ]


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
    forecasts: Sequence[Sequence[StoredForecast]],
    candles: StoredColumns,
    run: Run,
    heights: Callable[[int], PastHeights],
) -> Iterator[dict[int, Touches]]:
    """Of these forecasts, in time order, by within how many candles; without those that have no cases.

    candles: up to the newest target, and `NEEDED_CANDLES` up to the first forecast, as far as there are so many.
    heights: of the run's forecasts of so many candles, up to the newest of these forecasts.
    """
    for horizons, alike in groupby(forecasts, key=len):
        yield from _cases(list(alike), candles, run, heights(horizons))


def _cases(
    forecasts: Sequence[Sequence[StoredForecast]], candles: StoredColumns, run: Run, heights: PastHeights
) -> Iterator[dict[int, Touches]]:
    """Of forecasts of equally many candles."""
    interval, horizons = run.market.interval, len(forecasts[0])
    places = np.searchsorted(candles.open_time_ms, [forecast[0].origin_open_time_ms for forecast in forecasts])
    first = max(0, int(places[0]) - NEEDED_CANDLES + 1)
    known = slice(first, int(places[-1]) + 1)
    past = PastOutcomes(candles.open_time_ms[known], candles.values[:4, known], interval, horizons)
    for forecast, place in zip(forecasts, places.tolist(), strict=True):
        ahead = slice(place + 1, place + 1 + horizons)
        due_ms = forecast[0].origin_open_time_ms + interval.duration_ms * np.arange(1, horizons + 1)
        if not np.array_equal(candles.open_time_ms[ahead], due_ms):
            continue
        paths = past.paths(np.stack([row.quantiles for row in forecast]), place - first)
        if paths is not None:
            reached = np.log(candles.values[1:3, ahead] / forecast[0].origin_close)
            stretch = heights.stretch(forecast[0].origin_open_time_ms)
            yield _cases_of_one(forecast, Chances(paths, stretch), reached)


def _cases_of_one(forecast: Sequence[StoredForecast], chances: Chances, reached: FloatArray) -> dict[int, Touches]:
    """reached: [2, H], highs and lows as log returns from the origin's close."""
    return {
        within: _case(chances, forecast[within - 1], reached[:, :within], within)
        for within in WITHIN
        if within <= len(forecast)
    }


def _case(chances: Chances, at: StoredForecast, reached: FloatArray, within: int) -> Touches:
    """at: the last candle's forecast. reached: [2, within], highs and lows as log returns from the origin's close."""
    moves = MULTIPLES * at.scale * math.sqrt(within)
    touched = np.where(moves >= 0.0, reached[0].max() >= moves, reached[1].min() <= moves)
    brownian = brownian_touch(moves, at.experts[REFERENCE, Quantity.CLOSE])
    return Touches(chances.touched(moves, within)[None], brownian[None], touched[None])


def assess_touches(touches: Touches, within: int) -> TouchAccuracy:
    """The statistics of these cases. The intervals are the block bootstrap's."""
    outcome = touches.touched.astype(np.float64)
    often = outcome.mean(axis=0) if len(touches) else 0.0  # known in hindsight only
    brier, brownian, climatology = (
        np.square(each - outcome).mean(axis=1) for each in (touches.chance, touches.brownian, often)
    )
    return TouchAccuracy(
        within=within,
        n=len(touches),
        brier=mean(brier).value,
        brownian=mean(brownian).value,
        climatology=mean(climatology).value,
        skill=skill(brier, brownian, within),
        skill_vs_climatology=skill(brier, climatology, within),
        reliability=tuple(_tenth(touches, tenth, within) for tenth in range(_TENTHS)),
    )


def _tenth(touches: Touches, tenth: int, within: int) -> Tenth:
    """The cases with a chance in this tenth."""
    chosen = np.minimum(touches.chance * _TENTHS, _TENTHS - 1).astype(np.int64) == tenth
    cases = chosen.sum(axis=1).astype(np.float64)
    count = int(cases.sum())
    stated = float(touches.chance[chosen].mean()) if count else None
    return Tenth(count, stated, ratio((chosen & touches.touched).sum(axis=1).astype(np.float64), cases, within))

"""Reads how tall candles were against their forecasts: of the part of forecasts that is kept permanently. No torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.domain.candle import Market
from core.domain.quantities import FloatArray
from core.forecast.time_of_day import MOST_LEARNED, PastHeights, past_heights
from core.storage.candles import CandleStore
from core.storage.record_reader import RecordReader

if TYPE_CHECKING:
    from sqlite_utils import Database


def read_heights(
    db: Database, run_id: str, market: Market, horizons: int, until_ms: int | None = None, most: int | None = None
) -> PastHeights:
    """Of the run's newest `most` forecasts (None: of all) made up to the candle that opened then (None: the newest),
    in any mode. Raises StorageError."""
    origins, log_ranges = RecordReader(db, run_id).log_ranges(horizons, until_ms, most)
    first_ms = int(origins[0]) if origins.size else 0
    stop_ms = first_ms if not origins.size else int(origins[-1]) + horizons * market.interval.duration_ms + 1
    candles = CandleStore(db).columns_between(market, first_ms, stop_ms)
    return past_heights(origins, log_ranges, candles.open_time_ms, candles.values[:4], market.interval)


def read_stretch(db: Database, run_id: str, market: Market, horizons: int, origin_open_time_ms: int) -> FloatArray:
    """`PastHeights.stretch` of one forecast. Raises StorageError."""
    most = MOST_LEARNED + horizons
    return read_heights(db, run_id, market, horizons, origin_open_time_ms, most).stretch(origin_open_time_ms)

"""Reads how tall candles were against their forecasts: of the part of forecasts that is kept permanently. No torch."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Market
from core.domain.quantities import FloatArray
from core.forecast.time_of_day import MOST_LEARNED, PastHeights, past_heights
from core.storage.candles import CandleStore
from core.storage.record_reader import RecordReader

if TYPE_CHECKING:
    from sqlite_utils import Database

SPARE = 512
_RUNS_KEPT = 16
_Ranges = tuple[NDArray[np.int64], FloatArray]


class HeightsReader:
    """Caches runs' forecasts: reading the 4,000 that count takes 80 ms, in which other threads wait for Python's lock.
    Callable from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, int], _Ranges] = {}
        """Log ranges by run and number of candles; the most recently used last."""

    def read(self, db: Database, run_id: str, market: Market, horizons: int, until_ms: int) -> PastHeights:
        """Heights of the run's forecasts with origins up to `until_ms`, in any mode: all that this origin's forecast
        and the `SPARE` before it learn from. Raises StorageError."""
        with self._lock:
            origins, log_ranges = self._ranges(RecordReader(db, run_id), horizons, until_ms)
        first_ms = int(origins[0]) if origins.size else 0
        stop_ms = first_ms if not origins.size else int(origins[-1]) + horizons * market.interval.duration_ms + 1
        candles = CandleStore(db).columns_between(market, first_ms, stop_ms)
        return past_heights(origins, log_ranges, candles.open_time_ms, candles.values[:4], market.interval)

    def _ranges(self, reader: RecordReader, horizons: int, until_ms: int) -> _Ranges:
        key, most = (reader.run_id, horizons), MOST_LEARNED + horizons + SPARE
        origins, ranges = self._kept.pop(key, (np.empty(0, np.int64), np.empty((0, horizons))))
        if origins.size and origins[-1] > until_ms:
            self._kept[key] = origins, ranges
            return reader.log_ranges(horizons, until_ms, most)
        after_ms = int(origins[-1]) if origins.size else -1
        later, of_later = reader.log_ranges(horizons, until_ms, most, after_ms)
        found = np.concatenate([origins, later])[-most:], np.concatenate([ranges, of_later])[-most:]
        self._kept[key] = found
        if len(self._kept) > _RUNS_KEPT:
            del self._kept[next(iter(self._kept))]
        return found

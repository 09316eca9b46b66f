"""How good the chances of prices were in a run in progress, from its newest forecasts. Used from one thread only."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from core.evaluation.findings import TouchAccuracy
from core.evaluation.judged_scores import judged_from_nth
from core.evaluation.past_heights import read_heights
from core.evaluation.touches import NO_CASES, Touches, assess_touches, cases_of, joined, own_forecasts
from core.forecast.chance import WITHIN
from core.forecast.paths import NEEDED_CANDLES
from core.forecast.time_of_day import MOST_LEARNED, PastHeights
from core.storage.candles import CandleStore, StoredColumns
from core.storage.record_reader import RecordReader
from core.storage.records import StoredForecast
from core.storage.runs import Run

if TYPE_CHECKING:
    from sqlite_utils import Database

MOST_FORECASTS = 1_000
"""Older ones are left to `evaluate`: each takes milliseconds."""
_AT_ONCE = 100


class RunningTouches:
    """All methods raise StorageError."""

    def __init__(self, db: Database, run: Run, reader: RecordReader, most: int = MOST_FORECASTS) -> None:
        """reader: of this run."""
        self._run, self._reader, self._most = run, reader, most
        self._db, self._candles = db, CandleStore(db)
        self._found: deque[dict[int, Touches]] = deque(maxlen=most)
        self._read_until_ms: int | None = None
        self._has_read_all = False

    def read_more(self) -> Iterator[None]:
        """Take the forecasts whose last candle has closed since the last call; one with cases an iteration."""
        newest_ms = self._candles.latest_open_time_ms(self._run.market)
        from_ms, _ = judged_from_nth(self._reader.nth_origin)
        if self._read_until_ms is None:
            self._read_until_ms = self._reader.before_newest(self._most)
        while newest_ms is not None and (rows := self._closed_by(newest_ms)):
            found: list[dict[int, Touches]] = []
            heights = cache(partial(self._heights, rows[-1].origin_open_time_ms))
            for cases in cases_of(own_forecasts(rows, self._run, from_ms), self._around(rows), self._run, heights):
                found.append(cases)
                yield
            self._found.extend(found)
            self._read_until_ms = rows[-1].origin_open_time_ms
        self._has_read_all = True

    def find(self, horizon: int) -> TouchAccuracy | None:
        """Within the most candles of `WITHIN` that such a forecast reaches; None before all was read once."""
        if not self._has_read_all:
            return None
        within = max(each for each in WITHIN if each <= horizon)
        return assess_touches(joined(self._found).get(within, NO_CASES), within)

    def _heights(self, until_ms: int, horizons: int) -> PastHeights:
        """What the chances of the newest forecasts up to this one have learned from."""
        most = MOST_LEARNED + horizons + _AT_ONCE
        return read_heights(self._db, self._run.run_id, self._run.market, horizons, until_ms, most)

    def _closed_by(self, newest_ms: int) -> list[StoredForecast]:
        """All horizons of the next forecasts whose last target had closed when this candle did."""
        rows = self._reader.forecasts_after(self._read_until_ms, _AT_ONCE)
        ahead_ms = self._run.market.interval.duration_ms * max((row.horizon for row in rows), default=0)
        return [row for row in rows if row.origin_open_time_ms + ahead_ms <= newest_ms]

    def _around(self, rows: Sequence[StoredForecast]) -> StoredColumns:
        """The candles that their paths need, and their targets."""
        market, first_ms = self._run.market, rows[0].origin_open_time_ms
        stop_ms = rows[-1].origin_open_time_ms + market.interval.duration_ms * rows[-1].horizon + 1
        before = self._candles.columns_before(market, first_ms, NEEDED_CANDLES)
        since = self._candles.columns_between(market, first_ms, stop_ms)
        return StoredColumns(
            np.concatenate([before.open_time_ms, since.open_time_ms]),
            np.concatenate([before.values, since.values], axis=1),
        )

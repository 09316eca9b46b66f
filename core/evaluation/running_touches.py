"""How good the chances of prices were in a run in progress, from its newest forecasts. Used from one thread only."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from core.evaluation.findings import TouchAccuracy
from core.evaluation.judged_scores import judged_from_nth
from core.evaluation.touches import assess_touches, own_forecasts
from core.forecast.chance import WITHIN
from core.storage.candles import CandleStore
from core.storage.record_reader import RecordReader
from core.storage.records import StoredForecast
from core.storage.runs import Run
from core.training.online.learned_chances import LearnedChancesReader
from core.training.online.touched import NO_CASES, Touches, cases_of, joined

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
        self._candles = CandleStore(db)
        self._learned = partial(LearnedChancesReader().up_to, db, run.run_id, run.market)
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
            forecasts = own_forecasts(rows, self._run, from_ms)
            for cases in cases_of(forecasts, self._candles, self._run.market, self._learned):
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

    def _closed_by(self, newest_ms: int) -> list[StoredForecast]:
        """The next forecasts whose last target had closed when this candle did."""
        rows = self._reader.forecasts_after(self._read_until_ms, _AT_ONCE)
        ahead_ms = self._run.market.interval.duration_ms * max((row.horizons for row in rows), default=0)
        return [row for row in rows if row.origin_open_time_ms + ahead_ms <= newest_ms]

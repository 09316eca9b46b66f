"""How good the chances were that a price is touched: of the sample paths, against a Brownian path and climatology.

Which cases count: `core.training.online.touched`. No torch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from core.evaluation.findings import Tenth, TouchAccuracy
from core.evaluation.judged_scores import judged_from_nth
from core.forecast.chance import WITHIN
from core.forecast.score import mean, ratio, skill
from core.storage.candles import CandleStore
from core.storage.record_reader import RecordReader
from core.storage.records import StoredForecast
from core.storage.runs import Run
from core.training.online.learned_chances import LearnedChancesReader
from core.training.online.touched import NO_CASES, Touches, cases_of, joined
from core.training.online.trainer_spec import own_mode_of

if TYPE_CHECKING:
    from sqlite_utils import Database

_AT_ONCE = 500
_AT_ONCE_WHILE_RUNNING = 100
MOST_FORECASTS = 1_000
"""Newest forecasts read while a run is in progress, at milliseconds each; `evaluate` reads all."""
_TENTHS = 10


def read_touches(db: Database, run: Run, from_ms: int) -> Iterator[dict[int, Touches]]:
    """Batches of cases, keyed by the horizons of `WITHIN`, from the run's own forecasts with targets from `from_ms` on.
    Raises StorageError."""
    learned = partial(LearnedChancesReader().up_to, db, run.run_id, run.market)
    reader, candles, after_ms = RecordReader(db, run.run_id), CandleStore(db), None
    while rows := reader.forecasts_after(after_ms, _AT_ONCE):
        after_ms = rows[-1].origin_open_time_ms
        yield joined(list(cases_of(own_forecasts(rows, run, from_ms), candles, run.market, learned)))


def own_forecasts(forecasts: Sequence[StoredForecast], run: Run, from_ms: int) -> list[StoredForecast]:
    """The run's own among these forecasts, with targets from `from_ms` on."""
    own_mode = own_mode_of(run.market)
    return [each for each in forecasts if each.mode is own_mode and each.inputs_until_ms >= from_ms]


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


class RunningTouches:
    """The accuracy of chances of a run in progress, from its newest forecasts. Used from one thread only; all methods
    raise StorageError."""

    def __init__(self, db: Database, run: Run, reader: RecordReader, most: int = MOST_FORECASTS) -> None:
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
        """The accuracy within the longest of `WITHIN` up to `horizon` candles; None until everything was read once."""
        if not self._has_read_all:
            return None
        within = max(each for each in WITHIN if each <= horizon)
        return assess_touches(joined(self._found).get(within, NO_CASES), within)

    def _closed_by(self, newest_ms: int) -> list[StoredForecast]:
        """The next forecasts whose last target had closed when this candle did."""
        rows = self._reader.forecasts_after(self._read_until_ms, _AT_ONCE_WHILE_RUNNING)
        ahead_ms = self._run.market.interval.duration_ms * max((row.horizons for row in rows), default=0)
        return [row for row in rows if row.origin_open_time_ms + ahead_ms <= newest_ms]

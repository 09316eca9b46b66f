"""Reading what a run has forecast, scored and learned; for the trainer and, on its own connection, the window."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.events import DriftFound, Incident, StepDone
from core.regimes import MarketConditions
from core.storage.database import select, translated
from core.storage.past import CORRECTIONS_SQL, NEWEST_CORRECTION_SQL, NEWEST_VERSION, PAST_SQL, SPAN_SQL, to_past_rows
from core.storage.records import ConditionRows, Counts, PastRows, StoredForecast, StoredScore
from core.storage.rows import (
    CONDITION_COLUMNS,
    DRIFT_COLUMNS,
    FORECAST_COLUMNS,
    INCIDENT_COLUMNS,
    REGIME_COLUMNS,
    SCORE_COLUMNS,
    STEP_COLUMNS,
    Row,
    to_conditions,
    to_forecast,
    to_incident,
    to_score,
    to_step,
)

if TYPE_CHECKING:
    from sqlite_utils import Database

_COUNTS = """
SELECT
    (SELECT COUNT(DISTINCT origin_open_time_ms) FROM forecasts WHERE run_id = :run),
    (SELECT COUNT(*) FROM scores WHERE run_id = :run AND horizon = 1 AND version = 1),
    (SELECT COUNT(*) FROM steps WHERE run_id = :run),
    (SELECT COUNT(*) FROM forecasts WHERE run_id = :run),
    (SELECT COUNT(*) FROM checkpoints WHERE run_id = :run),
    (SELECT COUNT(*) FROM checkpoints WHERE run_id = :run AND is_deleted = 0)
"""


_SCORES = f"""
SELECT {", ".join(f"s.{name}" for name in SCORE_COLUMNS)}, {", ".join(f"c.{name}" for name in REGIME_COLUMNS)}
FROM scores AS s LEFT JOIN conditions AS c
    ON c.run_id = s.run_id AND c.origin_open_time_ms = s.origin_open_time_ms
WHERE s.run_id = ? AND s.horizon = ? AND
"""


class RecordReader:
    """The readers of one run's record. All lists ascend in time; all methods raise StorageError.

    Of a score that has several versions, the newest is meant, unless the method says otherwise.
    """

    def __init__(self, db: Database, run_id: str) -> None:
        self._db = db
        self.run_id = run_id

    def pending_forecasts(self, after_origin_ms: int | None) -> list[StoredForecast]:
        """Forecasts, scored or not, whose origin opened after this time (exclusive); None gives all."""
        after = -(2**63) if after_origin_ms is None else after_origin_ms
        return self._forecasts("origin_open_time_ms > ? ORDER BY origin_open_time_ms, horizon", (after,))

    def forecasts_of(self, origin_open_time_ms: int) -> list[StoredForecast]:
        """All horizons of the forecast made at this candle, horizon 1 first."""
        return self._forecasts("origin_open_time_ms = ? ORDER BY horizon", (origin_open_time_ms,))

    def origins(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
        """Of every candle from which a forecast was made: its opening time, its close, and when that was; each [n]."""
        sql = (
            "SELECT origin_open_time_ms, origin_close, made_at_ms FROM forecasts "
            "WHERE run_id = ? AND horizon = 1 ORDER BY origin_open_time_ms"
        )
        rows = self._select(sql)
        opened, closes, made = zip(*rows, strict=True) if rows else ((), (), ())
        return np.array(opened, dtype=np.int64), np.array(closes, dtype=np.float64), np.array(made, dtype=np.int64)

    def conditions_of(self, origin_open_time_ms: int) -> MarketConditions | None:
        """What the market was like where the forecast of this candle was made; None where that is not known."""
        sql = f"SELECT {_named(CONDITION_COLUMNS)} FROM conditions WHERE run_id = ? AND origin_open_time_ms = ?"
        rows = self._select(sql, origin_open_time_ms)
        return to_conditions(rows[0]) if rows else None

    def conditions(self, before_ms: int, most: int) -> ConditionRows:
        """What the market was like at the newest `most` candles that opened before this time, ascending."""
        sql = (
            f"SELECT origin_open_time_ms, {_named(REGIME_COLUMNS)} FROM conditions "
            "WHERE run_id = ? AND origin_open_time_ms < ? ORDER BY origin_open_time_ms DESC LIMIT ?"
        )
        rows = self._select(sql, before_ms, most)[::-1]
        times = np.array([row[0] for row in rows], dtype=np.int64)
        return ConditionRows(
            times, np.array([row[1:] for row in rows], dtype=np.float64).reshape(-1, len(REGIME_COLUMNS))
        )

    def latest_origin_ms(self) -> int | None:
        """The newest candle from which a forecast was made, or None."""
        sql = "SELECT MAX(origin_open_time_ms) FROM forecasts WHERE run_id = ?"
        latest: int | None = self._select(sql)[0][0]
        return latest

    def scores(self, newest: int | None = None, *, horizon: int = 1) -> list[StoredScore]:
        """The scores of the `newest` targets (all without it) at one horizon, ascending by target."""
        sql = f"{_SCORES} {NEWEST_VERSION} ORDER BY target_open_time_ms DESC LIMIT ?"
        return [to_score(row) for row in reversed(self._select(sql, horizon, _limit(newest)))]

    def score_versions(self, target_open_time_ms: int, *, horizon: int = 1) -> list[StoredScore]:
        """All versions of one score, the first one first; none while it has not been scored."""
        sql = f"{_SCORES} target_open_time_ms = ? ORDER BY version"
        return [to_score(row) for row in self._select(sql, horizon, target_open_time_ms)]

    def corrections(self, most: int) -> list[tuple[int, int]]:
        """Scored targets that were corrected and not taken yet: the number of each correction, ascending, and the
        opening time; the first `most` of them."""
        return self._select(CORRECTIONS_SQL, most)

    def newest_correction(self) -> int:
        """The number of the newest correction of a candle of the run's market; 0 before the first."""
        return int(self._select(NEWEST_CORRECTION_SQL)[0][0])

    def steps(self, newest: int | None = None, *, thin_to: int | None = None) -> list[StepDone]:
        """The `newest` steps (all without it), ascending by candle and step.

        With `thin_to`, those whose number k divides, and the last: about that many, at most `thin_to` + 1 of steps
        that were numbered without going back. Which ones are taken does not change with new steps, until k does.
        """
        if thin_to is not None:
            return self._thinned_steps(newest, thin_to)
        order = "ORDER BY candle_open_time_ms DESC, step DESC LIMIT ?"
        sql = f"SELECT {_named(STEP_COLUMNS)} FROM steps WHERE run_id = ? {order}"
        return [to_step(self.run_id, row) for row in reversed(self._select(sql, _limit(newest)))]

    def incidents(self, newest: int | None = None) -> list[Incident]:
        """The `newest` incidents (all without it) in the order in which they were written."""
        sql = f"SELECT {_named(INCIDENT_COLUMNS)} FROM incidents WHERE run_id = ? ORDER BY id DESC LIMIT ?"
        return [to_incident(row) for row in reversed(self._select(sql, _limit(newest)))]

    def drifts(self, newest: int | None = None) -> list[DriftFound]:
        """The `newest` drifts (all without it), ascending by candle."""
        sql = f"SELECT {_named(DRIFT_COLUMNS)} FROM drifts WHERE run_id = ? ORDER BY candle_open_time_ms DESC LIMIT ?"
        return [DriftFound(self.run_id, *row) for row in reversed(self._select(sql, _limit(newest)))]

    def outcome(self, target_open_time_ms: int, *, horizon: int = 1) -> tuple[StoredForecast, StoredScore] | None:
        """What was forecast for this candle, and how it came out. None while it has not been scored."""
        versions = self.score_versions(target_open_time_ms, horizon=horizon)
        if not versions:
            return None
        score = versions[-1]
        condition = "origin_open_time_ms = ? AND horizon = ?"
        return self._forecasts(condition, (score.origin_open_time_ms, horizon))[0], score

    def past_forecasts(self, horizon: int, first_ms: int, stop_ms: int, most: int) -> PastRows:
        """The scored forecasts of one horizon whose targets open in first_ms..stop_ms - 1, at most `most` of them."""
        rows = to_past_rows(self._select(PAST_SQL, horizon, first_ms, stop_ms, most))
        return replace(rows, before=np.zeros(len(rows))) if horizon == 1 else rows

    def scored_span(self, horizon: int) -> tuple[int, int] | None:
        """Opening times of the first and the last target that was scored at this horizon; None before there is one."""
        first, last = self._select(SPAN_SQL, horizon)[0]
        return None if first is None else (first, last)

    def counts(self) -> Counts:
        """How much there is. It counts rows, so call it now and then, not with every candle."""
        with translated(self._db):
            return Counts(*self._db.conn.execute(_COUNTS, {"run": self.run_id}).fetchone())

    def forecasts_sha256(self) -> str:
        """One digest over all forecasts, by origin and horizon: times, close, scale and arrays.

        Each row gives int64 origin, int64 horizon, float64 close, float64 scale, quantiles, experts, little-endian.
        Ids, modes and write times are left out: two runs that forecast the same have the same digest.
        """
        digest = hashlib.sha256()
        sql = (
            "SELECT origin_open_time_ms, horizon, origin_close, scale, quantiles, experts FROM forecasts "
            "WHERE run_id = ? ORDER BY origin_open_time_ms, horizon"
        )
        with translated(self._db), closing(self._db.conn.execute(sql, (self.run_id,))) as cursor:
            for origin, horizon, close, scale, quantiles, experts in cursor:
                digest.update(struct.pack("<qqdd", origin, horizon, close, scale) + quantiles + experts)
        return digest.hexdigest()

    def _thinned_steps(self, newest: int | None, thin_to: int) -> list[StepDone]:
        if thin_to < 1:
            raise ValueError(f"at least one step is left when thinning, was asked for {thin_to}")
        total = int(self._select("SELECT COUNT(*) FROM steps WHERE run_id = ?")[0][0])
        wanted = total if newest is None else min(total, newest)
        stride = -(-wanted // thin_to) or 1
        sql = f"""
            SELECT * FROM (
                SELECT {_named(STEP_COLUMNS)} FROM steps WHERE run_id = ?
                ORDER BY candle_open_time_ms DESC, step DESC LIMIT ?
            ) WHERE step % ? = 0
        """
        thinned = [to_step(self.run_id, row) for row in reversed(self._select(sql, wanted, stride))]
        last = self.steps(min(wanted, 1))
        return thinned if thinned[-1:] == last else thinned + last

    def _forecasts(self, condition: str, values: Sequence[object]) -> list[StoredForecast]:
        sql = f"SELECT {_named(FORECAST_COLUMNS)} FROM forecasts WHERE run_id = ? AND {condition}"
        return [to_forecast(row) for row in self._select(sql, *values)]

    def _select(self, sql: str, *values: object) -> list[Row]:
        return select(self._db, sql, (self.run_id, *values))


def _named(columns: Sequence[str]) -> str:
    return ", ".join(columns)


def _limit(newest: int | None) -> int:
    return -1 if newest is None else max(0, newest)  # to SQLite, a negative limit is none

"""Reads the forecasts, scores and steps of a run, for the trainer and, on a separate connection, the window."""

from __future__ import annotations

import hashlib
import logging
import struct
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.domain.events import DriftFound, ForecastMode, Incident, StepDone
from core.domain.quantities import FloatArray, Quantity
from core.domain.regimes import RegimeProbabilities
from core.storage.checksums import SealedTable, intact_rows, intact_with_details
from core.storage.database import select, translated
from core.storage.evidence_blocks import (
    ONLINE,
    OWN,
    EvidenceBlock,
    last_expert_blocks,
    read_evidence,
)
from core.storage.packing import MODE_OF, MODES, flag, to_score, unpack_drawn, unpack_scores
from core.storage.record_tables import DETAILS, FORECAST_DETAILS, FORECASTS, RUN, SCORES, STEP_DETAILS, STEPS, scores_at
from core.storage.records import ConditionRows, Counts, PastRows, StoredForecast, StoredScore
from core.storage.rows import (
    CONDITION_COLUMNS,
    DRIFT_COLUMNS,
    INCIDENT_COLUMNS,
    REGIME_COLUMNS,
    Row,
    to_conditions,
    to_forecast,
    to_incident,
    to_step,
)
from core.storage.score_blocks import BlockReader, ScoreBlock

if TYPE_CHECKING:
    from sqlite_utils import Database

_COUNTS = f"""
SELECT
    (SELECT COUNT(*) FROM forecasts WHERE run = {RUN.replace("?", ":run")}),
    (SELECT COUNT(*) FROM scores WHERE run = {RUN.replace("?", ":run")} AND version = 1),
    (SELECT COUNT(*) FROM steps WHERE run = {RUN.replace("?", ":run")}),
    (SELECT horizons FROM forecasts WHERE run = {RUN.replace("?", ":run")} ORDER BY origin_open_time_ms DESC LIMIT 1),
    (SELECT COUNT(*) FROM checkpoints WHERE run_id = :run),
    (SELECT COUNT(*) FROM checkpoints WHERE run_id = :run AND is_deleted = 0)
"""
_MODES = f"SELECT mode, after_gap, COUNT(*) FROM scores WHERE run = {RUN} AND version = 1 GROUP BY mode, after_gap"
# Every scored target has a score one step ahead.
_CORRECTIONS = """
SELECT c.id, c.open_time_ms FROM runs CROSS JOIN candle_corrections AS c
    ON c.market_id = runs.market_id AND c.id > runs.corrections_taken
WHERE runs.run_id = ? AND EXISTS (
    SELECT 1 FROM scores AS s WHERE s.run = runs.sequence AND s.target_open_time_ms = c.open_time_ms
)
ORDER BY c.id
LIMIT ?
"""
_NEWEST_CORRECTION = """
SELECT COALESCE(MAX(c.id), 0) FROM runs JOIN candle_corrections AS c ON c.market_id = runs.market_id
WHERE runs.run_id = ?
"""
_LOOKED_THROUGH = 64
"""Targets searched at either end of the record: the first and last few have no scores at long horizons."""
_FOREVER = 2**63 - 1
Origins = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]
_log = logging.getLogger("ghostcandle")


class RecordReader:
    """The readers of one run's record. All lists ascend in time; all methods raise StorageError.

    The newest of several versions of a score is used, unless stated otherwise.
    """

    def __init__(self, db: Database, run_id: str) -> None:
        self._db = db
        self.run_id = run_id
        self.damaged: dict[str, set[int]] = {}
        """Damaged rows that were skipped: their ids, by table."""
        self.blocks = BlockReader(db, run_id, self._on_damage)

    def forecasts_after(self, origin_ms: int | None, most: int | None = None) -> list[StoredForecast]:
        """The first `most` forecasts (None: all) whose origin opened after this time (exclusive; None: from the first
        on)."""
        after = -(2**63) if origin_ms is None else origin_ms
        return self._forecasts(
            "f.origin_open_time_ms > ? ORDER BY f.origin_open_time_ms LIMIT ?", (after, _limit(most))
        )

    def every_nth_forecast(
        self, after_ms: int, until_ms: int, step_ms: int, nth: int, remainders: Sequence[int]
    ) -> list[StoredForecast]:
        """Forecasts of origins in (after_ms, until_ms]: of every `nth` candle of `step_ms`, counted from 1970, those
        with these remainders."""
        is_one = f"f.origin_open_time_ms / ? % ? IN ({', '.join('?' * len(remainders))})"
        condition = (
            f"f.origin_open_time_ms > ? AND f.origin_open_time_ms <= ? AND {is_one} ORDER BY f.origin_open_time_ms"
        )
        return self._forecasts(condition, (after_ms, until_ms, step_ms, nth, *remainders))

    def forecast_of(self, origin_open_time_ms: int) -> StoredForecast | None:
        """The forecast made at this candle; None if there is none."""
        found = self._forecasts("f.origin_open_time_ms = ?", (origin_open_time_ms,))
        return found[0] if found else None

    def origins(self, after_ms: int = -(2**63), most: int = -1) -> Origins:
        """The first `most` forecast origins (all: -1) after this time: opening time, close, and when the forecast was
        made; each [n]."""
        sql = (
            f"SELECT {FORECASTS.select()} FROM forecasts "
            f"WHERE run = {RUN} AND origin_open_time_ms > ? ORDER BY origin_open_time_ms LIMIT ?"
        )
        rows = intact_rows(FORECASTS, self._select(sql, after_ms, most), self._on_damage)
        places = [FORECASTS.names.index(name) for name in ("origin_open_time_ms", "origin_close", "made_at_ms")]
        opened, closes, made = ([row[place] for row in rows] for place in places)
        return np.array(opened, dtype=np.int64), np.array(closes, dtype=np.float64), np.array(made, dtype=np.int64)

    def nth_origin(self, number: int) -> int | None:
        """The opening time of the origin of forecast `number` (from 0 on); None if it does not exist."""
        sql = f"SELECT origin_open_time_ms FROM forecasts WHERE run = {RUN} ORDER BY origin_open_time_ms"
        rows = self._select(f"{sql} LIMIT 1 OFFSET ?", number)
        return int(rows[0][0]) if rows else None

    def before_newest(self, newest: int) -> int:
        """A time after which slightly more than the `newest` targets opened, by horizon 1."""
        sql = f"SELECT target_open_time_ms FROM scores WHERE run = {RUN} AND version = 1"
        rows = self._select(f"{sql} ORDER BY target_open_time_ms DESC LIMIT 1 OFFSET ?", newest)
        return int(rows[0][0]) if rows else -(2**63)

    def log_ranges(
        self, horizons: int, until_ms: int, most: int, after_ms: int = -1
    ) -> tuple[NDArray[np.int64], FloatArray]:
        """Origins [n], ascending, and medians of the log range [n, horizons] of the newest `most` forecasts with this
        many horizons and an origin in (after_ms, until_ms]."""
        sql = (
            f"SELECT {FORECASTS.select()} FROM forecasts WHERE run = {RUN} AND horizons >= ? "
            "AND origin_open_time_ms > ? AND origin_open_time_ms <= ? ORDER BY origin_open_time_ms DESC LIMIT ?"
        )
        found = self._select(sql, horizons, after_ms, until_ms, most)
        rows = intact_rows(FORECASTS, found, self._on_damage)[::-1]
        of = [dict(zip(FORECASTS.names, row, strict=True)) for row in rows]
        drawn = [unpack_drawn(each["drawn"], each["quantities"], each["levels"])[:horizons] for each in of]
        medians = [each[:, Quantity.RANGE, each.shape[2] // 2] for each in drawn]
        opened = np.array([each["origin_open_time_ms"] for each in of], dtype=np.int64)
        return opened, np.array(medians).reshape(-1, horizons)

    def conditions_of(self, origin_open_time_ms: int) -> tuple[RegimeProbabilities | None, RegimeProbabilities | None]:
        """The market's regime at the forecast of this candle, and what the model forecast for the next one; None if
        unknown."""
        sql = f"SELECT {', '.join(CONDITION_COLUMNS)} FROM conditions WHERE run_id = ? AND origin_open_time_ms = ?"
        rows = self._select(sql, origin_open_time_ms)
        return to_conditions(rows[0]) if rows else (None, None)

    def conditions(self, before_ms: int, most: int) -> ConditionRows:
        """The market regimes at the newest `most` candles that opened before this time, ascending."""
        sql = (
            f"SELECT {', '.join(CONDITION_COLUMNS)} FROM conditions "
            "WHERE run_id = ? AND origin_open_time_ms < ? ORDER BY origin_open_time_ms DESC LIMIT ?"
        )
        rows = self._select(sql, before_ms, most)[::-1]
        times = np.array([row[0] for row in rows], dtype=np.int64)
        regimes = np.array([row[1:] for row in rows], dtype=np.float64).reshape(-1, 2, len(REGIME_COLUMNS))
        return ConditionRows(times, regimes[:, 0], regimes[:, 1])

    def latest_origin_ms(self) -> int | None:
        sql = f"SELECT MAX(origin_open_time_ms) FROM forecasts WHERE run = {RUN}"
        latest: int | None = self._select(sql)[0][0]
        return latest

    def scores(self, newest: int | None = None, *, horizon: int = 1) -> list[StoredScore]:
        """The scores of the `newest` targets (None: all) at one horizon, ascending by target."""
        scores = self._to_scores(self._scores(horizon, -(2**63), _FOREVER).newest)
        return scores if newest is None else scores[max(0, len(scores) - newest) :]

    def evidence(self, until_ms: int) -> list[EvidenceBlock]:
        """The blocks behind the verdicts up to this target, of each kind in order."""
        return read_evidence(self._db, self.run_id, until_ms, (OWN, ONLINE))

    def last_expert_blocks(self, until_ms: int) -> dict[str, tuple[int, int]]:
        """The number and last target of the newest block up to this target, of each expert's kind."""
        return last_expert_blocks(self._db, self.run_id, until_ms)

    def scores_with_losses(self, until_ms: int) -> list[StoredScore]:
        """The one-step scores up to this target, from the first one on whose experts' losses are still stored."""
        sql = (
            "SELECT s.target_open_time_ms FROM score_details AS d CROSS JOIN scores AS s ON s.id = d.id "
            f"WHERE s.run = {RUN} ORDER BY d.id LIMIT 1"
        )
        first = self._select(sql)
        return self.scores_between(int(first[0][0]), until_ms) if first else []

    def scores_between(self, first_ms: int, last_ms: int) -> list[StoredScore]:
        """The one-step scores of targets that open within this time."""
        return self._to_scores(self._scores(1, first_ms, last_ms).newest)

    def newest_scores(self, until_ms: int, most: int) -> list[StoredScore]:
        """One-step scores: of each mode the newest `most` up to this target (inclusive) without a preceding gap,
        ascending by target."""
        first_ms = min((self.first_of_newest(mode, until_ms, most) for mode in MODES), default=until_ms)
        return self._to_scores(self.blocks.scores(SCORES, first_ms, until_ms, with_losses=True).newest)

    def first_of_newest(self, mode: ForecastMode, until_ms: int, most: int) -> int:
        """The oldest of the newest `most` one-step targets of a mode up to this one, without those after a gap; this
        time if there is none."""
        sql = (
            f"SELECT MIN(target_open_time_ms) FROM (SELECT target_open_time_ms FROM scores WHERE run = {RUN} "
            "AND version = 1 AND mode = ? AND after_gap = 0 AND target_open_time_ms <= ? "
            "ORDER BY target_open_time_ms DESC LIMIT ?)"
        )
        first: int | None = self._select(sql, MODES[mode], until_ms, most)[0][0]
        return until_ms if first is None else first

    def scored_by_mode(self) -> dict[tuple[ForecastMode, bool], int]:
        """The number of one-step scores, by mode and whether they follow a gap."""
        rows = self._select(_MODES)
        return {(MODE_OF[mode], bool(after_gap)): int(count) for mode, after_gap, count in rows if mode in MODE_OF}

    def score_versions(self, target_open_time_ms: int, *, horizon: int = 1) -> list[StoredScore]:
        """All versions of one score, oldest first; empty if it has not been scored."""
        return self._to_scores(self._scores(horizon, target_open_time_ms, target_open_time_ms))

    def newest_version(self, target_open_time_ms: int, horizon: int) -> int:
        """The newest version of this target's scores that share a row with this horizon; 0 if there is none."""
        sql = f"SELECT MAX(version) FROM {scores_at(horizon).name} WHERE run = {RUN} AND target_open_time_ms = ?"
        return int(self._select(sql, target_open_time_ms)[0][0] or 0)

    def corrections(self, most: int) -> list[tuple[int, int]]:
        """Corrections of scored targets that are not processed yet: the number of each, ascending, and the opening
        time; at most `most`."""
        return self._select(_CORRECTIONS, most)

    def newest_correction(self) -> int:
        """The number of the newest correction in the run's market; 0 if there is none."""
        return int(self._select(_NEWEST_CORRECTION)[0][0])

    def steps(self, newest: int | None = None) -> list[StepDone]:
        """The `newest` steps (None: all), ascending by candle and step."""
        sql = (
            f"SELECT {STEPS.select('s')}, {STEP_DETAILS.select('d')} FROM steps AS s "
            f"LEFT JOIN step_details AS d ON d.id = s.id WHERE s.run = {RUN} "
            "ORDER BY s.candle_open_time_ms DESC, s.step DESC LIMIT ?"
        )
        rows = self._intact(STEPS, self._select(sql, _limit(newest)))
        return [to_step(self.run_id, row, gradients) for row, gradients in reversed(rows)]

    def step_losses(self) -> tuple[NDArray[np.float64], int]:
        """The loss of each completed step, ascending, and the number of skipped ones."""
        rows = self._select(f"SELECT loss FROM steps WHERE run = {RUN} ORDER BY candle_open_time_ms, step")
        losses = np.array([row[0] for row in rows], dtype=np.float64)
        done: NDArray[np.float64] = losses[~np.isnan(losses)]
        return done, len(losses) - len(done)

    def mean_step_ms(self, newest: int) -> float | None:
        """How long the `newest` steps took on average, without skipped ones; None if there are none."""
        sql = f"SELECT duration_ms FROM steps WHERE run = {RUN} AND loss IS NOT NULL "
        rows = self._select(f"{sql} ORDER BY candle_open_time_ms DESC, step DESC LIMIT ?", newest)
        return float(np.mean(rows)) if rows else None

    def losses_after(self, at_ms: int) -> int:
        sql = f"SELECT COUNT(*) FROM steps WHERE run = {RUN} AND loss IS NOT NULL AND at_ms > ?"
        return int(self._select(sql, at_ms)[0][0])

    def incidents(self, newest: int | None = None, others: Iterable[str] = ()) -> list[Incident]:
        """The `newest` incidents (None: all) of this run, and of others with these ids, in the order in which they were
        stored, each at its newest occurrence."""
        runs = tuple({self.run_id, *others})
        which = f"run_id IN ({', '.join('?' * len(runs))}) ORDER BY id DESC LIMIT ?"
        sql = f"SELECT {', '.join(INCIDENT_COLUMNS)} FROM incidents WHERE {which}"
        return [to_incident(row) for row in reversed(select(self._db, sql, (*runs, _limit(newest))))]

    def drifts(self, newest: int | None = None) -> list[DriftFound]:
        """The `newest` drifts (None: all), ascending by candle."""
        sql = (
            f"SELECT {', '.join(DRIFT_COLUMNS)} FROM drifts WHERE run_id = ? ORDER BY candle_open_time_ms DESC LIMIT ?"
        )
        return [DriftFound(self.run_id, *row) for row in reversed(self._select(sql, _limit(newest)))]

    def past_forecasts(self, horizon: int, first_ms: int, stop_ms: int, most: int) -> PastRows:
        """At most `most` scored forecasts of one horizon whose targets open in first_ms..stop_ms - 1."""
        block = self.blocks.scores(scores_at(horizon), first_ms, stop_ms - 1, with_losses=False).at(horizon).newest
        block = block.selected(np.arange(len(block)) < most)
        block, made = self.blocks.with_forecasts(block)
        records = block.records
        return PastRows(
            target_open_time_ms=block.target_open_time_ms,
            origin_open_time_ms=records["origin_open_time_ms"].astype(np.int64),
            made_at_ms=made.integers("made_at_ms"),
            step=made.integers("step"),
            mode=tuple(MODE_OF[number] for number in records["mode"].tolist()),
            checkpoint_id=made.checkpoint_id,
            origin_close=made.origin_close,
            quantiles=made.quantiles,
            before=made.before,
            after_gap=flag(records, "after_gap"),
            inside_50=flag(records, "inside_50"),
            inside_90=flag(records, "inside_90"),
            direction_hit=records["direction_hit"].astype(np.int8),
        )

    def scored_span(self, horizon: int) -> tuple[int, int] | None:
        """Opening times of the first and the last target scored at this horizon; None if there is none."""
        first_ms, last_ms = self._scored_end(horizon, "ASC"), self._scored_end(horizon, "DESC")
        return None if first_ms is None or last_ms is None else (first_ms, last_ms)

    def _scored_end(self, horizon: int, order: str) -> int | None:
        sql = (
            f"SELECT target_open_time_ms, records FROM {scores_at(horizon).name} WHERE run = {RUN} "
            f"ORDER BY target_open_time_ms {order} LIMIT ?"
        )
        for target, packed in self._select(sql, _LOOKED_THROUGH):
            if horizon in unpack_scores([packed])["horizon"]:
                return int(target)
        return None

    def counts(self) -> Counts:
        """The sizes of the record. It counts rows, so do not call it at every candle."""
        with translated(self._db):
            candles, scored, steps, horizons, saved, kept = self._db.conn.execute(
                _COUNTS, {"run": self.run_id}
            ).fetchone()
        return Counts(candles, scored, steps, candles * (horizons or 0), saved, kept)

    def forecasts_sha256(self) -> str:
        """One digest over all forecasts, by origin: of each the int64 origin and its own digest
        (`packing.digest_of`), which was computed from the exact arrays, and is kept after they are deleted.

        Ids, modes and write times are excluded: two runs with equal forecasts have the same digest.
        """
        digest = hashlib.sha256()
        sql = f"SELECT origin_open_time_ms, digest FROM forecasts WHERE run = {RUN} ORDER BY origin_open_time_ms"
        with translated(self._db), closing(self._db.conn.execute(sql, (self.run_id,))) as cursor:
            for origin, known_by in cursor:
                digest.update(struct.pack("<q", origin) + known_by)
        return digest.hexdigest()

    def _forecasts(self, condition: str, values: Sequence[object]) -> list[StoredForecast]:
        sql = (
            f"SELECT {FORECASTS.select('f')}, {FORECAST_DETAILS.select('d')} FROM forecasts AS f "
            f"LEFT JOIN forecast_details AS d ON d.id = f.id WHERE f.run = {RUN} AND {condition}"
        )
        rows = self._intact(FORECASTS, self._select(sql, *values))
        return [to_forecast(self.run_id, row, exact) for row, exact in rows]

    def _intact(self, table: SealedTable, rows: Sequence[Row]) -> list[tuple[Row, bytes | None]]:
        return intact_with_details(table, DETAILS[table], rows, self._on_damage)

    def _scores(self, horizon: int, first_ms: int, last_ms: int) -> ScoreBlock:
        return self.blocks.scores(scores_at(horizon), first_ms, last_ms, with_losses=True).at(horizon)

    def _to_scores(self, block: ScoreBlock) -> list[StoredScore]:
        regimes = {origin: RegimeProbabilities(*regime) for origin, regime in self.blocks.regimes(block).items()}
        return [
            replace(to_score(record, target, version, at_ms, losses), regime=regimes.get(int(record[0])))
            for record, target, version, at_ms, losses in zip(
                block.records,
                block.target_open_time_ms.tolist(),
                block.version.tolist(),
                block.scored_at_ms.tolist(),
                block.losses,
                strict=True,
            )
        ]

    def _on_damage(self, table: SealedTable, id_: int) -> None:
        known = self.damaged.setdefault(table.name, set())
        if id_ not in known:
            known.add(id_)
            _log.warning("Row %d of the table %s is damaged, and was left out.", id_, table.name)

    def _select(self, sql: str, *values: object) -> list[Row]:
        return select(self._db, sql, (self.run_id, *values))


def _limit(newest: int | None) -> int:
    return -1 if newest is None else max(0, newest)  # SQLite: a negative limit means no limit

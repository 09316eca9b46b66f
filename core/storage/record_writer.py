"""Writes the training record: the trainer's only writer, which a later trainer locks out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, replace
from operator import attrgetter
from typing import TYPE_CHECKING

from core.domain.checkpoint_info import CheckpointInfo
from core.domain.events import DriftFound, Incident, StepDone
from core.domain.incident_kinds import ENDS_OF_EPISODES, REPEATING
from core.domain.regimes import RegimeProbabilities
from core.storage.checkpoints import PINNED
from core.storage.checksums import SealedTable
from core.storage.database import select, write
from core.storage.errors import StorageError
from core.storage.evidence import EVIDENCE_COLUMNS, EvidenceBlock, evidence_row
from core.storage.packing import pack_gradients
from core.storage.record_reader import RecordReader
from core.storage.record_tables import DETAILS, FORECASTS, KEYS, STEPS, scores_at
from core.storage.records import ChallengerWork, StoredForecast, StoredScore
from core.storage.rows import (
    CHECKPOINT_COLUMNS,
    CONDITION_COLUMNS,
    DRIFT_COLUMNS,
    INCIDENT_COLUMNS,
    Row,
    checkpoint_row,
    condition_row,
    drift_row,
    forecast_values,
    incident_row,
    score_values,
    step_values,
    to_incident,
)
from core.storage.setting_sets import ADD_SETTINGS

if TYPE_CHECKING:
    from sqlite_utils import Database

EPISODE_MS = 10 * 60_000


class Fenced(StorageError):  # noqa: N818 - a state of the trainer
    """A later trainer has taken the run over; this one must end without writing."""


class TrainingRecord:
    """The record of one run, for the trainer that holds `fence` (see `RunStore.take_fence`).

    Every `add_` needs an open `write`. `reader` sees uncommitted rows inside it.
    """

    def __init__(self, db: Database, run_id: str, fence: int, episode_ms: int = EPISODE_MS) -> None:
        """episode_ms: a repeating incident within this time of the previous one belongs to its episode."""
        self._db = db
        self._run_id = run_id
        self._fence = fence
        self._run_number: int | None = None
        self._episode_ms = episode_ms
        self.reader = RecordReader(db, run_id)

    @property
    def _run(self) -> int:
        """The run's number in the tables."""
        if self._run_number is None:
            rows = select(self._db, "SELECT sequence FROM runs WHERE run_id = ?", (self._run_id,))
            self._run_number = int(rows[0][0])
        return self._run_number

    @contextmanager
    def write(self) -> Iterator[TrainingRecord]:
        """One transaction, all or nothing. Raises Fenced if a later trainer took over, and StorageError."""
        with write(self._db):
            self._check_fence()  # the write lock is held: the number cannot change before the commit
            yield self

    def add_forecast(self, forecast: StoredForecast) -> int:
        """Store a new forecast; an existing one is kept. Returns 1 or 0. Raises ValueError if its arrays do not fit."""
        return self._add_sealed(FORECASTS, *forecast_values(self._run_id, self._run, forecast))

    def add_scores(self, rows: Iterable[StoredScore]) -> int:
        """Store new scores, one row per target (one candle ahead has separate rows); each version of a score is a row,
        and existing ones are kept. A score needs its forecast in the record: sqlite3.IntegrityError without it.

        Returns how many scores were new."""
        given = list(rows)
        self._require_forecasts({score.origin_open_time_ms for score in given})
        new = 0
        for scores in _by_row(given):
            new += len(scores) * self._add_sealed(scores_at(scores[0].horizon), *score_values(self._run, scores))
        return new

    def _require_forecasts(self, origins: set[int]) -> None:
        sql = (
            f"SELECT COUNT(*) FROM forecasts WHERE run = ? AND origin_open_time_ms IN ({', '.join('?' * len(origins))})"
        )
        if select(self._db, sql, (self._run, *origins))[0][0] != len(origins):
            raise sqlite3.IntegrityError("a score needs its forecast in the record")

    def add_evidence(self, blocks: Iterable[EvidenceBlock]) -> None:
        """Store blocks of losses; existing ones are kept."""
        for block in blocks:
            row = evidence_row(block)
            self._add("evidence", EVIDENCE_COLUMNS, [row], ("run_id", "kind", "block"))

    def add_conditions(self, origin_open_time_ms: int, conditions: RegimeProbabilities) -> int:
        """Like `add_forecast`, for the market's regime at this candle."""
        row = condition_row(origin_open_time_ms, conditions)
        return self._add("conditions", CONDITION_COLUMNS, [row], ("run_id", "origin_open_time_ms"))

    def add_step(self, row: StepDone) -> int:
        """Like `add_forecast`, for one step. Its key is the candle and the step. Returns 1 or 0."""
        return self._add_sealed(STEPS, (self._run, *step_values(row)), pack_gradients(row.gradients))

    def add_challenger_work(self, work: Sequence[ChallengerWork]) -> None:
        """Count what each of the run's challengers has done since, in their order."""
        sums = ", ".join(f"{name} = {name} + ?" for name in ChallengerWork.__slots__)
        sql = f"UPDATE challengers SET {sums} WHERE run = ? AND place = ?"
        self._execute(sql, [(*astuple(done), self._run, place) for place, done in enumerate(work)])

    def add_drift(self, drift: DriftFound) -> int:
        """Like `add_forecast`, for one drift. Its key is the candle. Returns 1 or 0."""
        return self._add("drifts", DRIFT_COLUMNS, [drift_row(drift)], ("run_id", "candle_open_time_ms"))

    def add_incident(self, incident: Incident) -> Incident:
        """Store one incident under this run; a repeating one joins the row of its episode. Returns what is stored."""
        own = replace(incident, run_id=self._run_id)
        if own.kind in REPEATING and (joined := self._joined(own)) is not None:
            return joined
        self._insert_incident(own)
        return own

    def _joined(self, incident: Incident) -> Incident | None:
        """The row's episode with this occurrence added; None if the incident starts a new episode."""
        same = "run_id = ? AND (kind = ? AND severity = ? OR kind IN (?, ?)) ORDER BY id DESC LIMIT 1"
        sql = f"SELECT id, {', '.join(INCIDENT_COLUMNS)} FROM incidents WHERE {same}"
        rows = select(self._db, sql, (self._run_id, incident.kind, incident.severity, *ENDS_OF_EPISODES))
        if not rows:
            return None
        former = to_incident(rows[0][1:])
        if former.kind != incident.kind or not 0 <= incident.at_ms - former.newest_at_ms <= self._episode_ms:
            return None
        joined = replace(incident, at_ms=former.at_ms, last_at_ms=incident.at_ms, count=former.count + 1)
        settings = ", ".join(f"{name} = ?" for name in INCIDENT_COLUMNS)
        self._execute(f"UPDATE incidents SET {settings} WHERE id = ?", [(*incident_row(joined), rows[0][0])])
        return joined

    def _insert_incident(self, incident: Incident) -> None:
        self._execute(_insert("incidents", INCIDENT_COLUMNS), [incident_row(incident)])

    def add_incident_once(self, incident: Incident) -> None:
        """Store an incident that may be reported twice, as its reporter may have died before the confirmation."""
        own = replace(incident, run_id=self._run_id)
        if own not in self.reader.incidents():
            self._insert_incident(own)

    def set_learned(self, is_learned: bool) -> None:
        """Record whether the model learns from this run's market."""
        self._execute("UPDATE runs SET is_learned = ? WHERE run_id = ?", [(is_learned, self._run_id)])

    def take_corrections(self, until_id: int) -> None:
        """Record that corrections up to this number are in the scores."""
        sql = "UPDATE runs SET corrections_taken = MAX(corrections_taken, ?) WHERE run_id = ?"
        self._execute(sql, [(until_id, self._run_id)])

    def add_checkpoint(self, info: CheckpointInfo, settings_json: str | None = None) -> None:
        """Store the row of a file that is durable already. Ids are unique: sqlite3.IntegrityError otherwise.

        settings_json: the settings of `info.settings_id`.
        """
        if info.run_id != self._run_id:
            raise ValueError(f"the checkpoint {info.checkpoint_id} belongs to run {info.run_id}, not {self._run_id}")
        if info.settings_id is not None and settings_json is not None:
            self._execute(ADD_SETTINGS, [(info.settings_id, settings_json)])
        self._execute(_insert("checkpoints", CHECKPOINT_COLUMNS), [checkpoint_row(info)])

    def mark_deleted(self, ids: Iterable[str]) -> int:
        """Mark the files of these checkpoints, of any run, as deleted, except pinned ones. Rows are kept for the
        forecasts made with them. Returns how many."""
        pinned = {str(row[0]) for row in select(self._db, PINNED)}  # inside the transaction: the window may have pinned
        sql = "UPDATE checkpoints SET is_deleted = 1 WHERE checkpoint_id = ? AND is_deleted = 0"
        return self._execute(sql, ((checkpoint_id,) for checkpoint_id in ids if checkpoint_id not in pinned))

    def _check_fence(self) -> None:
        rows = select(self._db, "SELECT fence FROM runs WHERE run_id = ?", (self._run_id,))
        if not rows:
            raise StorageError(f"There is no run '{self._run_id}' in the database.")
        if rows[0][0] != self._fence:
            raise Fenced(f"Another trainer has taken over run {self._run_id}; this one ends without writing.")

    def _add(self, table: str, columns: Sequence[str], rows: Iterable[Row], key: Sequence[str]) -> int:
        # OR IGNORE would also skip a missing number, so only the key is named.
        sql = f"{_insert(table, ('run_id', *columns))} ON CONFLICT ({', '.join(key)}) DO NOTHING"
        return self._execute(sql, ((self._run_id, *row) for row in rows))

    def _add_sealed(self, table: SealedTable, values: Sequence[object], detail: bytes | None) -> int:
        """Insert one row and its detail. Returns 1, or 0 if its key exists already."""
        id_ = int(select(self._db, f"SELECT COALESCE(MAX(id), 0) + 1 FROM {table.name}")[0][0])
        key = ", ".join(KEYS[table])
        # OR IGNORE would also skip a missing number, so only the key is named.
        sql = f"{table.insert} ON CONFLICT ({key}) DO NOTHING"
        if not self._execute(sql, [table.seal(id_, values)]):
            return 0
        if detail is not None:
            self._execute(DETAILS[table].insert, [DETAILS[table].seal(id_, (detail,))])
        return 1

    def _execute(self, sql: str, rows: Iterable[Row]) -> int:
        if not self._db.conn.in_transaction:
            raise RuntimeError("the training record can only be changed inside its write()")
        return max(0, self._db.conn.executemany(sql, rows).rowcount)  # -1 without rows


def _insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def _by_row(scores: Iterable[StoredScore]) -> list[list[StoredScore]]:
    """Those of each row, in order of appearance; each ascending by horizon."""
    groups: dict[object, list[StoredScore]] = {}
    for score in scores:
        groups.setdefault((score.horizon == 1, score.target_open_time_ms, score.version), []).append(score)
    return [sorted(group, key=attrgetter("horizon")) for group in groups.values()]

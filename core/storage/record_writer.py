"""Writes the training record: the trainer's only writer, which a later trainer locks out."""

from __future__ import annotations

import json
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
from core.storage.evidence_blocks import EVIDENCE_COLUMNS, EvidenceBlock, evidence_row
from core.storage.packing import pack_gradients, packed_scores
from core.storage.record_reader import RecordReader
from core.storage.record_tables import DETAILS, FORECASTS, FURTHER_SCORES, KEYS, SCORES, STEPS
from core.storage.records import ChallengerWork, StoredForecast, StoredScore
from core.storage.rows import (
    CHECKPOINT_COLUMNS,
    CONDITION_COLUMNS,
    DRIFT_COLUMNS,
    GAIN_COLUMNS,
    INCIDENT_COLUMNS,
    Row,
    checkpoint_row,
    condition_row,
    drift_row,
    forecast_values,
    gain_row,
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
    """The record of one run, for the trainer that holds `fence` (see `RunStore.acquire_fence`).

    Every `add_` needs an open `write`. `reader` sees uncommitted rows inside it.
    """

    def __init__(self, db: Database, run_id: str, fence: int, episode_ms: int = EPISODE_MS) -> None:
        """episode_ms: a repeating incident within this time of the previous one belongs to its episode."""
        self.db = db
        self._run_id = run_id
        self._fence = fence
        self._run_number: int | None = None
        self._episode_ms = episode_ms
        self.reader = RecordReader(db, run_id)

    @property
    def run_id(self) -> str:
        return self._run_id

    @property
    def number(self) -> int:
        """The run's number in the tables."""
        if self._run_number is None:
            rows = select(self.db, "SELECT sequence FROM runs WHERE run_id = ?", (self._run_id,))
            self._run_number = int(rows[0][0])
        return self._run_number

    @contextmanager
    def write(self) -> Iterator[TrainingRecord]:
        """One transaction, all or nothing. Raises Fenced if a later trainer took over, and StorageError."""
        with write(self.db):
            self._check_fence()  # the write lock is held: the number cannot change before the commit
            yield self

    def add_forecast(self, forecast: StoredForecast) -> int:
        """Store a new forecast; an existing one is kept. Returns 1 or 0. Raises ValueError if its arrays do not fit."""
        return sum(add_sealed(self.db, FORECASTS, [forecast_values(self._run_id, self.number, forecast)]))

    def add_scores(self, rows: Iterable[StoredScore]) -> int:
        """Store new scores, one row per target (one candle ahead has separate rows); each version of a score is a row,
        and existing ones are kept. A score needs its forecast in the record: sqlite3.IntegrityError without it.

        Returns how many scores were new."""
        return add_scores(self.db, [(self.number, list(rows))])[0]

    def add_evidence(self, blocks: Iterable[EvidenceBlock]) -> None:
        """Store blocks of losses; existing ones are kept."""
        self._add("evidence", EVIDENCE_COLUMNS, map(evidence_row, blocks), ("run_id", "kind", "block"))

    def add_conditions(
        self, origin_open_time_ms: int, conditions: RegimeProbabilities, next_regime: RegimeProbabilities | None = None
    ) -> int:
        """Like `add_forecast`, for the market's regime at this candle, and what the model forecasts for the next."""
        return add_conditions(self.db, [(self._run_id, *condition_row(origin_open_time_ms, conditions, next_regime))])

    def add_step(self, row: StepDone) -> int:
        """Like `add_forecast`, for one step. Its key is the candle and the step. Returns 1 or 0."""
        values = self.number, *step_values(row)
        return sum(add_sealed(self.db, STEPS, [(values, pack_gradients(row.gradients))]))

    def add_challenger_work(self, work: Sequence[ChallengerWork]) -> None:
        """Count the new work of each of the run's challengers, in their order."""
        sums = ", ".join(f"{name} = {name} + ?" for name in ChallengerWork.__slots__)
        sql = f"UPDATE challengers SET {sums} WHERE run = ? AND place = ?"
        self._execute(sql, [(*astuple(done), self.number, place) for place, done in enumerate(work)])

    def add_drift(self, drift: DriftFound) -> int:
        """Like `add_forecast`, for one drift. Its key is the candle. Returns 1 or 0."""
        return self._add("drifts", DRIFT_COLUMNS, [drift_row(drift)], ("run_id", "candle_open_time_ms"))

    def add_incident(self, incident: Incident) -> Incident:
        """Store one incident under this run; a repeating one joins the row of its episode. Returns the stored
        incident."""
        own = replace(incident, run_id=self._run_id)
        if own.kind in REPEATING and (joined := self._joined(own)) is not None:
            return joined
        self._insert_incident(own)
        return own

    def _joined(self, incident: Incident) -> Incident | None:
        """The row's episode with this occurrence added; None if the incident starts a new episode."""
        same = "run_id = ? AND (kind = ? AND severity = ? OR kind IN (?, ?)) ORDER BY id DESC LIMIT 1"
        sql = f"SELECT id, {', '.join(INCIDENT_COLUMNS)} FROM incidents WHERE {same}"
        rows = select(self.db, sql, (self._run_id, incident.kind, incident.severity, *ENDS_OF_EPISODES))
        if not rows:
            return None
        former = to_incident(rows[0][1:])
        if former.kind != incident.kind or not 0 <= incident.at_ms - former.newest_at_ms <= self._episode_ms:
            return None
        joined = replace(incident, at_ms=former.at_ms, last_at_ms=incident.at_ms, count=former.count + 1)
        # The highest id has happened last.
        settings = ", ".join(
            ("id = 1 + (SELECT MAX(id) FROM incidents)", *(f"{name} = ?" for name in INCIDENT_COLUMNS))
        )
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

    def acknowledge_corrections(self, until_id: int) -> None:
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
        self._execute(_insert("checkpoint_gains", ("checkpoint_id", *GAIN_COLUMNS)), [gain_row(info)])

    def mark_deleted(self, ids: Iterable[str]) -> int:
        """Mark the files of these checkpoints, of any run, as deleted, except pinned ones. Rows are kept for the
        forecasts made with them. Returns how many."""
        pinned = {str(row[0]) for row in select(self.db, PINNED)}  # inside the transaction: the window may have pinned
        sql = "UPDATE checkpoints SET is_deleted = 1 WHERE checkpoint_id = ? AND is_deleted = 0"
        return self._execute(sql, ((checkpoint_id,) for checkpoint_id in ids if checkpoint_id not in pinned))

    def _check_fence(self) -> None:
        rows = select(self.db, "SELECT fence FROM runs WHERE run_id = ?", (self._run_id,))
        if not rows:
            raise StorageError(f"There is no run '{self._run_id}' in the database.")
        if rows[0][0] != self._fence:
            raise Fenced(f"Another trainer has taken over run {self._run_id}; this one ends without writing.")

    def _add(self, table: str, columns: Sequence[str], rows: Iterable[Row], key: Sequence[str]) -> int:
        return add_rows(self.db, table, ("run_id", *columns), ((self._run_id, *row) for row in rows), key)

    def _execute(self, sql: str, rows: Iterable[Row]) -> int:
        return _execute(self.db, sql, rows)


def add_rows(db: Database, table: str, columns: Sequence[str], rows: Iterable[Row], key: Sequence[str]) -> int:
    """Insert the rows whose key does not exist yet. Returns how many there were."""
    # OR IGNORE would also skip a missing number, so only the key is named.
    return _execute(db, f"{_insert(table, columns)} ON CONFLICT ({', '.join(key)}) DO NOTHING", rows)


def add_conditions(db: Database, rows: Iterable[Row]) -> int:
    """Store rows of `condition_row`, each behind its run's id. Returns how many were new."""
    return add_rows(db, "conditions", ("run_id", *CONDITION_COLUMNS), rows, ("run_id", "origin_open_time_ms"))


def add_sealed(db: Database, table: SealedTable, rows: Sequence[tuple[Row, bytes | None]]) -> list[bool]:
    """Insert rows, each with its detail if it has one. Returns which are new; others, whose key exists, are kept."""
    if not rows:
        return []
    first = int(select(db, f"SELECT COALESCE(MAX(id), 0) + 1 FROM {table.name}")[0][0])
    ids = range(first, first + len(rows))
    sealed = [table.seal(id_, values) for id_, (values, _) in zip(ids, rows, strict=True)]
    added = _execute(db, f"{table.insert} ON CONFLICT ({', '.join(KEYS[table])}) DO NOTHING", sealed)
    is_new = [True] * len(rows)
    if added < len(rows):  # a replayed candle's
        present = {row[0] for row in select(db, f"SELECT id FROM {table.name} WHERE id >= ?", (first,))}
        is_new = [id_ in present for id_ in ids]
    details = DETAILS[table]
    given = zip(ids, rows, is_new, strict=True)
    sealed = [details.seal(id_, (detail,)) for id_, (_, detail), new in given if new and detail is not None]
    _execute(db, details.insert, sealed)
    return is_new


def add_scores(db: Database, of_runs: Sequence[tuple[int, Sequence[StoredScore]]]) -> list[int]:
    """Store the new scores of several runs, each given by its number; see `TrainingRecord.add_scores`. Returns how many
    of each run were new."""
    _require_forecasts(db, {(run, score.origin_open_time_ms) for run, scores in of_runs for score in scores})
    by_row: dict[tuple[int, bool, int, int], list[StoredScore]] = {}
    for run, scores in of_runs:
        for score in sorted(scores, key=attrgetter("horizon")):
            key = run, score.horizon == 1, score.target_open_time_ms, score.version
            by_row.setdefault(key, []).append(score)
    new = dict.fromkeys((run for run, _ in of_runs), 0)
    packed = packed_scores(list(by_row.values()))
    for is_one_step in (True, False):
        groups = [each for each in zip(by_row.items(), packed, strict=True) if each[0][0][1] is is_one_step]
        rows = [score_values(key[0], group, records) for (key, group), records in groups]
        added = add_sealed(db, SCORES if is_one_step else FURTHER_SCORES, rows)
        for ((run, *_), group), is_new in zip((group for group, _ in groups), added, strict=True):
            new[run] += len(group) * is_new
    return [new[run] for run, _ in of_runs]


def _require_forecasts(db: Database, origins: set[tuple[int, int]]) -> None:
    """origins: runs and opening times."""
    sql = (
        "SELECT COUNT(*) FROM json_each(?) AS origin JOIN forecasts"
        " ON run = json_extract(origin.value, '$[0]') AND origin_open_time_ms = json_extract(origin.value, '$[1]')"
    )
    if select(db, sql, (json.dumps(sorted(origins)),))[0][0] != len(origins):
        raise sqlite3.IntegrityError("a score needs its forecast in the record")


def _execute(db: Database, sql: str, rows: Iterable[Row]) -> int:
    if not db.conn.in_transaction:
        raise RuntimeError("the training record can only be changed inside its write()")
    return max(0, db.conn.executemany(sql, rows).rowcount)  # -1 without rows


def _insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"

"""Deletes the details of old candles from the record, in small pieces, as set in the settings' `record`.

It deletes a forecast's exact arrays of the combination and its experts, a score's losses of every expert, and a step's
gradient statistics. The drawn values, all scores and the digest stay: their rows are never touched. Each piece is one
transaction, so a killed process leaves a piece complete or absent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.domain.candle import DAY_MS
from core.storage.checksums import Row, SealedTable
from core.storage.database import select
from core.storage.packing import digest_of, unpack_exact
from core.storage.record_tables import DETAILS, FORECASTS, KEYS
from core.storage.record_writer import TrainingRecord

if TYPE_CHECKING:
    from sqlite_utils import Database

AT_ONCE = 64
"""Rows per piece: a few milliseconds."""
_RUNS = """
WITH own AS (SELECT sequence, COALESCE(head, sequence) AS head FROM runs WHERE run_id = ?)
SELECT runs.sequence, COALESCE(runs.head, runs.sequence) = own.head AS is_own FROM runs, own
ORDER BY is_own DESC, runs.sequence
"""


@dataclass(frozen=True, slots=True)
class ThinningRules:
    """Details are kept for this many days of candles, counted back from the run's newest candle, and for this many
    newest candles. days: 0 keeps all."""

    days: int
    candles: int


class Thinner:
    """Thins all runs of a database, first those of the record's model. Used from the trainer's thread only."""

    def __init__(self, db: Database, record: TrainingRecord, rules: ThinningRules) -> None:
        self._db, self._record, self.rules = db, record, rules
        runs = select(db, _RUNS, (record.reader.run_id,))
        self._runs = [int(run) for run, _ in runs]
        self._own = [int(run) for run, is_own in runs if is_own]
        self._thinned_until: dict[tuple[int, str], int] = {}
        """The time before which candles have no details left, by run and table."""

    def piece(self) -> bool:
        """Delete the oldest expired details; True if there are more. Raises StorageError (Fenced)."""
        if not self.rules.days:
            return False
        for run in self._runs:
            if self._piece_of(run):
                return True
        self._runs = self._own  # the others do not change
        return False

    def _piece_of(self, run: int) -> bool:
        until_ms = self._until(run)
        if until_ms is None:
            return False
        chosen = {table: self._oldest(table, run, until_ms) for table in KEYS}
        if any(chosen.values()):
            with self._record.write():
                for table, rows in chosen.items():
                    self._remove(table, rows)
        for table, rows in chosen.items():
            done_ms = int(rows[-1][1]) + 1 if len(rows) == AT_ONCE else until_ms
            self._thinned_until[run, table.name] = done_ms
        return any(len(rows) == AT_ONCE for rows in chosen.values())

    def _until(self, run: int) -> int | None:
        """The time before which details are deleted; None: nothing to delete."""
        newest = select(self._db, "SELECT MAX(origin_open_time_ms) FROM forecasts WHERE run = ?", (run,))[0][0]
        sql = (
            "SELECT origin_open_time_ms FROM forecasts WHERE run = ? ORDER BY origin_open_time_ms DESC LIMIT 1 OFFSET ?"
        )
        candles = self.rules.candles // (len(self._own) if run in self._own else 1)  # of one model together
        nth = select(self._db, sql, (run, max(0, candles - 1)))
        if newest is None or not nth:
            return None
        return min(int(newest) - self.rules.days * DAY_MS, int(nth[0][0]))

    def _oldest(self, table: SealedTable, run: int, until_ms: int) -> list[Row]:
        """Ids and times of the first rows with details, ascending in time."""
        time, detail = KEYS[table][1], DETAILS[table].name
        from_ms = self._thinned_until.get((run, table.name))
        if from_ms is None:
            from_ms = self._first_with_detail(table, run)
        if from_ms is None or from_ms >= until_ms:
            return []
        sql = (
            f"SELECT t.id, t.{time} FROM {table.name} AS t JOIN {detail} AS d ON d.id = t.id "
            f"WHERE t.run = ? AND t.{time} >= ? AND t.{time} < ? ORDER BY t.{time} LIMIT ?"
        )
        return select(self._db, sql, (run, from_ms, until_ms, AT_ONCE))

    def _first_with_detail(self, table: SealedTable, run: int) -> int | None:
        """The time of the oldest detail. Details are stored in the order of time, so it has the lowest id."""
        sql = (
            f"SELECT t.{KEYS[table][1]} FROM {DETAILS[table].name} AS d CROSS JOIN {table.name} AS t ON t.id = d.id "
            "WHERE t.run = ? ORDER BY d.id LIMIT 1"
        )
        rows = select(self._db, sql, (run,))
        return int(rows[0][0]) if rows else None

    def _remove(self, table: SealedTable, rows: list[Row]) -> None:
        ids = [row[0] for row in rows]
        if table is FORECASTS:
            ids = [id_ for id_ in ids if self._is_known_by_its_digest(id_)]
        self._db.conn.executemany(f"DELETE FROM {DETAILS[table].name} WHERE id = ?", [(id_,) for id_ in ids])

    def _is_known_by_its_digest(self, id_: int) -> bool:
        """Whether the kept digest matches the arrays to be deleted. If not, something is damaged, and is left for the
        repair."""
        detail = DETAILS[FORECASTS]
        sql = (
            f"SELECT {FORECASTS.select('f')}, {detail.select('d')} FROM forecasts AS f "
            f"JOIN {detail.name} AS d ON d.id = f.id WHERE f.id = ?"
        )
        row = select(self._db, sql, (id_,))[0]
        made, exact = row[: len(FORECASTS.names)], row[len(FORECASTS.names) :]
        if not (FORECASTS.is_intact(made) and detail.is_intact(exact)):
            return False
        of = dict(zip(FORECASTS.names, made, strict=True))
        arrays = unpack_exact(exact[1], (of["horizons"], of["quantities"], of["levels"]))
        return bool(of["digest"] == digest_of(of["origin_open_time_ms"], of["origin_close"], of["scale"], *arrays))

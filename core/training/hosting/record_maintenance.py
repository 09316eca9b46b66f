"""Maintenance of the record by the trainer: thins it, and repairs damaged rows. No torch.

Both in pieces of a few milliseconds, after an answer and while no command waits; when candles come without a pause, one
piece now and then.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from core.domain.clock import Clock
from core.domain.events import Incident, Severity
from core.domain.incident_kinds import IncidentKind
from core.settings.record import RecordSettings
from core.storage.backup_record import list_backups
from core.storage.database import translated
from core.storage.folder import DataFolder
from core.storage.record_thinning import Thinner, ThinningRules
from core.storage.record_writer import TrainingRecord
from core.storage.row_repair import (
    DamagedRow,
    RowRepair,
    delete_damaged_list,
    find_damaged_among_newest,
    load_damaged_list,
    repair_rows,
    still_damaged,
)

if TYPE_CHECKING:
    from sqlite_utils import Database

_NEWEST = 2_000
"""Rows of each table that are checked before a trainer continues from them."""
_BUSY_EVERY = 32
"""Candles between two pieces if there is no pause. A piece thins the details of twice as many."""
_log = logging.getLogger("ghostcandle.training")


class RecordMaintenance:
    """Used from the trainer's thread only. All methods raise StorageError."""

    def __init__(
        self, db: Database, record: TrainingRecord, folder: DataFolder, settings: RecordSettings, clock: Clock
    ) -> None:
        self._db, self._record, self._folder, self._clock = db, record, folder, clock
        self._thinner = Thinner(db, record, ThinningRules(settings.keep_detail_days, settings.keep_detail_candles))
        self._candles = 0

    def opening(self) -> list[Incident]:
        """Repair the rows that the run is about to continue from."""
        with translated(self._db):
            found = find_damaged_among_newest(self._db.conn, _NEWEST)
        return self._repair([*found, *load_damaged_list(self._folder.backups)])

    def candle_processed(self) -> list[Incident]:
        """Called after each candle; another may be waiting."""
        self._candles += 1
        if self._candles % _BUSY_EVERY:
            return []
        self._thinner.piece()
        return self._repair_found()

    def piece(self) -> tuple[bool, list[Incident]]:
        """Called when idle. Returns whether there is more to do, and incidents of damaged rows."""
        return self._thinner.piece(), self._repair_found()

    def _repair_found(self) -> list[Incident]:
        """Repair the rows that readers, and a backup's check, have found."""
        damaged = self._record.reader.damaged
        found = [(table, id_) for table, ids in damaged.items() for id_ in ids]
        listed = load_damaged_list(self._folder.backups)
        if not found and not listed:
            return []
        incidents = self._repair([*found, *listed])
        damaged.clear()
        return incidents

    def _repair(self, rows: list[DamagedRow]) -> list[Incident]:
        incidents: list[Incident] = []
        if rows:
            with self._record.write() as record:
                damaged = still_damaged(self._db.conn, rows)
                if damaged:
                    done = repair_rows(self._db.conn, damaged, list_backups(self._folder.backups))
                    incidents = [_incident(done, self._record.reader.run_id, self._clock.now_ms())]
                    record.add_incident(incidents[0])
                    _log.warning("%s %s", incidents[0].what_happened, incidents[0].what_was_done)
        delete_damaged_list(self._folder.backups)
        return incidents


def _incident(done: RowRepair, run_id: str, now_ms: int) -> Incident:
    tables = ", ".join(sorted({name.replace("_", " ") for name, _ in (*done.restored, *done.dropped)}))
    was_done = []
    if done.restored:
        was_done.append(f"{len(done.restored)} restored from backups, the newest of them {done.from_backup}.")
    if done.dropped:
        was_done.append(f"{len(done.dropped)} in no backup and removed.")
    changed = f"{len(done):,} rows of the record were changed on the disk after they had been written"
    if len(done) == 1:
        changed = "1 row of the record was changed on the disk after it had been written"
    return Incident(
        run_id,
        now_ms,
        Severity.WARNING,
        IncidentKind.DAMAGED_ROWS,
        f"{changed} ({tables}).",
        " ".join(was_done),
        "Nothing." if not done.dropped else "Forecasts or scores of those candles are missing. Check the disk.",
        "\n".join(f"{name} {id_}" for name, id_ in (*done.restored, *done.dropped)[:200]),
    )

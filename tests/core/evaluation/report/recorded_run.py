"""A recorded run to report on."""

from __future__ import annotations

from pathlib import Path

from core.domain.events import Incident, Severity
from core.domain.incident_kinds import IncidentKind
from core.evaluation.paper import TRADE_COST
from core.evaluation.sharing import SharedRun, read_shared
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_writer import TrainingRecord
from core.storage.runs import RunStore
from tests.support.candles import MARKET, random_walk, without
from tests.support.synthetic_run import made_up

CANDLES = without(random_walk(120, seed=2), 100)


def recorded(root: Path, private: tuple[str, ...] = ()) -> SharedRun:
    run_id = made_up(root, CANDLES)
    db = open_database(DataFolder(root).database)
    try:
        CandleStore(db).save(MARKET, CANDLES)
        runs = RunStore(db)
        with TrainingRecord(db, run_id, runs.get(run_id).fence).write() as record:
            happened = "The checkpoint /home/alice/data/x was not written."
            record.add_incident(
                Incident(run_id, 1, Severity.ERROR, IncidentKind("kind"), happened, "It will be tried again.", "")
            )
        return read_shared(db, runs.get(run_id), TRADE_COST, private)
    finally:
        db.close()

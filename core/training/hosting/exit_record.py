"""Stores how a trainer ended if no trainer follows to do it: by then no other process writes to its run."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from core.domain.events import Incident
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_writer import TrainingRecord
from core.storage.runs import RunStore
from core.training.online.trainer_spec import SessionSpec

_log = logging.getLogger("ghostcandle.training")


def store_incidents(incidents: Sequence[Incident], spec: SessionSpec, run_id: str | None) -> bool:
    """Store them in the run's record, which is taken over for it: a leftover trainer can no longer write.

    run_id: None if the trainer ended before it named its run; then it is the one that `spec` would continue. Returns
    False if there is no such run, or the database cannot be written; then they are logged.
    """
    try:
        if _write(incidents, spec, run_id):
            return True
        why = "there is no run yet"
    except StorageError as error:
        why = str(error)
    for incident in incidents:
        _log.warning("Not in the database (%s): %s %s", why, incident.what_happened, incident.what_was_done)
    return False


def _write(incidents: Sequence[Incident], spec: SessionSpec, run_id: str | None) -> bool:
    db = open_database(DataFolder(spec.root).database)
    try:
        runs = RunStore(db)
        if run_id is None:
            found = None if spec.new_run else runs.find(spec.market, spec.fingerprint, spec.others)
            run_id = None if found is None else found.run_id
        if run_id is None:
            return False
        record = TrainingRecord(db, run_id, runs.take_fence(run_id))
        with record.write():
            for incident in incidents:
                record.add_incident_once(incident)
        return True
    finally:
        db.close()

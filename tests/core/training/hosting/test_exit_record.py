from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.events import Incident, Severity
from core.domain.incident_kinds import IncidentKind
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_writer import Fenced, TrainingRecord
from core.storage.runs import RunStore
from core.training.hosting.driver import store_incidents
from core.training.online.trainer_spec import SessionSpec
from tests.core.training import rigs
from tests.support.driven import stored_incidents

ENDED = Incident(
    None, 1_700_000_000_000, Severity.ERROR, IncidentKind.TRAINER_ENDED, "It ended.", "Nothing.", "A step."
)


def begin_run(spec: SessionSpec) -> str:
    db = open_database(DataFolder(spec.root).database)
    run = RunStore(db).create(
        spec.market,
        spec.fingerprint,
        created_at_ms=1,
        seed=5,
        is_seeded=True,
        settings_json="{}",
        device="CPU",
        parameters=1,
    )
    db.close()
    return run.run_id


@pytest.mark.parametrize("names_its_run", [True, False])
def test_an_exit_without_a_next_trainer_is_recorded_once(tmp_path: Path, names_its_run: bool) -> None:
    spec = rigs.spec(tmp_path)
    run_id = begin_run(spec)
    for _ in range(2):
        assert store_incidents([ENDED, replace(ENDED, kind="breaker")], spec, run_id if names_its_run else None)
    assert stored_incidents(tmp_path) == [IncidentKind.TRAINER_ENDED, "breaker"]


def test_a_fenced_trainer_writes_nothing_more(tmp_path: Path) -> None:
    spec = rigs.spec(tmp_path)
    run_id = begin_run(spec)
    db = open_database(DataFolder(tmp_path).database)
    record = TrainingRecord(db, run_id, RunStore(db).acquire_fence(run_id))
    assert store_incidents([ENDED], spec, run_id)
    with pytest.raises(Fenced), record.write():
        pass
    db.close()


def test_without_a_run_nothing_is_recorded_and_that_is_reported(tmp_path: Path) -> None:
    spec = rigs.spec(tmp_path)
    assert not store_incidents([ENDED], spec, None)
    begin_run(spec)
    assert not store_incidents([ENDED], replace(spec, new_run=True), None), "that run is not the one that was meant"
    assert stored_incidents(tmp_path) == []

"""Record upkeep in pauses is reported to the window and never delays a candle."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from core.domain.clock import SystemClock
from core.domain.events import Incident
from core.settings.record import RecordSettings
from core.storage.backups import make_backup
from core.storage.database import open_database, write
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.record_thinning import AT_ONCE
from core.storage.row_repair import find_damaged, save_damaged_list
from core.training.commands import StepOnce, StopSession
from core.training.hosting.record_maintenance import RecordMaintenance
from tests.core.storage.children import write_detailed
from tests.core.storage.samples import open_record
from tests.core.training import rigs

DAY_CANDLES = 1440


def test_repairs_made_while_idle_are_reported_with_the_next_answer(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    session = rigs.service(tmp_path)
    rigs.feed(session, rigs.CANDLES[:30])
    make_backup(folder, SystemClock(), keep=1)
    with closing(open_database(folder.database)) as db:
        db.conn.execute("UPDATE forecast_details SET arrays = X'00' WHERE id = 5")
    save_damaged_list(folder.backups, [("forecast_details", 5)])
    assert session.do_deferred_work() is False
    incidents = [event for event in session.handle(StepOnce()) if isinstance(event, Incident)]
    assert [event.kind for event in incidents] == ["damaged rows"]
    assert incidents[0].what_happened.startswith("1 row of the record was changed on the disk after it had been")
    assert not [event for event in session.handle(StepOnce()) if isinstance(event, Incident)], "once"
    with closing(open_database(folder.database)) as db:
        assert find_damaged(db.conn) == []
    session.close()


@pytest.mark.parametrize(("is_saved", "rotten", "scored"), [(True, 37, 48), (True, 36, 49), (False, 37, 49)])
def test_a_run_continues_without_the_exact_arrays_of_a_new_forecast(
    tmp_path: Path, is_saved: bool, rotten: int, scored: int
) -> None:
    """The detail alone rots, and is in no backup. is_saved: else the newest candles are taken once more."""
    session = rigs.service(tmp_path)
    run_id = session.status().run_id
    rigs.feed(session, rigs.CANDLES[:37])
    if is_saved:
        session.handle(StopSession())
    session.close()
    with closing(open_database(DataFolder(tmp_path).database)) as db:
        db.conn.execute("UPDATE forecast_details SET arrays = X'00' WHERE id = ?", (rotten,))
    session = rigs.service(tmp_path)
    rigs.feed(session, rigs.after(session, 50))
    session.close()
    with closing(open_database(DataFolder(tmp_path).database)) as db:
        counts = RecordReader(db, run_id).counts()
        assert find_damaged(db.conn) == [] and (counts.candles, counts.scored) == (50, scored)


def test_a_locked_database_does_not_end_the_upkeep(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    session = rigs.service(tmp_path)
    rigs.feed(session, rigs.CANDLES[:20])
    session._db.conn.execute("PRAGMA busy_timeout = 0")
    with closing(open_database(folder.database)) as db:
        db.conn.execute("UPDATE step_details SET gradients = X'00' WHERE id = 3")
        folder.backups.mkdir(exist_ok=True)
        save_damaged_list(folder.backups, [("step_details", 3)])
        with write(db):
            assert session.do_deferred_work() is False
        assert find_damaged(db.conn) == [("step_details", 3)]
        assert session.do_deferred_work() is False
        assert find_damaged(db.conn) == [], "the list was kept until it could be done"
    rigs.feed(session, rigs.CANDLES[20:25])
    session.close()


def test_old_details_are_removed_in_pauses_and_occasionally_without_pauses(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.ensure()
    rules = RecordSettings(keep_detail_days=1, keep_detail_candles=1_000)
    with closing(open_database(folder.database)) as db:
        record = open_record(db)
        write_detailed(record, range(DAY_CANDLES + 3 * AT_ONCE))
        upkeep = RecordMaintenance(db, record, folder, rules, SystemClock())
        left = lambda: db.execute("SELECT COUNT(*) FROM forecast_details").fetchone()[0]  # noqa: E731
        before = left()
        for _ in range(32):
            assert upkeep.candle_processed() == []
        assert left() == before - AT_ONCE
        while upkeep.piece()[0]:
            pass
        assert left() == DAY_CANDLES + 1

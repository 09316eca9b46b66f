"""Real processes: killed while writing, opening a new file together, out of disk space. One of them is fast."""

from __future__ import annotations

import os
import signal
import sys

import pytest
from sqlite_utils import Database

from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_writer import Fenced, TrainingRecord
from core.storage.records import Counts
from core.storage.recovering import open_or_recover
from core.storage.runs import RunStore
from tests.core.storage.processes import PATIENCE_S, Child, child
from tests.core.storage.samples import HORIZONS, MARKET, candle, create_run, forecast, open_record, step

if sys.platform == "win32":
    pytest.skip("SIGKILL and file size limits are POSIX", allow_module_level=True)

from tests.core.storage import children


@pytest.mark.parametrize("commits", [40, *(pytest.param(count, marks=pytest.mark.slow) for count in (1, 150))])
def test_a_killed_writer_loses_no_commit_and_leaves_none_partial(
    folder: DataFolder, db: Database, commits: int
) -> None:
    run = create_run(db)
    fence = RunStore(db).acquire_fence(run.run_id)
    with child(children.write_until_killed, folder.database, run.run_id, fence) as writer:
        received = [writer.receive() for _ in range(commits)]
        reported = drained(writer, received)
    with open_database(folder.database, quick_check=True) as checked:
        record = TrainingRecord(checked, run.run_id, fence)
        counts = record.reader.counts()
        # Some may have been committed after the last report; none that was reported may be missing.
        assert len(reported) <= counts.candles
        assert counts == Counts(counts.candles, counts.candles - 1, counts.candles, HORIZONS * counts.candles, 0, 0)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        with record.write():
            assert record.add_forecast(forecast(0)) == 0
            assert record.add_step(step(counts.candles)) == 1


def drained(child: Child, received: list[object]) -> list[object]:
    while child.pipe.poll():
        received.append(child.receive())
    return received


@pytest.mark.slow
def test_a_writer_killed_inside_its_transaction_leaves_none_of_it(folder: DataFolder, db: Database) -> None:
    run = create_run(db)
    fence = RunStore(db).acquire_fence(run.run_id)
    log = folder.database.with_name(folder.database.name + "-wal")
    with child(children.stop_inside_a_transaction, folder.database, run.run_id, fence) as writer:
        assert writer.receive() == "inside"
        assert log.stat().st_size > 500_000
    with open_or_recover(folder).db as opened:
        record = open_record(opened, run)
        assert record.reader.counts().forecasts == 0
        with record.write():
            assert record.add_forecast(forecast(0)) == 1


@pytest.mark.slow
def test_a_trainer_in_another_process_is_locked_out_by_the_next(folder: DataFolder, db: Database) -> None:
    run = create_run(db)
    fence = RunStore(db).acquire_fence(run.run_id)
    with child(children.write_until_killed, folder.database, run.run_id, fence) as writer:
        assert writer.receive() == 0
        taken = RunStore(db).acquire_fence(run.run_id)
        with pytest.raises(EOFError):  # the child ends: it was fenced
            while True:
                writer.receive()
        before = open_record(db, run).reader.counts()
    assert taken == fence + 1
    with pytest.raises(Fenced), TrainingRecord(db, run.run_id, fence).write():
        pass
    assert open_record(db, run).reader.counts() == before


@pytest.mark.slow
def test_processes_open_a_new_file_together(folder: DataFolder) -> None:
    arguments = (children.open_and_save, folder.database)
    with child(*arguments, 0) as first, child(*arguments, 1) as second, child(*arguments, 2) as third:
        opening = (first, second, third)
        assert [one.receive() for one in opening] == ["ready"] * 3
        for one in opening:
            one.pipe.send("go")
        assert [one.receive() for one in opening] == [1] * 3
    with open_database(folder.database, quick_check=True) as db:
        assert CandleStore(db).count(MARKET) == 3


@pytest.mark.slow
def test_a_file_that_cannot_grow_keeps_its_data(folder: DataFolder) -> None:
    with child(children.fill_the_disk, folder.database, 300_000) as writer:
        answer = writer.receive()
    assert isinstance(answer, tuple)
    saved, sentence = answer
    assert "The disk that holds" in sentence
    with open_database(folder.database, quick_check=True) as db:
        assert CandleStore(db).count(MARKET) == saved > 100


@pytest.mark.slow
def test_an_import_killed_midway_stores_nothing(folder: DataFolder, db: Database) -> None:
    log = folder.database.with_name(folder.database.name + "-wal")
    with child(children.be_killed_while_saving_columns, folder.database, 120_000) as writer:
        assert writer.receive() == 50_000
        assert log.stat().st_size > 500_000
    with open_or_recover(folder).db as opened:
        assert CandleStore(opened).count(MARKET) == 0
        assert CandleStore(opened).save(MARKET, []) == 0


@pytest.mark.slow
def test_an_import_suspended_midway_locks_others_out_and_loses_nothing(folder: DataFolder, db: Database) -> None:
    db.execute("PRAGMA busy_timeout = 100")
    with child(children.be_killed_while_saving_columns, folder.database, 60_000) as writer:
        assert writer.receive() == 50_000
        assert writer.process.pid is not None
        os.kill(writer.process.pid, signal.SIGSTOP)
        with pytest.raises(StorageError, match="locked by another program"):
            CandleStore(db).save(MARKET, [candle(70_000)])
        os.kill(writer.process.pid, signal.SIGCONT)
        for _ in range(2):
            writer.pipe.send("continue")
        assert writer.receive() == 60_000
        writer.process.join(PATIENCE_S)
    assert CandleStore(db).save(MARKET, [candle(70_000)]) == 1
    assert CandleStore(db).count(MARKET) == 60_001

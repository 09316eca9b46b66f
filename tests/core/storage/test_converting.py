"""A database of an older version is converted without loss, or left unchanged."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_utils import Database

from core.domain.diagnosis import GradientStatistics, LayerStatistics
from core.domain.events import StepDone
from core.storage import converting, database
from core.storage.database import Watch, open_database
from core.storage.errors import StorageError
from core.storage.record_reader import RecordReader
from core.storage.record_writer import TrainingRecord
from core.storage.records import StoredScore
from core.storage.soundness import pages_of
from tests.core.storage import children
from tests.core.storage.processes import child
from tests.core.storage.samples import HORIZONS, forecast, open_record, score, step
from tests.support.old_record import add_old_forecast, add_old_run, add_old_scores, add_old_steps, open_old_database

CANDLES = 40
STATISTICS = GradientStatistics((LayerStatistics(1.0, 0.5, None, 2.0, 0.25, 0.125),), 1.0, 2.0, 0.5, (0.5, None), 1.0)


def scores() -> list[StoredScore]:
    """Of all targets; one was corrected, one step ahead and three."""
    ahead = range(1, HORIZONS + 1)
    first = [replace(score(origin, h), expert_losses=bytes([origin, h])) for origin in range(CANDLES) for h in ahead]
    return [*first, replace(score(4), version=2, loss=2.5), replace(score(2, 3), version=2, loss=1.5)]


def steps(run_id: str) -> list[StepDone]:
    return [
        replace(step(number, run_id=run_id), gradients=STATISTICS if number % 3 else None) for number in range(CANDLES)
    ]


@contextmanager
def old_database(path: Path) -> Iterator[tuple[Database, str]]:
    with closing(open_old_database(path)) as db:
        run_id = add_old_run(db)
        for origin in range(CANDLES):
            add_old_forecast(db, run_id, forecast(origin))
        add_old_scores(db, run_id, scores())
        add_old_steps(db, run_id, steps(run_id))
        yield db, run_id


def newest(every: list[StoredScore], horizon: int) -> list[StoredScore]:
    by_target = {each.target_open_time_ms: each for each in every if each.horizon == horizon}
    return [by_target[target] for target in sorted(by_target)]


def in_new_database(path: Path) -> RecordReader:
    """The same forecasts, as they are written today."""
    db = open_database(path)
    record = open_record(db)
    with record.write():
        for origin in range(CANDLES):
            record.add_forecast(forecast(origin))
    return record.reader


def test_a_converted_record_is_read_back_completely(tmp_path: Path) -> None:
    with old_database(tmp_path / "old.sqlite3") as (_, run_id):
        pass
    with closing(open_database(tmp_path / "old.sqlite3", quick_check=True)) as db:
        reader = RecordReader(db, run_id)
        for origin in range(CANDLES):
            ours, theirs = reader.forecast_of(origin * 60_000), forecast(origin)
            assert ours is not None
            assert ours.quantiles.shown.tobytes() == theirs.quantiles.shown.tobytes()
            assert ours.quantiles.experts.tobytes() == theirs.quantiles.experts.tobytes()
            plain = replace(theirs, quantiles=ours.quantiles)
            assert [getattr(ours, name) for name in ours.__slots__] == [
                getattr(plain, name) for name in plain.__slots__
            ]
        for horizon in range(1, HORIZONS + 1):
            assert reader.scores(horizon=horizon) == newest(scores(), horizon)
        assert [each.version for each in reader.score_versions(5 * 60_000)] == [1, 2]
        assert reader.steps() == steps(run_id)
        assert reader.damaged == {}
        assert pages_of(db.conn, is_thorough=True) is None
        assert db.execute("PRAGMA freelist_count").fetchone() == (0,), "the file is made smaller again"
        names = db.table_names()
        assert not [name for name in names if name.endswith("_before")]
        with closing(in_new_database(tmp_path / "new.sqlite3")._db) as new:
            (new_run,) = new.execute("SELECT run_id FROM runs").fetchone()
            assert RecordReader(new, new_run).forecasts_sha256() == reader.forecasts_sha256()


def test_writing_continues_after_a_conversion(tmp_path: Path) -> None:
    with old_database(tmp_path / "old.sqlite3") as (_, run_id):
        pass
    with closing(open_database(tmp_path / "old.sqlite3")) as db:
        record = TrainingRecord(db, run_id, 0)
        with record.write():
            assert record.add_forecast(forecast(0, seed=9)) == 0, "what is stored stays"
            assert record.add_forecast(forecast(CANDLES)) == 1
            assert record.add_scores([score(CANDLES)]) == 1
        assert record.reader.counts().candles == CANDLES + 1


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE forecasts SET mode = 'lave' WHERE horizon = 3",
        "UPDATE forecasts SET quantiles = X'00'",
        "DELETE FROM forecasts WHERE horizon = 2",
    ],
)
def test_damaged_rows_are_skipped_and_counted(tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    with old_database(tmp_path / "old.sqlite3") as (db, run_id):
        db.conn.execute("DROP TRIGGER forecasts_stay")
        db.conn.execute(f"{damage}{' AND' if 'WHERE' in damage else ' WHERE'} origin_open_time_ms = 600000")
        db.conn.execute(
            "CREATE TRIGGER forecasts_stay BEFORE UPDATE ON forecasts BEGIN SELECT RAISE(ABORT, 'stays'); END"
        )
    with caplog.at_level(logging.WARNING), closing(open_database(tmp_path / "old.sqlite3")) as db:
        reader = RecordReader(db, run_id)
        after = reader.forecast_of(660_000)
        assert reader.forecast_of(600_000) is None and after is not None and after.horizons == HORIZONS
    assert "1 rows of the table forecasts were damaged" in caplog.text


def test_conversion_reports_its_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converting, "_TELL_EVERY", 50)
    with old_database(tmp_path / "old.sqlite3"):
        pass
    reported: list[tuple[int, int]] = []
    watch = Watch(lambda done, total: reported.append((done, total)), lambda: False)
    open_database(tmp_path / "old.sqlite3", conversion=watch).close()
    rows = CANDLES * HORIZONS + len(scores()) + CANDLES
    assert reported == [(done, rows) for done in range(50, rows + 1, 50)]


@pytest.mark.parametrize("reports", [0, 1, 5])
def test_a_cancelled_conversion_keeps_the_old_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reports: int
) -> None:
    monkeypatch.setattr(converting, "_TELL_EVERY", 100)
    monkeypatch.setattr(database, "_STEPS_BETWEEN_LOOKS", 10)
    path = tmp_path / "old.sqlite3"
    with old_database(path) as (db, run_id):
        before = list(db.conn.iterdump())
    reported: list[int] = []
    watch = Watch(lambda done, total: reported.append(done), lambda: len(reported) >= reports)
    with pytest.raises(StorageError, match="cancelled, and nothing was changed"):
        open_database(path, conversion=watch)
    assert len(reported) == reports
    with closing(Database(path)) as db:
        assert list(db.conn.iterdump()) == before
    with closing(open_database(path, quick_check=True)) as db:
        assert RecordReader(db, run_id).counts().candles == CANDLES


@pytest.mark.slow
@pytest.mark.parametrize("writes", [1, 2, 3])
def test_a_killed_conversion_keeps_the_old_record(tmp_path: Path, writes: int) -> None:
    path = tmp_path / "old.sqlite3"
    with old_database(path) as (_, run_id):
        pass
    with child(children.be_killed_while_converting, path, writes) as opener:
        assert opener.receive() == writes
    with pytest.raises(StorageError, match="older version"):
        open_database(path, readonly=True)
    with closing(open_database(path, quick_check=True)) as db:
        reader = RecordReader(db, run_id)
        assert reader.scores() == newest(scores(), 1) and reader.counts().candles == CANDLES
        made = reader.forecast_of(0)
        assert made is not None and made.quantiles.are_finite

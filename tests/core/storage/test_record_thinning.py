"""Old candles lose their detail in small batches, and nothing else of the record changes."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from sqlite_utils import Database

from core.domain.candle import Market
from core.domain.clock import ManualClock
from core.storage.backup_record import list_backups
from core.storage.backups import make_backup
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.packing import pack_drawn, unpack_drawn
from core.storage.record_reader import RecordReader
from core.storage.record_tables import DETAILS, KEYS
from core.storage.record_thinning import AT_ONCE, Thinner, ThinningRules
from core.storage.record_writer import Fenced, TrainingRecord
from core.storage.runs import RunStore
from core.storage.soundness import pages_of
from tests.core.storage import children
from tests.core.storage.children import STATISTICS, write_detailed
from tests.core.storage.processes import child
from tests.core.storage.samples import HORIZONS, MARKET, MINUTE_MS, create_run, forecast, open_record

CANDLES = 150
DAY_CANDLES = 1440


def a_day_apart(count: int, first: int = 0) -> list[int]:
    """So many candles that are older than a day, and as many younger ones; what lies between was not watched.

    Of the old ones the newest is exactly a day older than the newest of all, so it keeps its detail.
    """
    later = first + DAY_CANDLES
    return [*range(first, first + count), *range(later, later + count)]


def details(db: Database) -> dict[str, int]:
    return {table.name: db.execute(f"SELECT COUNT(*) FROM {table.name}").fetchone()[0] for table in DETAILS.values()}


def everything_else(db: Database) -> list[object]:
    """All that thinning must leave alone."""
    return [db.execute(f"SELECT * FROM {table.name} ORDER BY id").fetchall() for table in KEYS]


def thinned(db: Database, record: TrainingRecord, rules: ThinningRules) -> int:
    """To the end. Returns how many pieces it took."""
    thinner, pieces = Thinner(db, record, rules), 1
    while thinner.piece():
        pieces += 1
    return pieces


def test_old_candles_lose_their_detail_and_nothing_else_changes(db: Database) -> None:
    record = open_record(db)
    write_detailed(record, a_day_apart(CANDLES))
    before, digest, counts = everything_else(db), record.reader.forecasts_sha256(), record.reader.counts()
    scores = record.reader.scores()
    assert thinned(db, record, ThinningRules(days=1, candles=100)) >= CANDLES // AT_ONCE
    left = details(db)
    assert left == {
        "forecast_details": CANDLES + 1,
        "score_details": CANDLES,
        "further_score_details": CANDLES - 1,
        "step_details": CANDLES + 1,
    }
    assert everything_else(db) == before
    assert record.reader.forecasts_sha256() == digest and record.reader.counts() == counts
    old, young = (record.reader.forecast_of(origin * MINUTE_MS) for origin in (5, DAY_CANDLES + 5))
    assert old is not None and young is not None
    drawn = unpack_drawn(pack_drawn(forecast(5).quantiles.shown), 5, 7)
    np.testing.assert_array_equal(old.quantiles.shown, drawn)
    assert old.quantiles.experts.shape == (0, HORIZONS, 5, 7)
    assert young.quantiles.experts.tobytes() == forecast(DAY_CANDLES + 5).quantiles.experts.tobytes()
    now = record.reader.scores()
    assert [replace(each, expert_losses=b"") for each in now] == [replace(each, expert_losses=b"") for each in scores]
    assert now[5].expert_losses == b"" and now[-5].expert_losses == scores[-5].expert_losses != b""
    steps = record.reader.steps()
    assert steps[5].gradients is None and steps[-5].gradients == STATISTICS
    assert pages_of(db.conn, is_thorough=True) is None and record.reader.damaged == {}


def test_protected_detail_is_kept(db: Database) -> None:
    record = open_record(db)
    write_detailed(record, a_day_apart(20))
    before = details(db)
    for rules in (ThinningRules(0, 1), ThinningRules(1, 10_000), ThinningRules(400, 10)):
        assert thinned(db, record, rules) == 1 and details(db) == before, rules


def test_detail_of_the_newest_candles_is_kept_at_any_age(db: Database) -> None:
    record = open_record(db)
    write_detailed(record, a_day_apart(60))
    thinned(db, record, ThinningRules(1, 60 + 40))
    assert details(db)["forecast_details"] == 60 + 40


def test_every_run_is_thinned_by_its_own_newest_candle(db: Database) -> None:
    other = open_record(db, create_run(db))
    write_detailed(other, a_day_apart(70))
    record = open_record(db)
    write_detailed(record, a_day_apart(140, DAY_CANDLES))
    thinned(db, record, ThinningRules(1, 10))
    for each, first in ((other, 70), (record, DAY_CANDLES + 140)):
        newest = each.reader.forecasts_after((first - 3) * MINUTE_MS, 2)
        exact = [made.origin_open_time_ms // MINUTE_MS for made in newest if len(made.quantiles.experts)]
        assert exact == [first - 1]


def test_runs_of_one_model_share_the_candles_with_detail(db: Database) -> None:
    head = create_run(db, others=(Market("binance", "ETH/USDT", MARKET.interval),))
    fence = RunStore(db).acquire_fence(head.run_id)
    records = [TrainingRecord(db, run.run_id, fence) for run in RunStore(db).members(head.run_id)]
    for record in records:
        write_detailed(record, a_day_apart(60))
    thinned(db, records[0], ThinningRules(1, 2 * (60 + 40)))
    assert details(db)["forecast_details"] == 2 * (60 + 40)


def test_thinning_continues_with_new_candles(db: Database) -> None:
    record = open_record(db)
    write_detailed(record, a_day_apart(20)[:30])
    thinner = Thinner(db, record, ThinningRules(1, 10))
    assert not thinner.piece()
    for origin in range(DAY_CANDLES + 10, DAY_CANDLES + 15):
        write_detailed(record, [origin])
        assert not thinner.piece()
        assert details(db)["forecast_details"] == 20 + 1


def test_arrays_outside_the_digest_are_kept(db: Database) -> None:
    record = open_record(db)
    write_detailed(record, a_day_apart(10))
    db.conn.execute("UPDATE forecast_details SET arrays = zeroblob(length(arrays)) WHERE id = 3")
    thinned(db, record, ThinningRules(1, 10))
    assert db.execute("SELECT id FROM forecast_details ORDER BY id LIMIT 2").fetchall() == [(3,), (10,)]


def test_a_fenced_trainer_thins_nothing(db: Database) -> None:
    record = open_record(db)
    write_detailed(record, a_day_apart(10))
    before = details(db)
    RunStore(db).acquire_fence(record.reader.run_id)
    with pytest.raises(Fenced):
        thinned(db, record, ThinningRules(1, 10))
    assert details(db) == before


@pytest.mark.slow
@pytest.mark.parametrize("pieces", [1, 2])
def test_a_killed_process_leaves_only_complete_batches(folder: DataFolder, db: Database, pieces: int) -> None:
    record = open_record(db)
    write_detailed(record, a_day_apart(CANDLES))
    before, digest = everything_else(db), record.reader.forecasts_sha256()
    fence = RunStore(db).acquire_fence(record.reader.run_id)
    with child(children.be_killed_while_thinning, folder.database, record.reader.run_id, fence, pieces) as thinning:
        assert thinning.receive() == pieces
    with closing(open_database(folder.database, quick_check=True)) as opened:
        left = 2 * CANDLES - details(opened)["forecast_details"]
        assert left == (pieces - 1) * AT_ONCE, "the piece that was under way is not there"
        assert everything_else(opened) == before
        assert RecordReader(opened, record.reader.run_id).forecasts_sha256() == digest
        thinned(opened, open_record(opened, RunStore(opened).get(record.reader.run_id)), ThinningRules(1, 100))
        assert details(opened)["forecast_details"] == CANDLES + 1


def test_a_forecast_is_a_row_and_a_thinned_candle_is_small(folder: DataFolder) -> None:
    """All tables and indexes of a candle's record, after the detail is gone: below 2 kB, with room for more scores."""
    with closing(open_database(folder.database)) as db:
        record = open_record(db)
        empty = pages(db)
        write_detailed(record, [*range(500), DAY_CANDLES + 500], quantities=6)
        thinned(db, record, ThinningRules(1, 1))
        assert sum(details(db).values()) < 100, "of the newest candle, and none of the others"
        db.conn.execute("DELETE FROM forecasts WHERE id > 500")
        db.conn.execute("DELETE FROM forecast_details")
        for name in ("scores", "further_scores", "steps"):
            db.conn.execute(f"DELETE FROM {name} WHERE id > 500")
        for name in ("score_details", "further_score_details", "step_details"):
            db.conn.execute(f"DELETE FROM {name}")
        db.conn.execute("VACUUM")
        assert (pages(db) - empty) * 4096 / 500 < 1_500
        assert record.reader.counts().forecasts == 500 * HORIZONS


def pages(db: Database) -> int:
    return int(db.execute("PRAGMA page_count").fetchone()[0])


def test_a_backup_of_a_thinned_record_is_small_and_ranks_no_lower(folder: DataFolder, db: Database) -> None:
    record = open_record(db)
    write_detailed(record, a_day_apart(CANDLES))
    first = make_backup(folder, ManualClock(1_764_417_600_000), keep=1)
    db.conn.execute("DELETE FROM forecast_details")  # as if the days had been set to fewer
    write_detailed(record, [DAY_CANDLES + CANDLES])
    second = make_backup(folder, ManualClock(1_764_421_200_000), keep=1)
    assert second.record.size_bytes < folder.database.stat().st_size / 2
    assert first.record.rows < second.record.rows
    assert list_backups(folder.backups) == (second,)

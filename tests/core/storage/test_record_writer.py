"""The trainer's writes: once, atomically, and only until another trainer takes over."""

from __future__ import annotations

import hashlib
import sqlite3
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from sqlite_utils import Database

from core.domain.events import ForecastMode, Incident, Severity
from core.domain.incident_kinds import IncidentKind
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.record_writer import EPISODE_MS, Fenced, TrainingRecord
from core.storage.records import Counts, StoredForecast
from core.storage.runs import RunStore
from tests.core.storage.samples import (
    HORIZONS,
    MINUTE_MS,
    checkpoint,
    create_run,
    forecast,
    incident,
    open_record,
    score,
    step,
)


def write_candle(record: TrainingRecord, origin: int) -> None:
    """The writes for one closed candle: the score of the previous forecast, a step, and the next forecast."""
    with record.write():
        if origin:
            record.add_scores([score(origin - 1)])
        record.add_step(step(origin))
        record.add_forecast(forecast(origin))


def numbers(made: list[StoredForecast]) -> list[int]:
    assert all(each.horizons == HORIZONS for each in made)
    return [each.origin_open_time_ms // MINUTE_MS for each in made]


def test_writes_are_visible_to_a_second_connection_only_after_the_commit(db: Database, other: Database) -> None:
    record = open_record(db)
    reader = RecordReader(other, record.reader.run_id)
    with record.write():
        record.add_forecast(forecast(1))
        assert numbers(record.reader.forecasts_after(None)) == [1]
        assert reader.forecasts_after(None) == []
    assert numbers(reader.forecasts_after(None)) == [1]


def test_a_stored_row_is_never_rewritten(db: Database) -> None:
    record = open_record(db)
    with record.write():
        assert record.add_forecast(forecast(1)) == 1
        assert record.add_scores([score(1)]) == 1
        assert record.add_step(step(1)) == 1
    before = record.reader.forecasts_sha256()
    with record.write():
        assert record.add_forecast(forecast(1, seed=99)) == 0
        assert record.add_forecast(forecast(2)) == 1
        assert record.add_scores([replace(score(1), loss=77.0), replace(score(1), overlap=0.0)]) == 0
        assert record.add_step(replace(step(1), loss=77.0)) == 0
    assert record.reader.scores() == [score(1)]
    assert record.reader.steps() == [step(1, run_id=record.reader.run_id)]
    with record.write():
        db.conn.execute("DELETE FROM forecasts WHERE origin_open_time_ms = ?", (2 * MINUTE_MS,))
        db.conn.execute("DELETE FROM forecast_details WHERE id NOT IN (SELECT id FROM forecasts)")
    assert record.reader.forecasts_sha256() == before


@pytest.mark.parametrize("statement", ["UPDATE forecasts SET scale = 2", "UPDATE scores SET records = X''"])
def test_stored_rows_cannot_be_updated_by_sql(db: Database, statement: str) -> None:
    record = open_record(db)
    with record.write():
        record.add_forecast(forecast(1))
        record.add_scores([score(1)])
    with pytest.raises(sqlite3.IntegrityError, match="never rewritten"), record.write():
        db.conn.execute(statement)


def test_an_error_rolls_back_the_whole_transaction(db: Database, other: Database) -> None:
    record = open_record(db)
    with pytest.raises(sqlite3.IntegrityError), record.write():
        record.add_forecast(forecast(1))
        record.add_incident(incident("loss"))
        record.add_scores([score(5)])  # there is no such forecast
    assert RecordReader(other, record.reader.run_id).counts() == Counts(0, 0, 0, 0, 0, 0)
    assert record.reader.incidents() == []


def test_a_target_is_scored_once_per_horizon(db: Database) -> None:
    record = open_record(db)
    with record.write():
        record.add_forecast(forecast(1))
        record.add_forecast(forecast(2))
        record.add_scores([score(1)])
        assert record.add_scores([replace(score(2), target_open_time_ms=score(1).target_open_time_ms)]) == 0
    assert record.reader.scores() == [score(1)]


def test_nothing_is_written_outside_a_transaction(db: Database) -> None:
    record = open_record(db)
    with pytest.raises(RuntimeError, match="write"):
        record.add_forecast(forecast(1))
    assert record.reader.counts().forecasts == 0


def test_the_superseded_trainer_is_refused(folder: DataFolder, db: Database) -> None:
    run = create_run(db)
    early = open_record(db, run)
    write_candle(early, 0)
    with open_database(folder.database) as taken:
        late = open_record(taken, run)
        with pytest.raises(Fenced, match="taken over"):
            write_candle(early, 1)
        write_candle(late, 1)
        with pytest.raises(Fenced):
            write_candle(early, 2)
    assert late.reader.run_id == early.reader.run_id
    assert early.reader.latest_origin_ms() == MINUTE_MS
    assert early.reader.counts() == Counts(2, 1, 2, 2 * HORIZONS, 0, 0)


def test_a_takeover_waits_for_the_open_transaction(folder: DataFolder, db: Database) -> None:
    run = create_run(db)
    early = open_record(db, run)
    ready = threading.Event()

    def take_over() -> tuple[int, int]:
        with open_database(folder.database) as taken:
            ready.set()
            fence = RunStore(taken).acquire_fence(run.run_id)
            return fence, RecordReader(taken, run.run_id).counts().forecasts

    with ThreadPoolExecutor(1) as pool:
        with early.write():
            taking = pool.submit(take_over)
            ready.wait()
            early.add_forecast(forecast(1))
            assert not taking.done()
        assert taking.result() == (2, HORIZONS)
    with pytest.raises(Fenced):
        write_candle(early, 2)


def test_a_missing_run_cannot_be_written(db: Database) -> None:
    with pytest.raises(StorageError, match="no run"):
        write_candle(TrainingRecord(db, "lost", 1), 0)


def test_a_reader_beside_a_writer_sees_only_complete_transactions(folder: DataFolder, db: Database) -> None:
    record = open_record(db)
    finished = threading.Event()

    def watch() -> list[Counts]:
        seen = []
        with open_database(folder.database, readonly=True) as watching:
            reader = RecordReader(watching, record.reader.run_id)
            while not finished.is_set() or not seen or seen[-1].candles < 200:
                seen.append(reader.counts())
        return seen

    with ThreadPoolExecutor(1) as pool:
        watched = pool.submit(watch)
        for origin in range(200):
            write_candle(record, origin)
        finished.set()
        seen = watched.result()
    assert all(counts.forecasts == HORIZONS * counts.candles for counts in seen)
    assert all(counts.scored == max(0, counts.candles - 1) and counts.steps == counts.candles for counts in seen)
    candles = [counts.candles for counts in seen]
    assert candles == sorted(candles)


def test_readers_return_the_requested_rows_ascending(db: Database) -> None:
    record, stranger = open_record(db), open_record(db)
    for origin in (3, 1, 0, 2):
        with record.write():
            record.add_forecast(forecast(origin))
            record.add_scores([score(origin, 2), score(origin)])
    write_candle(stranger, 0)
    reader = record.reader
    assert numbers(reader.forecasts_after(MINUTE_MS)) == [2, 3]
    assert numbers(reader.forecasts_after(MINUTE_MS, 1)) == [2]
    made = reader.forecast_of(2 * MINUTE_MS)
    assert made is not None and numbers([made]) == [2]
    assert reader.forecast_of(4 * MINUTE_MS) is None
    assert reader.scores() == [score(origin) for origin in range(4)]
    assert reader.scores(2, horizon=2) == [score(2, 2), score(3, 2)]
    assert reader.scores(0) == []
    assert reader.latest_origin_ms() == 3 * MINUTE_MS
    assert open_record(db).reader.latest_origin_ms() is None


def test_the_scores_of_a_candle_lead_to_their_forecasts(db: Database) -> None:
    record = open_record(db)
    with record.write():
        record.add_forecast(forecast(1))
        record.add_forecast(forecast(2))
        record.add_scores([score(1), score(2), score(1, 2)])
    reader = record.reader
    (came_out,) = reader.score_versions(3 * MINUTE_MS, horizon=2)
    assert came_out == score(1, 2)
    made = reader.forecast_of(came_out.origin_open_time_ms)
    assert made is not None and numbers([made]) == [1]
    assert np.array_equal(made.quantiles.experts, forecast(1).quantiles.experts)
    assert reader.score_versions(3 * MINUTE_MS) == [score(2)]
    assert reader.score_versions(9 * MINUTE_MS) == []


def test_a_restored_model_repeats_step_numbers_without_losing_rows(db: Database) -> None:
    record = open_record(db)
    run_id = record.reader.run_id
    written = [step(number, origin, run_id) for number, origin in ((1, 1), (2, 2), (3, 3), (2, 4), (3, 5))]
    with record.write():
        assert [record.add_step(row) for row in written] == [1] * 5
    assert record.reader.steps() == written
    assert record.reader.steps(2) == written[-2:]


def test_incidents_belong_to_the_run_in_the_order_of_writing(db: Database) -> None:
    record = open_record(db)
    with record.write():
        for kind in ("first", "second", "third"):
            record.add_incident(incident(kind))
    with open_record(db).write() as stranger:
        stranger.add_incident(incident("elsewhere"))
    assert record.reader.incidents(2) == [incident(kind, record.reader.run_id) for kind in ("second", "third")]


IN_2038_MS = 2_150_000_000_000


def spike(at_ms: int, text: str = "A spike.") -> Incident:
    return Incident(None, at_ms, Severity.INFO, "loss spike", text, "Nothing.", "Nothing.")


def test_incidents_of_one_episode_are_one_row_with_a_count(db: Database) -> None:
    """In the window, a rate of 1 made a row in each step."""
    record = open_record(db)
    stored = []
    with record.write():
        for step in range(60):
            stored.append(record.add_incident(spike(1000 + step * 60_000, f"The loss of step {step}.")))
    (episode,) = record.reader.incidents()
    assert episode == stored[-1] and episode.count == 60
    assert (episode.at_ms, episode.newest_at_ms) == (1000, 1000 + 59 * 60_000)
    assert episode.what_happened == "The loss of step 59.", "the newest"
    assert [each.count for each in stored[:3]] == [1, 2, 3]
    assert {each.episode for each in stored} == {episode.episode}


def test_an_episode_is_ordered_by_its_newest_occurrence_and_never_by_the_clock(db: Database) -> None:
    """As in the window."""
    record = open_record(db)
    with record.write():
        record.add_incident(spike(1000))
        record.add_incident(replace(spike(IN_2038_MS), kind="drift"))
        record.add_incident(spike(3000))
    assert [each.kind for each in record.reader.incidents()] == ["drift", "loss spike"]
    assert [each.kind for each in record.reader.incidents(1)] == ["loss spike"]


def test_an_episode_ends_with_a_pause_and_holds_its_kind_and_severity_only(db: Database) -> None:
    record = open_record(db)
    with record.write():
        for at_ms in (0, EPISODE_MS, 2 * EPISODE_MS, 3 * EPISODE_MS + 1):
            record.add_incident(spike(at_ms))
        record.add_incident(replace(spike(3 * EPISODE_MS + 2), severity=Severity.WARNING))
        record.add_incident(replace(spike(3 * EPISODE_MS + 3), kind="step skipped"))
        for at_ms in (4, 5):
            record.add_incident(replace(spike(3 * EPISODE_MS + at_ms), kind="restored"))
    counts = [(each.kind, each.count) for each in record.reader.incidents()]
    assert (
        counts == [("loss spike", 3), ("loss spike", 1), ("loss spike", 1), ("step skipped", 1)] + [("restored", 1)] * 2
    )


@pytest.mark.parametrize("end", [IncidentKind.RESTORED, IncidentKind.ROLLED_BACK])
def test_a_restore_or_a_rollback_ends_an_episode(db: Database, end: str) -> None:
    """Spikes at a rate of 1 and, after a restore, at 0.9 were one row: 53 times, then 107."""
    record = open_record(db)
    with record.write():
        for at_ms in (1000, 2000):
            record.add_incident(spike(at_ms))
        record.add_incident(replace(spike(3000), kind=end))
        later = [record.add_incident(spike(at_ms)) for at_ms in (4000, 5000)]
    counts = [(each.kind, each.at_ms, each.count) for each in record.reader.incidents()]
    assert counts == [("loss spike", 1000, 2), (end, 3000, 1), ("loss spike", 4000, 2)]
    assert [each.count for each in later] == [1, 2]


def test_long_intervals_have_longer_episodes(db: Database) -> None:
    day_ms = 86_400_000
    run_id = open_record(db).reader.run_id
    record = TrainingRecord(db, run_id, RunStore(db).acquire_fence(run_id), 2 * day_ms)
    with record.write():
        record.add_incident(spike(0))
        assert record.add_incident(spike(day_ms)).count == 2


def test_counts_distinguish_saved_from_kept(db: Database) -> None:
    record = open_record(db)
    run_id = record.reader.run_id
    for origin in range(3):
        write_candle(record, origin)
    with record.write():
        for number in range(3):
            record.add_checkpoint(checkpoint(run_id, number))
        assert record.mark_deleted([f"{run_id}-0", f"{run_id}-1", "unknown"]) == 2
        assert record.mark_deleted([f"{run_id}-0"]) == 0
    assert record.reader.counts() == Counts(3, 2, 3, 3 * HORIZONS, 3, 1)


def test_a_checkpoint_of_another_run_is_refused(db: Database) -> None:
    record = open_record(db)
    with pytest.raises(ValueError, match="belongs to run"), record.write():
        record.add_checkpoint(checkpoint("another", 1))


def test_the_digest_covers_only_the_forecasts_in_order(db: Database) -> None:
    made = [forecast(origin) for origin in (1, 2)]
    expected = hashlib.sha256()
    for each in made:
        of_one = hashlib.sha256()
        for row in range(HORIZONS):
            of_one.update(struct.pack("<2q", each.origin_open_time_ms, row + 1))
            of_one.update(np.array([each.origin_close, each.scale], "<f8").tobytes())
            shown, experts = each.quantiles.shown[row], each.quantiles.experts[:, row]
            of_one.update(shown.astype("<f8").tobytes() + experts.astype("<f8").tobytes())
        expected.update(struct.pack("<q", each.origin_open_time_ms) + of_one.digest()[:16])
    late = {"made_at_ms": 1, "step": 0, "checkpoint_id": "x", "mode": ForecastMode.RECOVERY, "inputs_until_ms": 0}
    in_order, shuffled = open_record(db), open_record(db)
    with in_order.write():
        for each in made:
            in_order.add_forecast(each)
    for each in reversed(made):
        with shuffled.write():
            shuffled.add_forecast(replace(each, **late))
    assert in_order.reader.forecasts_sha256() == shuffled.reader.forecasts_sha256() == expected.hexdigest()


@pytest.mark.parametrize("field", ["origin_close", "scale"])
def test_the_digest_changes_with_the_last_bit(db: Database, field: str) -> None:
    made = forecast(1)
    changed = replace(made, **{field: np.nextafter(getattr(made, field), 2.0).item()})
    shown = replace(made.quantiles, shown=np.nextafter(made.quantiles.shown, 9.0))
    digests = set()
    for one in (made, changed, replace(made, quantiles=shown)):
        record = open_record(db)
        with record.write():
            record.add_forecast(one)
        digests.add(record.reader.forecasts_sha256())
    assert len(digests) == 3

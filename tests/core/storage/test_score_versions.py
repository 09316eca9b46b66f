"""A corrected candle adds a version of its scores: the newest is read, older ones are kept, none counts twice."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest
from sqlite_utils import Database

from core.storage.candles import CandleStore
from core.storage.record_writer import TrainingRecord
from tests.core.storage.samples import MARKET, MINUTE_MS, candle, forecast, open_record, score

FIRST, SECOND = score(1), replace(score(1), version=2, loss=7.5, inside_50=True, scored_at_ms=99)


def record_with_versions(db: Database) -> TrainingRecord:
    record = open_record(db)
    with record.write():
        record.add_forecast(forecast(1))
        record.add_forecast(forecast(2))
        record.add_scores([FIRST, score(2)])
    with record.write():
        assert record.add_scores([SECOND]) == 1
        assert record.add_scores([replace(SECOND, loss=0.0)]) == 0, "a version is not rewritten either"
    return record


def test_readers_use_the_newest_version_and_all_remain_readable(db: Database) -> None:
    reader = record_with_versions(db).reader
    assert reader.scores() == [SECOND, score(2)]
    assert reader.scores(1) == [score(2)]
    assert reader.score_versions(FIRST.target_open_time_ms) == [FIRST, SECOND]
    past = reader.past_forecasts(1, 0, 10**15, 100)
    assert past.inside_50.tolist() == [True, False], "each target once, as its newest version has it"
    assert reader.counts().scored == 2


def test_a_version_cannot_be_updated_by_sql(db: Database) -> None:
    record_with_versions(db)
    with pytest.raises(sqlite3.IntegrityError, match="never rewritten"):
        db.conn.execute("UPDATE scores SET version = 3 WHERE version = 2")


def test_only_a_changed_candle_is_marked_for_rescoring(db: Database) -> None:
    record, store = record_with_versions(db), CandleStore(db)
    target = FIRST.target_open_time_ms // MINUTE_MS
    assert store.save(MARKET, [candle(target), candle(target + 5)]) == 2
    assert store.save(MARKET, [candle(target), candle(target + 5)]) == 0
    assert record.reader.corrections(10) == [], "nothing was replaced"
    assert store.save(MARKET, [candle(target, 103.0), candle(target + 5, 104.0)]) == 2
    found = record.reader.corrections(10)
    assert [open_time_ms for _, open_time_ms in found] == [FIRST.target_open_time_ms], "the other was never scored"
    with record.write():
        record.acknowledge_corrections(record.reader.newest_correction())
        record.acknowledge_corrections(1)  # never back
    assert record.reader.corrections(10) == []


def test_changes_of_another_market_do_not_concern_the_run(db: Database) -> None:
    record, store = record_with_versions(db), CandleStore(db)
    elsewhere = replace(MARKET, symbol="ETH/USDT")
    target = FIRST.target_open_time_ms // MINUTE_MS
    store.save(elsewhere, [candle(target)])
    store.save(elsewhere, [candle(target, 103.0)])
    assert record.reader.corrections(10) == [] and record.reader.newest_correction() == 0

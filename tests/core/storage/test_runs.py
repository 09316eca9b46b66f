"""Runs are found by market and fingerprint; each trainer that takes one over gets a new fence number."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlite_utils import Database

from core.domain.candle import Market
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_writer import TrainingRecord
from core.storage.runs import RunStore
from tests.core.storage.samples import MARKET, checkpoint, create_run
from tests.support.candles import random_walk

SIMULATED = Market("simulated", "BTC/USDT", MARKET.interval)


def test_a_run_round_trips(db: Database, other: Database) -> None:
    run = create_run(db)
    assert RunStore(other).get(run.run_id) == run
    assert (run.market, run.seed, run.is_seeded, run.fence, run.is_simulated) == (MARKET, 7, True, 0, False)
    assert run.run_id.startswith("20231114-221320-")
    assert create_run(db, SIMULATED).is_simulated


def test_the_newest_run_of_the_same_market_and_fingerprint_is_found(db: Database) -> None:
    runs = RunStore(db)
    assert runs.find(MARKET, "first") is None
    older, newer = create_run(db), create_run(db)
    created = [create_run(db, SIMULATED), create_run(db, MARKET, "second")]
    assert runs.find(MARKET, "first") == newer
    assert runs.find(MARKET, "third") is None
    assert runs.list() == [*reversed(created), newer, older]


def test_a_missing_run_is_explained(db: Database) -> None:
    for ask in (RunStore(db).get, RunStore(db).take_fence):
        with pytest.raises(StorageError, match="no run 'lost'"):
            ask("lost")


def test_no_two_trainers_get_the_same_fence(folder: DataFolder, db: Database) -> None:
    run_id, other_id = create_run(db).run_id, create_run(db).run_id

    def take(_: int) -> list[int]:
        with open_database(folder.database) as own:
            return [RunStore(own).take_fence(run_id) for _ in range(10)]

    with ThreadPoolExecutor(4) as pool:
        taken = [number for numbers in pool.map(take, range(4)) for number in numbers]
    assert sorted(taken) == list(range(1, 41))
    assert RunStore(db).get(run_id).fence == 40
    assert RunStore(db).get(other_id).fence == 0


def test_the_last_trained_run_is_the_newest_with_a_trainer(db: Database) -> None:
    runs = RunStore(db)
    assert runs.last_trained() is None and runs.last_trained(MARKET) is None
    older, other_market = create_run(db), create_run(db, SIMULATED)
    for run in (older, other_market):
        runs.take_fence(run.run_id)
    create_run(db)  # as one that was imported: no trainer has had it
    for market, expected in ((MARKET, older), (SIMULATED, other_market), (None, other_market)):
        found = runs.last_trained(market)
        assert found is not None and found.run_id == expected.run_id


def invented(seed: int) -> Market:
    return Market("simulated", f"SIM-{seed}", MARKET.interval)


def test_the_last_simulated_market_is_that_of_the_newest_training(db: Database) -> None:
    candles, runs = CandleStore(db), RunStore(db)
    assert candles.last_simulated() is None
    runs.take_fence(create_run(db, MARKET).run_id)
    create_run(db, invented(1))  # as one that was imported
    assert candles.last_simulated() is None
    candles.save(invented(2), random_walk(3))
    assert candles.last_simulated() == invented(2), "its trainer never began"
    older, newer = create_run(db, invented(3)), create_run(db, invented(4))
    runs.take_fence(older.run_id)
    runs.take_fence(newer.run_id)
    assert candles.last_simulated() == invented(4)
    record = TrainingRecord(db, older.run_id, runs.take_fence(older.run_id))
    with record.write():
        record.add_checkpoint(replace(checkpoint(older.run_id, 1), created_at_ms=newer.created_at_ms + 1), None)
    assert candles.last_simulated() == invented(3), "it was continued"

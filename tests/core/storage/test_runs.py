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
from core.storage.record_writer import Fenced, TrainingRecord
from core.storage.records import ChallengerFigures, ChallengerWork
from core.storage.runs import Run, RunStore, challenger_figures
from tests.core.storage.samples import MARKET, create_run, forecast
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
    for ask in (RunStore(db).get, RunStore(db).acquire_fence):
        with pytest.raises(StorageError, match="no run 'lost'"):
            ask("lost")


def test_no_two_trainers_get_the_same_fence(folder: DataFolder, db: Database) -> None:
    run_id, other_id = create_run(db).run_id, create_run(db).run_id

    def take(_: int) -> list[int]:
        with open_database(folder.database) as own:
            return [RunStore(own).acquire_fence(run_id) for _ in range(10)]

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
        runs.acquire_fence(run.run_id)
    create_run(db)  # as one that was imported: no trainer has had it
    for market, expected in ((MARKET, older), (SIMULATED, other_market), (None, other_market)):
        found = runs.last_trained(market)
        assert found is not None and found.run_id == expected.run_id


def create_universe(db: Database) -> list[Run]:
    """A run of each of three markets, with one model."""
    others = (SIMULATED, Market("binance", "ETH/USDT", MARKET.interval))
    return list(RunStore(db).members(create_run(db, others=others).run_id))


def test_a_model_of_several_markets_has_a_run_of_each_and_a_head(db: Database, other: Database) -> None:
    single = create_run(db)
    head, *members = create_universe(db)
    assert [run.market.symbol for run in (head, *members)] == ["BTC/USDT", "BTC/USDT", "ETH/USDT"]
    assert [run.is_simulated for run in (head, *members)] == [False, True, False]
    assert {run.head_id for run in (head, *members)} == {head.run_id} and all(run.is_learned for run in members)
    assert single.head_id == single.run_id and RunStore(db).members(single.run_id) == [single]
    assert RunStore(other).list() == [head, *members, single], "the newest first, and a head before its members"


def test_the_head_of_a_model_is_continued_and_no_other_of_its_runs(db: Database) -> None:
    head, *members = create_universe(db)
    assert RunStore(db).find(MARKET, "first") == head
    assert [RunStore(db).find(run.market, "first") for run in members] == [head, head], "it has this market too"
    assert RunStore(db).find(members[1].market, "second", (MARKET,)) is None


def test_a_market_joins_a_model_and_its_fence(db: Database) -> None:
    runs, (head, *members) = RunStore(db), create_universe(db)
    runs.acquire_fence(head.run_id)
    head = runs.get(head.run_id)
    new = Market("binance", "XRP/USDT", MARKET.interval)
    runs.join(head, (MARKET, new), 1_800_000_000_000)
    *before, joined = runs.members(head.run_id)
    assert [run.run_id for run in before] == [head.run_id, *(run.run_id for run in members)]
    assert (joined.market, joined.fence, joined.fingerprint, joined.head_id) == (new, 1, "first", head.run_id)
    assert joined.created_at_ms == 1_800_000_000_000 and joined.run_id.startswith("2027")
    assert runs.acquire_fence(head.run_id) == 2 and {run.fence for run in runs.members(head.run_id)} == {2}
    runs.join(runs.get(head.run_id), (new,), 0)
    assert len(runs.members(head.run_id)) == 4, "once"


def test_the_next_trainers_device_is_that_of_all_runs_of_the_model(db: Database) -> None:
    runs, (head, *_) = RunStore(db), create_universe(db)
    runs.acquire_fence(head.run_id, "CUDA: NVIDIA H100")
    runs.acquire_fence(head.run_id)
    assert {run.device for run in runs.members(head.run_id)} == {"CUDA: NVIDIA H100"}


def test_the_fence_of_a_head_locks_all_runs_of_its_model(db: Database) -> None:
    runs, all_runs, single = RunStore(db), create_universe(db), create_run(db)
    fence = runs.acquire_fence(all_runs[0].run_id)
    records = [TrainingRecord(db, run.run_id, fence) for run in all_runs]
    for record in records:
        with record.write():
            pass
    runs.acquire_fence(all_runs[0].run_id)
    for record in records:
        with pytest.raises(Fenced), record.write():
            pass
    assert runs.get(single.run_id).fence == 0
    found = runs.last_trained(all_runs[2].market)
    assert found is not None and found.run_id == all_runs[2].run_id


def invented(seed: int) -> Market:
    return Market("simulated", f"SIM-{seed}", MARKET.interval)


def test_the_last_simulated_market_is_that_of_the_newest_training(db: Database) -> None:
    candles, runs = CandleStore(db), RunStore(db)
    assert candles.last_simulated() is None
    runs.acquire_fence(create_run(db, MARKET).run_id)
    create_run(db, invented(1))  # as one that was imported
    assert candles.last_simulated() is None
    candles.save(invented(2), random_walk(3))
    assert candles.last_simulated() == invented(2), "its trainer never began"
    older, newer = create_run(db, invented(3)), create_run(db, invented(4))
    runs.acquire_fence(older.run_id)
    runs.acquire_fence(newer.run_id)
    assert candles.last_simulated() == invented(4)
    record = TrainingRecord(db, older.run_id, runs.acquire_fence(older.run_id))
    with record.write():
        record.add_forecast(forecast(2))
    assert candles.last_simulated() == invented(3), "it was continued"
    record = TrainingRecord(db, newer.run_id, runs.acquire_fence(newer.run_id))
    with record.write():
        record.add_forecast(replace(forecast(1), made_at_ms=0))
    assert candles.last_simulated() == invented(4), "by its number, whatever the clock was"


def test_the_challengers_of_a_run_are_kept_with_it_and_with_its_other_markets(db: Database) -> None:
    runs, run = RunStore(db), create_run(db, challengers=("tcn", "gru"))
    runs.join(run, (SIMULATED,), 1)
    assert [each.challengers for each in runs.members(run.run_id)] == [("tcn", "gru")] * 2
    assert create_run(db).challengers == ()


def test_the_work_of_challengers_adds_up(db: Database) -> None:
    runs, run = RunStore(db), create_run(db, challengers=("tcn", "gru"))
    unknown = ChallengerFigures(None, None)
    assert challenger_figures(db, run.run_id) == {"tcn": unknown, "gru": unknown}
    record = TrainingRecord(db, run.run_id, runs.acquire_fence(run.run_id))
    for _ in range(3):
        with record.write():
            record.add_challenger_work([ChallengerWork(2, 5.0, 4, 3), ChallengerWork()])
    assert challenger_figures(db, run.run_id) == {"tcn": ChallengerFigures(2.5, 0.75), "gru": unknown}
    runs.join(run, (SIMULATED,), 1)
    assert challenger_figures(db, run.run_id)["tcn"].cost_ms == 1.25, "for one candle of one market"

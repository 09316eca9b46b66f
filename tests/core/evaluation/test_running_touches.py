"""The chances of prices in a run in progress are scored as `evaluate` scores them, from the newest forecasts."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from sqlite_utils import Database

from core.domain.candle import Candle
from core.evaluation.findings import TouchAccuracy
from core.evaluation.touches import RunningTouches, assess_touches, read_touches
from core.forecast.paths import FEWEST_TEMPLATES
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import Run, RunStore
from core.training.online.touched import joined
from tests.support.candles import MARKET, random_walk, without
from tests.support.synthetic_run import SyntheticRun

HORIZONS = 3
FIRST = FEWEST_TEMPLATES + 59 + HORIZONS - 1
"""The first candle with enough of a past."""
CANDLES = without(random_walk(FIRST + 61, seed=4), FIRST + 20)


def record(root: Path, candles: list[Candle]) -> None:
    run = SyntheticRun(root, HORIZONS)
    run.write(candles)
    run.close()


def store(root: Path, candles: list[Candle]) -> None:
    db = open_database(DataFolder(root).database)
    CandleStore(db).save(MARKET, candles)
    db.close()


def running(db: Database, most: int = 1_000) -> tuple[RunningTouches, Run]:
    run = RunStore(db).list()[0]
    return RunningTouches(db, run, RecordReader(db, run.run_id), most), run


def evaluated(db: Database, run: Run, within: int) -> TouchAccuracy:
    return assess_touches(joined(list(read_touches(db, run, 0)))[within], within)


def test_they_equal_evaluate_and_forecasts_are_taken_once_their_candles_have_closed(tmp_path: Path) -> None:
    record(tmp_path, CANDLES)
    store(tmp_path, CANDLES[:-12])
    with open_database(DataFolder(tmp_path).database, readonly=True) as db:
        touches, run = running(db)
        assert touches.find(1) is None, "nothing was read"
        assert len(list(touches.read_more())) == 42, "46 have closed; of them one is missing, and 3 reach over the hole"
        early = touches.find(1)
        assert early == evaluated(db, run, 1) and early is not None and early.n == 42
        store(tmp_path, CANDLES[-12:])
        assert len(list(touches.read_more())) == 12
        for horizon, within in ((1, 1), (2, 1), (3, 3)):
            assert touches.find(horizon) == evaluated(db, run, within)
        assert list(touches.read_more()) == []


def test_an_interrupted_reader_continues_and_old_forecasts_are_left_to_evaluate(tmp_path: Path) -> None:
    record(tmp_path, CANDLES)
    store(tmp_path, CANDLES)
    with open_database(DataFolder(tmp_path).database, readonly=True) as db:
        touches, run = running(db, most=20)
        assert len(list(islice(touches.read_more(), 5))) == 5
        assert touches.find(3) is None, "it was not read to the end"
        list(touches.read_more())
        cases = joined(list(read_touches(db, run, 0)))[3]
        found = touches.find(3)
        assert found is not None and 14 <= found.n <= 20
        newest = type(cases)(*(getattr(cases, name)[-found.n :] for name in type(cases).__slots__))
        assert found == assess_touches(newest, 3)


def test_a_run_without_candles_has_no_cases(tmp_path: Path) -> None:
    record(tmp_path, CANDLES[:40])
    with open_database(DataFolder(tmp_path).database, readonly=True) as db:
        touches, _run = running(db)
        assert list(touches.read_more()) == []
        found = touches.find(1)
        assert found is not None and found.n == 0 and found.brier is None

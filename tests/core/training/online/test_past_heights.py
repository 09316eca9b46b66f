"""What the chance of a price has learned from is read from what is kept of forecasts permanently."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from core.domain.quantities import MEDIAN, FloatArray, Quantity
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.training.online.past_heights import HeightsReader
from tests.support.candles import MARKET, random_walk
from tests.support.synthetic_run import SyntheticRun

if TYPE_CHECKING:
    from sqlite_utils import Database

HORIZONS = 3
CANDLES = random_walk(60, seed=7)


@pytest.fixture
def run(tmp_path: Path) -> SyntheticRun:
    run = SyntheticRun(tmp_path, HORIZONS)
    run.write(CANDLES)
    run.close()
    db = open_database(DataFolder(tmp_path).database)
    CandleStore(db).save(MARKET, CANDLES)
    db.execute("DELETE FROM forecast_details")
    db.close()
    return run


def stretch(db: Database, run_id: str, horizons: int, origin_ms: int) -> FloatArray:
    return HeightsReader().read(db, run_id, MARKET, horizons, origin_ms).stretch(origin_ms)


def test_each_row_is_the_mean_height_over_that_forecast(tmp_path: Path, run: SyntheticRun) -> None:
    with open_database(DataFolder(tmp_path).database, readonly=True) as db:
        heights = HeightsReader().read(db, run.run_id, MARKET, HORIZONS, CANDLES[-1].open_time_ms)
        made = RecordReader(db, run.run_id).forecast_of(CANDLES[20].open_time_ms)
    assert heights.origin_open_time_ms.tolist() == [each.open_time_ms for each in CANDLES]
    tall = np.mean([np.log(each.high / each.low) for each in CANDLES[21:24]])
    assert made is not None
    forecast = np.mean(np.exp(made.quantiles.shown[:, Quantity.RANGE, MEDIAN]))
    assert heights.taller[20, 2] == pytest.approx(np.log(tall / forecast))
    assert np.isnan(heights.taller[-HORIZONS:]).all() and np.isfinite(heights.taller[:-HORIZONS]).all()


def test_what_one_forecast_has_learned_does_not_depend_on_how_much_is_read(tmp_path: Path, run: SyntheticRun) -> None:
    origin_ms = CANDLES[40].open_time_ms
    with open_database(DataFolder(tmp_path).database, readonly=True) as db:
        alone = stretch(db, run.run_id, HORIZONS, origin_ms)
        all_of_them = HeightsReader().read(db, run.run_id, MARKET, HORIZONS, CANDLES[-1].open_time_ms)
        assert np.array_equal(alone, all_of_them.stretch(origin_ms))
        assert (alone[1:] != 1.0).all()
        assert (stretch(db, "no run", HORIZONS, origin_ms) == 1.0).all()
        assert (stretch(db, run.run_id, HORIZONS + 1, origin_ms) == 1.0).all(), "none reaches so far"


@pytest.mark.parametrize("most", [5, 4_000])
def test_a_reader_that_keeps_forecasts_finds_what_a_new_one_does(
    tmp_path: Path, run: SyntheticRun, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Also of an earlier forecast, as in a chart that was set back, and where more have come than count."""
    monkeypatch.setattr("core.training.online.past_heights.MOST_LEARNED", most)
    monkeypatch.setattr("core.training.online.past_heights.SPARE", 0)
    with open_database(DataFolder(tmp_path).database, readonly=True) as db:
        reader = HeightsReader()
        for place in (20, 22, 30, 25, 31, 50):
            origin_ms = CANDLES[place].open_time_ms
            kept = reader.read(db, run.run_id, MARKET, HORIZONS, origin_ms).stretch(origin_ms)
            assert np.array_equal(kept, stretch(db, run.run_id, HORIZONS, origin_ms)), place


def test_a_forecast_is_read_once(tmp_path: Path, run: SyntheticRun, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    log_ranges = RecordReader.log_ranges

    def counted(*given: Any) -> Any:
        found = log_ranges(*given)
        read.append(len(found[0]))
        return found

    monkeypatch.setattr(RecordReader, "log_ranges", counted)
    with open_database(DataFolder(tmp_path).database, readonly=True) as db:
        reader = HeightsReader()
        for place in (40, 41, 41, 44):
            reader.read(db, run.run_id, MARKET, HORIZONS, CANDLES[place].open_time_ms)
    assert read == [41, 1, 0, 3]

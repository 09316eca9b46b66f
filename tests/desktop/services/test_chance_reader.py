"""The thread that finds chances for alerts: of each market the newest forecast, and no answer where there are none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.domain.events import ForecastMade
from core.forecast.chance import Chances
from core.forecast.paths import sample_paths
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.training.online.forecast_events import packed_quantiles
from core.training.online.learned_chances import LearnedChancesReader
from desktop.services.chance_reader import ChanceReader, FoundChances, learned_chances
from tests.core.forecast.paths import spread_quantiles
from tests.desktop import scenario
from tests.support.candles import MARKET, MINUTE
from tests.support.synthetic_run import SyntheticRun

CANDLES = scenario.market()


def forecast_at(place: int) -> ForecastMade:
    made = scenario.forecast(CANDLES[: place + 1])
    return replace(made, quantiles=packed_quantiles(spread_quantiles()))


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[ChanceReader]:
    folder = DataFolder(tmp_path)
    folder.ensure()
    db = open_database(folder.database)
    CandleStore(db).save(MARKET, CANDLES)
    db.close()
    reader = ChanceReader(folder.database)
    yield reader
    reader.close()


def test_of_each_market_the_newest_forecast_is_next(reader: ChanceReader, qtbot: QtBot) -> None:
    found: list[FoundChances] = []
    reader.found.connect(found.append)
    first, skipped, newest = (forecast_at(place) for place in (900, 901, 902))
    for made in (first, skipped, newest):
        reader.find(MARKET, made)
    qtbot.waitUntil(lambda: len(found) == 2)
    assert [each.forecast for each in found] == [first, newest]
    times = np.array([each.open_time_ms for each in CANDLES[:903]])
    prices = np.array([(each.open, each.high, each.low, each.close) for each in CANDLES[:903]]).T
    paths = sample_paths(spread_quantiles(), times, prices, MINUTE)
    assert paths is not None
    moves = np.array([-1e-3, 2e-3])
    assert np.array_equal(found[1].chances.touched(moves, 8), Chances(paths).touched(moves, 8)), "of candles up to it"


def test_alerts_and_the_chart_use_what_the_record_has_taught(
    tmp_path: Path, reader: ChanceReader, qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    run, database = SyntheticRun(tmp_path, horizons=8), DataFolder(tmp_path).database
    run.write(CANDLES[840:900])
    run.close()
    made = replace(forecast_at(902), run_id=run.run_id)
    found: list[FoundChances] = []
    reader.found.connect(found.append)
    for each in (forecast_at(902), made):
        reader.find(MARKET, each)
        qtbot.waitUntil(lambda: len(found) > 0 and found[-1].forecast == each)  # noqa: B023
    with open_database(database, readonly=True) as db:
        taught = LearnedChancesReader().read(db, run.run_id, MARKET, 8, made.origin_open_time_ms)
    moves = np.linspace(-0.01, 0.01, 4001)
    plain, learned = (each.chances.touched(moves, 8) for each in found)
    assert (plain != learned).any(), "of another run nothing is learned"
    known = learned_chances(database)(made)
    assert known is not None and np.array_equal(known.stretch, taught.stretch)
    assert learned_chances(tmp_path / "none.sqlite3")(made) is None and "no database" in caplog.text


def test_a_forecast_without_paths_has_no_answer_and_the_next_one_has(reader: ChanceReader, qtbot: QtBot) -> None:
    found: list[FoundChances] = []
    reader.found.connect(found.append)
    with qtbot.waitSignal(reader._thread.answered):
        reader.find(MARKET, replace(forecast_at(900), quantiles=None))
    reader.find(MARKET, forecast_at(901))
    qtbot.waitUntil(lambda: len(found) == 1)
    assert found[0].forecast.origin_open_time_ms == CANDLES[901].open_time_ms


def test_a_missing_database_is_a_sentence_and_a_closed_reader_begins_nothing(tmp_path: Path, qtbot: QtBot) -> None:
    reader = ChanceReader(tmp_path / "none.sqlite3")
    with qtbot.waitSignal(reader.failed) as failed:
        reader.find(MARKET, forecast_at(900))
    assert "no database" in failed.args[0]
    reader.close()
    reader.find(MARKET, forecast_at(901))
    assert not reader._thread.isRunning()

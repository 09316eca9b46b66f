"""The window notices history that another connection has stored, and nothing else."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from core.domain.candle import Market
from core.domain.spans import TimeSpan
from core.market.history.import_plan import HistoryWriter
from core.storage.candles import CandleStore, StoredColumns
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.ownership import own
from desktop.app.composition import Application
from desktop.services.history_watch import HistoryWatch
from desktop.state.database import WindowDatabase
from tests.desktop.whole_window import CATCH_UP, CandleGate, context, run_window, step_of, until
from tests.support.candles import MINUTE, random_walk, write_csv
from tests.support.commands import ROOT, command

MARKET, OTHER = Market("binance", "BTC/USDT", MINUTE), Market("binance", "ETH/USDT", MINUTE)
HOLE = TimeSpan(600_000, 660_000)


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    folder = DataFolder(tmp_path)
    folder.ensure()
    return folder


@pytest.fixture
def database(folder: DataFolder) -> Iterator[WindowDatabase]:
    database = WindowDatabase(folder)
    database.open()
    yield database
    database.close()


@pytest.fixture
def changed(qapp: QApplication, database: WindowDatabase) -> Iterator[tuple[HistoryWatch, list[Market]]]:
    watch, seen = HistoryWatch(database), list[Market]()
    watch.changed.connect(seen.append)
    watch.start()
    yield watch, seen
    watch.close()


def columns(count: int, start_ms: int = 0) -> StoredColumns:
    candles = random_walk(count, start_ms=start_ms)
    values = [[c.open, c.high, c.low, c.close, c.volume] for c in candles]
    return StoredColumns(np.array([c.open_time_ms for c in candles]), np.array(values).T)


def test_history_of_another_connection_is_noticed_once(
    folder: DataFolder, changed: tuple[HistoryWatch, list[Market]]
) -> None:
    watch, seen = changed
    with closing(open_database(folder.database)) as db:
        writer = HistoryWriter(db)
        writer.put(MARKET, columns(3), replaces=False)
        writer.put(MARKET, columns(3, start_ms=300_000), replaces=False)
        watch.look()
        watch.look()
        assert seen == [MARKET]
        writer.put_holes(OTHER, [HOLE], 1)
        watch.look()
        assert seen == [MARKET, OTHER]


def test_what_is_no_history_is_not_noticed(
    folder: DataFolder, database: WindowDatabase, changed: tuple[HistoryWatch, list[Market]]
) -> None:
    watch, seen = changed
    database.candles.save(MARKET, random_walk(2))
    database.holes.add_of_exchange(MARKET, [HOLE], 1)
    with closing(open_database(folder.database)) as db:
        CandleStore(db).save(OTHER, random_walk(2))  # as the trainer, which writes after each candle
    watch.look()
    assert seen == []


def test_history_of_another_connection_is_on_the_chart(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None
) -> None:
    async def story(application: Application) -> None:
        await until(lambda: application.series is not None and len(application.series) == CATCH_UP, "the catch-up")
        series, market = application.series, application.charting.candles._market
        assert series is not None and market is not None
        step_ms = market.interval.duration_ms
        first_ms = int(series.open_time_ms[0])
        older = random_walk(1_500, start_ms=first_ms - 1_502 * step_ms, interval=market.interval)
        hole = TimeSpan(first_ms - 2 * step_ms, first_ms)
        with closing(open_database(DataFolder(tmp_path).database)) as db:
            writer = HistoryWriter(db)
            values = np.array([[c.open, c.high, c.low, c.close, c.volume] for c in older]).T
            writer.put(market, StoredColumns(np.array([c.open_time_ms for c in older]), values), replaces=False)
            writer.put_holes(market, [hole], 1)
        application.history.look()
        count = len(older) + CATCH_UP
        await until(lambda: application.series is not None and len(application.series) == count, "the chart")
        assert application.series is not None and [*application.series][: len(older)] == older
        assert application.database.holes.of_exchange(market, hole) == [hole]

    run_window(qapp, context(tmp_path), story)


async def run_command(*arguments: str) -> tuple[int, dict[str, object]]:
    """A child process, waited for on the window's own loop."""
    process = await asyncio.create_subprocess_exec(
        *command(*arguments, "--json"), cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=sys.stderr
    )
    out, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, json.loads(out)


@pytest.mark.slow
def test_candles_imported_beside_the_window_are_on_its_chart(qapp: QApplication, tmp_path: Path) -> None:
    data = tmp_path / "data"
    within = context(data, "thread", speed=0.01, catch_up_candles=80)
    firsts: list[int] = []

    async def story(application: Application) -> None:
        await until(lambda: application.series is not None and len(application.series) >= 30, "the catch-up")
        await until(lambda: step_of(application) > 5, "training, which has a position then")
        series, market = application.series, application.charting.candles._market
        assert series is not None and market is not None
        firsts.append(int(series.open_time_ms[0]))
        older = random_walk(5_000, start_ms=firsts[0] - 5_000 * 3_600_000, interval=market.interval)
        write_csv(tmp_path / "older.csv", older)
        named = ("--venue", market.venue, "--symbol", market.symbol)
        code, result = await run_command("import", str(tmp_path / "older.csv"), *named, "--data-dir", str(data))
        assert code == 0 and result["files"][0]["stored"] == 5_000  # type: ignore[index]
        await until(lambda: application.series is not None and len(application.series) >= 5_030, "the chart")
        shown = application.series
        assert shown is not None and shown[0] == older[0] and shown[4_999] == older[-1]

    with own(within.folder, "window"):
        run_window(qapp, within, story)
    with closing(open_database(within.folder.database, readonly=True)) as db:
        assert db.execute("SELECT COUNT(*) FROM candles").fetchone()[0] >= 5_030
        learned_from = db.execute("SELECT MIN(candle_open_time_ms) FROM steps").fetchone()[0]
        assert learned_from >= firsts[0], "the queue goes forward only"

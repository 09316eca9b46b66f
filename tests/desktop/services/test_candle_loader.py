"""The history is loaded by a thread: concurrent events and errors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from sqlite_utils import Database

from core.domain.candle import Candle, Interval, Market
from core.domain.candle_series import CandleSeries
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from desktop.app.composition import Application
from desktop.services.candle_loader import SHOWN_AT_FIRST, HistoryLoading
from tests.core.market.edits import walk
from tests.desktop.whole_window import Story, context, run_on_qt_loop, until

MINUTE_MS = 60_000
STORED = 30_000
MARKET = Market("binance", "BTC/USDT", Interval(MINUTE_MS))
OTHER = Market("binance", "ETH/USDT", Interval(MINUTE_MS))
CANDLES = list(walk(STORED))
NEXT = [Candle(CANDLES[-1].open_time_ms + ahead * MINUTE_MS, 1.0, 2.0, 0.5, 1.5, 3.0) for ahead in (1, 2, 3)]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that holds two markets. To be copied."""
    path = tmp_path_factory.mktemp("filled") / "ghostcandle.sqlite3"
    with open_database(path) as db:
        CandleStore(db).save(MARKET, CANDLES)
        CandleStore(db).save(OTHER, CANDLES[:5_000])
    return path


@pytest.fixture
def folder(filled: Path, tmp_path: Path) -> DataFolder:
    folder = DataFolder(tmp_path)
    folder.ensure()
    folder.database.write_bytes(filled.read_bytes())
    return folder


@pytest.fixture
def db(folder: DataFolder) -> Iterator[Database]:
    with open_database(folder.database) as db:
        yield db


@pytest.fixture
def loading(qapp: QApplication, folder: DataFolder) -> Iterator[HistoryLoading]:
    loading = HistoryLoading(folder.database)
    yield loading
    loading.cancel()
    assert loading.wait()
    QApplication.processEvents()


def damage(path: Path) -> None:
    """Write over the older half of the candles: from another process, as closing the file here drops our locks."""
    script = (
        "import sys; file = open(sys.argv[1], 'r+b'); size = file.seek(0, 2); "
        "file.seek(size // 8); file.write(b'\\xff' * (size // 2)); file.close()"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=True)


def loaded(qtbot: QtBot, loading: HistoryLoading, market: Market = MARKET) -> CandleSeries:
    with qtbot.waitSignal(loading.loaded) as found:
        loading.start(market)
    series = found.args[0]
    assert isinstance(series, CandleSeries)
    return series


def test_all_stored_candles_are_loaded_with_their_pyramid(qtbot: QtBot, loading: HistoryLoading) -> None:
    series = loaded(qtbot, loading)
    assert series.interval == MARKET.interval
    assert np.array_equal(series.open_time_ms, [candle.open_time_ms for candle in CANDLES])
    assert list(series)[::997] == CANDLES[::997]
    assert series._pyramid is not None, "the window must not have to build it"
    assert not loading.is_loading


def test_a_market_without_candles_is_an_empty_series(qtbot: QtBot, loading: HistoryLoading) -> None:
    assert len(loaded(qtbot, loading, Market("binance", "NONE/USDT", MARKET.interval))) == 0


@pytest.mark.parametrize("is_stored", [True, False])
def test_candles_closed_during_the_load_are_included(
    qtbot: QtBot, loading: HistoryLoading, db: Database, is_stored: bool
) -> None:
    """Late, replaced and new candles; `is_stored` False: the reader was past them already."""
    late = Candle(CANDLES[0].open_time_ms - MINUTE_MS, 1.0, 2.0, 0.5, 1.5, 3.0)
    replaced = Candle(CANDLES[100].open_time_ms, 1.0, 2.0, 0.5, 1.25, 4.0)
    changed = [*NEXT, late, replaced]
    with qtbot.waitSignal(loading.loaded) as found:
        loading.start(MARKET)
        if is_stored:
            CandleStore(db).save(MARKET, changed)
        loading.add(changed[:2])
        loading.add(changed[2:])
    series = found.args[0]
    expected = {candle.open_time_ms: candle for candle in [*CANDLES, *changed]}
    assert len(series) == len(expected)
    for candle in changed:
        index = series.index_at(candle.open_time_ms)
        assert index is not None and series[index] == candle


def test_candles_stored_after_a_time_are_loaded_in_order(qtbot: QtBot, loading: HistoryLoading, db: Database) -> None:
    whole = QSignalSpy(loading.loaded)
    CandleStore(db).save(MARKET, NEXT)
    with qtbot.waitSignal(loading.later_loaded) as found:
        loading.start(MARKET, CANDLES[-9_001].open_time_ms)
    assert list(found.args[0]) == [*CANDLES[-9_000:], *NEXT]
    with qtbot.waitSignal(loading.later_loaded) as found:
        loading.start(MARKET, NEXT[-1].open_time_ms)
    assert len(found.args[0]) == 0 and whole.count() == 0 and not loading.is_loading


def test_another_market_during_the_load_gets_its_own_candles(qtbot: QtBot, loading: HistoryLoading) -> None:
    spy = QSignalSpy(loading.loaded)
    loading.start(MARKET)
    loading.add(NEXT)
    series = loaded(qtbot, loading, OTHER)
    assert list(series) == CANDLES[:5_000]
    assert loading.wait()
    QApplication.processEvents()
    assert spy.count() == 1


def test_a_result_in_the_queue_is_dropped_when_the_market_changes(loading: HistoryLoading, qtbot: QtBot) -> None:
    spy = QSignalSpy(loading.loaded)
    loading.start(MARKET)
    assert loading.wait(), "the result lies in this thread's queue now"
    loading.cancel()
    QApplication.processEvents()
    assert spy.count() == 0
    assert list(loaded(qtbot, loading, OTHER)) == CANDLES[:5_000]


def test_a_cancelled_load_ends_soon_without_a_signal(loading: HistoryLoading) -> None:
    loaded_spy, failed_spy = QSignalSpy(loading.loaded), QSignalSpy(loading.failed)
    for _ in range(5):
        loading.start(MARKET)
        loading.cancel()
    assert loading.wait() and not loading.is_loading
    QApplication.processEvents()
    assert loaded_spy.count() == failed_spy.count() == 0


def failure(qtbot: QtBot, loading: HistoryLoading) -> str:
    with qtbot.waitSignal(loading.failed) as found:
        loading.start(MARKET)
    assert not loading.is_loading
    return str(found.args[0])


def test_a_damaged_database_is_an_error_message(qtbot: QtBot, loading: HistoryLoading, folder: DataFolder) -> None:
    damage(folder.database)
    sentence = failure(qtbot, loading)
    assert str(folder.database) in sentence and "damaged" in sentence and "start it again" in sentence


def test_a_missing_database_is_an_error_message(qtbot: QtBot, loading: HistoryLoading, folder: DataFolder) -> None:
    folder.database.unlink()
    assert "There is no database" in failure(qtbot, loading)


def test_an_invalid_stored_number_is_an_error_message(qtbot: QtBot, loading: HistoryLoading, db: Database) -> None:
    """Only another program can have written it."""
    with db.conn:
        db.conn.execute("UPDATE candles SET high = 9e999 WHERE open_time_ms = ?", (CANDLES[7].open_time_ms,))
    assert "finite" in failure(qtbot, loading)


def run_window(qapp: QApplication, folder: DataFolder, story: Story) -> None:
    """The window on this folder, without feed and trainer: the story opens markets and closes candles itself."""

    async def run() -> None:
        application = Application(context(folder.root), qapp)
        application.window.resize(1280, 720)
        application.window.show()
        application.database.open()
        try:
            await story(application)
        finally:
            application.window.close()
            await application.close()

    run_on_qt_loop(qapp, run())


def count_of(application: Application) -> int:
    return 0 if application.series is None else len(application.series)


def test_the_window_shows_the_newest_at_once_and_all_soon(qapp: QApplication, folder: DataFolder) -> None:
    async def story(application: Application) -> None:
        application.display.show_market(MARKET)
        assert count_of(application) == SHOWN_AT_FIRST
        application.state.markets.closed.emit(MARKET, NEXT[:2])
        assert count_of(application) == SHOWN_AT_FIRST + 2
        await until(lambda: count_of(application) == STORED + 2, "all candles")
        assert application.series is application.chart.model.series
        application.state.markets.closed.emit(MARKET, NEXT[2:])
        await until(lambda: application.chart.scale.count == STORED + 3, "the newest on the chart")
        assert application.chart.scale.is_newest_in_view
        assert application.window.banner.shown is None

    run_window(qapp, folder, story)


def test_a_short_history_is_not_read_twice(qapp: QApplication, folder: DataFolder) -> None:
    with open_database(folder.database) as db:
        db.conn.execute("DELETE FROM candles WHERE open_time_ms >= ?", (CANDLES[SHOWN_AT_FIRST - 1].open_time_ms,))

    async def story(application: Application) -> None:
        application.display.show_market(MARKET)
        assert count_of(application) == SHOWN_AT_FIRST - 1 and not application.charting.history.is_loading

    run_window(qapp, folder, story)


def test_the_window_closes_during_the_load(qapp: QApplication, folder: DataFolder) -> None:
    """Nothing is left running: the suite checks that after each test."""

    async def story(application: Application) -> None:
        application.display.show_market(MARKET)
        assert application.charting.history.is_loading

    run_window(qapp, folder, story)


def test_a_damaged_older_page_leaves_the_newest_candles_on_the_chart(qapp: QApplication, folder: DataFolder) -> None:
    async def story(application: Application) -> None:
        damage(folder.database)
        application.display.show_market(MARKET)
        banner = application.window.banner
        await until(lambda: banner.shown is not None, "the banner")
        assert banner.shown is not None
        assert f"{SHOWN_AT_FIRST:,} newest candles" in banner.shown.text and "damaged" in banner.shown.text
        assert count_of(application) == SHOWN_AT_FIRST

    run_window(qapp, folder, story)


def test_a_failed_reload_leaves_the_whole_history_on_the_chart(qapp: QApplication, folder: DataFolder) -> None:
    async def story(application: Application) -> None:
        application.display.show_market(MARKET)
        await until(lambda: count_of(application) == STORED, "all candles")
        damage(folder.database)
        application.charting.reload(MARKET)
        banner = application.window.banner
        await until(lambda: banner.shown is not None, "the banner")
        assert banner.shown is not None and "newest candles" not in banner.shown.text
        assert "Newly stored candles could not be read." in banner.shown.text and count_of(application) == STORED

    run_window(qapp, folder, story)


def test_an_invalid_newest_candle_is_an_error_message_and_the_window_stays(
    qapp: QApplication, folder: DataFolder
) -> None:
    """Only another program can have written it."""
    with open_database(folder.database) as db:
        db.conn.execute("UPDATE candles SET low = -9e999 WHERE open_time_ms = ?", (CANDLES[-5].open_time_ms,))

    async def story(application: Application) -> None:
        application.display.show_market(MARKET)
        shown = application.window.banner.shown
        assert shown is not None and "finite" in shown.text
        application.display.show_market(OTHER)
        assert application.window.banner.shown is None, "it was about the other market"
        assert count_of(application) == SHOWN_AT_FIRST

    run_window(qapp, folder, story)

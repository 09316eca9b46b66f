"""Feed and training resume by themselves after a fault that passes; real disks: tests/hostile/test_disks.py."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEventLoop
from PySide6.QtWidgets import QApplication

from core.domain.candle import Market
from core.domain.clock import ManualClock
from core.domain.events import TrainerFailed, TrainerState
from core.domain.passing_faults import PassingFault
from core.market.feeds.base import FeedState, FeedStatus
from core.storage.database import open_database
from core.storage.folder import DataFolder
from desktop.app.composition import Application
from desktop.services.passing_fault_watch import PassingFaultWatch
from desktop.state.run_state import RunState
from desktop.ui.banner import Banner
from tests.desktop import scenario
from tests.desktop.whole_window import CandleGate, context, run_window, until

LOOK_EVERY_MS = 20_000
NO_ROOM_FOR_CANDLES = FeedStatus(FeedState.FAILED, "The disk is full.", 0, passing=PassingFault.FULL_DISK)
NO_ROOM_FOR_STEPS = TrainerFailed("The disk is full.", passing=PassingFault.FULL_DISK)
MARKETS = tuple(Market("binance", f"{name}/USDT", scenario.MINUTE) for name in "AB")


@pytest.fixture
def room(state: RunState, banner: Banner, clock: ManualClock, tmp_path: Path) -> Iterator[PassingFaultWatch]:
    folder = DataFolder(tmp_path)
    open_database(folder.database).close()
    room = PassingFaultWatch(state, banner, folder, clock, look_every_ms=LOOK_EVERY_MS)
    yield room
    room.close()


def look(room: PassingFaultWatch) -> None:
    """Fire the timer of the next check, if it runs, and wait for its result."""
    if room._timer.isActive():
        room._timer.timeout.emit()
        take_answer(room)


def take_answer(room: PassingFaultWatch) -> None:
    while room._is_looking:
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)


def asked(room: PassingFaultWatch) -> list[tuple[bool, bool]]:
    wanted: list[tuple[bool, bool]] = []
    room.restart_requested.connect(lambda feed, training: wanted.append((feed, training)))
    return wanted


def test_with_free_space_feed_and_training_resume_and_the_notice_ends(
    room: PassingFaultWatch, state: RunState, banner: Banner
) -> None:
    wanted = asked(room)
    state.markets.on_feed_event(state.market, NO_ROOM_FOR_CANDLES)
    state.apply(NO_ROOM_FOR_STEPS)
    assert banner.shown is not None and "are stopped" in banner.shown.text
    look(room)
    assert wanted == [(True, True)]
    state.markets.on_feed_event(state.market, FeedStatus(FeedState.CONNECTING, "Looking for candles.", 0))
    state.trainer_starts(has_run=True)
    assert banner.shown is None
    look(room)
    assert len(wanted) == 1


def test_notices_of_other_parts_with_the_same_cause_end_with_it(
    room: PassingFaultWatch, state: RunState, banner: Banner
) -> None:
    """Regression: after a network share had returned, a second notice stayed for ever."""
    state.markets.on_feed_event(state.market, NO_ROOM_FOR_CANDLES)
    banner.notify_storage_error("The marks could not be stored.")
    state.markets.on_feed_event(state.market, FeedStatus(FeedState.CONNECTING, "Looking for candles.", 0))
    assert banner.shown is None
    banner.notify_storage_error("The database is damaged.")
    state.markets.on_feed_event(state.market, FeedStatus(FeedState.LIVE, "Live.", 0))
    assert banner.shown is not None, "this is not about a fault that has passed"


def test_a_market_that_is_not_on_the_chart_is_named_too(
    room: PassingFaultWatch, state: RunState, banner: Banner
) -> None:
    known = state.markets
    known.set_universe(MARKETS)
    known.on_feed_event(MARKETS[1], NO_ROOM_FOR_CANDLES)
    assert banner.shown is not None and "Storing candles" in banner.shown.text
    known.on_feed_event(MARKETS[1], FeedStatus(FeedState.CONNECTING, "Looking for candles.", 0))
    assert banner.shown is None
    known.on_feed_event(MARKETS[1], NO_ROOM_FOR_CANDLES)
    known.set_universe(MARKETS[:1])
    assert banner.shown is None, "it has left the run"


@pytest.mark.hostile
def test_a_database_that_another_program_holds_is_waited_for(
    room: PassingFaultWatch, state: RunState, banner: Banner, tmp_path: Path
) -> None:
    wanted = asked(room)
    with closing(sqlite3.connect(DataFolder(tmp_path).database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        state.apply(TrainerFailed("The database is locked.", passing=PassingFault.HELD))
        assert banner.shown is not None and "holds the database" in banner.shown.text
        look(room)
        assert wanted == []
    look(room)
    assert wanted == [(False, True)]


def test_a_feed_that_waits_by_itself_is_reported_and_not_restarted(
    room: PassingFaultWatch, state: RunState, banner: Banner
) -> None:
    wanted = asked(room)
    waiting = FeedStatus(FeedState.RECONNECTING, "Candles wait.", 0, passing=PassingFault.AWAY)
    state.markets.on_feed_event(state.market, waiting)
    assert banner.shown is not None and "does not answer" in banner.shown.text
    look(room)
    assert wanted == []
    banner.action.click()
    assert wanted == [(True, False)]


def test_other_failures_are_left_to_the_user(room: PassingFaultWatch, state: RunState, banner: Banner) -> None:
    wanted = asked(room)
    state.markets.on_feed_event(state.market, FeedStatus(FeedState.FAILED, "No exchange answers.", 0))
    state.apply(TrainerFailed("It ended for the third time."))
    look(room)
    assert wanted == [] and banner.shown is None


def test_on_a_full_disk_only_the_button_retries(
    room: PassingFaultWatch, state: RunState, banner: Banner, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, looks = asked(room), []

    def full(folder: Path) -> tuple[int, int, int]:
        looks.append(folder)
        return shutil._ntuple_diskusage(10**9, 10**9 - 10**6, 10**6)  # type: ignore[attr-defined]

    monkeypatch.setattr(shutil, "disk_usage", full)
    state.apply(NO_ROOM_FOR_STEPS)
    for _ in range(3):
        look(room)
    assert len(looks) == 3 and wanted == []
    banner.action.click()
    assert wanted == [(False, True)]


@pytest.mark.hostile
def test_a_share_that_hangs_does_not_freeze_the_window(
    room: PassingFaultWatch, state: RunState, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, looks, answers = asked(room), [], threading.Event()

    def hang(folder: Path) -> tuple[int, int, int]:
        looks.append(folder)
        assert answers.wait(30.0) and threading.current_thread() is not threading.main_thread()
        return 10**12, 0, 10**12

    monkeypatch.setattr(shutil, "disk_usage", hang)
    state.apply(TrainerFailed("The disk does not answer.", passing=PassingFault.AWAY))
    for _ in range(3):
        room._timer.timeout.emit()
    assert wanted == []
    answers.set()
    take_answer(room)
    assert wanted == [(False, True)] and len(looks) == 1


def test_repeated_failures_are_retried_less_and_less_often(
    room: PassingFaultWatch, state: RunState, clock: ManualClock
) -> None:
    wanted = asked(room)
    pauses: list[int] = []
    for turn in range(6):
        state.markets.on_feed_event(state.market, NO_ROOM_FOR_CANDLES)
        pauses.append(room._timer.interval())
        look(room)
        assert len(wanted) == turn + 1
        state.markets.on_feed_event(state.market, FeedStatus(FeedState.LIVE, "Live.", 0))
        clock.advance_ms(1_000)
    assert pauses == [20_000, 40_000, 80_000, 160_000, 300_000, 300_000]
    clock.advance_ms(600_000)
    state.markets.on_feed_event(state.market, NO_ROOM_FOR_CANDLES)
    assert room._timer.interval() == LOOK_EVERY_MS, "it has gone well for ten minutes"


def test_a_window_that_closes_starts_nothing(room: PassingFaultWatch, state: RunState) -> None:
    wanted = asked(room)
    room.close()
    state.apply(scenario.status(TrainerState.TRAINING))
    state.markets.on_feed_event(state.market, NO_ROOM_FOR_CANDLES)
    look(room)
    assert wanted == []


def test_the_feed_resumes_and_training_stopped_by_the_user_does_not(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, idle_trainer: None
) -> None:
    """The database may not grow: SQLite reports that like a full disk."""

    async def story(application: Application) -> None:
        state = application.state
        await until(lambda: application.trainer.is_running and application.series is not None, "a trainer")
        execute = application.database.db.execute
        application.trainer.stop()
        await until(lambda: not application.trainer.is_running, "its end")
        execute("VACUUM")  # or pages that are empty would take the candles
        execute("PRAGMA max_page_count = 1")
        gate.release(200)
        await until(lambda: state.feed is not None and state.feed.passing, "a full disk")
        banner = application.window.banner
        assert banner.shown is not None and "Storing candles" in banner.shown.text
        execute("PRAGMA max_page_count = 1000000")
        application.faults._timer.timeout.emit()
        await until(lambda: state.feed is not None and state.feed.state is FeedState.REPLAYING, "the feed")
        assert banner.shown is None and not application.trainer.is_running

    run_window(qapp, context(tmp_path), story)

"""Backups during a run, with and without a window."""

from __future__ import annotations

import dataclasses
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt, QThread, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.candle import Market
from core.domain.clock import SystemClock
from core.domain.events import Severity
from core.settings.record import BackupSettings
from core.storage.backup_record import Backup, list_backups, verify
from core.storage.backups import make_backup
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.training.hosting import headless
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.checkpoints.columns import format_bytes
from desktop.commands.headless import run_headless
from desktop.services.backup_watch import BackupMaker, BackupWatch
from desktop.ui.formatting import format_time
from desktop.ui.plain_text import with_usual_spaces
from tests.desktop.whole_window import CATCH_UP, CandleGate, context, run_window, step_of, until
from tests.support.candles import MINUTE, random_walk


@pytest.fixture(autouse=True)
def handed_candles(gate: CandleGate) -> None:
    """After the catch-up no candle arrives by itself."""


def test_the_window_backs_up_while_it_trains(qapp: QApplication, tmp_path: Path, gate: CandleGate) -> None:
    made = context(tmp_path)

    async def story(application: Application) -> None:
        await until(lambda: step_of(application) > 5, "training")
        titles: list[str] = []
        application.backups.progressed.connect(lambda job: titles.append(job.title))
        application.backups.start(0)
        await until(lambda: bool(list_backups(made.folder.backups)), "a backup")
        await until(lambda: len(application.state.jobs) == 0, "its end in the list of works")
        reached = step_of(application)
        gate.release(3)
        await until(lambda: step_of(application) > reached, "further training")
        assert titles and application.window.banner.shown is None

    run_window(qapp, made, story)
    (backup,) = list_backups(made.folder.backups)
    assert verify(backup) is None and backup.record.rows >= CATCH_UP


def test_a_failed_backup_is_reported_until_one_succeeds(qapp: QApplication, tmp_path: Path, idle_trainer: None) -> None:
    made = context(tmp_path)
    made.folder.backups.write_text("in the way")

    async def story(application: Application) -> None:
        banner = application.window.banner
        await until(lambda: application.trainer.is_running, "a trainer")
        application.backups.start(0)
        await until(lambda: banner.shown is not None, "word of it")
        assert banner.shown is not None and "No backup could be written" in banner.shown.text
        made.folder.backups.unlink()
        application.backups.look()
        await until(lambda: banner.shown is None, "the end of it")

    run_window(qapp, made, story)
    assert len(list_backups(made.folder.backups)) == 1


def test_a_requested_backup_is_made_at_once_and_its_path_is_shown(
    qapp: QApplication, tmp_path: Path, idle_trainer: None
) -> None:
    made = context(tmp_path)
    off = dataclasses.replace(made, settings=dataclasses.replace(made.settings, backups=BackupSettings(every_hours=0)))

    async def story(application: Application) -> None:
        window = application.window
        action, menu = window.shell.actions[ActionId.BACK_UP], window.shell.actions.menu_of(ActionId.BACK_UP)
        await until(lambda: application.trainer.is_running, "a trainer")
        menu.aboutToShow.emit()
        assert "No backups yet" in with_usual_spaces(action.toolTip())
        box = application.finder.open()
        QTest.keyClicks(box.line, "back up")
        began_ms = application.state.clock.now_ms()
        QTest.keyClick(box.line, Qt.Key.Key_Return)
        action.trigger()
        action.trigger()
        assert window.banner.shown is None, "the window's thread has continued; no backup exists yet"
        await until(lambda: window.banner.shown is not None, "word of it")
        (backup,) = list_backups(made.folder.backups)
        assert backup.record.made_at_ms >= began_ms and verify(backup) is None
        assert window.banner.shown is not None and window.banner.shown.severity is Severity.INFO
        assert str(backup.folder) in window.banner.shown.text
        assert format_bytes(backup.record.size_bytes) in window.banner.shown.text
        menu.aboutToShow.emit()
        assert format_time(backup.record.made_at_ms) in with_usual_spaces(action.toolTip())
        await until(lambda: not makers(application), "the maker's end")
        application.backups.look()
        assert not makers(application), "none is due"

    run_window(qapp, off, story)


class HeldClock(SystemClock):
    """Holds a backup after its first piece until the window closes, so that it is interrupted."""

    def __init__(self) -> None:
        self.begun, self.is_closing = threading.Event(), threading.Event()

    def sleep_s(self, seconds: float) -> None:
        self.begun.set()
        assert self.is_closing.wait(60.0)
        for _ in range(100_000):
            if QThread.currentThread().isInterruptionRequested():
                return
            QThread.yieldCurrentThread()


def test_closing_cancels_a_running_backup(qtbot: QtBot, tmp_path: Path) -> None:
    folder, clock = filled_folder(tmp_path), HeldClock()
    watch = BackupWatch(folder, BackupSettings, clock)
    watch.make_now()
    qtbot.waitUntil(clock.begun.is_set)
    clock.is_closing.set()
    assert watch.close()
    QApplication.processEvents()  # its thread has ended
    (timer,) = watch.findChildren(QTimer)
    assert not timer.isActive(), "nothing follows"
    assert not list_backups(folder.backups) and [path.name for path in folder.backups.glob(".making*")] == []


def test_it_checks_every_minute_and_after_a_failure_every_hour(qtbot: QtBot, tmp_path: Path) -> None:
    folder = filled_folder(tmp_path)
    folder.backups.write_text("in the way")
    watch = BackupWatch(folder, BackupSettings, SystemClock())
    (timer,) = watch.findChildren(QTimer)
    with qtbot.waitSignal(watch.failed):
        watch.look()
    qtbot.waitUntil(timer.isActive)
    assert timer.interval() == 60 * 60_000
    folder.backups.unlink()
    with qtbot.waitSignal(watch.made):
        watch.look()
    qtbot.waitUntil(lambda: timer.interval() == 60_000)
    watch.look()
    assert timer.interval() == 60_000 and len(list_backups(folder.backups)) == 1
    assert watch.close()


def filled_folder(root: Path) -> DataFolder:
    folder = DataFolder(root / "data")
    folder.ensure()
    with closing(open_database(folder.database)) as db:
        CandleStore(db).save(Market("file", "TEST", MINUTE), random_walk(20_000))
    return folder


def makers(application: Application) -> list[BackupMaker]:
    return application.backups.findChildren(BackupMaker)


def test_a_run_without_a_window_is_backed_up_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gate: CandleGate
) -> None:
    """The rest of its candles follows after the backup."""

    def make_then_give(*arguments: Any, **options: Any) -> Backup:
        made = make_backup(*arguments, **options)
        gate.release(60 - CATCH_UP)
        return made

    monkeypatch.setattr(headless, "_FIRST_BACKUP_S", 0.0)
    monkeypatch.setattr(headless, "make_backup", make_then_give)
    made = dataclasses.replace(context(tmp_path), candles=60)
    summary = run_headless(made)
    assert summary["steps"] == 59
    (backup,) = list_backups(made.folder.backups)
    assert verify(backup) is None

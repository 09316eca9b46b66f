from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from core.domain.clock import ManualClock
from core.logs.crashes import CrashLog, CrashReport
from core.storage.folder import DataFolder
from desktop.app.crash_watch import CrashWatch
from tests.desktop.conftest import Bench, MakeBench


@pytest.fixture
def bench(make_bench: MakeBench) -> Bench:
    return make_bench()


def shown_report(bench: Bench, qtbot: QtBot) -> QDialog:
    qtbot.mouseClick(bench.window.banner.action, Qt.MouseButton.LeftButton)
    dialog = bench.window.findChild(QDialog)
    assert isinstance(dialog, QDialog)
    return dialog


def test_a_crash_is_reported_at_the_next_start_and_its_report_can_be_copied(
    bench: Bench, qtbot: QtBot, tmp_path: Path
) -> None:
    watch = CrashWatch(
        CrashLog(DataFolder(tmp_path), ManualClock(5)), bench.window, bench.window.banner, ManualClock(5)
    )
    watch.report_last_end(None)
    assert bench.window.banner.shown is None
    watch.report_last_end(CrashReport(5, "It crashed:\nFatal Python error", tmp_path / "report.txt"))
    dialog = shown_report(bench, qtbot)
    assert "Fatal Python error" in dialog.findChild(QPlainTextEdit).toPlainText()
    copy = next(each for each in dialog.findChildren(QPushButton) if each.text() == "&Copy")
    qtbot.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "It crashed:\nFatal Python error"
    assert bench.window.banner.shown is None, "it has been read"


@pytest.mark.qt_no_exception_capture
def test_an_error_in_a_slot_is_reported_and_the_window_stays_usable(
    bench: Bench, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # put back in any case

    def slot() -> None:
        raise ValueError("a slot that fails")

    with CrashWatch(CrashLog(DataFolder(tmp_path), ManualClock(5)), bench.window, bench.window.banner, ManualClock(5)):
        QTimer.singleShot(0, slot)
        qtbot.waitUntil(lambda: bench.window.banner.shown is not None)
    notice = bench.window.banner.shown
    assert notice is not None and "a slot that fails" in notice.text
    text = shown_report(bench, qtbot).findChild(QPlainTextEdit).toPlainText()
    assert "ValueError: a slot that fails" in text and "in slot" in text


def _paint() -> None:
    raise ValueError("a frame that cannot be painted")


def _open_something() -> None:
    raise KeyError("something else")


def _raise_in_qt(deed: Callable[[], None]) -> None:
    """As PySide does with an exception of a slot."""
    try:
        deed()
    except Exception as error:
        sys.excepthook(type(error), error, error.__traceback__)


def test_a_repeated_error_has_one_report_and_can_be_dismissed(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # put back in any case
    clock, folder = ManualClock(5), DataFolder(tmp_path)
    banner = bench.window.banner
    with CrashWatch(CrashLog(folder, clock), bench.window, bench.window.banner, clock):
        for _ in range(200):
            _raise_in_qt(_paint)
            clock.advance_ms(16)
        assert banner.shown is not None
        banner.dismiss()
        _raise_in_qt(_paint)
        assert banner.shown is None, "it was read a moment ago"
        _raise_in_qt(_open_something)
        assert banner.shown is not None and "something else" in banner.shown.text
        banner.dismiss()
        clock.advance_ms(120_000)
        _raise_in_qt(_paint)
        assert banner.shown is not None and "cannot be painted" in banner.shown.text
    assert len(list(folder.crashes.glob("*.txt"))) == 2

"""Runs the window on qasync's loop, from its first paint until it is closed."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from qasync import QEventLoop

from core.domain.clock import SystemClock
from core.logs.crashes import CrashLog, CrashReport
from core.market.feeds.base import FeedStatus
from core.storage.ownership import FolderOwner
from desktop.app.composition import Application
from desktop.app.context import Context
from desktop.app.crash_watch import CrashWatch
from desktop.app.interpreter import short_turns
from desktop.app.stopping import stopped_by_signals
from desktop.app.terminal_progress import TerminalProgress
from desktop.services.run_controller import RunController
from desktop.services.single_instance import SingleInstance
from desktop.ui.accessible import describe_painted
from desktop.ui.qt_messages import useful_qt_messages

_log = logging.getLogger("ghostcandle")


def run_application(
    context: Context,
    qt: QApplication,
    instance_lock: SingleInstance,
    *,
    is_visible: bool = True,
    left_behind: FolderOwner | None = None,
) -> int:
    """Run the window on qasync's loop until it is closed. Returns the exit code.

    is_visible: False where there is no display; progress then goes to the terminal, and a picture to the data folder.
    left_behind: who owned the data folder before, where that did not end well.
    """
    crashes = CrashLog(context.folder, SystemClock())
    describe_painted()
    report = crashes.begin(left_behind)
    qt.setQuitOnLastWindowClosed(False)  # the trainer's last checkpoint comes after the last window
    with (
        short_turns(),
        useful_qt_messages(),
        QEventLoop(qt) as loop,
        TerminalProgress(is_shown=not is_visible) as progress,
    ):
        asyncio.set_event_loop(loop)
        life = loop.create_task(_live(context, qt, instance_lock, None if is_visible else progress, crashes, report))
        try:
            loop.run_until_complete(life)
        except RuntimeError:
            if life.done():
                raise
            _log.error("The display was lost, so the window has ended. The next start continues from a checkpoint.")
            os._exit(1)  # without their display widgets cannot be deleted; the system releases the folder's lock
    crashes.end()
    return 0


async def _live(
    context: Context,
    qt: QApplication,
    instance_lock: SingleInstance,
    progress: TerminalProgress | None,
    crashes: CrashLog,
    report: CrashReport | None,
) -> None:
    closed = asyncio.Event()
    application = Application(context, qt)
    window = application.window
    window.closing.connect(closed.set)
    window.closing.connect(instance_lock.begin_to_close)
    instance_lock.raise_requested.connect(window.come_to_front)
    qt.aboutToQuit.connect(application.runs.trainer.stop_and_wait)  # Qt ends its loop when the display is lost
    if progress is not None:
        picture = context.folder.root / "pictures" / "window.png"
        TerminalView(window, application.runs, progress, picture, application)
    with CrashWatch(crashes, window, application.banner, SystemClock()) as watch:
        watch.report_last_end(report)
        try:
            with stopped_by_signals(lambda: _close(application)):
                application.start()
                await closed.wait()
        finally:
            await application.close()


def _close(application: Application) -> None:
    """Nobody may be there to be asked."""
    application.jobs.let_close()
    application.window.close()


_SIZE = (1600, 900)
_FIRST_PICTURE_MS = 5_000
_PICTURE_EVERY_MS = 15_000


class TerminalView(QObject):
    """Takes what the run says, and paints the offscreen window into a PNG now and then."""

    def __init__(
        self, window: QWidget, runs: RunController, progress: TerminalProgress, picture: Path, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._window = window
        self._progress = progress
        self._picture = picture
        window.resize(*_SIZE)
        runs.batch.connect(progress.take_batch)
        runs.feed_event.connect(self._on_feed)
        runs.notice.connect(progress.say)
        runs.failed.connect(progress.say)
        runs.refused.connect(progress.say)
        self._timer = QTimer(self, interval=_PICTURE_EVERY_MS)
        self._timer.timeout.connect(self.write_picture)
        self._timer.start()
        QTimer.singleShot(_FIRST_PICTURE_MS, self, self.write_picture)

    def write_picture(self) -> None:
        """Paint the window into the file, and say where it is."""
        self._picture.parent.mkdir(parents=True, exist_ok=True)
        if self._window.grab().save(str(self._picture)):
            self._progress.say(f"Picture of the window: {self._picture}")
        else:
            self._progress.say(f"The picture {self._picture} could not be written.")

    def _on_feed(self, event: object) -> None:
        if isinstance(event, FeedStatus):
            self._progress.take_feed(event)

"""Runs the window on qasync's loop, from its first paint until it is closed."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from qasync import QEventLoop

from core.domain.candle import Market
from core.domain.clock import SystemClock
from core.logs.crashes import CrashLog, CrashReport
from core.market.feeds.base import FeedStatus
from core.storage.ownership import FolderOwner
from desktop.app.composition import Application
from desktop.app.context import Context
from desktop.app.crash_watch import CrashWatch
from desktop.app.interpreter import short_turns
from desktop.app.stopping import stopped_by_signals
from desktop.services.run_controller import RunController
from desktop.services.single_instance import SingleInstance
from desktop.state.run_state import RunState
from desktop.ui.accessible import describe_painted
from desktop.ui.qt_messages import useful_qt_messages

if TYPE_CHECKING:
    from desktop.app.terminal_progress import TerminalProgress

_log = logging.getLogger("ghostcandle")


def run_application(
    context: Context,
    qt: QApplication,
    instance_lock: SingleInstance,
    *,
    is_visible: bool = True,
    left_behind: FolderOwner | None = None,
    on_first_paint: Callable[[], None] = lambda: None,
) -> int:
    """Run the window on qasync's loop until it is closed. Returns the exit code.

    is_visible: False if there is no display; progress then goes to the terminal, and a picture to the data folder.
    left_behind: the former owner of the data folder, if it crashed. on_first_paint: called once it is on the screen.
    """
    crashes = CrashLog(context.folder, SystemClock())
    describe_painted()
    report = crashes.begin(left_behind)
    qt.setQuitOnLastWindowClosed(False)  # the trainer's last checkpoint comes after the last window
    with short_turns(), useful_qt_messages(), QEventLoop(qt) as loop, ExitStack() as terminal:
        asyncio.set_event_loop(loop)
        progress = None if is_visible else terminal.enter_context(_terminal_progress())
        life = loop.create_task(_live(context, qt, instance_lock, progress, crashes, report, on_first_paint))
        try:
            loop.run_until_complete(life)
        except RuntimeError:
            if life.done():
                raise
            _log.error("The display was lost, so the window has ended. The next start continues from a checkpoint.")
            os._exit(1)  # without their display widgets cannot be deleted; the system releases the folder's lock
    crashes.end()
    return 0


def _terminal_progress() -> TerminalProgress:
    from desktop.app.terminal_progress import TerminalProgress  # noqa: PLC0415 - a window needs no rich

    return TerminalProgress(is_shown=True)


async def _live(
    context: Context,
    qt: QApplication,
    instance_lock: SingleInstance,
    progress: TerminalProgress | None,
    crashes: CrashLog,
    report: CrashReport | None,
    on_first_paint: Callable[[], None],
) -> None:
    closed = asyncio.Event()
    application = Application(context, qt)
    application.first_paint.happened.connect(on_first_paint)
    window = application.window
    window.closing.connect(closed.set)
    window.closing.connect(instance_lock.begin_to_close)
    instance_lock.raise_requested.connect(window.come_to_front)
    qt.aboutToQuit.connect(application.trainer.stop_and_wait)  # Qt ends its loop when the display is lost
    if progress is not None:
        picture = context.folder.root / "pictures" / "window.png"
        TerminalView(window, application.runs, application.state, progress, picture, application)
    with CrashWatch(crashes, window, application.banner, SystemClock()) as watch:
        watch.report_last_end(report)
        try:
            with stopped_by_signals(lambda: _close(application)):
                application.start()
                await closed.wait()
        finally:
            await application.close()


def _close(application: Application) -> None:
    """Close without a question: nobody may be there to answer it."""
    application.jobs.let_close()
    application.window.close()


_SIZE = (1600, 900)
_FIRST_PICTURE_MS = 5_000
_PICTURE_EVERY_MS = 15_000
_STATUS_EVERY_MS = 60_000


class TerminalView(QObject):
    """Prints messages and, once a minute, the status, and paints the offscreen window into a PNG now and then."""

    def __init__(
        self,
        window: QWidget,
        runs: RunController,
        state: RunState,
        progress: TerminalProgress,
        picture: Path,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._window = window
        self._progress = progress
        self._picture = picture
        self._is_written: bool | None = None
        """Whether the newest picture was; None before the first."""
        window.resize(*_SIZE)
        for signal in (state.ready, state.incident_happened, state.job_progressed):
            signal.connect(progress.apply)
        state.status_changed.connect(lambda: progress.apply(state.status))
        state.markets.feed_changed.connect(self._on_feed)
        runs.notice.connect(progress.say)
        runs.failed.connect(progress.say)
        runs.refused.connect(progress.say)
        self._pictures = QTimer(self, interval=_FIRST_PICTURE_MS)
        self._pictures.timeout.connect(self.write_picture)
        self._pictures.start()
        statuses = QTimer(self, interval=_STATUS_EVERY_MS)
        statuses.timeout.connect(progress.report_status)
        statuses.start()

    def write_picture(self) -> None:
        """Paint the window into the file. Its path is reported the first time and after a failure."""
        self._pictures.setInterval(_PICTURE_EVERY_MS)
        self._picture.parent.mkdir(parents=True, exist_ok=True)
        is_written = self._window.grab().save(str(self._picture))
        if is_written is not self._is_written:
            self._is_written = is_written
            found = (
                "Picture of the window, renewed every 15 s: {}"
                if is_written
                else "The picture {} could not be written."
            )
            self._progress.say(found.format(self._picture))

    def _on_feed(self, _market: Market | None, event: object) -> None:
        if isinstance(event, FeedStatus):
            self._progress.show_feed(event)

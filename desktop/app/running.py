"""Runs the window on qasync's loop, from its first paint until it is closed."""

from __future__ import annotations

import asyncio

from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from core.domain.clock import SystemClock
from core.logs.crashes import CrashLog, CrashReport
from core.storage.ownership import LeftBehind
from desktop.app.composition import Application
from desktop.app.context import Context
from desktop.app.crash_watch import CrashWatch
from desktop.app.interrupt import SignalWatcher
from desktop.app.terminal_progress import TerminalProgress
from desktop.app.terminal_view import TerminalView
from desktop.services.single_instance import SingleInstance
from desktop.ui.accessible import describe_painted


def run_application(
    context: Context,
    qt: QApplication,
    instance_lock: SingleInstance,
    *,
    is_visible: bool = True,
    left_behind: LeftBehind | None = None,
) -> int:
    """Run the window on qasync's loop until it is closed. Returns the exit code.

    is_visible: False where there is no display; progress then goes to the terminal, and a picture to the data folder.
    left_behind: who owned the data folder before, where that did not end well.
    """
    crashes = CrashLog(context.folder, SystemClock())
    describe_painted()
    report = crashes.begin(left_behind)
    qt.setQuitOnLastWindowClosed(False)  # the trainer's last checkpoint comes after the last window
    with QEventLoop(qt) as loop, TerminalProgress(is_shown=not is_visible) as progress:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(_live(context, qt, instance_lock, None if is_visible else progress, crashes, report))
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
    instance_lock.raise_requested.connect(window.come_to_front)
    instance_lock.history_requested.connect(application.remote_commands.serve)
    signals = SignalWatcher(lambda: _close(application), application)
    if progress is not None:
        picture = context.folder.root / "pictures" / "window.png"
        TerminalView(window, application.runs, progress, picture, application)
    with CrashWatch(crashes, window, application.banner, SystemClock()) as watch:
        watch.report_last_end(report)
        application.start()
        try:
            await closed.wait()
        finally:
            signals.close()
            await application.close()


def _close(application: Application) -> None:
    """Nobody may be there to be asked."""
    application.jobs.let_close()
    application.window.close()

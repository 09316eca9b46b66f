"""What the window says of how it ended the last time, and of errors that nobody caught in it."""

from __future__ import annotations

import logging
import sys
from types import TracebackType

from core.crashes import CrashLog, CrashReport
from core.events import Severity
from desktop import formatting
from desktop.dialogs.crash_report import open_crash_report
from desktop.panels.banner import Notice
from desktop.translation import translate
from desktop.window import MainWindow

_log = logging.getLogger("ghostcandle")


class CrashWatch:
    """A context manager: inside it, an exception that reaches Qt is written down and told, and the window goes on."""

    def __init__(self, log: CrashLog, window: MainWindow) -> None:
        self._log = log
        self._window = window

    def __enter__(self) -> CrashWatch:
        sys.excepthook = self._on_uncaught
        return self

    def __exit__(self, *_: object) -> None:
        sys.excepthook = sys.__excepthook__

    def tell_of_last_end(self, report: CrashReport | None) -> None:
        """Say that the last window did not end well, where that is so."""
        if report is None:
            return
        when = formatting.format_time(report.at_ms)
        _log.warning("the window before this one did not end by itself; report: %s", report.path)
        text = translate(
            "Window", "Ghostcandle did not end by itself the last time. Whatever was stored until then is here."
        )
        self._tell(Severity.WARNING, text, translate("Window", "Found at {0}.").format(when), report)

    def _on_uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """PySide prints what a slot raises and goes on; so do we, but the user is told."""
        _log.error("An error in the window.", exc_info=(kind, error, trace))
        report = self._log.of_error(kind, error, trace)
        text = translate("Window", "Something went wrong in the window ({0}: {1}). It goes on.").format(
            kind.__name__, error
        )
        self._tell(Severity.ERROR, text, translate("Window", "The report has the details."), report)

    def _tell(self, severity: Severity, text: str, details: str, report: CrashReport) -> None:
        self._window.banner.tell(
            Notice(
                "crash",
                severity,
                text,
                details,
                translate("Window", "Show report"),
                lambda: open_crash_report(self._window, report),
            )
        )

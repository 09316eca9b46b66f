"""What the window says of how it ended the last time, and of errors that nobody caught in it."""

from __future__ import annotations

import logging
import sys
import traceback
from dataclasses import dataclass
from types import TracebackType

from PySide6.QtWidgets import QWidget

from core.domain.clock import Clock
from core.domain.events import Severity
from core.logs.crashes import CrashLog, CrashReport
from desktop.dialogs.crash_report import open_crash_report
from desktop.ui import formatting
from desktop.ui.banner import Banner, Notice
from desktop.ui.translation import translate

_log = logging.getLogger("ghostcandle")
_SAME_APART_S = 60.0
"""An error in a paint event comes with each frame: without a limit its reports would drive out all others, and its
notice could not be dismissed."""
_MOST_KNOWN = 100

Place = tuple[type[BaseException], tuple[tuple[str, int | None], ...]]
"""Where an error comes from: its kind, and the lines that led to it."""


@dataclass(slots=True)
class _Known:
    """An error that was told. told_s: when, the last time; since: how often it has come again since then."""

    report: CrashReport
    told_s: float
    since: int = 0


class CrashWatch:
    """A context manager: inside it, an exception that reaches Qt is written down and told, and the window goes on."""

    def __init__(self, log: CrashLog, window: QWidget, banner: Banner, clock: Clock) -> None:
        self._log = log
        self._window, self._banner = window, banner
        self._clock = clock
        self._known: dict[Place, _Known] = {}

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
        report = self._report(kind, error, trace)
        if report is None:
            return
        text = translate("Window", "Something went wrong in the window ({0}: {1}). It goes on.").format(
            kind.__name__, error
        )
        self._tell(Severity.ERROR, text, translate("Window", "The report has the details."), report)

    def _report(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> CrashReport | None:
        """What there is to tell of it: the first report for an error that came before, None where that was just now."""
        place = _place(kind, trace)
        known, now_s = self._known.get(place), self._clock.monotonic_s()
        if known is None:
            _log.error("An error in the window.", exc_info=(kind, error, trace))
            report = self._log.of_error(kind, error, trace)
            if len(self._known) >= _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._known[place] = _Known(report, now_s)
            return report
        known.since += 1
        if now_s - known.told_s < _SAME_APART_S:
            return None
        _log.error("The error in %s came %d more times: %s", known.report.path, known.since, error)
        known.told_s, known.since = now_s, 0
        return known.report

    def _tell(self, severity: Severity, text: str, details: str, report: CrashReport) -> None:
        self._banner.tell(
            Notice(
                "crash",
                severity,
                text,
                details,
                translate("Window", "Show report"),
                lambda: open_crash_report(self._window, report),
            )
        )


def _place(kind: type[BaseException], trace: TracebackType | None) -> Place:
    return kind, tuple((frame.filename, frame.lineno) for frame in traceback.extract_tb(trace))

"""Notices of the last crash, and of uncaught errors in the window; and the report on one, to be read and copied."""

from __future__ import annotations

import logging
import sys
import traceback
from dataclasses import dataclass
from types import TracebackType

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QWidget

from core.domain.clock import Clock
from core.domain.events import Severity
from core.logs.crashes import CrashLog, CrashReport
from desktop.dialogs.messages import open_dialog
from desktop.ui import formatting
from desktop.ui.banner import Banner, Notice
from desktop.ui.dialog_parts import close_button
from desktop.ui.plain_text import Label
from desktop.ui.stacks import stacked
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_log = logging.getLogger("ghostcandle")
_SAME_APART_S = 60.0
"""An error in a paint event comes with each frame: without a limit its reports would drive out all others, and its
notice could not be dismissed."""
_MOST_KNOWN = 100

Place = tuple[type[BaseException], tuple[tuple[str, int | None], ...]]
"""The source of an error: its type, and the lines that led to it."""
_SIZE = (860, 520)
_WORDS = QT_TRANSLATE_NOOP(
    "Dialogs",
    "Candles, checkpoints and scores up to then are stored. Attach this report when you ask for help. It names "
    "folders of this computer: read it before you share it.",
)


@dataclass(slots=True)
class _Known:
    """An error that was reported. reported_s: when, last; since: how often it has occurred since then."""

    report: CrashReport
    reported_s: float
    since: int = 0


class CrashWatch:
    """A context manager: inside it, an exception that reaches Qt is logged and reported, and the window continues."""

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

    def report_last_end(self, report: CrashReport | None) -> None:
        """Show a notice if the last window did not close cleanly."""
        if report is None:
            return
        when = formatting.format_time(report.at_ms)
        _log.warning("the last window closed unexpectedly; report: %s", report.path)
        text = translate("Window", "Ghostcandle closed unexpectedly last time. Everything saved is here.")
        self._notify(Severity.WARNING, text, translate("Window", "Detected: {0}.").format(when), report)

    def _on_uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """PySide prints what a slot raises and continues; so do we, with a notice."""
        report = self._report(kind, error, trace)
        if report is None:
            return
        text = translate("Window", "Something went wrong in the window ({0}: {1}). It keeps running.").format(
            kind.__name__, error
        )
        self._notify(Severity.ERROR, text, translate("Window", "The report has the details."), report)

    def _report(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> CrashReport | None:
        """The report of an error; of a repeated one the first report, or None if that was shown just now."""
        place = kind, tuple((frame.filename, frame.lineno) for frame in traceback.extract_tb(trace))
        known, now_s = self._known.get(place), self._clock.monotonic_s()
        if known is None:
            _log.error("An error in the window.", exc_info=(kind, error, trace))
            report = self._log.of_error(kind, error, trace)
            if len(self._known) >= _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._known[place] = _Known(report, now_s)
            return report
        known.since += 1
        if now_s - known.reported_s < _SAME_APART_S:
            return None
        _log.error("The error in %s came %d more times: %s", known.report.path, known.since, error)
        known.reported_s, known.since = now_s, 0
        return known.report

    def _notify(self, severity: Severity, text: str, details: str, report: CrashReport) -> None:
        self._banner.show_notice(
            Notice(
                "crash",
                severity,
                text,
                details,
                translate("Window", "Show report"),
                lambda: open_crash_report(self._window, report),
            )
        )


def open_crash_report(parent: QWidget, report: CrashReport) -> QDialog:
    """Show the report; Copy puts all of it on the clipboard."""
    dialog = QDialog(parent)
    dialog.setWindowTitle(translate("Dialogs", "Crash report"))
    words = Label(translate("Dialogs", _WORDS), wraps=True)
    text = QPlainTextEdit(report.text, readOnly=True, lineWrapMode=QPlainTextEdit.LineWrapMode.NoWrap)
    text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    text.setAccessibleName(translate("Dialogs", "Report text"))
    buttons = close_button(dialog)
    copy = buttons.addButton(translate("Dialogs", "&Copy"), QDialogButtonBox.ButtonRole.ActionRole)
    copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(report.text))
    if report.path is not None:
        folder = QUrl.fromLocalFile(str(report.path.parent))
        opens = buttons.addButton(translate("Dialogs", "Open &folder"), QDialogButtonBox.ButtonRole.ActionRole)
        opens.clicked.connect(lambda: QDesktopServices.openUrl(folder))
    stacked(dialog, words, text, buttons, stretched=text)
    dialog.resize(*_SIZE)
    return open_dialog(dialog)

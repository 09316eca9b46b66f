"""Writes candles to a file beside the window: a million lines take seconds."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QObject, QThread, Signal

from core.domain.candle_series import FloatArray, TimeArray
from core.domain.events import Severity
from core.files.durable import write_pieces_durably
from core.market.history.candle_csv import csv_pieces
from desktop.ui.formatting import format_candles
from desktop.ui.translation import translate

_REST_US = 100
"""Pause after each piece: the window's thread gets the interpreter at once instead of after Python's 5 ms."""
_REPORT_EVERY_PERCENT = 10
_log = logging.getLogger("ghostcandle")


class _CancelledError(Exception):
    """The export was cancelled; the file stays unchanged."""


class CsvWriter(QThread):
    """Writes one file atomically. The thread ends when the file is written or the export is cancelled.

    progress_reported, queued to the window's thread: a sentence and its severity, for every tenth written and for the
    end, unless cancelled.
    """

    progress_reported = Signal(str, object)

    def __init__(self, path: Path, open_time_ms: TimeArray, values: FloatArray, parent: QObject | None = None) -> None:
        """Times, shape (n,), and values, shape (5, n), must not be changed afterwards."""
        super().__init__(parent)
        self.setObjectName("CsvWriter")
        self.path, self.count = path, open_time_ms.size
        self._open_time_ms, self._values = open_time_ms, values
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Leave the file unchanged, without a signal. Callable from any thread."""
        self._cancelled.set()

    def run(self) -> None:
        """The thread's whole life. PySide loses exceptions of other threads, so none leaves this method."""
        try:
            write_pieces_durably(self.path, self._pieces(), is_private=False)
        except _CancelledError:
            return
        except OSError as error:
            self.progress_reported.emit(failed_words(self.path, error.strerror or str(error)), Severity.WARNING)
        except Exception as error:
            _log.exception("The candles could not be exported.")
            words = translate("Chart", "{0}: {1}; see the log for details").format(type(error).__name__, error)
            self.progress_reported.emit(failed_words(self.path, words), Severity.WARNING)
        else:
            self.progress_reported.emit(written_words(self.path, format_candles(self.count)), Severity.INFO)

    def _pieces(self) -> Iterator[bytes]:
        lines, reported_percent = 0, 0
        for piece in csv_pieces(self._open_time_ms, self._values):
            if self._cancelled.is_set():
                raise _CancelledError
            yield piece.encode()
            lines += piece.count("\n")
            percent = 100 * (lines - 1) // max(self.count, 1)
            if reported_percent + _REPORT_EVERY_PERCENT <= percent < 100:
                reported_percent = percent - percent % _REPORT_EVERY_PERCENT
                words = translate("Chart", "Writing {0} to {1}: {2} %")
                self.progress_reported.emit(
                    words.format(format_candles(self.count), self.path.name, reported_percent), Severity.INFO
                )
            self.usleep(_REST_US)


def written_words(path: Path, what: str) -> str:
    """The message that the file was saved."""
    return translate("Chart", "{0} saved to {1}.").format(what, path)


def failed_words(path: Path, reason: str) -> str:
    """The message that the file could not be written, and what to do."""
    return translate("Chart", "{0} could not be written ({1}). Choose another place.").format(path.name, reason)

"""Whether a file can be replayed, found out on another thread while the dialog that names it is open."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from core.market.files import read_candle_file
from core.market.history.errors import CandleFileError
from core.market.history.source import require_readable

_PAUSE_MS = 200
"""After the last key: a look a letter would help nobody."""
_ASKED_EVERY_MS = 50
_ENOUGH_BYTES = 16 << 20
"""What is wrong with a file is seen in its first part, but for a few slips; the market that runs outlives those too."""
_ENOUGH_PIECES = 4
"""The same of Feather and Parquet, of which nobody knows how many bytes were read."""
_log = logging.getLogger("ghostcandle")


class _EnoughError(Exception):
    """Enough of it was read, or nobody wants to know any more."""


class _Look:
    """At one file, on a thread that may outlive the dialog: a disk that does not answer holds nobody up."""

    def __init__(self, name: str) -> None:
        self.problem: str | None = None
        """What is wrong with it; empty where nothing is; None while it is looked at."""
        self.is_cancelled = threading.Event()
        self._path, self._pieces = Path(name), 0

    def start(self) -> None:
        threading.Thread(target=self._run, name="look at a replay file", daemon=True).start()

    def _run(self) -> None:
        problem = ""
        try:
            require_readable(self._path)
            read_candle_file(self._path, self._watch)
        except _EnoughError:
            pass
        except CandleFileError as error:
            problem = str(error)
        except Exception:  # opening it says what came of it
            _log.exception("A file that was to be replayed could not be looked at.")
        self.problem = problem

    def _watch(self, done: int, _total: int) -> None:
        self._pieces += 1
        if self.is_cancelled.is_set() or done >= _ENOUGH_BYTES or self._pieces > _ENOUGH_PIECES:
            raise _EnoughError


class ReplayFileCheck(QObject):
    """Remembers what was found of the file that was asked for last."""

    answered = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._name = ""
        self._look: _Look | None = None
        self._pause, self._wait = QTimer(self), QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self._begin)
        self._wait.setInterval(_ASKED_EVERY_MS)
        self._wait.timeout.connect(self._ask_look)

    def ask(self, name: str) -> None:
        """Look at this file; once it is known, `answered` comes. Asking twice is asking once."""
        if name != self._name:
            self.end()
            self._name = name
            if name:
                self._pause.start()

    def ask_again(self) -> None:
        """The file may have been mended meanwhile."""
        name, self._name = self._name, ""
        self.ask(name)

    def end(self) -> None:
        """Nobody wants to know any more."""
        self._pause.stop()
        self._wait.stop()
        if self._look is not None:
            self._look.is_cancelled.set()
        self._name, self._look = "", None

    def problem(self, name: str) -> str | None:
        """What is wrong with this file, in a sentence; empty where nothing is; None while it is not known."""
        return self._look.problem if self._look is not None and name == self._name else None

    @Slot()
    def _begin(self) -> None:
        self._look = _Look(self._name)
        self._look.start()
        self._wait.start()

    @Slot()
    def _ask_look(self) -> None:
        if self._look is not None and self._look.problem is not None:
            self._wait.stop()
            self.answered.emit()

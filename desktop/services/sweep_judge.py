"""Judges a sweep that is over. It takes seconds, of many configurations minutes, and cannot be interrupted: so its
thread may outlive the window."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from core.sweeps.errors import SweepError
from core.sweeps.store import SweepStore
from core.sweeps.winner import Verdict, judge_sweep
from desktop.ui.translation import translate

_PAUSE_MS = 500
"""The page is painted first."""
_ASKED_EVERY_MS = 100
_log = logging.getLogger("ghostcandle")


@dataclass(frozen=True, slots=True)
class Judged:
    """verdict: None if there is none; trouble says why."""

    folder: Path
    verdict: Verdict | None
    trouble: str = ""


class _Judging:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.found: Judged | None = None

    def start(self) -> None:
        threading.Thread(target=self._run, name="judge a sweep", daemon=True).start()

    def _run(self) -> None:
        try:
            with SweepStore(self.folder, readonly=True) as store:
                self.found = Judged(self.folder, judge_sweep(store))
        except SweepError as error:
            self.found = Judged(self.folder, None, str(error))
        except Exception as error:
            _log.exception("A sweep could not be judged.")
            words = translate("Sweeps", "The sweep could not be judged ({0}: {1}). See the log for details.")
            self.found = Judged(self.folder, None, words.format(type(error).__name__, error))


class SweepJudge(QObject):
    judged = Signal(object)
    """Judged: of the newest question."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._judging: _Judging | None = None
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._begin)
        self._wait = QTimer(self, interval=_ASKED_EVERY_MS)
        self._wait.timeout.connect(self._look)

    def ask(self, folder: Path) -> None:
        """Judge this sweep; an earlier question is dropped."""
        self._judging = _Judging(folder)
        self._pause.start()

    def drop(self) -> None:
        """Want no answer any more."""
        self._judging = None
        self._pause.stop()
        self._wait.stop()

    @Slot()
    def _begin(self) -> None:
        if self._judging is not None:
            self._judging.start()
            self._wait.start()

    @Slot()
    def _look(self) -> None:
        if self._judging is not None and (found := self._judging.found) is not None:
            self.drop()
            self.judged.emit(found)

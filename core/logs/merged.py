"""The newest lines of several log files as one list."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path

from core.logs.reading import LogEntry, LogTail
from core.logs.writing import TRAINER_FILE, WINDOW_FILE

ENTRIES_KEPT = 5_000


class LogBook:
    """The log lines of the window and the trainer's process, also from before this start."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tails = [LogTail(folder / name) for name in (WINDOW_FILE, TRAINER_FILE)]
        self.entries: list[LogEntry] = []
        """By time, ascending."""

    def update(self) -> bool:
        """Read the lines written since the last call. False if there are none."""
        came = [entry for tail in self._tails for entry in tail.read()]
        if came:
            # stable: entries of the same time keep the order in which they were read
            self.entries = sorted([*self.entries, *came], key=attrgetter("at_ms"))[-ENTRIES_KEPT:]
        return bool(came)

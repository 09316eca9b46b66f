"""The newest lines of several log files as one list."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

from core.logs.reading import LogEntry, LogTail
from core.logs.writing import TRAINER_FILE, WINDOW_FILE

ENTRIES_KEPT = 5_000


class LogBook:
    """What the window and the trainer's process wrote, also before this start."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tails = [LogTail(folder / name) for name in (WINDOW_FILE, TRAINER_FILE)]
        self._entries: list[LogEntry] = []

    @property
    def entries(self) -> Sequence[LogEntry]:
        """In the order of their times."""
        return self._entries

    def look(self) -> bool:
        """Read what was written since the last look. False where that is nothing."""
        came = [entry for tail in self._tails for entry in tail.read()]
        if came:
            # stable: entries of one moment stay in the order in which they were read
            self._entries = sorted([*self._entries, *came], key=attrgetter("at_ms"))[-ENTRIES_KEPT:]
        return bool(came)

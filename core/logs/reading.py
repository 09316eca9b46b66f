"""Read log files back while they are being written, whichever process writes them."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from operator import attrgetter
from pathlib import Path

from core.domain.dates import read_utc
from core.logs.writing import TRAINER_FILE, WINDOW_FILE

READ_AT_MOST_BYTES = 512_000
"""The most bytes read at the start and at each update: far more than is written between two updates."""
_HEAD = re.compile(
    r"^(?P<at>\d{4,9}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})Z (?P<level>[A-Z]+) (?P<name>[\w.]+): (?P<text>.*)$"
)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One log message. level: as in `logging`, such as `logging.WARNING`; name: the logger's; details: the following
    lines, such as a traceback."""

    at_ms: int
    level: int
    name: str
    text: str
    details: str = ""


class LogTail:
    """Follows one file from its end. A file that was rotated is read from its beginning."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._place: tuple[int, int] | None = None
        """The file's inode, and the offset after the last complete line read."""

    def read(self) -> list[LogEntry]:
        """The entries since the last call, oldest first; none if the file cannot be read."""
        try:
            with self._path.open("rb") as file:
                status = self._path.stat()
                start = self._start(status.st_ino, status.st_size)
                file.seek(start)
                data = file.read(READ_AT_MOST_BYTES)
        except OSError:
            return []
        length = data.rfind(b"\n") + 1
        if not length and len(data) == READ_AT_MOST_BYTES:
            length = len(data)  # an incomplete line is skipped
        self._place = (status.st_ino, start + length)
        whole = data[:length]
        return list(_entries(whole.decode("utf-8", errors="replace")))

    def _start(self, inode: int, size: int) -> int:
        newest = max(size - READ_AT_MOST_BYTES, 0)
        if self._place is None:
            return newest
        known, place = self._place
        return max(place, newest) if known == inode and place <= size else newest


def _entries(text: str) -> Iterator[LogEntry]:
    """Lines before the first head belong to an unknown entry, and are skipped."""
    head: re.Match[str] | None = None
    details: list[str] = []
    for line in text.split("\n"):
        begins = _HEAD.match(line)
        if begins is None:
            details.append(line)
            continue
        if head is not None:
            yield _entry(head, details)
        head, details = begins, []
    if head is not None:
        yield _entry(head, details)


def _entry(head: re.Match[str], details: list[str]) -> LogEntry:
    level = logging.getLevelNamesMapping().get(head["level"], logging.INFO)
    return LogEntry(read_utc(head["at"]), level, head["name"], head["text"], "\n".join(details).strip("\n"))


ENTRIES_KEPT = 5_000


class LogBook:
    """The log lines of the window and the trainer's process, also from before this start."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tails = [LogTail(folder / name) for name in (WINDOW_FILE, TRAINER_FILE)]
        self.entries: list[LogEntry] = []
        """Entries in the order in which they were written, as far as it is known: by time between the two files, but
        never within one, as the clock may have been set back."""

    def update(self) -> bool:
        """Read the lines written since the last call. False if there are none."""
        came = list(merge(*(tail.read() for tail in self._tails), key=attrgetter("at_ms")))
        if came:
            self.entries = [*self.entries, *came][-ENTRIES_KEPT:]
        return bool(came)

"""How the history commands read and store: as owners of the data folder, or in small parts beside an open window."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial

from core.domain.clock import SystemClock
from core.domain.events import JobProgress
from core.market.history.import_plan import HistoryWriter
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.holes import HoleStore
from core.storage.ownership import FolderInUse, FolderOwner, own, owner_of
from core.storage.recovering import open_or_recover
from desktop.app.context import Context
from desktop.app.terminal_progress import TerminalProgress

_WINDOW = "window"
_STARTS_WITHIN_S = 60.0
_LOOK_S = 0.5


@dataclass(frozen=True, slots=True)
class HistoryAccess:
    """Reads see what `writer` has stored. Progress is shown in the terminal."""

    store: CandleStore
    holes: HoleStore
    writer: HistoryWriter
    progress: TerminalProgress
    title: str

    def notify(self, sentence: str) -> None:
        self.progress.say(sentence)

    def show(self, done: int, total: int, title: str = "") -> None:
        title = title or self.title
        self.progress.apply(JobProgress(title, title, done, total, is_over=done >= total))


@contextmanager
def open_history(context: Context, role: str, title: str, progress: TerminalProgress) -> Iterator[HistoryAccess]:
    """role: shown to a second start as the owner of the folder.

    Raises FolderInUse if another program than a window has the folder, and StorageError.
    """
    folder = context.folder
    with ExitStack() as stack:
        try:
            stack.enter_context(own(folder, role))
        except FolderInUse as in_use:
            if in_use.owner is None or in_use.owner.role != _WINDOW:
                raise
            progress.say("A window has this data folder open: it shows what is stored.")
            window = _ready_window(folder)
            db = open_database(folder.database, creates=False)
            writer = HistoryWriter(db, partial(_part_beside, folder, window))
        else:
            opened = open_or_recover(folder)
            if opened.notice is not None:
                progress.say(opened.notice)
            db = opened.db
            writer = HistoryWriter(db)
        stack.callback(db.close)
        yield HistoryAccess(CandleStore(db), HoleStore(db), writer, progress, title)


@contextmanager
def stored_candles(folder: DataFolder) -> Iterator[CandleStore | None]:
    """The stored candles, read-only; None if there is no database yet. Raises StorageError."""
    if not folder.database.exists():
        yield None
        return
    with closing(open_database(folder.database, readonly=True)) as db:
        yield CandleStore(db)


def _ready_window(folder: DataFolder) -> FolderOwner:
    """Wait until the window has checked the database: until then a backup may replace it, so nothing may be written."""
    clock = SystemClock()
    deadline_s = clock.monotonic_s() + _STARTS_WITHIN_S
    while (owner := owner_of(folder)) is None or not owner.is_ready:
        if clock.monotonic_s() > deadline_s:
            raise StorageError("The window is still starting. Try again in a moment.")
        clock.sleep_s(_LOOK_S)
    return owner


@contextmanager
def _part_beside(folder: DataFolder, window: FolderOwner) -> Iterator[None]:
    """A context for one transaction; afterwards the window and the trainer have as much time to write. Raises
    StorageError."""
    if owner_of(folder) != window:
        raise StorageError(
            "The window was closed meanwhile. Stored candles are kept; the same command continues from there."
        )
    clock = SystemClock()
    begun_s = clock.monotonic_s()
    with _not_suspended():
        yield
    clock.sleep_s(clock.monotonic_s() - begun_s)


@contextmanager
def _not_suspended() -> Iterator[None]:
    """Ignore Ctrl+Z: a process that is suspended in a transaction keeps the database locked."""
    is_main = threading.current_thread() is threading.main_thread()  # Python sets handlers in no other
    if not is_main or not hasattr(signal, "SIGTSTP"):
        yield
        return
    before = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGTSTP, before)

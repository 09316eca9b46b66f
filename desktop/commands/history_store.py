"""How the history commands read and store: by turns with the window, where one has the data folder open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass

from core.domain.events import JobProgress
from core.market.history.importing import HistoryWriter
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.holes import HoleStore
from core.storage.ownership import FolderInUse, own
from core.storage.recovering import open_or_recover
from desktop.app.context import Context
from desktop.app.terminal_progress import TerminalProgress

_WINDOW = "window"


@dataclass(frozen=True, slots=True)
class HistoryAccess:
    """Reads see what `writer` has stored. What is said is shown in the terminal; progress also in a window, where one
    has the data folder open."""

    store: CandleStore
    holes: HoleStore
    writer: HistoryWriter
    progress: TerminalProgress
    title: str
    show_in_window: Callable[[int, int], None] = lambda done, total: None

    def say(self, sentence: str) -> None:
        self.progress.say(sentence)

    def show(self, done: int, total: int, title: str = "") -> None:
        """title: of a part of the command, for the terminal."""
        title = title or self.title
        self.progress.show(JobProgress(title, title, done, total, is_over=done >= total))
        self.show_in_window(done, total)


@contextmanager
def open_history(context: Context, role: str, title: str, progress: TerminalProgress) -> Iterator[HistoryAccess]:
    """role: shown to a second start as the owner of the folder. title: shown by the window meanwhile, unless it has
    started the command.

    Raises FolderInUse where another program than a window has the folder, and StorageError.
    """
    folder = context.folder
    with ExitStack() as stack:
        try:
            stack.enter_context(own(folder, role))
        except FolderInUse as in_use:
            if in_use.role != _WINDOW:
                raise
            from desktop.services.remote_client import OpenWindow  # noqa: PLC0415 - Qt only for this

            progress.say("A window has this data folder open: it shows what is stored.")
            window = stack.enter_context(OpenWindow(folder.root, title, is_shown=context.lines is None))
            open_database(folder.database, readonly=True).close()  # no newer schema under a window of an older version
            db = open_database(folder.database)
            stack.callback(db.close)
            yield HistoryAccess(
                CandleStore(db), HoleStore(db), HistoryWriter(db, window.in_turn), progress, title, window.show
            )
        else:
            opened = open_or_recover(folder)
            if opened.notice is not None:
                progress.say(opened.notice)
            stack.callback(opened.db.close)
            db = opened.db
            yield HistoryAccess(CandleStore(db), HoleStore(db), HistoryWriter(db), progress, title)


@contextmanager
def stored_candles(folder: DataFolder) -> Iterator[CandleStore | None]:
    """What is stored, to be read only; None where there is no database yet. Raises StorageError."""
    if not folder.database.exists():
        yield None
        return
    with closing(open_database(folder.database, readonly=True)) as db:
        yield CandleStore(db)

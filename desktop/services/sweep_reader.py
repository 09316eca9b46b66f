"""Reads stored sweeps on a separate thread while the Sweeps page is shown: their list, and the cells of one."""

from __future__ import annotations

import logging
import queue
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QThread, QTimer, Signal, Slot

from core.sweeps.cell_table import CellTable
from core.sweeps.errors import SweepError
from core.sweeps.grid import extent_of
from core.sweeps.plan import SweepPlan
from core.sweeps.points import Point, points_of
from core.sweeps.rows import CellState, Part
from core.sweeps.store import FILE_NAME, SweepStore
from desktop.services.sweep_judge import Judged, SweepJudge
from desktop.ui.translation import translate

PAUSE_MS = 2_000
"""Between two looks at a sweep that may be running."""
_ENDS_WITHIN_MS = 10_000
_log = logging.getLogger("ghostcandle")


@dataclass(frozen=True, slots=True, eq=False)
class FoundSweep:
    """A sweep as it is stored now. table: of the window's thread; the reading one only fills it. most_cells: with those
    that Optuna may still propose."""

    folder: Path
    plan: SweepPlan
    table: CellTable
    first: tuple[Point, ...]
    second: tuple[Point, ...]
    most_cells: int

    @property
    def is_over(self) -> bool:
        """Whether every cell has ended."""
        return all(cell.state in (CellState.DONE, CellState.FAILED) for cell in self.table.cells)


@dataclass(frozen=True, slots=True)
class Trouble:
    """A sweep that cannot be read, and why, in a sentence."""

    folder: Path
    sentence: str


@dataclass(frozen=True, slots=True)
class _Request:
    """cell: the cell whose page is wanted; 0: the page of the sweep; None: no page."""

    folder: Path | None
    is_first: bool = False
    cell: int | None = None


class SweepThread(QThread):
    """Signals, queued to the window's thread:
    listed: the folders of all sweeps, the newest first.
    found: a FoundSweep; of a sweep that is asked for again, only if it has changed.
    failed: a Trouble.
    written: the path of a page.
    not_written: why, in a sentence.
    """

    listed = Signal(object)
    found = Signal(object)
    failed = Signal(object)
    written = Signal(Path)
    not_written = Signal(str)

    def __init__(self, root: Path, parent: QObject | None = None) -> None:
        """root: the folder with a folder for each sweep."""
        super().__init__(parent)
        self.setObjectName("SweepReader")
        self._root = root
        self._requests: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._is_ending = False
        self._seen: tuple[object, ...] = ()

    def ask(self, folder: Path | None, *, is_first: bool) -> None:
        """Look at the list, and at the sweep in this folder. is_first: report it also if it has not changed. Callable
        from the window's thread."""
        self._requests.put(_Request(folder, is_first))

    def write(self, folder: Path, cell: int) -> None:
        """Write the page of a cell; 0: of the sweep. Callable from the window's thread."""
        self._requests.put(_Request(folder, cell=cell))

    def end(self) -> bool:
        """End soon and wait. False if it took too long."""
        self._is_ending = True
        self._requests.put(None)
        return self.wait(_ENDS_WITHIN_MS)

    def run(self) -> None:
        """PySide loses exceptions of other threads, so none leaves this method."""
        while (request := self._requests.get()) is not None and not self._is_ending:
            if request.folder is not None and request.cell is not None:
                self._write(request.folder, request.cell)
                continue
            self.listed.emit(folders_in(self._root))
            if request.folder is not None:
                self._answer(request.folder, request.is_first)

    def _write(self, folder: Path, cell: int) -> None:
        try:
            self.written.emit(_write_page(folder, cell))
        except SweepError as error:
            self.not_written.emit(str(error))
        except Exception as error:
            _log.exception("The page of a sweep could not be written.")
            words = translate("Sweeps", "The page could not be written ({0}). Free space on the disk, then try again.")
            self.not_written.emit(words.format(error))

    def _answer(self, folder: Path, is_first: bool) -> None:
        try:
            seen = (folder, *_signature(folder))
            if is_first or seen != self._seen:
                self._seen = seen
                self._read(folder)
        except SweepError as error:
            self.failed.emit(Trouble(folder, str(error)))
        except Exception as error:
            _log.exception("The sweep could not be read.")
            words = translate("Sweeps", "The sweep could not be read ({0}: {1}). See the log for details.")
            self.failed.emit(Trouble(folder, words.format(type(error).__name__, error)))

    def _read(self, folder: Path) -> None:
        with SweepStore(folder, readonly=True) as store:
            head = store.head()
            cells = () if head is None else store.read_cells()
        if head is None:
            raise SweepError(translate("Sweeps", "This sweep has not begun yet."))
        first, second = (points_of(cells, part) for part in Part)
        table = CellTable(cells)
        proposed = extent_of(head.plan, head.plan.budget or 0, head.files).cells
        self.found.emit(FoundSweep(folder, head.plan, table, first, second, max(len(cells), proposed)))
        table.fill()


def _write_page(folder: Path, cell: int) -> Path:
    """The path of the page. Raises SweepError and OSError."""
    from core.sweeps import cell_report, report  # noqa: PLC0415 - Jinja2 takes a moment to load

    if cell:
        return cell_report.write_cell_report(folder, cell)
    return report.write_page(folder, report.read_figures(folder))


def folders_in(root: Path) -> tuple[Path, ...]:
    """The folders of all sweeps, the newest first."""
    try:
        folders = [each for each in root.iterdir() if (each / FILE_NAME).exists()]
        return tuple(sorted(folders, key=lambda each: ((each / FILE_NAME).stat().st_mtime_ns, each.name), reverse=True))
    except OSError:  # there is none yet, or one was just removed
        return ()


def _signature(folder: Path) -> Sequence[object]:
    """Differs after each write; the newest are in the log beside the database."""
    facts: list[object] = []
    for name in (FILE_NAME, f"{FILE_NAME}-wal"):
        try:
            found = (folder / name).stat()
            facts += [found.st_mtime_ns, found.st_size, found.st_ino]
        except OSError:
            facts.append(None)
    return facts


class SweepWatch(QObject):
    """Asks the reading thread, at once and every two seconds, while a sweep is wanted. Lives in the window's thread."""

    listed = Signal(object)
    found = Signal(object)
    failed = Signal(object)
    judged = Signal(object)
    """Judged: of a sweep that is over, a while after it was found."""
    written = Signal(Path)
    not_written = Signal(str)

    def __init__(self, root: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._judge = SweepJudge(self)
        self._judge.judged.connect(self._on_judged)
        self._wanted: Path | None = None
        self._is_followed = False
        self._thread = SweepThread(root, self)
        self._thread.listed.connect(self.listed)
        self._thread.found.connect(self._on_found)
        self._thread.failed.connect(self._on_failed)
        self._thread.written.connect(self.written)
        self._thread.not_written.connect(self.not_written)
        self._pause = QTimer(self, interval=PAUSE_MS)
        self._pause.timeout.connect(self._ask)

    def follow(self, folder: Path | None) -> None:
        """Read the list, and the sweep in this folder, until `stop`; None: the list alone."""
        self._wanted, self._is_followed = folder, True
        self._send(is_first=True)
        self._pause.start()

    def write(self, folder: Path, cell: int) -> None:
        """Write a page; `written` or `not_written` follows. cell: 0 is the whole sweep."""
        self._start()
        self._thread.write(folder, cell)

    def stop(self) -> None:
        self._is_followed = False
        self._pause.stop()
        self._judge.drop()

    def close(self) -> bool:
        """End the thread and wait. False on a timeout."""
        self.stop()
        return not self._thread.isRunning() or self._thread.end()

    @Slot()
    def _ask(self) -> None:
        self._send(is_first=False)

    def _start(self) -> None:
        if not self._thread.isRunning():
            self._thread.start(QThread.Priority.LowPriority)

    def _send(self, *, is_first: bool) -> None:
        self._start()
        self._thread.ask(self._wanted, is_first=is_first)

    @Slot(object)
    def _on_found(self, found: FoundSweep) -> None:
        if self._is_followed and found.folder == self._wanted:
            self.found.emit(found)
            if found.is_over:
                self._judge.ask(found.folder)

    @Slot(object)
    def _on_failed(self, trouble: Trouble) -> None:
        if self._is_followed and trouble.folder == self._wanted:
            self.failed.emit(trouble)

    @Slot(object)
    def _on_judged(self, judged: Judged) -> None:
        if judged.folder == self._wanted:
            self.judged.emit(judged)

"""Verifies, exports and imports checkpoint files on a thread of the window's process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QThread, Signal, Slot
from PySide6.QtWidgets import QFileDialog

from core.checkpoints import package, weight_file
from core.checkpoints.row import CheckpointRow
from core.checkpoints.weight_file import BadFileError
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.events import JobProgress, Severity
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.setting_sets import settings_of
from desktop.checkpoints.panel import CheckpointsPanel
from desktop.dialogs.messages import open_dialog
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.database import WindowDatabase
from desktop.state.run_state import RunState
from desktop.state.shell import Shell
from desktop.ui.formatting import format_count
from desktop.ui.translation import translate

if TYPE_CHECKING:
    from sqlite_utils import Database

FILES_JOB = _NOTICE = "checkpoint files"
_ENDS_WITHIN_MS = 30_000
_NAMED_AT_MOST = 3

Done = tuple[str, object]
"""A checkpoint's id or a folder's name, and the result."""


class FileWork(QThread):
    """Processes several files, one after the other. `done` carries a `Done` for each."""

    progressed = Signal(int, int)
    done = Signal(object)

    def __init__(self, tasks: Sequence[tuple[str, Callable[[], object]]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks

    def run(self) -> None:
        for number, (name, task) in enumerate(self._tasks, start=1):
            if self.isInterruptionRequested():
                return
            try:
                result: object = task()
            except BadFileError as error:
                result = error
            except Exception as error:  # the window must learn of the end in any case
                result = BadFileError(f"{name}: {type(error).__name__}: {error}.")
            self.done.emit((name, result))
            self.progressed.emit(number, len(self._tasks))


class CheckpointTransfer(QObject):
    """Asks for folders and shows the result. Call `finish` before the window is deleted."""

    def __init__(
        self,
        shell: Shell,
        state: RunState,
        source: CheckpointSource,
        panel: CheckpointsPanel,
        database: WindowDatabase,
        folder: DataFolder,
    ) -> None:
        super().__init__(shell.window)
        self._shell, self._state, self._database = shell, state, database
        self._folder, self._clock = folder, state.clock
        self._source, self._panel = source, panel
        self._work: FileWork | None = None
        self._results: list[Done] = []
        self._place = Path.home()
        panel.verify_requested.connect(self.verify)
        panel.export_requested.connect(self.ask_export_folder)
        panel.import_requested.connect(self.ask_import_folder)

    @property
    def is_busy(self) -> bool:
        return self._work is not None

    def cancel(self) -> None:
        """Finish the current file and begin no other."""
        if self._work is not None:
            self._work.requestInterruption()

    def finish(self) -> bool:
        """Finish the current file and begin no other. False if that takes too long."""
        if self._work is None:
            return True
        self._work.requestInterruption()
        return self._work.wait(_ENDS_WITHIN_MS)

    @Slot(object)
    def verify(self, infos: Sequence[CheckpointInfo]) -> None:
        tasks = [
            (info.checkpoint_id, partial(weight_file.verify, self._folder.absolute(info.file), info.sha256))
            for info in infos
        ]
        self._begin(translate("Checkpoints", "Verifying checkpoints"), tasks, self._on_verified)

    @Slot(object)
    def ask_export_folder(self, kept: Sequence[CheckpointRow]) -> QFileDialog:
        """Ask for the folder that these are exported to, each into its own subfolder."""
        return self._ask(translate("Checkpoints", "Export to a folder"), lambda place: self.export(kept, place))

    @Slot()
    def ask_import_folder(self) -> QFileDialog:
        return self._ask(translate("Checkpoints", "Import an exported checkpoint: choose its folder"), self.import_from)

    def export(self, kept: Sequence[CheckpointRow], place: Path) -> None:
        tasks = []
        for each in kept:
            file, settings = self._folder.absolute(each.info.file), settings_with(self._database.db, each.info)
            tasks.append((each.info.checkpoint_id, partial(package.export, each, file, settings, place)))
        self._begin(translate("Checkpoints", "Exporting checkpoints"), tasks, self._on_exported)

    def import_from(self, place: Path) -> None:
        tasks = [(place.name, partial(self._import, place))]
        self._begin(translate("Checkpoints", "Importing a checkpoint"), tasks, self._on_imported)

    def _import(self, place: Path) -> CheckpointInfo:
        """Runs on the thread of files. Raises BadFileError."""
        from core.storage.database import open_database  # noqa: PLC0415 - after the first paint
        from core.storage.importing_checkpoints import import_package  # noqa: PLC0415

        found = package.read(place)
        try:
            with closing(open_database(self._folder.database, creates=False)) as db:
                return import_package(db, self._folder, found, self._clock.now_ms())
        except StorageError as error:
            raise BadFileError(str(error)) from error

    def _ask(self, title: str, on_folder: Callable[[Path], object]) -> QFileDialog:
        dialog = QFileDialog(self._shell.window, title, str(self._place), fileMode=QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly, False)

        def on_selected(name: str) -> None:
            self._place = Path(name).parent
            on_folder(Path(name))

        dialog.fileSelected.connect(on_selected)
        return open_dialog(dialog)

    def _begin(
        self, title: str, tasks: Sequence[tuple[str, Callable[[], object]]], on_over: Callable[[Sequence[Done]], object]
    ) -> None:
        if self.is_busy:
            text = translate("Checkpoints", "Checkpoint files are still being read or written. Try again in a moment.")
            self._notify(text, is_bad=True)
            return
        self._results = []
        self._work = FileWork(tasks, self)
        self._work.done.connect(self._results.append)
        self._work.progressed.connect(lambda done, total: self._state.apply(JobProgress(_NOTICE, title, done, total)))
        self._work.finished.connect(lambda: self._on_finished(title, len(tasks), on_over))
        self._state.apply(JobProgress(_NOTICE, title, 0, len(tasks)))
        self._work.start()

    def _on_finished(self, title: str, count: int, on_over: Callable[[Sequence[Done]], object]) -> None:
        assert self._work is not None
        self._work.deleteLater()
        self._work = None
        self._state.apply(JobProgress(_NOTICE, title, len(self._results), count, is_over=True))
        if self._database.is_open and self._results:
            on_over(self._results)

    def _on_verified(self, results: Sequence[Done]) -> None:
        faults = {name: str(fault) for name, fault in results}
        self._source.set_verified(faults)
        bad = [fault for fault in faults.values() if fault]
        text = translate("Checkpoints", "Intact: {0} of {1} checkpoints. {2}")
        intact, count = format_count(len(faults) - len(bad)), format_count(len(faults))
        self._notify(text.format(intact, count, _some(bad)).strip(), is_bad=bool(bad))

    def _on_exported(self, results: Sequence[Done]) -> None:
        bad = [str(result) for _, result in results if isinstance(result, BadFileError)]
        folders = [str(result) for _, result in results if isinstance(result, Path)]
        text = ""
        if folders and len(results) == 1:
            text = translate("Checkpoints", "Exported to {0}.").format(folders[0])
        elif folders:
            text = translate("Checkpoints", "{0} of {1} checkpoints exported to {2}.").format(
                format_count(len(folders)), format_count(len(results)), Path(folders[0]).parent
            )
        self._notify(f"{text} {_some(bad)}".strip(), is_bad=bool(bad))

    def _on_imported(self, results: Sequence[Done]) -> None:
        for _, result in results:
            if not isinstance(result, CheckpointInfo):
                self._notify(translate("Checkpoints", "{0} Nothing was imported.").format(result), is_bad=True)
                continue
            self._source.reload()
            self._panel.show_all_runs()
            self._panel.reveal(result.checkpoint_id)
            text = translate(
                "Checkpoints",
                "The checkpoint of step {0} was imported as run {1}. “All runs” is on, so that the table lists it.",
            )
            self._notify(text.format(format_count(result.step), result.run_id))

    def _notify(self, sentence: str, *, is_bad: bool = False) -> None:
        self._shell.banner.notify(sentence, Severity.WARNING if is_bad else Severity.INFO, key=_NOTICE, is_answer=True)


def settings_with(db: Database, info: CheckpointInfo) -> dict[str, Any] | None:
    """The settings at the time it was saved; None if they were not stored. Raises StorageError."""
    return None if info.settings_id is None else settings_of(db, info.settings_id)


def _some(sentences: Sequence[str]) -> str:
    named = " ".join(sentences[:_NAMED_AT_MOST])
    more = len(sentences) - _NAMED_AT_MOST
    return translate("Checkpoints", "{0} And {1} more.").format(named, format_count(more)) if more > 0 else named

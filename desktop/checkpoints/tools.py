"""The tools of the checkpoint browser: previews, files, comparing, cleaning up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from core.checkpoints.row import CheckpointRow
from core.domain.events import Severity
from core.settings.tree import CheckpointSettings
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.training.commands import ApplyRetention, TrainerCommand
from desktop.chart.widget import ChartWidget
from desktop.checkpoints.panel import CheckpointsPanel
from desktop.checkpoints.previews import CheckpointPreviews
from desktop.checkpoints.transfer import CheckpointTransfer, settings_with
from desktop.dialogs.messages import open_dialog
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.database import WindowDatabase
from desktop.state.run_state import RunState
from desktop.state.shell import Shell

if TYPE_CHECKING:
    from desktop.checkpoints.clean_up_dialog import CleanUpData, CleanUpDialog
    from desktop.checkpoints.compare_dialog import CompareDialog

STEPS_COMPARED = 50_000


class CheckpointTools(QObject):
    def __init__(
        self,
        shell: Shell,
        chart: ChartWidget,
        state: RunState,
        source: CheckpointSource,
        panel: CheckpointsPanel,
        database: WindowDatabase,
        folder: DataFolder,
        open_record: Callable[[str], RecordReader],
        send: Callable[[TrainerCommand], object],
    ) -> None:
        """open_record: the record of a run, by its id."""
        super().__init__(shell.window)
        self._shell, self._state, self._database, self._clock = shell, state, database, state.clock
        self._source, self._panel = source, panel
        self._open_record, self._send = open_record, send
        self.previews = CheckpointPreviews(shell, chart, state, source, panel, send)
        self.transfer = CheckpointTransfer(shell, state, source, panel, database, folder)
        panel.compare_requested.connect(self.compare)
        panel.clean_up_requested.connect(self.ask_for_rules)
        shell.settings.changed.connect(self._on_settings)
        self._rules = shell.settings.current.checkpoints

    @Slot(object)
    def compare(self, kept: Sequence[CheckpointRow]) -> CompareDialog | None:
        """Open these side by side. None, with a notice, if the database cannot be read."""
        from desktop.checkpoints.compare_dialog import CompareDialog  # noqa: PLC0415 - after the first paint

        try:
            settings = [settings_with(self._database.db, each.info) for each in kept]
            run_ids = {each.info.run_id for each in kept}
            steps = {run_id: self._open_record(run_id).steps(STEPS_COMPARED) for run_id in run_ids}
        except StorageError as error:
            self._shell.banner.notify(str(error), Severity.WARNING, key="compare", is_answer=True)
            return None
        palette = self._panel.palette_now
        has_ghosts = self.previews.show_if_answered([each.info for each in kept])
        dialog = CompareDialog(kept, settings, steps.__getitem__, palette, self._shell.window, has_ghosts=has_ghosts)
        return open_dialog(dialog)

    @Slot()
    def ask_for_rules(self) -> CleanUpDialog:
        """Show the rules of a clean-up, and which checkpoints of the watched run it would delete."""
        from desktop.checkpoints.clean_up_dialog import CleanUpDialog  # noqa: PLC0415 - after the first paint

        dialog = CleanUpDialog(self._clean_up_data, self._shell.settings.current.checkpoints, self._shell.window)
        dialog.kept_by.connect(self._apply_retention)
        state, source = self._state, self._source
        for change in (source.changed, state.status_changed, state.diagnosis_changed):
            change.connect(dialog.refresh)
        return open_dialog(dialog)

    def _clean_up_data(self) -> CleanUpData:
        from desktop.checkpoints.clean_up_dialog import CleanUpData  # noqa: PLC0415 - after the first paint

        diagnosis = self._state.diagnosis
        way = None if diagnosis is None else diagnosis.recovery
        return CleanUpData(
            self._source.checkpoints(),
            self._clock.now_ms(),
            is_training=self._state.has_answering_trainer,
            offered=None if way is None else way.checkpoint_id,
            held=self.previews.ids,
        )

    @Slot(object, bool)
    def _apply_retention(self, rules: CheckpointSettings, at_once: bool) -> None:
        self._shell.settings.change(replace(self._shell.settings.current, checkpoints=rules))
        if at_once:
            self._send(ApplyRetention(rules, at_once=True))

    def _on_settings(self) -> None:
        rules = self._shell.settings.current.checkpoints
        if rules != self._rules:
            self._rules = rules
            self._send(ApplyRetention(rules))

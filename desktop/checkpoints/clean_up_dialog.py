"""The rules by which checkpoints are kept, with what a clean-up by them would delete."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHeaderView, QPushButton, QWidget

from core.checkpoints.retention import reasons_to_keep, rules_of
from core.domain.checkpoint_info import CheckpointInfo
from core.settings.tree import CheckpointSettings
from desktop.checkpoints.columns import format_bytes
from desktop.dialogs.forms import GroupForm
from desktop.state.checkpoint_source import adds_text
from desktop.ui.dialog_parts import Problem
from desktop.ui.formatting import format_count, format_time
from desktop.ui.plain_text import Label
from desktop.ui.stacks import stacked
from desktop.ui.tables import RIGHT, Column, RowsModel, text_table
from desktop.ui.translation import translate

_RULES = ("keep_newest", "keep_best", "keep_every_steps", "keep_hours", "undo_minutes")
_MOST_LISTED = 1_000


@dataclass(frozen=True, slots=True)
class CleanUpData:
    """The inputs of a clean-up, as in the trainer's `CheckpointWriter.clean_up`."""

    infos: Sequence[CheckpointInfo]
    """Checkpoints of the watched run, the newest first."""
    now_ms: int
    is_training: bool
    offered: str | None = None
    """The id of the checkpoint that a notice offers to restore."""
    held: Collection[str] = ()
    """Ids of the checkpoints that are open in the window."""


class CleanUpDialog(QDialog):
    """`kept_by` carries the CheckpointSettings that were accepted; with True if the clean-up is to be done now."""

    kept_by = Signal(object, bool)

    def __init__(
        self, look: Callable[[], CleanUpData], settings: CheckpointSettings, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Checkpoints", "Clean up checkpoints"))
        self._look, self._data = look, look()
        self.form = GroupForm("checkpoints", settings, names=_RULES)
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Save | kinds.Cancel)
        self.problem = Problem(self._list, self.buttons)
        self.summary = Label(wraps=True)
        self._reasons: Mapping[str, Sequence[str]] = {}
        """The reasons for retaining each checkpoint, in core's words, by its id."""
        self.model = RowsModel(self._columns(), self, key=lambda info: info.checkpoint_id)
        self.table = text_table(self.model, translate("Checkpoints", "Checkpoints that a clean-up would delete"))
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.now = QPushButton(translate("Checkpoints", "&Clean up now"))
        self.now.setToolTip(translate("Checkpoints", "Delete these files now; this cannot be undone"))
        self.form.changed.connect(self.problem.check)
        self.form.refused.connect(self.problem.refuse)
        self.buttons.addButton(self.now, QDialogButtonBox.ButtonRole.ApplyRole)
        self.buttons.accepted.connect(lambda: self._accept(at_once=False))
        self.buttons.rejected.connect(self.reject)
        self.now.clicked.connect(lambda: self._accept(at_once=True))
        always = Label(
            translate(
                "Checkpoints",
                "A checkpoint is kept if any rule keeps it. Always kept: the best, the newest, the newest healthy "
                "ones, the one in use, the one with the lowest loss, the one saved before the newest change of a "
                "setting, the one that a diverged model can return to, and those pinned, named, tagged, noted or "
                "saved manually.",
            ),
            wraps=True,
        )
        stacked(self, always, self.form, self.problem, self.summary, self.table, self.buttons, stretched=self.table)
        self.resize(680, 560)
        self.problem.check()

    @Slot()
    def refresh(self) -> None:
        """Update the list if anything has changed since it was made."""
        data = self._look()
        if replace(data, now_ms=self._data.now_ms) != self._data:
            self._data = data
            self.problem.check(keeps_refusal=True)

    def _list(self) -> None:
        """Raises ValueError as the form does; the list then still shows the former rules, in grey."""
        self.now.setEnabled(False)
        self.table.setEnabled(False)
        self.summary.clear()
        data, infos = self._data, self._data.infos
        self._reasons = reasons_to_keep(infos, rules_of(self.form.value()), data.now_ms, data.held, data.offered)
        self.table.setEnabled(True)
        goes = [info for info in infos if not self._reasons[info.checkpoint_id]]
        self.summary.setText(self._account(goes))
        self.now.setEnabled(bool(goes) and data.is_training)
        self.model.show(sorted(infos[:_MOST_LISTED], key=lambda info: bool(self._reasons[info.checkpoint_id])))

    def _columns(self) -> tuple[Column[CheckpointInfo], ...]:
        return (
            Column(translate("Checkpoints", "Result"), self._result),
            Column(translate("Checkpoints", "Step"), lambda info: format_count(info.step), side=RIGHT),
            Column(translate("Checkpoints", "Saved"), lambda info: format_time(info.created_at_ms)),
            Column(translate("Checkpoints", "Adds"), adds_text),
            Column(translate("Checkpoints", "Size"), lambda info: format_bytes(info.size_bytes), side=RIGHT),
        )

    def _result(self, info: CheckpointInfo) -> str:
        if not (reasons := self._reasons[info.checkpoint_id]):
            return translate("Checkpoints", "would be deleted")
        return translate("Checkpoints", "kept: {0}").format(", ".join(reasons))

    def _account(self, goes: Sequence[CheckpointInfo]) -> str:
        count = len(self._data.infos)
        parts = [translate("Checkpoints", "No checkpoint of this run would be deleted.")]
        if goes:
            one = translate("Checkpoints", "{0} checkpoint of {1} would be deleted: {2}.")
            several = translate("Checkpoints", "{0} checkpoints of {1} would be deleted: {2}.")
            size = format_bytes(sum(info.size_bytes for info in goes))
            text = one if len(goes) == 1 else several
            parts = [text.format(format_count(len(goes)), format_count(count), size)]
        if count > _MOST_LISTED:
            parts.append(translate("Checkpoints", "Listed: the newest {0}.").format(format_count(_MOST_LISTED)))
        if not self._data.is_training:
            parts.append(translate("Checkpoints", "Training is stopped: the rules apply when it continues."))
        return " ".join(parts)

    def _accept(self, *, at_once: bool) -> None:
        self.kept_by.emit(self.form.value(), at_once)
        self.accept()

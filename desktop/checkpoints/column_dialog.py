"""Chooses the columns of the browser, their order and the sorting, by mouse or by keys."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QDialog,
    QFormLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)

from core.settings.window import BrowserSettings
from desktop.checkpoints.columns import BY_NAME, COLUMNS, Column
from desktop.ui.accessible import name_box
from desktop.ui.dialog_parts import close_button
from desktop.ui.plain_text import Label, paragraphs
from desktop.ui.stacks import beside, stacked
from desktop.ui.translation import translate


class ColumnList(QListWidget):
    """Alt with Up and Down asks to move what is current."""

    move_asked = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        by = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()))
        if by is not None and event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self.move_asked.emit(by)
            return
        super().keyPressEvent(event)


class ColumnDialog(QDialog):
    """`chosen` carries the BrowserSettings at each change, so that the table shows it at once."""

    chosen = Signal(object)

    def __init__(self, settings: BrowserSettings, shown: tuple[str, ...], parent: QWidget | None = None) -> None:
        """shown: the visible columns, which are ticked."""
        super().__init__(parent)
        self.setWindowTitle(translate("Checkpoints", "Columns"))
        self._settings = settings
        self.list = ColumnList()
        self.list.setAccessibleName(translate("Checkpoints", "Columns, in the order of the table"))
        self.list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.sort_by = QComboBox()
        name_box(self.sort_by, translate("Checkpoints", "Sort by"))
        self.descending = QCheckBox(translate("Checkpoints", "Descending"))
        self.up = QPushButton(translate("Checkpoints", "Move &up"))
        self.down = QPushButton(translate("Checkpoints", "Move &down"))
        self.reset = QPushButton(translate("Checkpoints", "&Reset"))
        self._build(shown)
        self.list.itemChanged.connect(self._emit_chosen)
        self.list.model().rowsMoved.connect(self._emit_chosen)
        self.up.clicked.connect(lambda: self._move(-1))
        self.down.clicked.connect(lambda: self._move(1))
        self.reset.clicked.connect(self._reset_columns)
        self.sort_by.currentIndexChanged.connect(self._emit_chosen)
        self.descending.toggled.connect(self._emit_chosen)
        self.list.move_asked.connect(self._move)

    def names(self) -> tuple[str, ...]:
        items = (self.list.item(row) for row in range(self.list.count()))
        return tuple(
            str(item.data(Qt.ItemDataRole.UserRole)) for item in items if item.checkState() is Qt.CheckState.Checked
        )

    def _build(self, shown: tuple[str, ...]) -> None:
        for name in (*shown, *(column.name for column in COLUMNS if column.name not in shown)):
            column = BY_NAME[name]
            item = QListWidgetItem(_title(column))
            item.setData(Qt.ItemDataRole.UserRole, name)
            item.setToolTip(paragraphs(translate("Checkpoints", column.meaning).splitlines()[0]))
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if name in shown else Qt.CheckState.Unchecked)
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        for column in COLUMNS:
            self.sort_by.addItem(_title(column), column.name)
        self.sort_by.setCurrentIndex(max(0, self.sort_by.findData(self._settings.sort_by)))
        self.descending.setChecked(self._settings.is_descending)
        side = stacked(None, self.up, self.down, self.reset, None)
        middle = beside(None, self.list, side, stretched=self.list)
        form = QFormLayout()
        form.addRow(translate("Checkpoints", "&Sort by"), self.sort_by)
        form.addRow("", self.descending)
        hint = translate("Checkpoints", "Space shows or hides a column; Alt+Up and Alt+Down move it.")
        stacked(self, Label(hint), middle, form, close_button(self), stretched=middle)
        self.resize(460, 520)

    def _move(self, by: int) -> None:
        row = self.list.currentRow()
        if not 0 <= row + by < self.list.count():
            return
        item = self.list.takeItem(row)
        self.list.insertItem(row + by, item)
        self.list.setCurrentRow(row + by)
        self._emit_chosen()

    def _reset_columns(self) -> None:
        self.chosen.emit(BrowserSettings(all_runs=self._settings.all_runs))
        self.accept()

    def _emit_chosen(self) -> None:
        self._settings = replace(
            self._settings,
            columns=self.names() or ("step",),
            sort_by=str(self.sort_by.currentData()),
            is_descending=self.descending.isChecked(),
        )
        self.chosen.emit(self._settings)


def _title(column: Column) -> str:
    return translate("Checkpoints", column.title) if column.title else translate("Checkpoints", "Marks")

"""The table of checkpoints for Qt: rows that the catalog has sorted and filtered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from core.checkpoints.row import CheckpointRow
from core.domain.checkpoint_info import CheckpointInfo
from desktop.checkpoints.columns import COLUMNS, MOST_FIRST, Column, marks_text, tooltip
from desktop.checkpoints.widths import WORDS_INDENT
from desktop.ui import tables
from desktop.ui.translation import translate


class CheckpointTableModel(tables.RowsModel[CheckpointRow]):
    """`sorting_asked` carries a column and a Qt.SortOrder: a header was clicked."""

    sorting_asked = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(tuple(map(_shown, COLUMNS)), parent, tooltip=tooltip, key=lambda row: row.info.checkpoint_id)

    def info(self, number: int) -> CheckpointInfo:
        return self.row(number).info

    def rows_of(self, ids: Iterable[str]) -> list[int]:
        """Row numbers of the checkpoints with these ids, ascending; ids without a row are left out."""
        wanted = set(ids)
        return [number for number, row in enumerate(self.rows) if row.info.checkpoint_id in wanted]

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.sorting_asked.emit(column, order)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        shown = super().headerData(section, orientation, role)
        if orientation is not Qt.Orientation.Horizontal:
            return shown
        column = COLUMNS[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return shown if column.is_number else f"{WORDS_INDENT}{shown}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.columns[section].title or self.columns[section].meaning
        if role == Qt.ItemDataRole.InitialSortOrderRole:  # the first click brings the sought rows to the top
            is_most_first = column.name in MOST_FIRST
            return Qt.SortOrder.DescendingOrder if is_most_first else Qt.SortOrder.AscendingOrder
        return shown


def _shown(column: Column) -> tables.Column[CheckpointRow]:
    return tables.Column(
        translate("Checkpoints", column.title),
        column.text,
        translate("Checkpoints", column.meaning),
        tables.RIGHT if column.is_number else tables.LEFT,
        spoken=(lambda row: marks_text(row.info)) if column.name == "marks" else None,
    )

"""The table of checkpoints for Qt: rows that are sorted and filtered elsewhere, and dressed when they are painted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal

from core.checkpoints.catalog import Catalog, CheckpointRow, Rows
from core.domain.checkpoint_info import CheckpointInfo
from desktop.checkpoints.columns import COLUMNS, MOST_FIRST, Column, marks_text, tooltip
from desktop.checkpoints.widths import WORDS_INDENT
from desktop.ui import tables
from desktop.ui.translation import translate


class CheckpointTableModel(tables.RowsModel[CheckpointRow]):
    """Rows are checkpoints, as they were when they were last shown: what changes meanwhile is not half seen."""

    sorting_asked = Signal(int, object)
    """A column, and a Qt.SortOrder: a header was clicked."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(tuple(map(_shown, COLUMNS)), parent, tooltip=tooltip)
        self._best = self._in_use = np.zeros(0)
        self._catalog: Catalog | None = None
        self._layout = -1
        self._shown: Rows = np.zeros(0, dtype=np.int64)
        self._place: Rows = np.zeros(0, dtype=np.int64)
        """By row of the catalog: where it is shown, -1 where it is not."""

    def show_rows(self, catalog: Catalog, rows: Rows) -> bool:
        """Show these rows of the catalog. False where the same checkpoints stay in the same places."""
        is_same = self._catalog is catalog and self._layout == catalog.layout and np.array_equal(rows, self._shown)
        if not is_same:
            self.beginResetModel()
        self.rows = catalog.take(rows)
        self._best, self._in_use = catalog.number("best")[rows], catalog.number("in_use")[rows]
        if not is_same:
            self._catalog, self._layout, self._shown = catalog, catalog.layout, rows
            self._place = np.full(len(catalog), -1, dtype=np.int64)
            self._place[rows] = np.arange(len(rows))
            self.endResetModel()
        else:
            self.repaint()
        return not is_same

    def row(self, number: int) -> CheckpointRow:
        """The checkpoint in a row, with its market."""
        kept = self.rows[number]
        is_best, is_in_use = bool(self._best[number]), bool(self._in_use[number])
        return replace(kept, info=replace(kept.info, is_best=is_best, is_in_use=is_in_use))

    def info(self, number: int) -> CheckpointInfo:
        return self.row(number).info

    def ids(self, rows: Iterable[int]) -> list[str]:
        return [self.rows[row].info.checkpoint_id for row in rows]

    def rows_of(self, ids: Iterable[str]) -> list[int]:
        """Where these are shown, ascending; those that are not shown are left out."""
        if self._catalog is None or self._catalog.layout != self._layout:
            wanted = set(ids)
            return [row for row, kept in enumerate(self.rows) if kept.info.checkpoint_id in wanted]
        rows = (self._catalog.row_of(id_) for id_ in ids)
        known = [row for row in rows if row is not None and row < len(self._place)]
        places = self._place[known]
        return np.sort(places[places >= 0]).tolist() if known else []

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
        if role == Qt.ItemDataRole.InitialSortOrderRole:  # the first click brings what is looked for to the top
            is_most_first = column.name in MOST_FIRST
            return Qt.SortOrder.DescendingOrder if is_most_first else Qt.SortOrder.AscendingOrder
        return shown


def _shown(column: Column) -> tables.Column[CheckpointRow]:
    return tables.Column(
        translate("Checkpoints", column.title),
        column.text,
        translate("Checkpoints", column.meaning),
        tables.RIGHT if column.is_number else tables.LEFT,
        spoken=(lambda kept: marks_text(kept.info)) if column.name == "marks" else None,
    )


def stretches(rows: Sequence[int]) -> list[tuple[int, int]]:
    """Ascending row numbers as first and last of each unbroken stretch."""
    if not rows:
        return []
    numbers = np.asarray(rows)
    ends = np.flatnonzero(np.diff(numbers) > 1)
    firsts = numbers[np.concatenate(([0], ends + 1))]
    lasts = numbers[np.concatenate((ends, [len(numbers) - 1]))]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))

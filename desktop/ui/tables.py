"""What all tables of the window share: rows that are read, chosen whole, and not written in."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Generic, Self, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QTableWidget, QTableWidgetItem

from core.domain.plain_text import plain
from desktop.ui.icons import tabular
from desktop.ui.plain_text import paragraphs
from desktop.ui.translation import translate

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()
Row = TypeVar("Row")


def style_table(table: QTableView, name: str, *, several: bool = True) -> None:
    """name: what a screen reader calls it; several: whether more than one row may be chosen. Tab leaves the table."""
    table.setAccessibleName(name)
    table.setFont(tabular(table.font()))
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    modes = QAbstractItemView.SelectionMode
    table.setSelectionMode(modes.ExtendedSelection if several else modes.SingleSelection)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    table.verticalHeader().hide()
    header = table.horizontalHeader()
    header.setHighlightSections(False)
    header.setTextElideMode(Qt.TextElideMode.ElideRight)  # a header's own is to cut without a sign


def text_table(titles: Sequence[str], name: str) -> QTableWidget:
    """A table of texts, one line high, with its titles to the left; no rows yet. name: as of `style_table`."""
    table = QTableWidget(0, len(titles))
    table.setHorizontalHeaderLabels(list(titles))
    style_table(table, name)
    header = table.horizontalHeader()
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    return table


def put_text(table: QTableWidget, row: int, column: int, text: str, *, is_number: bool = False) -> QTableWidgetItem:
    """Show a text in a cell, and all of it in its tooltip; numbers are aligned right."""
    item = QTableWidgetItem(plain(text))
    item.setToolTip(paragraphs(text))
    if is_number:
        item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    table.setItem(row, column, item)
    return item


def set_line_height(table: QTableWidget) -> None:
    """Every row is as high as a line: Qt need not ask each of many."""
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    table.verticalHeader().setDefaultSectionSize(table.fontMetrics().height() + 6)


class TitledColumn(IntEnum):
    """A column of a table, numbered from the left."""

    english: tuple[str, str]
    """Its title and what it means; both go through `translate` where they are shown."""

    def __new__(cls, *english: Any) -> Self:  # mypy takes it for the look-up of a number too
        column = int.__new__(cls, len(cls.__members__))
        column._value_ = len(cls.__members__)
        column.english = english
        return column

    @property
    def title(self) -> str:
        return translate("Panels", self.english[0])

    @property
    def meaning(self) -> str:
        return translate("Panels", self.english[1])


class RowsModel(QAbstractTableModel, Generic[Row]):
    """Rows under columns with titles, to the left unless a subclass says otherwise; so it does what a cell shows."""

    def __init__(self, titles: Sequence[str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._titles = titles
        self.rows: list[Row] = []
        """What is shown."""

    def repaint(self) -> None:
        """Rows or palette changed."""
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, len(self._titles) - 1))

    def chosen(self, view: QAbstractItemView) -> list[Row]:
        """What is selected in a view of it, from the top down."""
        return [self.rows[row] for row in sorted(index.row() for index in view.selectionModel().selectedRows())]

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._titles)

    def side(self, column: int) -> Qt.AlignmentFlag:
        """Of a column's title; and of its cells, where `data` says so."""
        return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter

    def meaning(self, column: int) -> str:
        """The tooltip of a column's title."""
        return self._titles[column]

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.side(section)
        if role == Qt.ItemDataRole.ToolTipRole:
            return paragraphs(self.meaning(section))
        return self._titles[section] if role == Qt.ItemDataRole.DisplayRole else None


class KeyedRowsModel(RowsModel[Row]):
    """Rows that are known by a key: in another order, or among others, what is selected stays on its row."""

    def key(self, row: Row) -> object:
        """Equal for two states of the same row, and hashable."""
        raise NotImplementedError

    def show(self, rows: Sequence[Row]) -> None:
        """Show these instead."""
        keys, former_keys = [self.key(row) for row in rows], [self.key(row) for row in self.rows]
        if keys == former_keys:
            self.rows = list(rows)
            self.repaint()
            return
        self.layoutAboutToBeChanged.emit()
        former, places = self.persistentIndexList(), {key: place for place, key in enumerate(keys)}
        self.rows = list(rows)
        moved = [self.index(places.get(former_keys[each.row()], -1), each.column()) for each in former]
        self.changePersistentIndexList(former, moved)
        self.layoutChanged.emit()


class NewestFirstModel(RowsModel[Row]):
    """Rows that come in at the top and leave at the bottom, so that the selection stays on its row."""

    def show(self, newest_first: Sequence[Row]) -> None:
        rows = list(newest_first)
        if rows == self.rows:
            return
        added = self._added(rows)
        if added is None:
            self.beginResetModel()
            self.rows = rows
            self.endResetModel()
            return
        if added:
            self.beginInsertRows(QModelIndex(), 0, added - 1)
            self.rows[:0] = rows[:added]
            self.endInsertRows()
        if len(self.rows) > len(rows):
            self.beginRemoveRows(QModelIndex(), len(rows), len(self.rows) - 1)
            del self.rows[len(rows) :]
            self.endRemoveRows()

    def _added(self, rows: list[Row]) -> int | None:
        """How many rows lie before those that are shown; None where it is not as simple as that."""
        if not self.rows or self.rows[0] not in rows:
            return None
        added = rows.index(self.rows[0])
        kept = len(rows) - added
        return added if rows[added:] == self.rows[:kept] else None

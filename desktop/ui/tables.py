"""What all tables of the window share: rows that are read, chosen whole, and not written in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QTableWidget, QTableWidgetItem

from core.domain.plain_text import plain
from desktop.ui.icons import tabular
from desktop.ui.plain_text import paragraphs

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()


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
    """Show a text in a cell, and whole in its tooltip; a number to the right."""
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


def title_at(titles: Sequence[str], section: int, orientation: Qt.Orientation, role: int) -> Any:
    """What `headerData` answers of a table whose columns have titles, to the left, and whose rows have none. A title is
    whole in its tooltip."""
    if orientation is not Qt.Orientation.Horizontal:
        return None
    if role == Qt.ItemDataRole.TextAlignmentRole:
        return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    if role == Qt.ItemDataRole.ToolTipRole:
        return paragraphs(titles[section])
    return titles[section] if role == Qt.ItemDataRole.DisplayRole else None

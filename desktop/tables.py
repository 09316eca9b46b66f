"""What all tables of the window share: rows that are read, chosen whole, and not written in."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex
from PySide6.QtWidgets import QAbstractItemView, QTableView

from desktop.icons import tabular

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()


def dress_rows(table: QTableView, name: str, *, several: bool = True) -> None:
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
    table.horizontalHeader().setHighlightSections(False)

"""Counts the numbers that a window shows."""

from __future__ import annotations

import re

from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QTableView,
    QWidget,
)

from desktop.ui.plain_text import with_usual_spaces

_NUMBER = re.compile(r"[+\-−]?\d[\d,.]*")


def shown_numbers(root: QWidget) -> list[str]:
    """The numbers in the labels, buttons, input fields and cells of tables that are on the screen. One with its unit,
    its sign and its thousands is one number; an interval is two, "3 of 7" also. What is painted is not counted: the
    chart's axes and curves."""
    widgets = (each for each in root.findChildren(QWidget) if each.isVisible() and not each.visibleRegion().isEmpty())
    return [number for widget in widgets for text in _texts(widget) for number in _NUMBER.findall(text)]


def _texts(widget: QWidget) -> list[str]:
    match widget:
        case QLabel():
            return [with_usual_spaces(widget.text())]
        case QComboBox():
            return [widget.currentText()]
        case QAbstractSpinBox():
            return [widget.text()]
        case QLineEdit() if not isinstance(widget.parentWidget(), QAbstractSpinBox | QComboBox):
            return [widget.text()]
        case QAbstractButton():
            return [widget.text()]
        case QAbstractItemView():
            return [str(index.data() or "") for index in _cells(widget)]
    return []


def _cells(view: QAbstractItemView) -> list[QModelIndex]:
    model, port = view.model(), view.viewport().rect()
    if model is None:
        return []
    places = [(row, column) for row in range(model.rowCount()) for column in range(model.columnCount())]
    if isinstance(view, QTableView):
        places = [place for place in places if not view.isColumnHidden(place[1])]
    indices = (model.index(*place) for place in places)
    return [index for index in indices if view.visualRect(index).intersects(port)]

"""The two lists of the feed panel: events and rejected messages, newest first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QAbstractTableModel, QLocale, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyledItemDelegate, QTableView

from core.domain.plain_text import plain
from core.market.feeds.base import RejectedMessage
from desktop.panels.feed.words import Line, in_one_line, moment, state_colour
from desktop.ui.formatting import format_time
from desktop.ui.icons import icon
from desktop.ui.interface_size import follow_interface_size
from desktop.ui.plain_text import paragraphs, with_whole_figures
from desktop.ui.tables import Index, NewestFirstModel, style_table
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

_DOT = 9


class ChangesModel(NewestFirstModel[Line]):
    """When, and what happened."""

    def __init__(self, theme: Theme, now_ms: Callable[[], int], parent: QObject | None = None) -> None:
        super().__init__((translate("Panels", "When"), translate("Panels", "Event")), parent)
        self._theme = theme
        self._now_ms = now_ms

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        at_ms, state, sentence = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return plain((moment(at_ms, self._now_ms()), sentence)[index.column()])
        if role == Qt.ItemDataRole.ToolTipRole:
            said = sentence if state is None else in_one_line(state, sentence)
            return paragraphs(f"{format_time(at_ms, seconds=True)}\n{said}")
        if role == Qt.ItemDataRole.AccessibleTextRole and index.column() == 1 and state is not None:
            return in_one_line(state, sentence)
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 0:
            palette = self._theme.palette
            name = "circle-outline" if state is None else "circle"
            return icon(name, state_colour(state, palette), palette.inverse_text)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None


class RejectedModel(NewestFirstModel[RejectedMessage]):
    """When, and why it was not believed; what it was is shown beside the list."""

    def __init__(self, now_ms: Callable[[], int], parent: QObject | None = None) -> None:
        super().__init__((translate("Panels", "When"), translate("Panels", "Why")), parent)
        self._now_ms = now_ms

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        message = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return plain((moment(message.at_ms, self._now_ms()), message.reason.capitalize())[index.column()])
        if role == Qt.ItemDataRole.ToolTipRole:
            return paragraphs(f"{format_time(message.at_ms, seconds=True)}\n{message.reason.capitalize()}")
        return None


class SentenceDelegate(QStyledItemDelegate):
    """Breaks no line between a number and its unit."""

    def displayText(self, value: Any, locale: QLocale | QLocale.Language) -> str:
        return with_whole_figures(super().displayText(value, locale))


class SentenceTable(QTableView):
    """Rows as high as their sentences, so that each is read to its end. Only those in view are measured: all 200 at
    every change cost 140 ms."""

    def setModel(self, model: QAbstractItemModel | None) -> None:
        super().setModel(model)
        if model is not None:
            model.rowsInserted.connect(self.fit_rows)
            model.modelReset.connect(self.fit_rows)
            self.verticalScrollBar().valueChanged.connect(self.fit_rows)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_rows()

    def fit_rows(self) -> None:
        """Give the rows in view their heights."""
        first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        count = self.model().rowCount()
        for row in range(max(first, 0), (last if last >= 0 else count - 1) + 1):
            self.resizeRowToContents(row)


def feed_table(model: QAbstractTableModel, name: str) -> SentenceTable:
    """A list of rows with a time before each."""
    table = SentenceTable()
    table.setModel(model)
    style_table(table, name)
    table.setItemDelegate(SentenceDelegate(table))
    table.setWordWrap(True)
    table.setIconSize(QSize(_DOT, _DOT))
    table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    rows = table.verticalHeader()

    def space() -> None:
        rows.setMinimumSectionSize(table.fontMetrics().height() + 4)
        rows.setDefaultSectionSize(rows.minimumSectionSize())
        table.resizeRowsToContents()

    follow_interface_size(table, space)
    header = table.horizontalHeader()
    header.hide()  # a time and a sentence explain themselves, and the room is scarce
    header.setResizeContentsPrecision(0)  # what is in view
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
    return table

"""The two lists of the feed panel: events and rejected messages, newest first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QAbstractTableModel, QLocale, QObject, QSize
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyledItemDelegate, QTableView

from core.market.feeds.base import RejectedMessage
from desktop.panels.feed.words import Line, in_one_line, moment, state_colour
from desktop.ui.formatting import format_time
from desktop.ui.icons import icon
from desktop.ui.interface_size import follow_interface_size
from desktop.ui.plain_text import with_whole_figures
from desktop.ui.tables import Column, RowsModel, style_table
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

_DOT = 9


def changes_model(theme: Theme, now_ms: Callable[[], int], parent: QObject) -> RowsModel[Line]:

    def dot(line: Line) -> QIcon:
        _at_ms, state, _sentence = line
        name = "circle-outline" if state is None else "circle"
        return icon(name, state_colour(state, theme.palette), theme.palette.inverse_text)

    def in_full(line: Line) -> str:
        _at_ms, state, sentence = line
        return sentence if state is None else in_one_line(state, sentence)

    columns: tuple[Column[Line], ...] = (
        Column(translate("Panels", "When"), lambda line: moment(line[0], now_ms()), icon=dot),
        Column(translate("Panels", "Event"), lambda line: line[2], spoken=in_full),
    )
    return RowsModel(columns, parent, tooltip=lambda line: f"{format_time(line[0], seconds=True)}\n{in_full(line)}")


def rejected_model(now_ms: Callable[[], int], parent: QObject) -> RowsModel[RejectedMessage]:
    """Time and reason of each rejection; the message itself is shown beside the list."""

    def why(message: RejectedMessage) -> str:
        return message.reason.capitalize()

    columns: tuple[Column[RejectedMessage], ...] = (
        Column(translate("Panels", "When"), lambda message: moment(message.at_ms, now_ms())),
        Column(translate("Panels", "Why"), why),
    )
    return RowsModel(
        columns, parent, tooltip=lambda message: f"{format_time(message.at_ms, seconds=True)}\n{why(message)}"
    )


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
            model.layoutChanged.connect(self.fit_rows)
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
    header.setResizeContentsPrecision(0)  # the visible rows
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
    return table

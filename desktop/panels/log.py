"""The log panel: lines of the program's log, filtered by level and words."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QIcon
from PySide6.QtWidgets import QComboBox, QHeaderView, QLineEdit, QTableView

from core.domain.events import Severity
from core.logs.reading import LogBook, LogEntry
from desktop.actions import ActionId, ActionRegistry, panel_actions
from desktop.panels.feed.words import moment
from desktop.ui.accessible import name_box
from desktop.ui.formatting import format_count, format_time
from desktop.ui.icons import severity_icon
from desktop.ui.interface_size import space_rows
from desktop.ui.panel_base import EmptyState, Panel, mute, set_text
from desktop.ui.plain_text import Label, TextView
from desktop.ui.stacks import beside, divided, stacked
from desktop.ui.tables import Column, RowsModel, style_table
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate
from desktop.ui.words import word

_LEVELS = (
    (QT_TRANSLATE_NOOP("Panels", "All"), logging.NOTSET),
    (QT_TRANSLATE_NOOP("Panels", "Warnings and errors"), logging.WARNING),
    (QT_TRANSLATE_NOOP("Panels", "Errors"), logging.ERROR),
)
_NONE = QT_TRANSLATE_NOOP("Panels", "The log is empty.")
_NONE_MATCHES = QT_TRANSLATE_NOOP("Panels", "No log line matches the level and the words.")
_ROOT = "ghostcandle"


def _model(theme: Theme, now_ms: Callable[[], int], parent: QObject) -> RowsModel[LogEntry]:

    def sign(entry: LogEntry) -> QIcon:
        return severity_icon(severity_of(entry), theme.palette)

    def spoken(entry: LogEntry) -> str:
        return f"{word(severity_of(entry))}, {format_time(entry.at_ms, seconds=True)}"

    columns: tuple[Column[LogEntry], ...] = (
        Column(translate("Panels", "When"), lambda entry: moment(entry.at_ms, now_ms()), icon=sign, spoken=spoken),
        Column(translate("Panels", "Source"), part_of),
        Column(translate("Panels", "Message"), lambda entry: entry.text),
    )
    return RowsModel(columns, parent, tooltip=lambda entry: entry.text, key=id)  # thousands of texts are slow to hash


class LogPanel(Panel):
    """Reads the files each second while it is visible. `trouble` carries a sentence."""

    trouble = Signal(str)

    def __init__(self, book: LogBook, theme: Theme, now_ms: Callable[[], int]) -> None:
        super().__init__(theme)
        self._book = book
        self.model = _model(theme, now_ms, self)
        self.table = _table(self.model)
        self.level = QComboBox()
        name_box(self.level, translate("Panels", "Level"))
        for text, level in _LEVELS:
            self.level.addItem(translate("Panels", text), level)
        self.filter = QLineEdit(placeholderText=translate("Panels", "Filter by words"), clearButtonEnabled=True)
        self.filter.setAccessibleName(translate("Panels", "Filter by words"))
        self.filter.setMaximumWidth(240)
        self.count = Label()
        mute(self.count)
        self.details = TextView(translate("Panels", "Full text of the selected lines"))
        self.actions_of_panel = ActionRegistry(panel_actions("Log"), self.table, theme)
        buttons = self.actions_of_panel.tool_bar(translate("Panels", "Log actions"))
        top = beside(None, self.level, self.filter, self.count, None, buttons, stretched=self.filter, spacing=8)
        self._splitter = divided(self.table, self.details, shares=(3, 2))
        stacked(self, top, self._splitter, stretched=self._splitter, margins=(6, 4, 6, 4), spacing=4)
        self._empty = EmptyState(translate("Panels", _NONE), self.table.viewport())
        self.follow(self.level.currentIndexChanged, self.filter.textChanged)
        self.table.selectionModel().selectionChanged.connect(self._show_details)
        self.actions_of_panel.offer_menu(self.table, needs_row=False)
        self.actions_of_panel.wire({ActionId.LOG_COPY: self._copy, ActionId.LOG_FOLDER: self._open_folder})
        self._show_details()

    def refresh(self) -> None:
        self._book.update()
        entries = self._book.entries
        least, words = self.level.currentData(), self.filter.text().casefold().split()
        shown = [entry for entry in reversed(entries) if entry.level >= least and _has_all(entry, words)]
        self.model.show(shown)
        counts = format_count(len(entries))
        some = translate("Panels", "{0} of {1}").format(format_count(len(shown)), counts)
        set_text(self.count, counts if len(shown) == len(entries) else some)
        nothing = translate("Panels", _NONE_MATCHES if entries else _NONE)
        self._empty.update_state(is_empty=not shown, is_loading=False, text=nothing)
        self._show_details()

    def tick(self) -> None:
        if self._book.update():  # else thousands of lines would be filtered each second
            self.mark_stale()

    def selected(self) -> list[LogEntry]:
        """The selected entries, oldest first."""
        return self.model.chosen(self.table)[::-1]

    def _show_details(self) -> None:
        """Full text of the selection, shown only if the table does not show it already."""
        chosen = self.selected()
        self.details.show_text("\n\n".join(map(as_text, chosen)))
        self.details.setVisible(bool(chosen))
        self.actions_of_panel[ActionId.LOG_COPY].setEnabled(bool(chosen))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(map(as_text, self.selected())))

    def _open_folder(self) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._book.folder))):
            words = translate("Panels", "No file manager responded. The log files are in {0}.")
            self.trouble.emit(words.format(self._book.folder))


def _has_all(entry: LogEntry, words: Sequence[str]) -> bool:
    line = as_line(entry).casefold() if words else ""
    return all(word in line for word in words)


def severity_of(entry: LogEntry) -> Severity:
    if entry.level >= logging.ERROR:
        return Severity.ERROR
    return Severity.WARNING if entry.level >= logging.WARNING else Severity.INFO


def part_of(entry: LogEntry) -> str:
    """The part of the program that logged it."""
    return entry.name.removeprefix(_ROOT).lstrip(".").capitalize() or translate("Panels", "Program")


def as_line(entry: LogEntry) -> str:
    """The entry as one line, for a report."""
    return f"{format_time(entry.at_ms, seconds=True)} {severity_of(entry)} {part_of(entry)}: {entry.text}"


def as_text(entry: LogEntry) -> str:
    """The entry with its further lines."""
    return f"{as_line(entry)}\n{entry.details}" if entry.details else as_line(entry)


def _table(model: RowsModel[LogEntry]) -> QTableView:
    table = QTableView()
    table.setModel(model)
    style_table(table, translate("Panels", "Lines of the log, newest first"))
    table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    space_rows(table, 6)
    header = table.horizontalHeader()
    header.setResizeContentsPrecision(0)  # the visible rows
    for number in (0, 1):
        header.setSectionResizeMode(number, QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
    return table

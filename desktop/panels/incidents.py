"""The incidents panel: each fault, the action taken, and its cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QObject, Qt
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QPlainTextEdit, QTableView, QWidget

from core.domain.events import Incident, Severity
from core.domain.plain_text import plain
from desktop.actions import ActionId, ActionRegistry, panel_actions
from desktop.state.run_state import RunState
from desktop.ui.elided import ElidedCells
from desktop.ui.formatting import format_count, format_time
from desktop.ui.icons import icon, severity_colour, severity_icon_name
from desktop.ui.interface_size import follow_interface_size, space_rows
from desktop.ui.panel_base import EmptyState, Panel
from desktop.ui.plain_text import paragraphs, with_whole_figures
from desktop.ui.stacks import NO_MARGINS, divided, stacked
from desktop.ui.tables import Index, NewestFirstModel, style_table
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate
from desktop.ui.words import word

_TITLES = (
    "",
    QT_TRANSLATE_NOOP("Panels", "When"),
    QT_TRANSLATE_NOOP("Panels", "Event"),
    QT_TRANSLATE_NOOP("Panels", "Action taken"),
)
_INCIDENT_ROLE = Qt.ItemDataRole.UserRole
_DONE = 3
_DONE_FROM_CHARACTERS = 90
"""Narrower, the list shows only the event: the action taken is in the details beside it."""


class IncidentsModel(NewestFirstModel[Incident]):
    """Newest first. New incidents come in at the top, so that the selection stays."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(("", *(translate("Panels", title) for title in _TITLES[1:])), parent)
        self._theme = theme

    def show(self, newest_first: Sequence[Incident]) -> None:
        """Show these instead. The newest may be one more time of its episode."""
        is_as_long = bool(newest_first) and len(newest_first) == len(self.rows)
        is_same_row = is_as_long and newest_first[0].episode == self.rows[0].episode
        if is_same_row and list(newest_first[1:]) == self.rows[1:]:
            self.rows[0] = newest_first[0]
            self.dataChanged.emit(self.index(0, 0), self.index(0, len(_TITLES) - 1))
        else:
            super().show(newest_first)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        incident = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            texts = ("", format_time(incident.newest_at_ms), _happened(incident), incident.what_was_done)
            return plain(texts[index.column()])
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 0:
            palette, severity = self._theme.palette, incident.severity
            return icon(severity_icon_name(severity), severity_colour(severity, palette), palette.inverse_text)
        if role == Qt.ItemDataRole.ToolTipRole:
            return paragraphs("\n".join(map(plain, _sentences(incident))))
        if role == Qt.ItemDataRole.AccessibleTextRole and index.column() == 0:
            return word(incident.severity)
        return incident if role == _INCIDENT_ROLE else None


class IncidentsPanel(Panel):
    """A list on the left, the whole story of the chosen one on the right."""

    def __init__(self, state: RunState, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._state = state
        self.model = IncidentsModel(theme, self)
        self.table = _table(self.model)
        self.details = QPlainTextEdit()
        self.details.setReadOnly(True)
        self.details.setTabChangesFocus(True)
        self.details.setAccessibleName(translate("Panels", "Full text of the selected incidents"))
        self.details.setPlaceholderText(translate("Panels", "Select an incident to read about it."))
        self.actions_of_panel = ActionRegistry(panel_actions("Incidents"), self.table, theme)
        self._build_layout()
        self._empty = EmptyState(translate("Panels", "No incidents."), self)
        state.incidents_changed.connect(self.mark_stale)
        state.run_changed.connect(self.mark_stale)
        self.table.selectionModel().selectionChanged.connect(self._show_details)
        self.actions_of_panel.offer_menu(self.table)
        self.actions_of_panel.wire({ActionId.INCIDENT_COPY: self._copy})
        self._show_details()

    def refresh(self) -> None:
        had_none = self.model.rowCount() == 0
        chosen = [incident.episode for incident in self.selected()]
        self.model.show(self._state.incidents)
        if [incident.episode for incident in self.selected()] != chosen:
            self._select_again(set(chosen))
        has_some = self.model.rowCount() > 0
        self._empty.update_state(is_empty=not has_some, is_loading=self._state.is_loading)
        self._splitter.setVisible(has_some)
        if had_none and has_some:
            self.table.selectRow(0)
        self._show_details()

    def selected(self) -> list[Incident]:
        """What is selected, in the order of the list."""
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        return [self.model.index(row, 0).data(_INCIDENT_ROLE) for row in rows]

    def select(self, incident: Incident) -> bool:
        """Select one row alone. False where it is not in the list."""
        for row in range(self.model.rowCount()):
            if self.model.index(row, 0).data(_INCIDENT_ROLE) == incident:
                self.table.selectRow(row)
                return True
        return False

    def _select_again(self, episodes: set[tuple[str, int, Severity]]) -> None:
        """After the rows were put in another order."""
        selection, model = QItemSelection(), self.model
        for row in range(model.rowCount()):
            if model.index(row, 0).data(_INCIDENT_ROLE).episode in episodes:
                selection.select(model.index(row, 0), model.index(row, len(_TITLES) - 1))
        flags = QItemSelectionModel.SelectionFlag
        self.table.selectionModel().select(selection, flags.ClearAndSelect)

    def _build_layout(self) -> None:
        buttons = self.actions_of_panel.tool_bar(translate("Panels", "Incident actions"))
        side = QWidget()
        below = stacked(side, self.details, buttons, stretched=self.details, margins=NO_MARGINS, spacing=2)
        below.setAlignment(buttons, Qt.AlignmentFlag.AlignRight)
        self._splitter = divided(self.table, side, shares=(3, 2))
        stacked(self, self._splitter, margins=(6, 4, 6, 4))

    def _show_details(self) -> None:
        chosen = self.selected()
        text = "\n\n".join(as_text(incident) for incident in chosen)
        if text != self.details.toPlainText():
            self.details.setPlainText(with_whole_figures(text))
        self.actions_of_panel[ActionId.INCIDENT_COPY].setEnabled(bool(chosen))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("\n\n".join(as_text(incident) for incident in self.selected()))


def as_text(incident: Incident) -> str:
    """The whole story, fit for a report."""
    lines = [f"{_when(incident)}, {word(incident.severity)} ({incident.kind})"]
    lines += _sentences(incident)
    if incident.details:
        lines += ["", incident.details]
    return "\n".join(lines)


def _happened(incident: Incident) -> str:
    """With how often, where it was repeated."""
    if incident.count == 1:
        return incident.what_happened
    return translate("Panels", "{0} times: {1}").format(format_count(incident.count), incident.what_happened)


def _when(incident: Incident) -> str:
    """The time; of an episode the first and the last, and how often."""
    first = format_time(incident.at_ms, seconds=True)
    if incident.count == 1:
        return first
    last = format_time(incident.newest_at_ms, seconds=True)
    return translate("Panels", "{0} to {1}, {2} times").format(first, last, format_count(incident.count))


def _sentences(incident: Incident) -> list[str]:
    labelled = (
        ("", incident.what_happened),
        (translate("Panels", "Action taken: "), incident.what_was_done),
        (translate("Panels", "Cost: "), incident.what_it_cost),
    )
    return [f"{label}{text}" for label, text in labelled if text]


def _sample_time() -> str:
    """Of the usual width."""
    return format_time(round(datetime(2026, 11, 30, tzinfo=UTC).timestamp() * 1000), UTC)


class _IncidentsTable(QTableView):
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = self.viewport().width() < _DONE_FROM_CHARACTERS * self.fontMetrics().averageCharWidth()
        self.setColumnHidden(_DONE, is_narrow)


def _table(model: IncidentsModel) -> QTableView:
    table = _IncidentsTable()
    table.setModel(model)
    style_table(table, translate("Panels", "Incidents, newest first"))
    space_rows(table, 6)
    header = table.horizontalHeader()
    header.setMinimumSectionSize(26)
    header.resizeSection(0, 26)
    follow_interface_size(
        table, lambda: header.resizeSection(1, table.fontMetrics().horizontalAdvance(_sample_time()) + 16)
    )
    for number in (2, _DONE):
        table.setItemDelegateForColumn(number, ElidedCells(table))
        header.setSectionResizeMode(number, QHeaderView.ResizeMode.Stretch)
    return table

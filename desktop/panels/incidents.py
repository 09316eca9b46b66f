"""The incidents panel: each fault, the action taken, and its cost."""

from __future__ import annotations

from datetime import UTC, datetime

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from core.domain.events import Incident
from desktop.actions import ActionId, ActionRegistry, panel_actions
from desktop.state.incident_history import identity
from desktop.state.run_state import RunState
from desktop.ui.formatting import format_count, format_time
from desktop.ui.icons import severity_icon
from desktop.ui.interface_size import follow_interface_size, space_rows
from desktop.ui.panel_base import EmptyState, Panel
from desktop.ui.plain_text import ElidedCells, TextView, with_whole_figures
from desktop.ui.stacks import NO_MARGINS, divided, stacked
from desktop.ui.tables import Column, RowsModel, style_table
from desktop.ui.theme import Theme
from desktop.ui.translation import translate
from desktop.ui.words import word

_DONE = 3
_DONE_FROM_CHARACTERS = 90
"""A narrower list shows only the event: the action taken is in the details beside it."""


def _model(theme: Theme, parent: QObject) -> RowsModel[Incident]:
    """The newest first. The newest may be a repetition within its episode."""

    def sign(incident: Incident) -> QIcon:
        return severity_icon(incident.severity, theme.palette)

    columns: tuple[Column[Incident], ...] = (
        Column("", lambda incident: "", icon=sign, spoken=lambda incident: word(incident.severity)),
        Column(translate("Panels", "When"), lambda incident: format_time(incident.newest_at_ms)),
        Column(translate("Panels", "Event"), _happened),
        Column(translate("Panels", "Action taken"), lambda incident: incident.what_was_done),
    )
    return RowsModel(columns, parent, tooltip=lambda incident: "\n".join(_sentences(incident)), key=identity)


class IncidentsPanel(Panel):
    """A list of incidents on the left, all details of the selected one on the right."""

    def __init__(self, state: RunState, theme: Theme) -> None:
        super().__init__(theme)
        self._state = state
        self.model = _model(theme, self)
        self.table = _table(self.model)
        name = translate("Panels", "Full text of the selected incidents")
        self.details = TextView(name, translate("Panels", "Select an incident to read about it."))
        self.actions_of_panel = ActionRegistry(panel_actions("Incidents"), self.table, theme)
        buttons = self.actions_of_panel.tool_bar(translate("Panels", "Incident actions"))
        side = QWidget()
        below = stacked(side, self.details, buttons, stretched=self.details, margins=NO_MARGINS, spacing=2)
        below.setAlignment(buttons, Qt.AlignmentFlag.AlignRight)
        self._splitter = divided(self.table, side, shares=(3, 2))
        stacked(self, self._splitter, margins=(6, 4, 6, 4))
        self._empty = EmptyState(translate("Panels", "No incidents."), self)
        self.follow(state.incidents_changed, state.run_changed)
        self.table.selectionModel().selectionChanged.connect(self._show_details)
        self.actions_of_panel.offer_menu(self.table)
        self.actions_of_panel.wire({ActionId.INCIDENT_COPY: self._copy})
        self._show_details()

    def refresh(self) -> None:
        had_none = self.model.rowCount() == 0
        self.model.show(self._state.incidents)
        has_some = self.model.rowCount() > 0
        self._empty.update_state(is_empty=not has_some, is_loading=self._state.is_loading)
        self._splitter.setVisible(has_some)
        if had_none and has_some:
            self.table.selectRow(0)
        self._show_details()

    def selected(self) -> list[Incident]:
        """The selected incidents, in the order of the list."""
        return self.model.chosen(self.table)

    def select(self, incident: Incident) -> bool:
        """Select one row alone. False if it is not in the list."""
        if incident not in self.model.rows:
            return False
        self.table.selectRow(self.model.rows.index(incident))
        return True

    def _show_details(self) -> None:
        chosen = self.selected()
        self.details.show_text(with_whole_figures("\n\n".join(map(as_text, chosen))))
        self.actions_of_panel[ActionId.INCIDENT_COPY].setEnabled(bool(chosen))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("\n\n".join(map(as_text, self.selected())))


def as_text(incident: Incident) -> str:
    """The whole incident, for a report."""
    lines = [f"{_when(incident)}, {word(incident.severity)} ({incident.kind})"]
    lines += _sentences(incident)
    if incident.details:
        lines += ["", incident.details]
    return "\n".join(lines)


def _happened(incident: Incident) -> str:
    """The incident, and its count if it was repeated."""
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


class _IncidentsTable(QTableView):
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = self.viewport().width() < _DONE_FROM_CHARACTERS * self.fontMetrics().averageCharWidth()
        self.setColumnHidden(_DONE, is_narrow)


def _table(model: RowsModel[Incident]) -> QTableView:
    table = _IncidentsTable()
    table.setModel(model)
    style_table(table, translate("Panels", "Incidents, newest first"))
    space_rows(table, 6)
    header = table.horizontalHeader()
    header.setMinimumSectionSize(26)
    header.resizeSection(0, 26)
    usual = format_time(round(datetime(2026, 11, 30, tzinfo=UTC).timestamp() * 1000), UTC)
    follow_interface_size(table, lambda: header.resizeSection(1, table.fontMetrics().horizontalAdvance(usual) + 16))
    for number in (2, _DONE):
        table.setItemDelegateForColumn(number, ElidedCells(table))
        header.setSectionResizeMode(number, QHeaderView.ResizeMode.Stretch)
    return table

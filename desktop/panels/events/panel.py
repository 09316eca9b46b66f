"""The events panel: incidents, the feed's events and the log, filtered by kind, severity and words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QIcon, QResizeEvent
from PySide6.QtWidgets import QComboBox, QHeaderView, QLineEdit, QTableView

from core.domain.events import Incident, Severity
from core.logs.reading import LogBook, LogEntry
from desktop.actions import ActionId, ActionRegistry, panel_actions
from desktop.panels.events.rows import Event, EventKind, newest_first, of_feed, of_incidents, of_log
from desktop.panels.feed.numbers import FeedNumbers
from desktop.panels.feed.words import moment
from desktop.state.incident_history import identity
from desktop.state.run_state import RunState
from desktop.ui.accessible import name_box
from desktop.ui.formatting import format_count, format_time
from desktop.ui.icons import severity_icon
from desktop.ui.interface_size import enlarged, space_rows
from desktop.ui.panel_base import EmptyState, Panel, mute, set_text
from desktop.ui.plain_text import ElidedCells, Label, TextView, set_tooltip, with_whole_figures
from desktop.ui.stacks import beside, divided, stacked
from desktop.ui.tables import Column, RowsModel, style_table
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate
from desktop.ui.words import word

_IMPORTANT = QT_TRANSLATE_NOOP("Panels", "Important")
_KINDS = {
    None: _IMPORTANT,
    EventKind.INCIDENT: QT_TRANSLATE_NOOP("Panels", "Incidents"),
    EventKind.FEED: QT_TRANSLATE_NOOP("Panels", "Feed"),
    EventKind.LOG: QT_TRANSLATE_NOOP("Panels", "Log"),
}
_NOTHING = {
    None: QT_TRANSLATE_NOOP("Panels", "Nothing has happened yet."),
    EventKind.INCIDENT: QT_TRANSLATE_NOOP("Panels", "No incidents."),
    EventKind.FEED: QT_TRANSLATE_NOOP("Panels", "The feed has reported nothing yet."),
    EventKind.LOG: QT_TRANSLATE_NOOP("Panels", "The log is empty."),
}
_NONE_MATCHES = QT_TRANSLATE_NOOP("Panels", "No event matches the severity and the words.")
_SEVERE = (Severity.WARNING, Severity.ERROR)
_LEVELS = (
    (QT_TRANSLATE_NOOP("Panels", "All"), (Severity.INFO, *_SEVERE)),
    (QT_TRANSLATE_NOOP("Panels", "Warnings and errors"), _SEVERE),
    (QT_TRANSLATE_NOOP("Panels", "Errors"), (Severity.ERROR,)),
)
_SIDE_BY_SIDE_FROM = 640
_LEAST_SIZE = QSize(240, 112)


def _model(theme: Theme, now_ms: Callable[[], int], parent: QObject) -> RowsModel[Event]:

    def sign(event: Event) -> QIcon:
        return severity_icon(event.severity, theme.palette)

    def spoken(event: Event) -> str:
        return f"{word(event.severity)}, {format_time(event.at_ms, seconds=True)}"

    columns: tuple[Column[Event], ...] = (
        Column(translate("Panels", "When"), lambda event: moment(event.at_ms, now_ms()), icon=sign, spoken=spoken),
        Column(translate("Panels", "Source"), lambda event: event.source),
        Column(translate("Panels", "Event"), lambda event: event.text),
    )
    return RowsModel(columns, parent, tooltip=lambda event: event.text, key=lambda event: event.key)


class EventsPanel(Panel):
    """A list on the left, and the details of what is selected in it beside or below it; of the feed, its numbers too.
    Reads the log's files each second while it is visible. `trouble` carries a sentence."""

    trouble = Signal(str)

    def __init__(self, state: RunState, book: LogBook, theme: Theme) -> None:
        super().__init__(theme)
        self._state, self._book = state, book
        self._logged: tuple[list[LogEntry], list[Event]] = ([], [])
        """The entries that were made into events, and these."""
        self.model = _model(theme, state.clock.now_ms, self)
        self.table = _table(self.model)
        self.kind, self.level = QComboBox(), QComboBox()
        self.filter = QLineEdit(placeholderText=translate("Panels", "Filter by words"), clearButtonEnabled=True)
        self.count = Label()
        mute(self.count)
        self.details = TextView(translate("Panels", "Full text of the selected events"))
        self.feed = FeedNumbers(state, theme)
        self.actions_of_panel = ActionRegistry(panel_actions("Events"), self.table, theme)
        self._splitter = divided(self.table, self.details, self.feed, shares=(4, 3, 3))
        self._build_layout()
        self._empty = EmptyState(translate("Panels", "No incidents."), self.table.viewport())
        self._connect()
        self._show_details()

    def refresh(self) -> None:
        self._book.update()
        kind, (_text, severities) = self.shown_kind, _LEVELS[self.level.currentIndex()]
        events, words = self._events(kind), self.filter.text().casefold().split()
        shown = [event for event in events if event.severity in severities and _has_all(event, words)]
        self.model.show(shown)
        counts = format_count(len(events))
        some = translate("Panels", "{0} of {1}").format(format_count(len(shown)), counts)
        set_text(self.count, counts if len(shown) == len(events) else some)
        nothing = translate("Panels", _NONE_MATCHES if events else _NOTHING[kind])
        is_loading = self._state.is_loading and kind in (None, EventKind.INCIDENT)
        self._empty.update_state(is_empty=not shown, is_loading=is_loading, text=nothing)
        self.feed.setVisible(kind is EventKind.FEED)
        if kind is EventKind.FEED:
            self.feed.refresh()
        self._show_details()

    def tick(self) -> None:
        if self._book.update():  # else thousands of lines would be filtered each second
            self.mark_stale()
        if self.feed.isVisible():
            self.feed.show_times(self._state.clock.now_ms())

    @property
    def shown_kind(self) -> EventKind | None:
        """None: incidents, the feed's events, and the log's warnings and errors."""
        return tuple(_KINDS)[self.kind.currentIndex()]

    def show_kind(self, kind: EventKind | None) -> None:
        """Show all events of this kind."""
        self.filter.clear()
        self.level.setCurrentIndex(0)
        self.kind.setCurrentIndex(tuple(_KINDS).index(kind))
        self.refresh()

    def selected(self) -> list[Event]:
        """The selected events, from the top down."""
        return self.model.chosen(self.table)

    def select(self, incident: Incident) -> bool:
        """Select one row alone. False if it is not in the list."""
        self.show_kind(EventKind.INCIDENT)
        wanted = identity(incident)
        row = next((row for row, event in enumerate(self.model.rows) if event.key == wanted), None)
        if row is not None:
            self.table.selectRow(row)
        return row is not None

    def minimumSizeHint(self) -> QSize:
        """One size for all kinds and arrangements: a hidden tab must not enlarge the docks that share its place."""
        margins = self.contentsMargins()
        beside = self.feed.minimumSizeHint().width() + margins.left() + margins.right() + 12
        return QSize(max(_LEAST_SIZE.width(), beside), enlarged(_LEAST_SIZE.height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_wide = self.width() >= enlarged(_SIDE_BY_SIDE_FROM)
        self._splitter.setOrientation(Qt.Orientation.Horizontal if is_wide else Qt.Orientation.Vertical)

    def _events(self, kind: EventKind | None) -> list[Event]:
        incidents, feed = of_incidents(self._state.incidents), of_feed(self._state.feed_record)
        if self._logged[0] is not self._book.entries:
            self._logged = self._book.entries, of_log(self._book.entries)
        log = self._logged[1]
        grave = [event for event in log if event.severity in _SEVERE]
        return {
            None: newest_first(incidents, feed, grave),
            EventKind.INCIDENT: incidents,
            EventKind.FEED: feed,
            EventKind.LOG: log,
        }[kind]

    def _show_details(self) -> None:
        chosen = self.selected()
        self.details.show_text(with_whole_figures("\n\n".join(event.full_text for event in chosen)))
        self.details.setVisible(bool(chosen))
        self.actions_of_panel[ActionId.EVENT_COPY].setEnabled(bool(chosen))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("\n\n".join(event.full_text for event in self.selected()))

    def _open_folder(self) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._book.folder))):
            words = translate("Panels", "No file manager responded. The log files are in {0}.")
            self.trouble.emit(words.format(self._book.folder))

    def _build_layout(self) -> None:
        kinds = translate("Panels", "Important: incidents, the feed's events, and warnings of the log")
        boxes = ((self.kind, translate("Panels", "Kind"), kinds), (self.level, translate("Panels", "Severity"), ""))
        for box, name, meaning in boxes:
            name_box(box, name)
            set_tooltip(box, meaning)
        self.kind.addItems([translate("Panels", text) for text in _KINDS.values()])
        self.level.addItems([translate("Panels", text) for text, _severities in _LEVELS])
        self.filter.setAccessibleName(translate("Panels", "Filter by words"))
        self.filter.setMaximumWidth(240)
        buttons = self.actions_of_panel.tool_bar(translate("Panels", "Event actions"))
        parts = (self.kind, self.level, self.filter, self.count, None, buttons)
        top = beside(None, *parts, stretched=self.filter, spacing=8)
        stacked(self, top, self._splitter, stretched=self._splitter, margins=(6, 4, 6, 4), spacing=4)

    def _connect(self) -> None:
        state = self._state
        self.follow(state.incidents_changed, state.run_changed, state.feed_record.changed)
        self.follow(self.kind.currentIndexChanged, self.level.currentIndexChanged, self.filter.textChanged)
        self.table.selectionModel().selectionChanged.connect(self._show_details)
        self.actions_of_panel.offer_menu(self.table, needs_row=False)
        self.actions_of_panel.wire({ActionId.EVENT_COPY: self._copy, ActionId.LOG_FOLDER: self._open_folder})


def _has_all(event: Event, words: Sequence[str]) -> bool:
    line = f"{event.source} {event.text}".casefold() if words else ""
    return all(each in line for each in words)


def _table(model: RowsModel[Event]) -> QTableView:
    table = QTableView()
    table.setModel(model)
    style_table(table, translate("Panels", "Events, newest first"))
    table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    table.setItemDelegateForColumn(2, ElidedCells(table))
    space_rows(table, 6)
    header = table.horizontalHeader()
    header.setResizeContentsPrecision(0)  # the visible rows
    for number in (0, 1):
        header.setSectionResizeMode(number, QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
    return table

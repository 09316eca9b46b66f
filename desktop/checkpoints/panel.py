"""The checkpoint browser: a filter, a table, and actions on the selected rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QMenu, QToolButton

from core.checkpoints.filtering import Filter, FilterError, hint
from core.checkpoints.row import CheckpointRow
from core.domain.checkpoint_info import CheckpointInfo
from core.settings.window import BrowserSettings
from desktop.actions import ActionId, ActionRegistry, panel_actions
from desktop.checkpoints.best_head import BestCheckpointHead
from desktop.checkpoints.column_dialog import ColumnDialog
from desktop.checkpoints.filter_bar import FilterLine
from desktop.checkpoints.runs_dialog import MOST_COMPARED, RunsDialog
from desktop.checkpoints.table import CheckpointTable
from desktop.checkpoints.text_dialogs import open_name, open_note, open_tags
from desktop.dialogs.messages import open_dialog
from desktop.state.checkpoint_source import CheckpointSource
from desktop.ui.formatting import format_count
from desktop.ui.icons import put_icon
from desktop.ui.panel_base import EmptyState, Panel, colour_text, mute, set_text
from desktop.ui.plain_text import Label, set_tooltip
from desktop.ui.stacks import beside, stacked
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_NONE_SAVED = QT_TRANSLATE_NOOP("Checkpoints", "No checkpoints yet.")
_NO_MATCH = QT_TRANSLATE_NOOP("Checkpoints", "No checkpoint matches the filter.")
_WAITING = QT_TRANSLATE_NOOP("Checkpoints", "New rows appear once the pointer has left the table.")
_GONE = QT_TRANSLATE_NOOP(
    "Checkpoints", "The checkpoint of step {0} has been deleted meanwhile, so nothing was restored. Choose another row."
)
_SINGLE = (ActionId.CHECKPOINT_NOTE, ActionId.CHECKPOINT_NAME, ActionId.CHECKPOINT_EVALUATE)
_ANY = (ActionId.CHECKPOINT_PIN, ActionId.CHECKPOINT_TAGS, ActionId.CHECKPOINT_VERIFY, ActionId.CHECKPOINT_EXPORT)


class CheckpointsPanel(Panel):
    """Everything by buttons, keys and context menu. `restore_requested` carries an id."""

    restore_requested = Signal(str)
    ghosts_requested = Signal(object)
    """CheckpointInfos whose ghosts are to be on the chart; empty removes them."""
    compare_requested = Signal(object)
    """Two or more `CheckpointRow`."""
    verify_requested = Signal(object)
    """CheckpointInfos."""
    export_requested = Signal(object)
    """`CheckpointRow`."""
    import_requested = Signal()
    evaluate_requested = Signal(object)
    """`CheckpointRow` to be evaluated on a file."""
    page_requested = Signal(str)
    """The report of an evaluation, as it is stored."""
    clean_up_requested = Signal()
    arranged = Signal(object)
    """BrowserSettings, to be remembered."""

    def __init__(self, source: CheckpointSource, theme: Theme) -> None:
        super().__init__(theme)
        self._source = source
        self._filter: Filter | None = None
        self._has_waiting = False
        """Whether rows stayed in place at the last refresh."""
        self.table = CheckpointTable(theme)
        self.model = self.table.rows
        self.message = Label(wraps=True)
        theme.follow(self, lambda palette: colour_text(self.message, palette.bad))
        self.filter = FilterLine(self.message)
        self.best = BestCheckpointHead(source, theme)
        self._count = Label()
        mute(self._count)
        set_tooltip(self._count, translate("Checkpoints", _WAITING))
        self._more = QToolButton()
        put_icon(self._more, "dots-horizontal", theme)
        self.actions_of_panel = ActionRegistry(panel_actions("Checkpoints"), self.table, theme)
        self._build_layout()
        self._empty = EmptyState(translate("Checkpoints", _NONE_SAVED), self.table.viewport())
        self._connect()
        self._update_actions()

    def show_settings(self, settings: BrowserSettings) -> None:
        """Apply a stored arrangement; emits nothing."""
        if settings != self.table.settings:
            self.table.arrange(settings)
            self.actions_of_panel[ActionId.CHECKPOINT_ALL_RUNS].setChecked(settings.all_runs)
            self.mark_stale()

    def refresh(self) -> None:
        """Show what has changed. While the pointer is over the table or a menu is open, rows stay in place and new ones
        wait, so that none moves away from a click."""
        self._show(stays=self._is_pointed_at())

    def _show(self, *, stays: bool = False) -> None:
        self.best.refresh()
        catalog, is_all = self._source.catalog, self.table.settings.all_runs
        try:
            rows = self._rows()
        except FilterError as error:
            self.filter.show_fault(error)
            return
        total, shown, waiting = len(catalog) if is_all else len(self._source.checkpoints()), len(rows), 0
        self.filter.show_hint(hint(self._filter, shown))
        if stays and self.model.rows:
            found, rows = rows, [catalog.get(row.info.checkpoint_id) or row for row in self.model.rows]
            waiting = len({row.info.checkpoint_id for row in found} - {row.info.checkpoint_id for row in rows})
        gone = sum(catalog.get(row.info.checkpoint_id) is None for row in rows)
        self._has_waiting = stays
        self.table.show_rows(catalog, rows)
        set_text(self._count, self._count_text(shown, waiting, gone, total))
        text = translate("Checkpoints", _NONE_SAVED if total == 0 else _NO_MATCH)
        self._empty.update_state(is_empty=shown == 0, is_loading=self._source.is_loading and total == 0, text=text)
        self._update_actions()

    def _rows(self) -> list[CheckpointRow]:
        """The rows that match the filter, in order. Raises FilterError."""
        is_all, (order_by, is_descending) = self.table.settings.all_runs, self.table.sorting
        if not is_all and self._source.run_id is None:
            return []
        rows = self._source.catalog.rows(
            self._filter,
            now_ms=self._source.clock.now_ms(),
            run_id=None if is_all else self._source.run_id,
            order_by=order_by,
            is_descending=is_descending,
        )
        hides_archived = is_all and not (self._filter is not None and self._filter.names("archived"))
        return [row for row in rows if not (hides_archived and row.is_archived)]

    def _is_pointed_at(self) -> bool:
        return self.table.underMouse() or QApplication.activePopupWidget() is not None

    def _count_text(self, shown: int, waiting: int, gone: int, total: int) -> str:
        """How many match, also those that wait, how many rows are of deleted checkpoints, and what they are of."""
        is_all, markets = self.table.settings.all_runs, self._source.market_count
        parts = [_count_text(shown, total)]
        if waiting:
            parts.append(translate("Checkpoints", "{0} new, waiting").format(format_count(waiting)))
        if gone:
            parts.append(translate("Checkpoints", "{0} deleted").format(format_count(gone)))
        if total and is_all:
            parts.append(translate("Checkpoints", "all runs"))
        elif total and markets != 1:  # the figures are means over them: the column Symbol has the first alone
            parts.append(translate("Checkpoints", "all {0} markets").format(format_count(markets)))
        return " · ".join(filter(None, parts))

    def tick(self) -> None:
        self.best.tick()
        self._offer_restore(self.table.selected_rows())  # steps may have been taken since
        if self._has_waiting and not self._is_pointed_at():
            self.mark_stale()

    def selected(self) -> list[CheckpointInfo]:
        return [self.model.info(row) for row in self.table.selected_rows()]

    def select(self, checkpoint_id: str) -> bool:
        """Select one row alone. False if it is not in the table, or filtered out."""
        return bool(self.table.select_ids([checkpoint_id]))

    def reveal(self, checkpoint_id: str) -> bool:
        """Select it, clear the filter if that hides it, and focus the table."""
        self._show()
        if not self.select(checkpoint_id):
            self.filter.clear()
            self._show()
            if not self.select(checkpoint_id):
                return False
        self.table.scrollTo(self.table.currentIndex())
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def _build_layout(self) -> None:
        buttons = self.actions_of_panel.tool_bar(translate("Checkpoints", "Checkpoint actions"))
        all_runs = QToolButton(toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        all_runs.setDefaultAction(self.actions_of_panel[ActionId.CHECKPOINT_ALL_RUNS])
        shown = buttons.insertWidget(buttons.actions()[0], all_runs)
        shown.setVisible(False)
        all_runs.defaultAction().toggled.connect(shown.setVisible)
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._more.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._more.setAccessibleName(translate("Checkpoints", "More checkpoint actions"))
        self._more.setToolTip(translate("Checkpoints", "More"))
        menu = QMenu(self._more, toolTipsVisible=True)
        menu.addActions(self.actions_of_panel.actions())
        self._more.setMenu(menu)
        buttons.addWidget(self._more)
        top = beside(None, self.filter, self._count, buttons, stretched=self.filter, spacing=8)
        parts = self.best, top, self.message, self.table
        stacked(self, *parts, stretched=self.table, margins=(6, 4, 6, 4), spacing=4)

    def _connect(self) -> None:
        self._source.changed.connect(self.mark_stale)
        self._source.undo_changed.connect(self._update_actions)
        self.best.restore_requested.connect(self.restore_requested)
        self.filter.changed.connect(self._on_filter)
        self.filter.left.connect(self._focus_table)
        self.table.arranged.connect(self._on_arranged)
        self.table.selectionModel().selectionChanged.connect(self._update_actions)
        self.actions_of_panel.offer_menu(self.table)
        self.table.horizontalHeader().customContextMenuRequested.connect(lambda _place: self.choose_columns())
        ids = ActionId
        self.actions_of_panel.wire(
            {
                ids.CHECKPOINT_RESTORE: self._restore,
                ids.CHECKPOINT_PIN: self._toggle_pins,
                ids.CHECKPOINT_NOTE: self._edit_note,
                ids.CHECKPOINT_NAME: self._edit_name,
                ids.CHECKPOINT_TAGS: self._edit_tags,
                ids.CHECKPOINT_DELETE: self._delete,
                ids.CHECKPOINT_UNDO: self._undo,
                ids.CHECKPOINT_COLUMNS: self.choose_columns,
                ids.CHECKPOINT_RUNS: self.open_runs,
                ids.CHECKPOINT_GHOSTS: self._toggle_ghosts,
                ids.CHECKPOINT_COMPARE: lambda: self.compare_requested.emit(self._selected_rows()),
                ids.CHECKPOINT_VERIFY: lambda: self.verify_requested.emit(self.selected()),
                ids.CHECKPOINT_EXPORT: lambda: self.export_requested.emit(self._selected_rows()),
                ids.CHECKPOINT_IMPORT: self.import_requested.emit,
                ids.CHECKPOINT_EVALUATE: lambda: self.evaluate_requested.emit(self._selected_rows()[0]),
                ids.CHECKPOINT_REPORT: self._open_report,
                ids.CHECKPOINT_CLEAN_UP: self.clean_up_requested.emit,
                ids.CHECKPOINT_ALL_RUNS: self._toggle_runs,
                ids.CHECKPOINT_FILTER: lambda: self.filter.setFocus(Qt.FocusReason.ShortcutFocusReason),
            }
        )

    def show_all_runs(self) -> None:
        self._on_columns(replace(self.table.settings, all_runs=True))
        self.actions_of_panel[ActionId.CHECKPOINT_ALL_RUNS].setChecked(True)

    def open_runs(self) -> RunsDialog:
        dialog = RunsDialog(self._source, self)
        dialog.show_requested.connect(self._show_run)
        dialog.compare_requested.connect(self.compare_requested)
        return open_dialog(dialog)

    def _show_run(self, run_id: str) -> None:
        self.show_all_runs()
        text = f"run = '{run_id}'" + (" and archived" if self._source.is_archived(run_id) else "")
        self.filter.setText(text)

    def _selected_rows(self) -> list[CheckpointRow]:
        return [self.model.row(row) for row in self.table.selected_rows()]

    def _toggle_ghosts(self) -> None:
        is_on = self.actions_of_panel[ActionId.CHECKPOINT_GHOSTS].isChecked()
        self.ghosts_requested.emit(self.selected() if is_on else [])

    def choose_columns(self) -> ColumnDialog:
        dialog = ColumnDialog(self.table.settings, self.table.chosen_columns(), self)
        dialog.chosen.connect(self._on_columns)
        return open_dialog(dialog)

    def _on_columns(self, settings: BrowserSettings) -> None:
        self.show_settings(settings)
        self._show()
        self.arranged.emit(settings)

    def _on_arranged(self, settings: BrowserSettings) -> None:
        self._show()
        self.arranged.emit(settings)

    def _on_filter(self, condition: Filter | None) -> None:
        self._filter = condition
        self._show()

    def _focus_table(self) -> None:
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)
        if self.model.rowCount() and not self.table.selected_rows():
            self.table.selectRow(0)

    def _toggle_runs(self) -> None:
        is_all = self.actions_of_panel[ActionId.CHECKPOINT_ALL_RUNS].isChecked()
        self._on_columns(replace(self.table.settings, all_runs=is_all))

    def _offer_restore(self, rows: Sequence[int]) -> None:
        can_restore = len(rows) == 1 and not self._source.is_the_model(self.model.info(rows[0]))
        self.actions_of_panel[ActionId.CHECKPOINT_RESTORE].setEnabled(can_restore)

    def _update_actions(self) -> None:
        rows = self.table.selected_rows()
        is_one = len(rows) == 1
        actions = self.actions_of_panel
        self._offer_restore(rows)
        for action_id in _SINGLE:
            actions[action_id].setEnabled(is_one)
        found = self.model.row(rows[0]).evaluation if is_one else None
        actions[ActionId.CHECKPOINT_REPORT].setEnabled(found is not None and bool(found.page))
        for action_id in _ANY:
            actions[action_id].setEnabled(bool(rows))
        actions[ActionId.CHECKPOINT_COMPARE].setEnabled(2 <= len(rows) <= MOST_COMPARED)
        ghosts = actions[ActionId.CHECKPOINT_GHOSTS]
        ghosts.setEnabled(bool(rows) or ghosts.isChecked())
        actions[ActionId.CHECKPOINT_DELETE].setEnabled(any(self._deletable(rows)))
        self._present_pin(bool(rows) and all(self.model.info(row).is_pinned for row in rows))
        self._present_undo()

    def _present_pin(self, unpins: bool) -> None:
        texts = (
            (translate("Actions", "Un&pin"), translate("Actions", "Allow these checkpoints to be cleaned up"))
            if unpins
            else (translate("Actions", "&Pin"), translate("Actions", "Keep these checkpoints until they are unpinned"))
        )
        name = "pin-off-outline" if unpins else "pin-outline"
        self.actions_of_panel.present(ActionId.CHECKPOINT_PIN, *texts, name)

    def _present_undo(self) -> None:
        stack, actions = self._source.undo_stack, self.actions_of_panel
        tooltip = translate("Checkpoints", "Nothing to undo")
        if stack.canUndo():
            tooltip = translate("Checkpoints", "Undo: {0}").format(stack.undoText())
        actions.present(ActionId.CHECKPOINT_UNDO, translate("Actions", "&Undo"), tooltip, "undo")
        actions[ActionId.CHECKPOINT_UNDO].setEnabled(stack.canUndo())

    def _deletable(self, rows: Sequence[int]) -> Iterator[str]:
        """The ids that can be deleted. The trainer never deletes the newest of a run, nor the one in use."""
        newest = self._source.newest_ids()
        infos = (self.model.info(row) for row in rows)
        return (info.checkpoint_id for info in infos if not info.is_in_use and info.checkpoint_id not in newest)

    def _restore(self) -> None:
        chosen = self.selected()
        if len(chosen) != 1:
            return
        checkpoint_id = chosen[0].checkpoint_id
        if self._source.catalog.get(checkpoint_id) is not None:
            self.restore_requested.emit(checkpoint_id)
            return
        self._show()  # without the rows that were held under the pointer
        self._source.trouble.emit(translate("Checkpoints", _GONE).format(format_count(chosen[0].step)))

    def _toggle_pins(self) -> None:
        chosen = self.selected()
        is_pinned = not all(info.is_pinned for info in chosen)
        self._source.set_pinned([info.checkpoint_id for info in chosen], is_pinned)

    def _edit_note(self) -> None:
        chosen = self.selected()

        def set_note(note: str) -> None:
            self._source.set_note(chosen[0].checkpoint_id, note)
            self.table.reveal_column("note")

        if len(chosen) == 1:
            open_note(self, chosen[0], set_note)

    def _edit_name(self) -> None:
        chosen = self.selected()

        def set_name(name: str) -> None:
            self._source.set_name(chosen[0].checkpoint_id, name)
            self.table.reveal_column("name")

        if len(chosen) == 1:
            open_name(self, chosen[0], set_name)

    def _edit_tags(self) -> None:
        chosen = self.selected()

        if chosen:
            ids = [info.checkpoint_id for info in chosen]
            open_tags(self, chosen, lambda add, remove: self._set_tags(ids, add, remove))

    def _set_tags(self, ids: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> None:
        self._source.set_tags(ids, add, remove)
        self.table.reveal_column("tags")

    def _open_report(self) -> None:
        found = self._selected_rows()[0].evaluation
        if found is not None:
            self.page_requested.emit(found.page)

    def _delete(self) -> None:
        rows = self.table.selected_rows()
        if ids := list(self._deletable(rows)):
            self._source.request_deletion(ids)
            self._show()
            if self.model.rowCount() and not self.table.selected_rows():  # the keyboard continues from here
                self.table.selectRow(min(rows[0], self.model.rowCount() - 1))

    def _undo(self) -> None:
        self._source.undo_stack.undo()
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.best.fit(self.height())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "table"):
            self.table.size_columns()


def _count_text(shown: int, total: int) -> str:
    if shown != total:
        return translate("Checkpoints", "{0} of {1}").format(format_count(shown), format_count(total))
    if total == 1:
        return translate("Checkpoints", "{0} checkpoint").format(format_count(total))
    return translate("Checkpoints", "{0} checkpoints").format(format_count(total)) if total else ""

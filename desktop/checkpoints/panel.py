"""The checkpoint browser: a table over SQLite that is sorted, filtered, and acted on."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QItemSelectionModel, QLocale, QPoint, QRect, QSize, QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QToolBar,
    QVBoxLayout,
    QWidget,
)

from core.events import CheckpointInfo
from desktop.action_table import checkpoint_actions
from desktop.actions import ActionId, ActionRegistry
from desktop.checkpoints.model import COLUMNS, INFO_ROLE, CheckpointFilter, CheckpointTableModel, Index, marks
from desktop.checkpoints.source import CheckpointSource
from desktop.dialogs.messages import confirm_deletion, open_note
from desktop.formatting import format_count
from desktop.icons import icon, tabular
from desktop.panels.base import EmptyState, Panel, colour_text, set_text
from desktop.theme import Palette, Theme

_ICON_SIZE = 15
_CELL_MARGIN = 14
_LEAST_FIRST = ("Size", "Saved", "Loss", "Reason")
_NONE_SAVED = "No checkpoint has been saved yet."
_NO_MATCH = "No checkpoint matches the filter."


class CheckpointsPanel(Panel):
    """Restore, pin, note and delete by buttons, keys and context menu. `restore_requested` carries an id."""

    restore_requested = Signal(str)

    def __init__(self, source: CheckpointSource, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._source = source
        self.model = CheckpointTableModel(self)
        self.proxy = CheckpointFilter(self)
        self.proxy.setSourceModel(self.model)
        self.table = _table(self.proxy, theme)
        self.filter = QLineEdit()
        self.filter.setPlaceholderText("Filter by any words")
        self.filter.setToolTip("Words in step, times, reason or note; also: best, in use, pinned")
        self.filter.setClearButtonEnabled(True)
        self.filter.setMaximumWidth(240)
        self.filter.textChanged.connect(self._on_filter)
        self._count = QLabel()
        self.actions_of_panel = ActionRegistry(checkpoint_actions(), self.table)
        self._build_layout()
        self._empty = EmptyState(_NONE_SAVED, self.table.viewport())
        self._connect()
        self.apply_palette(theme.palette)
        self._update_actions()

    def refresh(self) -> None:
        self.model.show(self._source.checkpoints())
        self._update_count()
        self._update_actions()

    def apply_palette(self, palette: Palette) -> None:
        self.actions_of_panel.apply_palette(palette)
        colour_text(self._count, palette.muted_text)
        colour_text(self._empty, palette.muted_text)

    def selected(self) -> list[CheckpointInfo]:
        """What is selected, in the order of the table."""
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        return [self.proxy.index(row, 0).data(INFO_ROLE) for row in rows]

    def select(self, checkpoint_id: str) -> bool:
        """Select one row alone. False where it is not in the table, or filtered out."""
        for row in range(self.proxy.rowCount()):
            index = self.proxy.index(row, 0)
            if index.data(INFO_ROLE).checkpoint_id == checkpoint_id:
                flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
                self.table.selectionModel().setCurrentIndex(index, flags)
                return True
        return False

    def reveal(self, checkpoint_id: str) -> bool:
        """Select it, without the filter where that hides it, and give the table the keys."""
        if self.is_stale:
            self.refresh()
        if not self.select(checkpoint_id):
            self.filter.clear()
            if not self.select(checkpoint_id):
                return False
        self.table.scrollTo(self.table.currentIndex())
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def _build_layout(self) -> None:
        buttons = QToolBar()
        buttons.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        buttons.setIconSize(QSize(_ICON_SIZE, _ICON_SIZE))
        self.actions_of_panel.fill_tool_bar(buttons)
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(self.filter, 1)
        top.addWidget(self._count)
        top.addStretch(1)
        top.addWidget(buttons)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 4, 6, 4)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addWidget(self.table, 1)

    def _connect(self) -> None:
        self._source.changed.connect(self.mark_stale)
        self.table.selectionModel().selectionChanged.connect(self._update_actions)
        self.table.customContextMenuRequested.connect(self._open_menu)
        self.actions_of_panel.wire(
            {
                ActionId.CHECKPOINT_RESTORE: self._restore,
                ActionId.CHECKPOINT_PIN: self._toggle_pins,
                ActionId.CHECKPOINT_NOTE: self._edit_note,
                ActionId.CHECKPOINT_DELETE: self._delete,
            }
        )

    def _on_filter(self, text: str) -> None:
        self.proxy.show_only(text)
        self._update_count()

    def _update_count(self) -> None:
        total, shown = self.model.rowCount(), self.proxy.rowCount()
        noun = "checkpoint" if total == 1 else "checkpoints"
        words = f"{format_count(total)} {noun}" if shown == total else f"{format_count(shown)} of {format_count(total)}"
        set_text(self._count, words if total else "")
        text = _NONE_SAVED if total == 0 else _NO_MATCH
        self._empty.tell(is_empty=shown == 0, is_loading=self._source.is_loading and total == 0, text=text)

    def _update_actions(self) -> None:
        chosen = self.selected()
        is_one = len(chosen) == 1
        actions = self.actions_of_panel
        actions[ActionId.CHECKPOINT_RESTORE].setEnabled(is_one and not chosen[0].is_in_use)
        actions[ActionId.CHECKPOINT_NOTE].setEnabled(is_one)
        actions[ActionId.CHECKPOINT_PIN].setEnabled(bool(chosen))
        actions[ActionId.CHECKPOINT_DELETE].setEnabled(bool(self._deletable(chosen)))
        unpins = bool(chosen) and all(info.is_pinned for info in chosen)
        actions.present(
            ActionId.CHECKPOINT_PIN,
            "Un&pin" if unpins else "&Pin",
            "Let these checkpoints be cleaned up" if unpins else "Keep these checkpoints until they are unpinned",
            "pin-off-outline" if unpins else "pin-outline",
            self.palette_now,
        )

    def _deletable(self, chosen: list[CheckpointInfo]) -> list[CheckpointInfo]:
        """The trainer keeps the newest and the one in use, whoever asks."""
        newest = next(iter(self._source.checkpoints()), None)
        return [info for info in chosen if not info.is_in_use and (newest is None or info != newest)]

    def _restore(self) -> None:
        chosen = self.selected()
        if len(chosen) == 1:
            self.restore_requested.emit(chosen[0].checkpoint_id)

    def _toggle_pins(self) -> None:
        chosen = self.selected()
        is_pinned = not all(info.is_pinned for info in chosen)
        self._source.set_pinned([info.checkpoint_id for info in chosen], is_pinned)

    def _edit_note(self) -> None:
        chosen = self.selected()
        if len(chosen) == 1:
            open_note(self, chosen[0], lambda note: self._source.set_note(chosen[0].checkpoint_id, note))

    def _delete(self) -> None:
        chosen = self.selected()
        deletable = self._deletable(chosen)
        if deletable:
            ids = [info.checkpoint_id for info in deletable]
            confirm_deletion(self, deletable, len(chosen) - len(ids), lambda: self._source.request_deletion(ids))

    def _open_menu(self, position: QPoint) -> None:
        if not self.table.indexAt(position).isValid():
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        menu.addActions(self.actions_of_panel.actions())
        menu.popup(self.table.viewport().mapToGlobal(position))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "table"):
            _size_columns(self.table)


class TextDelegate(QStyledItemDelegate):
    """Keeps words apart from the numbers to their left, which end where they begin."""

    def displayText(self, value: object, locale: QLocale | QLocale.Language) -> str:
        return f"  {value}"


class MarksDelegate(QStyledItemDelegate):
    """Paints the icons of best, in use and pinned side by side, each always in its own place."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        palette = self._theme.palette
        held = marks(index.data(INFO_ROLE))
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)  # type: ignore[attr-defined]
        icons = (
            ("best", "trophy-outline", palette.warning),
            ("in use", "play-circle-outline", palette.good),
            ("pinned", "pin", palette.accent),
        )
        rectangle: QRect = option.rect  # type: ignore[attr-defined]
        left = rectangle.left() + 4
        top = rectangle.center().y() - _ICON_SIZE // 2
        for word, name, colour in icons:
            if word in held:
                drawn = icon(name, palette.inverse_text if is_selected else colour)
                drawn.paint(painter, QRect(left, top, _ICON_SIZE, _ICON_SIZE))
            left += _ICON_SIZE + 3


class CheckpointTable(QTableView):
    """Where it is too narrow for all of its columns, those go whose numbers matter least: their tooltip has them."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_columns()

    def fit_columns(self) -> None:
        """Hide as many as must be for the others to be whole."""
        widths = _natural_widths(self.fontMetrics())
        hidden: set[str] = set()
        for title in _LEAST_FIRST:
            if sum(width for name, width in widths.items() if name not in hidden) <= self.viewport().width():
                break
            hidden.add(title)
        for number, column in enumerate(COLUMNS):
            self.setColumnHidden(number, column.title in hidden)


def _table(model: QSortFilterProxyModel, theme: Theme) -> CheckpointTable:
    table = CheckpointTable()
    table.setModel(model)
    table.setFont(tabular(table.font()))
    table.setItemDelegateForColumn(0, MarksDelegate(theme, table))
    words = TextDelegate(table)
    for number, column in enumerate(COLUMNS):
        if number and not column.is_number:
            table.setItemDelegateForColumn(number, words)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    table.verticalHeader().hide()
    table.setSortingEnabled(True)
    table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    _size_columns(table)
    return table


def _size_columns(table: CheckpointTable) -> None:
    metrics = table.fontMetrics()
    table.verticalHeader().setDefaultSectionSize(metrics.height() + 6)
    header = table.horizontalHeader()
    header.setHighlightSections(False)
    header.setMinimumSectionSize(3 * metrics.averageCharWidth())
    header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    header.setStretchLastSection(True)
    for number, width in enumerate(_natural_widths(metrics).values()):
        header.resizeSection(number, width)
    table.fit_columns()


def _natural_widths(metrics: QFontMetrics) -> dict[str, int]:
    """By title: wide enough for what comes, and for the header."""
    widths = {}
    for column in COLUMNS:
        widest = max(metrics.horizontalAdvance(text) for text in (column.sample, column.title + "   "))
        widths[column.title] = widest + _CELL_MARGIN
    widths[""] = 3 * (_ICON_SIZE + 3) + 10  # the marks
    return widths

"""The table of the leaderboard, each row with a tick that draws its ghosts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTableView, QWidget

from core.evaluation.leaderboard import LeaderboardRow
from desktop.panels.leaderboard.columns import BY_IMPORTANCE, LEFT, Column, estimate_of, in_sentences, text
from desktop.ui.formatting import MISSING
from desktop.ui.icons import icon
from desktop.ui.interface_size import follow_interface_size, space_rows
from desktop.ui.plain_text import paragraphs
from desktop.ui.study_colours import preview_colour
from desktop.ui.tables import Index, KeyedRowsModel, style_table
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

_CHECK = Qt.ItemDataRole.CheckStateRole


@dataclass(frozen=True, slots=True)
class Entry:
    """A row and its tick."""

    row: LeaderboardRow
    is_ticked: bool
    colour: int | None
    """The number of its colour on the chart; None: not drawn by a tick."""
    why_not: str
    """Why the tick cannot be changed; empty if it can."""


class LeaderboardModel(KeyedRowsModel[Entry]):
    """`tick_changed` carries a row's name, and whether its ghosts are wanted."""

    tick_changed = Signal(str, bool)

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__([column.title for column in Column], parent)
        self._theme = theme

    def key(self, row: Entry) -> object:
        return row.row.name

    def side(self, column: int) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignLeft if column in LEFT else Qt.AlignmentFlag.AlignRight
        return side | Qt.AlignmentFlag.AlignVCenter

    def meaning(self, column: int) -> str:
        return f"{Column(column).title}\n{Column(column).meaning}"

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        is_tick = index.column() == Column.GHOSTS and not self.rows[index.row()].why_not
        return flags | Qt.ItemFlag.ItemIsUserCheckable if is_tick else flags

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != _CHECK or not self.flags(index) & Qt.ItemFlag.ItemIsUserCheckable:
            return False
        is_wanted = Qt.CheckState(value) is Qt.CheckState.Checked
        self.tick_changed.emit(self.rows[index.row()].row.name, is_wanted)
        return True

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry, column = self.rows[index.row()], Column(index.column())
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return text(entry.row, column)
            case Qt.ItemDataRole.ToolTipRole:
                return paragraphs(self._tooltip(entry, column))
            case Qt.ItemDataRole.TextAlignmentRole:
                return self.side(column)
            case Qt.ItemDataRole.ForegroundRole:
                return self._theme.palette.muted_text if _is_faint(entry.row, column) else None
        return self._tick_data(entry, role) if column is Column.GHOSTS else None

    def _tick_data(self, entry: Entry, role: int) -> Any:
        match role:
            case Qt.ItemDataRole.CheckStateRole:
                return Qt.CheckState.Checked if entry.is_ticked else Qt.CheckState.Unchecked
            case Qt.ItemDataRole.DecorationRole:
                return self._box(entry)
            case Qt.ItemDataRole.AccessibleTextRole:
                return translate("Panels", "Ghosts of: {0}").format(text(entry.row, Column.NAME))
            case Qt.ItemDataRole.AccessibleDescriptionRole:
                return entry.why_not or None
        return None

    def _box(self, entry: Entry) -> QIcon:
        """Ticked in the colour of the ghosts; faint where it cannot be changed."""
        palette = self._theme.palette
        colour = palette.muted_text if entry.why_not else palette.text
        if entry.colour is not None:
            colour = preview_colour(palette, entry.colour)
        name = "checkbox-marked" if entry.is_ticked else "checkbox-blank-outline"
        return icon(name, colour, palette.inverse_text)

    @staticmethod
    def _tooltip(entry: Entry, column: Column) -> str:
        if column is Column.GHOSTS:
            return entry.why_not or column.meaning
        return in_sentences(entry.row)


def _is_faint(row: LeaderboardRow, column: Column) -> bool:
    """A dash, and a value that has no interval yet."""
    estimate = estimate_of(row, column)
    return text(row, column) == MISSING or (estimate is not None and estimate.low is None)


class _TickCell(QStyledItemDelegate):
    """The model's icon is the box; Qt's own is hard to see on dark."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        option.features &= ~QStyleOptionViewItem.ViewItemFeature.HasCheckIndicator  # type: ignore[attr-defined]

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        """The table takes the click."""
        return False


class LeaderboardTable(QTableView):
    """Numbers are as wide as they come; the least important columns go where there is no room. Space ticks a row."""

    def __init__(self, model: LeaderboardModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModel(model)
        self._model = model
        style_table(self, translate("Panels", "Leaderboard"), several=False)
        space_rows(self, 5)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setMinimumSectionSize(1)
        self.setItemDelegateForColumn(Column.GHOSTS, _TickCell(self))
        self.clicked.connect(self._on_clicked)
        follow_interface_size(self, self.fit_columns)
        model.layoutChanged.connect(self.fit_columns)
        model.dataChanged.connect(self.fit_columns)

    @property
    def shown_columns(self) -> tuple[Column, ...]:
        """Those that there is room for, from the left."""
        return tuple(column for column in Column if not self.isColumnHidden(column))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_columns()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if event.key() != Qt.Key.Key_Space or not index.isValid():
            super().keyPressEvent(event)
        else:
            self._switch(index)

    def _on_clicked(self, index: Index) -> None:
        if index.column() == Column.GHOSTS:
            self._switch(index)

    def _switch(self, index: Index) -> None:
        tick = self.model().index(index.row(), Column.GHOSTS)
        is_on = tick.data(Qt.ItemDataRole.CheckStateRole) is Qt.CheckState.Checked
        wanted = Qt.CheckState.Unchecked if is_on else Qt.CheckState.Checked
        self.model().setData(tick, wanted, Qt.ItemDataRole.CheckStateRole)

    def fit_columns(self) -> None:
        """Show as many columns as there is room for; that of answers only where a row has them."""
        room = self.viewport().width()
        shown: dict[Column, int] = {}
        has_answers = any(entry.row.answered is not None for entry in self._model.rows)
        for column in BY_IMPORTANCE:
            if column is Column.ANSWERED and not has_answers:
                continue
            width = max(self.sizeHintForColumn(column), self.horizontalHeader().sectionSizeHint(column))
            if shown and width > room:
                break
            shown[column] = width
            room -= width
        for column in Column:
            self.setColumnHidden(column, column not in shown)
        for column, width in shown.items():
            self.setColumnWidth(column, width)

"""Common parts of the window's tables: rows are read-only, and selected whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Generic, Self, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QIcon, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from core.domain.plain_text import plain
from desktop.ui.icons import tabular
from desktop.ui.interface_size import space_rows
from desktop.ui.plain_text import paragraphs
from desktop.ui.theme import Theme
from desktop.ui.translation import translate

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()
LEFT, RIGHT, CENTRE = (
    side | Qt.AlignmentFlag.AlignVCenter
    for side in (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignHCenter)
)
ROW_ROLE = Qt.ItemDataRole.UserRole
"""The row itself, for cell painters."""
Row = TypeVar("Row")


def style_table(table: QTableView, name: str, *, several: bool = True) -> None:
    """name: what a screen reader calls it; several: whether more than one row may be chosen. Tab leaves the table."""
    table.setAccessibleName(name)
    table.setFont(tabular(table.font()))
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    modes = QAbstractItemView.SelectionMode
    table.setSelectionMode(modes.ExtendedSelection if several else modes.SingleSelection)
    table.setShowGrid(False)
    table.setItemDelegate(RowCells(table))
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    table.verticalHeader().hide()
    header = table.horizontalHeader()
    header.setHighlightSections(False)
    header.setTextElideMode(Qt.TextElideMode.ElideRight)  # a header's own is to cut without a sign


def text_table(model: QAbstractTableModel, name: str) -> QTableView:
    """A table of one-line texts, with columns of these widths. name: as of `style_table`."""
    table = QTableView()
    table.setModel(model)
    style_table(table, name)
    space_rows(table, 6)
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)  # Qt need not ask each of many
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    return table


def share_room(table: QTableView, columns: Sequence[int]) -> None:
    """Make these columns equally wide in the room that the others leave, as far as their texts fit; the table scrolls
    if there is too little room for the texts."""
    header = table.horizontalHeader()
    others = sum(header.sectionSize(column) for column in range(header.count()) if column not in columns)
    room = table.viewport().width() - others
    titles = [0 if header.isHidden() else header.sectionSizeHint(column) for column in columns]
    needed = [max(table.sizeHintForColumn(column), title) for column, title in zip(columns, titles, strict=True)]
    share, spare = room // max(len(columns), 1), (room - sum(needed)) // max(len(columns), 1)
    for column, width in zip(columns, needed, strict=True):
        table.setColumnWidth(column, share if max(needed) <= share else width + max(spare, 0))


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A column of a table: its title, the text of a cell, the title's tooltip if that explains more, and the side of
    both. icon: before a cell's text; spoken: what a screen reader reads in place of it."""

    title: str
    text: Callable[[Row], str]
    meaning: str = ""
    side: Qt.AlignmentFlag = LEFT
    icon: Callable[[Row], QIcon] | None = None
    spoken: Callable[[Row], str] | None = None


class NamedColumn(IntEnum):
    """A `Column` that code knows by its name, numbered from the left: title, meaning, text of a cell, and its side;
    optionally the spoken text."""

    english: tuple[str, str]
    """Title and meaning; both go through `translate` when shown."""
    text: Callable[[Any], str]
    side: Qt.AlignmentFlag
    icon: Callable[[Any], QIcon] | None
    spoken: Callable[[Any], str] | None

    def __new__(cls, *facts: Any) -> Self:  # mypy takes it for the look-up of a number too
        column = int.__new__(cls, len(cls.__members__))
        column._value_ = len(cls.__members__)
        column.english, column.icon = facts[:2], None
        column.text, column.side, column.spoken = (*facts[2:], None)[:3]
        return column

    @property
    def title(self) -> str:
        return translate("Panels", self.english[0])

    @property
    def meaning(self) -> str:
        return translate("Panels", self.english[1])


class RowsModel(QAbstractTableModel, Generic[Row]):
    """Rows under columns. When rows are reordered or inserted, the selection stays on its row."""

    def __init__(
        self,
        columns: Sequence[Column[Row] | NamedColumn],
        parent: QObject | None = None,
        *,
        tooltip: Callable[[Row], str] | None = None,
        key: Callable[[Row], object] = lambda row: row,
    ) -> None:
        """tooltip: of every cell of a row; None: a cell's whole text. key: equal for two states of the same row, and
        hashable."""
        super().__init__(parent)
        self.columns, self._tooltip, self._key = tuple(columns), tooltip, key
        self.rows: list[Row] = []

    def show(self, rows: Sequence[Row]) -> None:
        keys, former_keys = self._keys(rows), self._keys(self.rows)
        if keys == former_keys:
            self.rows = list(rows)
            self.repaint()
            return
        self.layoutAboutToBeChanged.emit()
        former, places = self.persistentIndexList(), {key: place for place, key in enumerate(keys)}
        self.rows = list(rows)
        moved = [self.index(places.get(former_keys[each.row()], -1), each.column()) for each in former]
        self.changePersistentIndexList(former, moved)
        self.layoutChanged.emit()

    def _keys(self, rows: Sequence[Row]) -> list[object]:
        """A unique key for each row. Equal ones, such as two messages of one moment, are distinguished by the number of
        equal rows below, as new rows arrive at the top: if two rows moved to one place, Qt would lose an index."""
        keys = list(map(self._key, rows))
        if len(set(keys)) == len(keys):
            return keys
        seen, apart = Counter[object](), list[object]()
        for key in reversed(keys):
            seen[key] += 1
            apart.append((key, seen[key]))
        return apart[::-1]

    def repaint(self) -> None:
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, len(self.columns) - 1))

    def row(self, number: int) -> Row:
        return self.rows[number]

    def chosen(self, view: QAbstractItemView) -> list[Row]:
        """The selected rows of a view, from the top down."""
        return [self.row(number) for number in sorted(index.row() for index in view.selectionModel().selectedRows())]

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        number, column = index.row(), self.columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return plain(column.text(self.row(number)))
            case Qt.ItemDataRole.ToolTipRole:
                return paragraphs((self._tooltip or column.text)(self.row(number)))
            case Qt.ItemDataRole.TextAlignmentRole:
                return column.side
            case Qt.ItemDataRole.DecorationRole if column.icon is not None:
                return column.icon(self.row(number))
            case Qt.ItemDataRole.AccessibleTextRole if column.spoken is not None:
                return plain(column.spoken(self.row(number)))
        return self.row(number) if role == ROW_ROLE else None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        column = self.columns[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.title
            case Qt.ItemDataRole.ToolTipRole:
                return paragraphs(column.meaning or column.title)
            case Qt.ItemDataRole.TextAlignmentRole:
                return column.side
        return None


class RowCells(QStyledItemDelegate):
    """The current cell of a selected row looks like the others: Qt would lay a grey veil over its text."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        _remove_veil(option)


def _remove_veil(option: QStyleOptionViewItem) -> None:
    if option.state & QStyle.StateFlag.State_Selected:  # type: ignore[attr-defined]  # PySide6's stubs lack these
        option.state &= ~QStyle.StateFlag.State_HasFocus  # type: ignore[attr-defined]


class PaintedCell(QStyledItemDelegate):
    """A cell with the style's background and our own content."""

    def __init__(self, theme: Theme, view: QAbstractItemView) -> None:
        super().__init__(view)
        self.theme, self.view = theme, view

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        # Without initStyleOption, which asks the model for eight roles a cell, the option has a ground and no text.
        widget: QWidget = option.widget  # type: ignore[attr-defined]
        _remove_veil(option)
        widget.style().drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, widget)
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)  # type: ignore[attr-defined]
        painter.save()
        painter.setFont(option.font)  # type: ignore[attr-defined]
        self.draw(painter, QRect(option.rect), index.data(ROW_ROLE), is_selected=is_selected)  # type: ignore[attr-defined]
        painter.restore()

    def draw(self, painter: QPainter, place: QRect, row: Any, *, is_selected: bool) -> None:
        """Paint the content over the background. The painter has the view's font."""
        raise NotImplementedError

    def ink(self, *, is_selected: bool, is_faint: bool = False) -> QColor:
        """The colour of texts: the background of a selected row is the accent."""
        palette = self.theme.palette
        return palette.inverse_text if is_selected else palette.muted_text if is_faint else palette.text


def write_line(painter: QPainter, place: QRect, text: str, colour: QColor, side: Qt.AlignmentFlag = LEFT) -> None:
    """One line, shortened with an ellipsis without room for it."""
    painter.setPen(colour)
    painter.drawText(place, side, painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, place.width()))

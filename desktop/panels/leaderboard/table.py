"""The table of the leaderboard."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QEvent, Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTableView, QWidget

from desktop.panels.leaderboard.columns import BY_IMPORTANCE, Column
from desktop.panels.leaderboard.model import LeaderboardModel
from desktop.ui.interface_size import follow_interface_size, space_rows
from desktop.ui.tables import Index, style_table
from desktop.ui.translation import translate


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

"""The table of a sweep's cells: a column for each setting that varies; a click on a title sorts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt, Signal, Slot
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QHeaderView, QTableView

from core.domain.events import Estimate
from core.sweeps.cell_table import CellColumn, CellTable
from core.sweeps.points import skill_of
from core.sweeps.rows import CellRow, CellState, Part
from desktop.sweeps.names import axis_title, value_text
from desktop.ui.formatting import MISSING, format_count, format_duration, format_number
from desktop.ui.icons import icon
from desktop.ui.interface_size import space_rows
from desktop.ui.tables import LEFT, RIGHT, Column, RowsModel, style_table
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_STATES = {
    CellState.WAITING: (QT_TRANSLATE_NOOP("Sweeps", "waiting"), "clock-outline"),
    CellState.RUNNING: (QT_TRANSLATE_NOOP("Sweeps", "running"), "progress-clock"),
    CellState.DONE: (QT_TRANSLATE_NOOP("Sweeps", "done"), "check"),
    CellState.FAILED: (QT_TRANSLATE_NOOP("Sweeps", "failed"), "alert-circle-outline"),
}
_MEASURED_ROWS = 40
"""Rows whose texts set the width of the columns: all of 10,000 would take a second."""
_WIDEST_PX, _FILE_PX, _FAULT_PX = 320, 200, 120

Text = Callable[[CellRow], str]


def state_text(cell: CellRow) -> str:
    return translate("Sweeps", _STATES[cell.state][0])


def percent(estimate: Estimate | None) -> str:
    """``+1.2 (0.3 to 2.1)``; without the interval while there is none."""
    if estimate is None or estimate.value is None:
        return MISSING
    text = format_number(100.0 * estimate.value, 1, signed=True)
    if estimate.low is None or estimate.high is None:
        return text
    low, high = (format_number(100.0 * end, 1) for end in (estimate.low, estimate.high))
    return translate("Sweeps", "{0} ({1} to {2})").format(text, low, high)


def _skill(part: Part) -> Text:
    def text(cell: CellRow) -> str:
        skill = skill_of(cell, part)
        return MISSING if skill is None else format_number(100.0 * skill, 2, signed=True)

    return text


def _close(cell: CellRow) -> str:
    return percent(None if cell.second is None else cell.second.close)


def _range(cell: CellRow) -> str:
    return percent(None if cell.second is None else cell.second.range)


def _shown_columns(theme: Theme, found: CellTable) -> list[tuple[str, Column[CellRow]]]:
    """Name in filters, and the column, from the left."""

    def sign(cell: CellRow) -> QIcon:
        palette = theme.palette
        colour = palette.bad if cell.state is CellState.FAILED else palette.muted_text
        return icon(_STATES[cell.state][1], colour, palette.inverse_text)

    settings = [(column.name, _setting_column(column)) for column in found.columns if column.setting]
    part = translate("Sweeps", "Close and range in equal parts, over the reference “no change”, one candle ahead. ")
    first = part + translate("Sweeps", "On the first part of each file, on which the best is chosen")
    second = part + translate("Sweeps", "On the second part of each file, which judges the best")
    with_interval = translate("Sweeps", "On the second part, with its interval")
    return [
        ("cell", _column(translate("Sweeps", "Cell"), lambda cell: format_count(cell.number), RIGHT)),
        ("state", Column(translate("Sweeps", "State"), state_text, icon=sign)),
        ("model", _column(translate("Sweeps", "Model"), lambda cell: cell.model)),
        *settings,
        ("file", _column(translate("Sweeps", "File"), lambda cell: ", ".join(cell.files))),
        ("seed", _column(translate("Sweeps", "Seed"), lambda cell: str(cell.seed), RIGHT)),
        ("skill_first", _column(translate("Sweeps", "First part, %"), _skill(Part.FIRST), RIGHT, first)),
        ("skill_second", _column(translate("Sweeps", "Second part, %"), _skill(Part.SECOND), RIGHT, second)),
        ("close_second", _column(translate("Sweeps", "Close, %"), _close, RIGHT, with_interval)),
        ("range_second", _column(translate("Sweeps", "Range, %"), _range, RIGHT, with_interval)),
        ("seconds", _column(translate("Sweeps", "Time"), lambda cell: format_duration(cell.seconds), RIGHT)),
        ("fault", _column(translate("Sweeps", "Fault"), lambda cell: " ".join(cell.sentence.split()))),
    ]


def _column(title: str, text: Text, side: Qt.AlignmentFlag = LEFT, meaning: str = "") -> Column[CellRow]:
    return Column(title, text, f"{title}\n{meaning}" if meaning else "", side)


def _setting_column(column: CellColumn) -> Column[CellRow]:
    def text(cell: CellRow) -> str:
        value = column.value(cell)
        return MISSING if value is None else value_text(value)

    side = LEFT if "TEXT" in column.type else RIGHT
    return Column(axis_title(column.setting), text, f"{axis_title(column.setting)}\n{column.setting}", side)


class SweepTable(QTableView):
    """`sorting_changed` follows a click on a title. Rows are selected whole."""

    sorting_changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._names: tuple[str, ...] = ()
        self.rows_model: RowsModel[CellRow] = RowsModel((), self)
        self.sorting: tuple[str, bool] = ("cell", False)
        """The column in filters, and whether the largest comes first."""
        self.setModel(self.rows_model)
        style_table(self, translate("Sweeps", "Cells of the sweep"))
        space_rows(self, 5)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setResizeContentsPrecision(_MEASURED_ROWS)
        header.setStretchLastSection(True)
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.sectionClicked.connect(self._on_title)
        header.sectionResized.connect(self._on_resized)
        self._is_fitting = self._has_own_widths = False
        """The second: the user has dragged an edge."""
        theme.changed.connect(self._on_theme)

    def show_columns(self, found: CellTable) -> bool:
        """Take the columns of this sweep. Returns whether they are others, under another selection model."""
        columns = _shown_columns(self._theme, found)
        names = tuple(name for name, _column in columns)
        if names == self._names:
            return False
        former = self.rows_model
        self._names, self._has_own_widths = names, False
        self.rows_model = RowsModel([column for _name, column in columns], self, key=lambda cell: cell.number)
        self.setModel(self.rows_model)
        former.deleteLater()
        if self.sorting[0] not in names:
            self.sorting = ("cell", False)
        self._show_sorting()
        return True

    def show_cells(self, cells: Sequence[CellRow], *, fits: bool) -> None:
        """fits: the columns take the width of their texts, unless the user has set one."""
        self.rows_model.show(cells)
        if fits and not self._has_own_widths:
            self._is_fitting = True
            self._fit()
            self._is_fitting = False

    def selected(self) -> list[CellRow]:
        return self.rows_model.chosen(self)

    def select(self, numbers: Collection[int]) -> None:
        """Select these cells alone, and show the first of them."""
        model, selection = self.rows_model, QItemSelection()
        rows = [row for row, cell in enumerate(model.rows) if cell.number in numbers]
        last = model.columnCount() - 1
        for row in rows:
            selection.select(model.index(row, 0), model.index(row, last))
        if rows:
            flags = QItemSelectionModel.SelectionFlag
            self.selectionModel().setCurrentIndex(model.index(rows[0], 0), flags.NoUpdate)
            self.scrollTo(model.index(rows[0], 0))
        self.selectionModel().select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def _fit(self) -> None:
        self.resizeColumnsToContents()
        for column in range(len(self._names) - 1):
            most = _FILE_PX if self._names[column] == "file" else _WIDEST_PX
            self.setColumnWidth(column, min(self.columnWidth(column), most))
        self.setColumnWidth(len(self._names) - 1, _FAULT_PX)  # and the room that is left; a tooltip has all of it

    def _show_sorting(self) -> None:
        name, is_descending = self.sorting
        order = Qt.SortOrder.DescendingOrder if is_descending else Qt.SortOrder.AscendingOrder
        self.horizontalHeader().setSortIndicator(self._names.index(name), order)

    @Slot(int)
    def _on_title(self, column: int) -> None:
        """The same title again turns the order; skills begin with the largest."""
        name = self._names[column]
        before, was_descending = self.sorting
        is_descending = not was_descending if name == before else name.endswith(("_first", "_second"))
        self.sorting = (name, is_descending)
        self._show_sorting()
        self.sorting_changed.emit()

    @Slot(int, int, int)
    def _on_resized(self, column: int, _before: int, _after: int) -> None:
        is_last = column == len(self._names) - 1  # which takes the room that is left
        self._has_own_widths = self._has_own_widths or not (self._is_fitting or is_last)

    @Slot()
    def _on_theme(self) -> None:
        self.rows_model.repaint()

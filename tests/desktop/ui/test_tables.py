"""The one model of the window's tables: rows by columns, and a selection that stays on its row."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableView
from pytestqt.qtbot import QtBot

from desktop.ui.tables import RIGHT, Column, RowsModel, style_table

Line = tuple[str, int]


@pytest.fixture
def table(qtbot: QtBot) -> QTableView:
    columns: tuple[Column[Line], ...] = (
        Column("Name", lambda line: line[0], "Who it is", spoken=lambda line: f"the {line[0]}"),
        Column("Count", lambda line: str(line[1]), side=RIGHT),
    )
    table = QTableView()
    qtbot.addWidget(table)
    table.setModel(RowsModel(columns, table, key=lambda line: line[0]))
    style_table(table, "Lines")
    return table


def model_of(table: QTableView) -> RowsModel[Line]:
    model = table.model()
    assert isinstance(model, RowsModel)
    return model


@pytest.mark.parametrize(
    "rows", [[("c", 3), ("b", 20), ("a", 1)], [("new", 0), ("a", 1), ("b", 20)], [("b", 20)], [("a", 1), ("b", 20)]]
)
def test_the_selection_stays_on_its_row_whatever_comes_goes_or_moves(table: QTableView, rows: list[Line]) -> None:
    model = model_of(table)
    model.show([("a", 1), ("b", 2), ("c", 3)])
    table.selectRow(1)
    model.show(rows)
    assert model.chosen(table) == [("b", 20)] and table.currentIndex().row() == rows.index(("b", 20))


def test_a_row_that_goes_is_selected_no_more(table: QTableView) -> None:
    model = model_of(table)
    model.show([("a", 1), ("b", 2)])
    table.selectAll()
    model.show([("b", 2), ("c", 3)])
    assert model.chosen(table) == [("b", 2)]


def test_of_equal_rows_the_one_that_was_chosen_stays_so(table: QTableView) -> None:
    model = model_of(table)
    model.show([("a", 1), ("a", 1), ("a", 1)])
    for place in (1, 2, 3):
        table.selectRow(1)
        model.show([("new", place)] * place + [("a", 1)] * 3)
        assert [index.row() for index in table.selectionModel().selectedRows()] == [1 + place]
        model.show([("a", 1)] * 3)
    model.show([("new", 1), ("a", 1), ("a", 1)])
    assert [index.row() for index in table.selectionModel().selectedRows()] == [1], "the uppermost has gone"


def test_a_column_says_what_its_cells_and_its_title_show(table: QTableView) -> None:
    model, roles = model_of(table), Qt.ItemDataRole
    model.show([("<b>", 2)])
    cell = model.index(0, 0)
    assert (cell.data(), cell.data(roles.AccessibleTextRole)) == ("<b>", "the <b>")
    assert cell.data(roles.ToolTipRole) == "<p>&lt;b&gt;</p>" and cell.data(roles.DecorationRole) is None
    assert model.index(0, 1).data(roles.TextAlignmentRole) == RIGHT
    titles = [model.headerData(column, Qt.Orientation.Horizontal, roles.ToolTipRole) for column in (0, 1)]
    assert titles == ["Who it is", "Count"]

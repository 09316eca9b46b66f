from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.number_grid import NumberGrid

NAMES = ("Loss", "Best", "Trend", "Steps", "Speed")
BY_COLUMN = [["Loss", "Steps"], ["Best", "Speed"], ["Trend"]]
BY_ROW = [["Loss", "Best"], ["Trend", "Steps"], ["Speed"]]


@pytest.mark.parametrize(("is_by_column", "rows"), [(True, BY_COLUMN), (False, BY_ROW)])
def test_an_odd_count_is_laid_out_in_two_pairs_and_in_one(
    qtbot: QtBot, is_by_column: bool, rows: list[list[str]]
) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    grid = NumberGrid(dict.fromkeys(NAMES, "What it is."), 2, is_by_column=is_by_column)
    grid.setParent(host)
    with qtbot.waitExposed(host):
        host.show()
    grid.setGeometry(0, 0, grid.room_for(2), 200)
    qtbot.waitUntil(lambda: _rows(grid) == rows)
    grid.setGeometry(0, 0, grid.room_for(2) - 1, 200)
    qtbot.waitUntil(lambda: _rows(grid) == [[name] for name in NAMES])


def _rows(grid: NumberGrid) -> list[list[str]]:
    """The names as they are read, from left to right and from top to bottom."""
    tops = sorted({label.y() for label in grid.names.values()})
    found = [[(label.x(), name) for name, label in grid.names.items() if label.y() == top] for top in tops]
    return [[name for _, name in sorted(row)] for row in found]

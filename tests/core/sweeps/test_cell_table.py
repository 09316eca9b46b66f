from __future__ import annotations

from pathlib import Path

import pytest

from core.checkpoints.filtering import FilterError, parse
from core.sweeps.cell_table import CellTable
from core.sweeps.plan import Configuration, plan_of
from core.sweeps.rows import CellRow, CellState
from core.sweeps.store import SweepStore
from tests.support.made_up_sweep import FAULT, made_up_plan, store_sweep


@pytest.fixture
def cells(tmp_path: Path) -> tuple[CellRow, ...]:
    """72 cells, of which the last three wait and two before them have failed."""
    store_sweep(tmp_path, made_up_plan(), open_cells=3, failed=2)
    with SweepStore(tmp_path, readonly=True) as store:
        return store.read_cells()


def matching(table: CellTable, text: str) -> list[CellRow]:
    return table.rows(parse(text, subject=table.subject))


def test_each_setting_that_varies_is_a_column(cells: tuple[CellRow, ...]) -> None:
    names = CellTable(cells).subject.names
    assert {"learning_rate", "width"} <= set(names) and "layers" not in names


def test_a_condition_is_in_the_units_of_a_row(cells: tuple[CellRow, ...]) -> None:
    table = CellTable(cells)
    found = matching(table, "width = 96 and model = 'gru' and close_first > 1")
    expected = [
        cell
        for cell in cells
        if dict(cell.settings)["model.width"] == 96
        and cell.model == "gru"
        and cell.first is not None
        and (cell.first.close.value or 0.0) > 0.01
    ]
    assert found == expected and found


def test_words_and_flags_find_states_faults_and_files(cells: tuple[CellRow, ...]) -> None:
    table = CellTable(cells)
    failed = [cell for cell in cells if cell.state is CellState.FAILED]
    assert matching(table, "failed") == failed == matching(table, "infinite") and len(failed) == 2
    assert failed[0].sentence == FAULT
    assert all(cell.files == ("market-1.csv",) for cell in matching(table, "market-1"))
    assert len(matching(table, "waiting or failed")) == 5


def test_what_is_unknown_is_last_in_either_order(cells: tuple[CellRow, ...]) -> None:
    table = CellTable(cells)
    for is_descending in (False, True):
        ordered = table.rows(order_by="skill_second", is_descending=is_descending)
        assert [cell.second is None for cell in ordered] == [False] * 67 + [True] * 5


def test_a_setting_with_a_name_that_is_taken_has_its_group_before_it() -> None:
    plan = plan_of({"files": ["x"], "settings": {"model.width": [1, 2], "other.width": [1, 2], "some.seed": [3, 4]}})
    rows = [
        CellRow(number, Configuration(number, "gru", values), ("x",), 0, CellState.WAITING, "", *[None] * 6)
        for number, values in enumerate(
            [tuple(zip(plan.settings, each, strict=True)) for each in ((1, 1, 3), (2, 2, 4))], start=1
        )
    ]
    table = CellTable(rows)
    assert {"model_width", "other_width", "some_seed"} <= set(table.subject.names)
    assert matching(table, "some_seed = 4") == [rows[1]]


def test_a_filter_reads_no_other_table(cells: tuple[CellRow, ...]) -> None:
    with pytest.raises(FilterError, match="only compare the columns"):
        matching(CellTable(cells), "cell in (select 1 from sqlite_schema)")


def test_an_unknown_column_suggests_one_of_this_sweep(cells: tuple[CellRow, ...]) -> None:
    with pytest.raises(FilterError, match="learning_rate"):
        matching(CellTable(cells), "learning_rat > 0.1")

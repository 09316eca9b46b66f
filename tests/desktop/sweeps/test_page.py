from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QGraphicsView
from pytestqt.qtbot import QtBot

from core.sweeps.rows import CellState
from desktop.actions import ActionId
from desktop.sweeps.page import SweepsPage
from desktop.ui.theme import Theme
from tests.desktop.accessibility.controls import complaints, controls, described
from tests.desktop.sweeps.support import click_title, numbers, shown_page
from tests.support.made_up_sweep import FAULT, made_up_plan, store_sweep

CELLS = 72


@pytest.fixture
def page(qtbot: QtBot, theme: Theme, tmp_path: Path) -> SweepsPage:
    store_sweep(tmp_path / "rates", made_up_plan(), open_cells=3, failed=2)
    return shown_page(qtbot, theme, tmp_path, CELLS)


def test_without_sweeps_it_says_how_to_make_one(qtbot: QtBot, theme: Theme, tmp_path: Path) -> None:
    page = shown_page(qtbot, theme, tmp_path / "none", 0)
    assert page.empty.isVisible() and "New sweep" in page.empty.text()
    assert not page.actions_of_panel[ActionId.SWEEP_REPORT].isEnabled()


def test_the_newest_sweep_is_shown_with_its_progress(page: SweepsPage) -> None:
    assert page.sweeps.currentText() == "rates"
    assert "67 of 72 cells done, 2 failed" in page.status.text()
    assert page.count.text() == "72 of 72 cells"
    assert "once all cells have ended" in page.verdict.text()


def test_a_budget_has_cells_that_are_not_proposed_yet(qtbot: QtBot, theme: Theme, tmp_path: Path) -> None:
    store_sweep(tmp_path / "guided", replace(made_up_plan(), budget=20))
    page = shown_page(qtbot, theme, tmp_path, CELLS)
    assert "72 of at most 80 cells done" in page.status.text()
    assert page.actions_of_panel[ActionId.SWEEP_RUN].isEnabled()


def test_a_filter_in_words_and_in_conditions(page: SweepsPage) -> None:
    page.filter.setText("failed")
    assert [cell.state for cell in page.table.rows_model.rows] == [CellState.FAILED] * 2
    page.filter.setText("width = 64 and seed = 1")
    assert len(numbers(page)) == 12
    page.filter.setText("width >")
    page.filter.show_fault(page.filter.fault)  # type: ignore[arg-type]
    assert page.message.isVisible() and len(numbers(page)) == 12, "the last valid filter applies"
    page.filter.setText("absent")
    assert page.empty.isVisible()


def test_a_title_sorts_and_turns_the_order(page: SweepsPage) -> None:
    click_title(page, "Second part, %")
    skills = [cell.second.close.value for cell in page.table.rows_model.rows if cell.second is not None]
    best = numbers(page)[0]
    assert skills[0] is not None and skills[-1] is not None and skills[0] > skills[-1]
    click_title(page, "Second part, %")
    done = [number for number in numbers(page) if number <= 67]
    assert done[-1] == best and numbers(page)[-5:] == [68, 69, 70, 71, 72], "those without a skill stay last"


def test_a_click_on_a_picture_selects_the_cells_of_its_configuration(page: SweepsPage) -> None:
    page.filter.setText("failed")
    page.pictures[0].configuration_chosen.emit(5)
    assert [cell.configuration.number for cell in page.selected()] == [5] * 4
    assert "4 cells with transformer" in page.details.text()
    assert all(picture.chosen == 5 for picture in page.pictures)


def test_a_cell_that_the_filter_hides_is_no_longer_selected(page: SweepsPage) -> None:
    page.table.select({7})
    page.filter.setText("failed")
    assert not page.selected() and "Cell 7" not in page.details.text()
    assert not page.actions_of_panel[ActionId.SWEEP_REPORT].isEnabled()
    assert all(picture.chosen is None for picture in page.pictures)


def test_keys_of_the_filter_come_before_those_of_the_page(qtbot: QtBot, page: SweepsPage) -> None:
    page.activateWindow()
    page.table.select({7})
    left: list[None] = []
    page.left.connect(lambda: left.append(None))
    page.filter.setFocus()
    QTest.keyClicks(page.filter, "seed = 1")
    QTest.keyClick(page.filter, Qt.Key.Key_Escape)
    assert page.filter.text() == "" and not left
    QTest.keyClicks(page.filter, "failed")
    QTest.keyClick(page.filter, Qt.Key.Key_Return)
    assert page.table.hasFocus() and [cell.number for cell in page.selected()] == [68]
    QTest.keyClick(page.table, Qt.Key.Key_Escape)
    assert left


def test_a_failed_cell_says_why(page: SweepsPage) -> None:
    page.table.select({69})
    assert FAULT in page.details.text()


def test_a_report_is_asked_for_by_the_selected_cell(qtbot: QtBot, page: SweepsPage) -> None:
    page.table.select({7})
    with qtbot.waitSignal(page.report_written, timeout=20_000) as written:
        page.actions_of_panel[ActionId.SWEEP_REPORT].trigger()
    text = written.args[0].read_text(encoding="utf-8")
    assert "Cell 7 of sweep rates" in text and "model.width" in text


def test_settings_are_used_of_one_configuration_alone(qtbot: QtBot, page: SweepsPage) -> None:
    use = page.actions_of_panel[ActionId.SWEEP_USE]
    page.table.select({1, 9})
    assert not use.isEnabled(), "two configurations"
    page.table.select({9, 10})
    with qtbot.waitSignal(page.use_requested) as asked:
        use.trigger()
    cell, proof = asked.args
    assert cell.number == 9 and "Nothing is proven" in proof


def test_another_sweep_has_its_own_columns(qtbot: QtBot, theme: Theme, tmp_path: Path) -> None:
    store_sweep(tmp_path / "one", made_up_plan(rates=1))
    store_sweep(tmp_path / "two", made_up_plan(widths=1))
    page = shown_page(qtbot, theme, tmp_path, 24)
    seen = set()
    for name in ("one", "two"):
        page.open(tmp_path / name)
        qtbot.waitUntil(lambda name=name: page.found is not None and page.found.folder.name == name)  # type: ignore[misc]
        seen |= {(name, column.title) for column in page.table.rows_model.columns}
    assert ("one", "Width") in seen and ("one", "Learning rate") not in seen
    assert ("two", "Learning rate") in seen and ("two", "Width") not in seen


def test_a_folder_without_a_sweep_is_a_sentence(qtbot: QtBot, page: SweepsPage, tmp_path: Path) -> None:
    page.open(tmp_path / "elsewhere")
    qtbot.waitUntil(page.empty.isVisible)
    qtbot.waitUntil(lambda: "There is no sweep" in page.empty.text(), timeout=20_000)


def test_a_sweep_that_is_over_is_judged(qtbot: QtBot, theme: Theme, tmp_path: Path) -> None:
    store_sweep(tmp_path / "over", made_up_plan(rates=1, widths=2))
    page = shown_page(qtbot, theme, tmp_path, 16)
    qtbot.waitUntil(lambda: page.judged is not None, timeout=60_000)
    assert "No winner is named" in page.verdict.text(), "its cells have no losses"


def test_each_control_has_a_name_and_a_role(page: SweepsPage) -> None:
    page.pictures[0].configuration_chosen.emit(5)
    found = list(controls(page))
    assert {page.table, page.filter, page.sweeps, page.part} <= set(found)
    widgets = (control for control in found if not isinstance(control, QGraphicsView))  # the program gives these a role
    assert [(described(control), wrong) for control in widgets if (wrong := complaints(control))] == []
    assert all(picture.plot.accessibleName() for picture in page.pictures)


def test_the_report_of_the_sweep_is_written(qtbot: QtBot, page: SweepsPage) -> None:
    with qtbot.waitSignal(page.report_written, timeout=60_000) as written:
        page.actions_of_panel[ActionId.SWEEP_PAGE].trigger()
    assert "Sweep rates" in written.args[0].read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_is_a_sentence(qtbot: QtBot, page: SweepsPage, tmp_path: Path) -> None:
    (tmp_path / "rates" / "cells").write_text("a file in the folder's place")
    page.table.select({7})
    with qtbot.waitSignal(page.trouble, timeout=20_000) as trouble:
        page.actions_of_panel[ActionId.SWEEP_REPORT].trigger()
    assert "could not be written" in trouble.args[0]

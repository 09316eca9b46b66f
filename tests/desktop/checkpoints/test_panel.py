from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QItemSelectionModel, QPoint, Qt
from PySide6.QtWidgets import QDialog, QLineEdit, QMenu, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from core.events import CheckpointsChanged
from desktop.actions import ActionId
from desktop.checkpoints.model import COLUMNS, INFO_ROLE
from desktop.checkpoints.panel import CheckpointsPanel
from desktop.checkpoints.source import CheckpointSource
from desktop.state import RunState
from desktop.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel

COLUMN = {column.title: number for number, column in enumerate(COLUMNS)}


@pytest.fixture
def library() -> scenario.Library:
    return scenario.Library(scenario.checkpoints())


@pytest.fixture
def panel(qtbot: QtBot, state: RunState, theme: Theme, library: scenario.Library) -> CheckpointsPanel:
    state.apply(scenario.ready())
    state.apply(CheckpointsChanged(scenario.RUN, library.infos[0]))
    panel = CheckpointsPanel(CheckpointSource(library, state, state), theme)
    shown_panel(qtbot, panel, 900, 320)
    panel.refresh()
    return panel


def steps(panel: CheckpointsPanel) -> list[int]:
    return [panel.proxy.index(row, 0).data(INFO_ROLE).step for row in range(panel.proxy.rowCount())]


def select(panel: CheckpointsPanel, *wanted: int) -> None:
    panel.table.clearSelection()
    flags = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
    for row, step in enumerate(steps(panel)):
        if step in wanted:
            panel.table.selectionModel().select(panel.proxy.index(row, 0), flags)


def click_header(qtbot: QtBot, panel: CheckpointsPanel, title: str) -> None:
    header = panel.table.horizontalHeader()
    x = header.sectionViewportPosition(COLUMN[title]) + 8
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, 8))


def is_enabled(panel: CheckpointsPanel, action_id: ActionId) -> bool:
    return panel.actions_of_panel[action_id].isEnabled()


@pytest.mark.parametrize("width", [540, 600, 760, 850, 1_280])
def test_what_is_shown_is_whole_at_every_width(qtbot: QtBot, panel: CheckpointsPanel, width: int) -> None:
    panel.resize(width, 220)
    qtbot.waitUntil(lambda: panel.width() == width)
    table, metrics = panel.table, panel.table.fontMetrics()
    qtbot.waitUntil(lambda: table.horizontalScrollBar().maximum() == 0)
    for title in ("Step", "Candle", "Score"):
        assert not table.isColumnHidden(COLUMN[title])
    for number, column in enumerate(COLUMNS):
        if column.is_number and not table.isColumnHidden(number):
            for info in panel._source.checkpoints():
                assert metrics.horizontalAdvance(column.text(info)) < table.columnWidth(number), column.title
    panel.resize(1_280, 220)
    qtbot.waitUntil(lambda: not any(table.isColumnHidden(number) for number in range(len(COLUMNS))))


def test_what_is_not_shown_is_in_the_tooltip(panel: CheckpointsPanel) -> None:
    tooltip = panel.proxy.index(0, 1).data(Qt.ItemDataRole.ToolTipRole)
    for title in ("Size", "Saved", "Loss"):
        assert COLUMNS[COLUMN[title]].text(panel._source.checkpoints()[0]) in tooltip


def test_newest_first_at_the_start(panel: CheckpointsPanel) -> None:
    assert steps(panel) == [12_340, 12_330, 12_320, 12_310, 12_100, 11_800, 10_020]


def test_a_header_sorts_by_value_and_what_was_not_measured_is_never_best(qtbot: QtBot, panel: CheckpointsPanel) -> None:
    click_header(qtbot, panel, "Score")
    if panel.proxy.sortOrder() is not Qt.SortOrder.DescendingOrder:
        click_header(qtbot, panel, "Score")
    assert steps(panel)[0] == 12_100 and steps(panel)[-1] == 10_020


def test_a_loss_that_is_not_finite_sorts_as_the_worst(panel: CheckpointsPanel, library: scenario.Library) -> None:
    library.infos[2] = replace(library.infos[2], loss=float("nan"))
    panel._source.set_note("checkpoint-12340", "")
    panel.refresh()
    panel.table.sortByColumn(COLUMN["Loss"], Qt.SortOrder.AscendingOrder)
    assert steps(panel)[-1] == 12_320
    texts = [panel.proxy.index(row, COLUMN["Loss"]).data() for row in range(panel.proxy.rowCount())]
    assert texts[-1] == "–" and "nan" not in texts


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("pinned", [11_800]),
        ("BEST", [12_100]),
        ("halved", [11_800]),
        ("12,3", [12_340, 12_330, 12_320, 12_310]),
        ("on pause", [12_310]),
        ("in use", [12_340]),
        ("no such thing", []),
    ],
)
def test_typing_filters(qtbot: QtBot, panel: CheckpointsPanel, typed: str, expected: list[int]) -> None:
    qtbot.keyClicks(panel.filter, typed)
    assert steps(panel) == expected


def test_the_one_in_use_offers_neither_restore_nor_delete(panel: CheckpointsPanel) -> None:
    select(panel, 12_340)
    assert not is_enabled(panel, ActionId.CHECKPOINT_RESTORE)
    assert not is_enabled(panel, ActionId.CHECKPOINT_DELETE)
    assert is_enabled(panel, ActionId.CHECKPOINT_NOTE)


def test_nothing_is_offered_without_a_selection(panel: CheckpointsPanel) -> None:
    panel.table.clearSelection()
    assert not any(action.isEnabled() for action in panel.actions_of_panel.actions())


def test_restore_by_key_names_the_checkpoint(qtbot: QtBot, panel: CheckpointsPanel) -> None:
    select(panel, 12_310)
    panel.table.setFocus()
    with qtbot.waitSignal(panel.restore_requested) as requested:
        qtbot.keyClick(panel.table, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert requested.args == ["checkpoint-12310"]


def test_pin_pins_all_that_are_selected_then_unpins_them(panel: CheckpointsPanel, library: scenario.Library) -> None:
    select(panel, 12_320, 11_800)
    panel.actions_of_panel[ActionId.CHECKPOINT_PIN].trigger()
    panel.refresh()
    assert {info.step for info in library.infos if info.is_pinned} == {12_320, 11_800}
    assert panel.actions_of_panel[ActionId.CHECKPOINT_PIN].text() == "Un&pin"
    panel.actions_of_panel[ActionId.CHECKPOINT_PIN].trigger()
    assert not any(info.is_pinned for info in library.infos)


def test_a_note_is_written_by_keyboard(qtbot: QtBot, panel: CheckpointsPanel, library: scenario.Library) -> None:
    select(panel, 12_320)
    panel.table.setFocus()
    qtbot.keyClick(panel.table, Qt.Key.Key_F2)
    dialog = panel.findChild(QDialog)
    qtbot.waitExposed(dialog)
    qtbot.keyClicks(dialog.findChild(QLineEdit), "  calm night ")
    qtbot.keyPress(dialog, Qt.Key.Key_Return)
    panel.refresh()
    assert next(info for info in library.infos if info.step == 12_320).note == "calm night"
    assert panel.proxy.index(2, COLUMN["Note"]).data() == "calm night"


def open_deletion(qtbot: QtBot, panel: CheckpointsPanel) -> QMessageBox:
    panel.activateWindow()
    panel.table.setFocus()
    qtbot.waitUntil(panel.table.hasFocus)
    qtbot.keyClick(panel.table, Qt.Key.Key_Delete)
    box = panel.findChild(QMessageBox)
    qtbot.waitExposed(box)
    return box


def press(qtbot: QtBot, box: QMessageBox, text: str) -> None:
    button = next(each for each in box.findChildren(QPushButton) if each.text().replace("&", "") == text)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_delete_asks_and_leaves_out_what_must_stay(
    qtbot: QtBot, panel: CheckpointsPanel, library: scenario.Library
) -> None:
    select(panel, 12_340, 12_330, 12_100)
    box = open_deletion(qtbot, panel)
    assert "2 checkpoints" in box.text()
    assert "best" in box.informativeText() and "kept" in box.informativeText()
    assert library.requested == []
    with qtbot.waitSignal(panel._source.deletion_requested):
        press(qtbot, box, "Delete")
    assert library.requested == ["checkpoint-12330", "checkpoint-12100"]


def test_cancel_and_escape_delete_nothing(qtbot: QtBot, panel: CheckpointsPanel, library: scenario.Library) -> None:
    select(panel, 12_330)
    press(qtbot, open_deletion(qtbot, panel), "Cancel")
    qtbot.waitUntil(lambda: panel.findChild(QMessageBox) is None)
    # Only pressed: there is no dialog left to take the release.
    qtbot.keyPress(open_deletion(qtbot, panel), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: panel.findChild(QMessageBox) is None)
    assert library.requested == []


def test_the_context_menu_offers_the_same_actions(qtbot: QtBot, panel: CheckpointsPanel) -> None:
    panel.table.customContextMenuRequested.emit(QPoint(20, 10))
    menu = next(menu for menu in panel.findChildren(QMenu) if menu.isVisible())
    assert menu.actions() == panel.actions_of_panel.actions()
    menu.close()


def test_the_selection_stays_when_checkpoints_come_and_go(
    panel: CheckpointsPanel, library: scenario.Library, state: RunState
) -> None:
    select(panel, 12_310, 11_800)
    saved = scenario.checkpoint(12_350)
    library.infos = [saved, *(info for info in library.infos if info.step != 12_320)]
    state.apply(CheckpointsChanged(scenario.RUN, saved, ("checkpoint-12320",)))
    panel.refresh()
    assert [info.step for info in panel.selected()] == [12_310, 11_800]
    assert steps(panel) == [12_350, 12_340, 12_330, 12_310, 12_100, 11_800, 10_020]


def test_a_locked_database_is_told_in_its_own_words(
    qtbot: QtBot, panel: CheckpointsPanel, library: scenario.Library
) -> None:
    library.is_broken = True
    select(panel, 12_330)
    with qtbot.waitSignal(panel._source.trouble) as told:
        panel.actions_of_panel[ActionId.CHECKPOINT_PIN].trigger()
    assert "locked" in told.args[0]

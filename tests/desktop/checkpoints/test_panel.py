from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QMenu, QToolBar, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from core.domain.candle import Interval, Market
from core.domain.diagnosis import Disease
from core.domain.events import CheckpointsChanged
from core.settings.window import BrowserSettings
from desktop.actions import ActionId
from desktop.checkpoints.column_dialog import ColumnDialog
from desktop.checkpoints.columns import COLUMNS, FIRST_COLUMNS, WHERE_FILLED, symbols_text, tooltip
from desktop.checkpoints.panel import CheckpointsPanel
from desktop.checkpoints.runs_dialog import RunsDialog
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.run_state import RunState
from desktop.ui.plain_text import with_usual_spaces
from desktop.ui.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel

NONE = Qt.KeyboardModifier.NoModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
COLUMN = {column.title: number for number, column in enumerate(COLUMNS)}

NAMELESS = tuple(name for name in FIRST_COLUMNS if name not in WHERE_FILLED)


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
    return [panel.model.info(row).step for row in range(panel.model.rowCount())]


def select(panel: CheckpointsPanel, *wanted: int) -> None:
    panel.table.select_ids([f"checkpoint-{step}" for step in wanted])


def click_header(qtbot: QtBot, panel: CheckpointsPanel, title: str) -> None:
    header = panel.table.horizontalHeader()
    x = header.sectionViewportPosition(COLUMN[title]) + 8
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, 8))


def is_enabled(panel: CheckpointsPanel, action_id: ActionId) -> bool:
    return panel.actions_of_panel[action_id].isEnabled()


def test_the_count_says_how_many_markets_the_model_has(panel: CheckpointsPanel, state: RunState) -> None:
    assert "markets" not in panel._count.text()
    state.apply(scenario.ready_of_three())
    panel.refresh()
    assert panel._count.text().endswith("checkpoints · all 3 markets")
    panel.actions_of_panel[ActionId.CHECKPOINT_ALL_RUNS].trigger()
    assert panel._count.text().endswith("checkpoints · all runs"), "they have other markets"


@pytest.mark.parametrize("width", [540, 600, 760, 850, 1_280])
def test_shown_columns_are_not_cut_at_any_width(qtbot: QtBot, panel: CheckpointsPanel, width: int) -> None:
    panel.resize(width, 220)
    qtbot.waitUntil(lambda: panel.width() == width)
    table, metrics = panel.table, panel.table.fontMetrics()
    qtbot.waitUntil(lambda: table.horizontalScrollBar().maximum() == 0)
    assert table.horizontalHeader().length() <= table.viewport().width()
    for title in ("Step", "Adds", "Note"):
        assert not table.isColumnHidden(COLUMN[title])
    for number, column in enumerate(COLUMNS):
        if column.is_number and not table.isColumnHidden(number):
            for row in range(panel.model.rowCount()):
                assert metrics.horizontalAdvance(column.text(panel.model.row(row))) < table.columnWidth(number)
    panel.resize(1_400, 220)
    without = tuple(name for name in FIRST_COLUMNS if name not in WHERE_FILLED)  # empty columns are hidden
    qtbot.waitUntil(lambda: table.shown_columns() == without)


SOME_ROOM = 700
"""Too narrow for all columns."""


def narrowed(qtbot: QtBot, panel: CheckpointsPanel, width: int = SOME_ROOM) -> tuple[str, ...]:
    panel.resize(width, 220)
    qtbot.waitUntil(lambda: panel.width() == width)
    return panel.table.shown_columns()


@pytest.mark.parametrize("all_runs", [False, True])
@pytest.mark.parametrize("width", [460, SOME_ROOM, 900, 1_400])
def test_a_note_stays_in_view_beside_names_and_tags(
    qtbot: QtBot, panel: CheckpointsPanel, width: int, all_runs: bool
) -> None:
    panel.show_settings(replace(panel.table.settings, all_runs=all_runs))
    panel._source.set_name("checkpoint-12310", "before the great change of the learning rate")
    panel._set_tags(["checkpoint-12320"], ["good", "to-keep-for-later"], [])
    panel._source.set_note("checkpoint-12330", "a calm night")
    narrowed(qtbot, panel, width)
    panel.refresh()
    table, note = panel.table, COLUMN["Note"]
    assert {"marks", "step", "name", "tags", "note"} <= set(table.shown_columns())
    assert ("adds" in table.shown_columns()) is (width > 460)
    assert ("symbol" in table.shown_columns()) is all_runs
    assert table.horizontalScrollBar().maximum() == 0
    assert table.columnWidth(note) > table.fontMetrics().horizontalAdvance("a calm night")


def test_a_resized_column_stays_in_a_narrow_panel(qtbot: QtBot, panel: CheckpointsPanel) -> None:
    narrowed(qtbot, panel, 1_400)
    panel.table.horizontalHeader().resizeSection(COLUMN["Size"], 90)
    assert "size" in narrowed(qtbot, panel) and "coverage" not in panel.table.shown_columns()


@pytest.mark.parametrize("is_dragged", [True, False])
def test_choosing_columns_in_a_narrow_panel_keeps_the_hidden_ones(
    qtbot: QtBot, panel: CheckpointsPanel, is_dragged: bool
) -> None:
    whole = narrowed(qtbot, panel, 1_400)
    assert set(narrowed(qtbot, panel)) < set(whole)
    if is_dragged:
        header = panel.table.horizontalHeader()
        header.moveSection(header.visualIndex(COLUMN["Adds"]), 1)
        assert panel.table.shown_columns()[:2] == ("marks", "adds")
    else:
        dialog = panel.choose_columns()
        dialog.descending.setChecked(not dialog.descending.isChecked())
        dialog.reject()
    assert set(panel.table.shown_columns()) == set(whole), "they stay as they were left, and the table scrolls"


def test_hidden_columns_are_in_the_tooltip(panel: CheckpointsPanel) -> None:
    tooltip = with_usual_spaces(panel.model.index(0, 1).data(Qt.ItemDataRole.ToolTipRole))
    for title in ("Size", "Saved", "Loss"):
        assert COLUMNS[COLUMN[title]].text(panel.model.row(0)) in tooltip


def test_the_tooltip_says_what_the_model_adds_or_why_that_is_hidden(panel: CheckpointsPanel) -> None:
    kept = panel.model.row(0)
    info = replace(kept.info, coverage=0.9, direction=0.477)
    shown = with_usual_spaces(tooltip(replace(kept, info=info)))
    assert "Adds +1.0 %" in shown and ", over 900 candles" in shown
    assert "Coverage 90.0 %, direction 47.7 %, over at most 300 candles" in shown
    hidden = replace(info, gain_low=None, gain_high=None, gain_candles=42)
    assert "42 of the 750 candles" in with_usual_spaces(tooltip(replace(kept, info=hidden)))


def test_a_files_fingerprint_is_not_in_the_tooltip(panel: CheckpointsPanel) -> None:
    learned = replace(panel.model.row(0), venue="file", symbol="mine15#ff355f")
    assert "mine15, 1m" in tooltip(learned) and "#ff355f" not in tooltip(learned)


def test_the_symbols_of_a_model_of_several_markets(panel: CheckpointsPanel) -> None:
    alone = panel.model.row(0)
    others = tuple(Market("binance", f"M{number}/USDT", Interval.parse("1m")) for number in range(1, 5))
    assert symbols_text(alone) == "BTC/USDT"
    assert symbols_text(replace(alone, others=others[:1])) == "BTC/USDT, M1/USDT"
    assert symbols_text(replace(alone, others=others)) == "BTC/USDT, M1/USDT, M2/USDT and 2 more"
    assert "M3/USDT, M4/USDT, 1m" in tooltip(replace(alone, others=others))


def test_the_trophys_tooltip_says_what_the_best_is(panel: CheckpointsPanel) -> None:
    best = steps(panel).index(12_100)
    tooltips = [panel.model.index(row, 0).data(Qt.ItemDataRole.ToolTipRole) for row in (best, best + 1)]
    assert ["proven to add to the ghosts" in tooltip for tooltip in tooltips] == [True, False]


def test_newest_first_at_the_start(panel: CheckpointsPanel) -> None:
    assert steps(panel) == [12_340, 12_330, 12_320, 12_310, 12_100, 11_800, 10_020]


def test_a_header_sorts_by_value_with_unmeasured_rows_last(qtbot: QtBot, panel: CheckpointsPanel) -> None:
    click_header(qtbot, panel, "Adds")
    assert steps(panel)[0] == 12_100 and steps(panel)[-1] == 10_020, "the best comes first at the first click"
    click_header(qtbot, panel, "Adds")
    assert steps(panel)[-1] == 10_020
    click_header(qtbot, panel, "Loss")
    assert not panel.table.settings.is_descending, "a loss is best where it is least"


def test_a_loss_that_is_not_finite_sorts_as_the_worst(panel: CheckpointsPanel, library: scenario.Library) -> None:
    library.infos[2] = replace(library.infos[2], loss=float("nan"))
    panel._source.set_note("checkpoint-12320", "")
    panel.refresh()
    panel.table.sortByColumn(COLUMN["Loss"], Qt.SortOrder.AscendingOrder)
    assert steps(panel)[-1] == 12_320
    texts = [panel.model.index(row, COLUMN["Loss"]).data() for row in range(panel.model.rowCount())]
    assert texts[-1] == "–" and "nan" not in texts


def test_new_tags_are_visible_among_chosen_columns_in_a_narrow_panel(qtbot: QtBot, panel: CheckpointsPanel) -> None:
    """Beside the step and its marks, which were scrolled out of view."""
    panel.resize(560, 220)
    qtbot.waitUntil(lambda: panel.width() == 560)
    table = panel.table
    panel.show_settings(replace(panel.table.settings, columns=NAMELESS))
    panel._source.set_name("checkpoint-12310", "before the great change of the learning rate")
    panel.refresh()
    select(panel, 12_320)
    panel._set_tags(["checkpoint-12320"], ["keep"], [])
    panel.refresh()
    left, width = table.columnViewportPosition(COLUMN["Tags"]), table.columnWidth(COLUMN["Tags"])
    assert left >= 0 and min(left + width, table.viewport().width()) - left >= min(width, 40)
    assert table.horizontalScrollBar().value() == 0 and table.horizontalScrollBar().maximum() > 0
    assert table.columnViewportPosition(COLUMN["Step"]) + table.columnWidth(COLUMN["Step"]) <= left
    table.horizontalScrollBar().setValue(30)
    panel.refresh()
    assert table.horizontalScrollBar().value() == 30, "it is the user's to scroll"


def test_a_diverged_checkpoint_is_marked_and_its_tooltip_says_why(
    panel: CheckpointsPanel, state: RunState, library: scenario.Library
) -> None:
    lost = replace(library.infos[0], checkpoint_id="lost", step=99_999, model_gain=0.5, health=Disease.DIVERGED)
    library.infos = (lost, *library.infos)
    state.apply(CheckpointsChanged(scenario.RUN, lost))
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        panel.table.sortByColumn(COLUMN["Adds"], order)
        panel.refresh()
        row = panel.model.rowCount() - 1
        assert panel.model.info(row) == replace(lost, is_in_use=panel.model.info(row).is_in_use)
        mark, adds = (panel.model.index(row, number) for number in (0, COLUMN["Adds"]))
        assert "wrecked" in mark.data(Qt.ItemDataRole.AccessibleTextRole)
        assert "diverged" in adds.data(Qt.ItemDataRole.ToolTipRole)
        healthy = panel.model.index(0, 0)
        assert "wrecked" not in healthy.data(Qt.ItemDataRole.AccessibleTextRole)
        assert (
            panel.table.grab(panel.table.visualRect(mark)).toImage()
            != panel.table.grab(panel.table.visualRect(panel.model.index(row - 1, 0))).toImage()
        )


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


def test_the_checkpoint_in_use_can_be_neither_restored_nor_deleted(panel: CheckpointsPanel) -> None:
    select(panel, 12_340)
    assert not is_enabled(panel, ActionId.CHECKPOINT_RESTORE)
    assert not is_enabled(panel, ActionId.CHECKPOINT_DELETE)
    assert is_enabled(panel, ActionId.CHECKPOINT_NOTE)


def test_the_checkpoint_in_use_can_be_restored_after_further_steps(panel: CheckpointsPanel, state: RunState) -> None:
    """After a rate that wrecks, the checkpoint from before it is the newest for a while."""
    select(panel, 12_340)
    state.apply(scenario.status(step=12_347))
    panel.tick()
    assert is_enabled(panel, ActionId.CHECKPOINT_RESTORE) and not is_enabled(panel, ActionId.CHECKPOINT_DELETE)


def test_without_a_selection_all_actions_are_off(panel: CheckpointsPanel) -> None:
    panel.table.clearSelection()
    names = ("columns", "all_runs", "runs", "filter", "import", "clean_up")
    always = {f"checkpoint_{name}" for name in names}
    offered = {action.objectName() for action in panel.actions_of_panel.actions() if action.isEnabled()}
    assert offered == always


def test_restore_by_key_names_the_checkpoint(qtbot: QtBot, panel: CheckpointsPanel) -> None:
    select(panel, 12_310)
    panel.table.setFocus()
    with qtbot.waitSignal(panel.restore_requested) as requested:
        qtbot.keyClick(panel.table, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert requested.args == ["checkpoint-12310"]


def test_pin_toggles_all_selected_checkpoints(panel: CheckpointsPanel, library: scenario.Library) -> None:
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
    qtbot.keyClicks(dialog.findChild(QLineEdit), "  calm night ")
    qtbot.keyPress(dialog, Qt.Key.Key_Return)
    panel.refresh()
    assert next(info for info in library.infos if info.step == 12_320).note == "calm night"
    assert panel.model.index(2, COLUMN["Note"]).data() == "calm night"


def press(qtbot: QtBot, panel: CheckpointsPanel, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
    panel.activateWindow()
    panel.table.setFocus()
    qtbot.waitUntil(panel.table.hasFocus)
    qtbot.keyClick(panel.table, key, modifiers)


def test_delete_skips_protected_checkpoints_and_can_be_undone(
    qtbot: QtBot, panel: CheckpointsPanel, library: scenario.Library
) -> None:
    select(panel, 12_340, 12_330, 12_100)
    with qtbot.waitSignal(panel._source.deletion_requested):
        press(qtbot, panel, Qt.Key.Key_Delete)
    assert library.requested == ["checkpoint-12330", "checkpoint-12100"]
    assert steps(panel) == [12_340, 12_320, 12_310, 11_800, 10_020]
    assert "delete 2 checkpoints" in panel.actions_of_panel[ActionId.CHECKPOINT_UNDO].toolTip()
    press(qtbot, panel, Qt.Key.Key_Z, CONTROL)
    panel.refresh()
    assert library.requested == [] and len(steps(panel)) == 7
    assert not is_enabled(panel, ActionId.CHECKPOINT_UNDO)


def test_undoing_a_permanent_deletion_reports_it(
    qtbot: QtBot, panel: CheckpointsPanel, library: scenario.Library
) -> None:
    select(panel, 12_330, 12_320)
    press(qtbot, panel, Qt.Key.Key_Delete)
    library.infos = [info for info in library.infos if info.step != 12_330]
    with qtbot.waitSignal(panel._source.trouble) as reported:
        panel.actions_of_panel[ActionId.CHECKPOINT_UNDO].trigger()
    panel.refresh()
    assert "permanently" in reported.args[0] and 12_320 in steps(panel) and 12_330 not in steps(panel)


def test_pins_notes_names_and_tags_are_undone_in_turn(
    qtbot: QtBot, panel: CheckpointsPanel, library: scenario.Library
) -> None:
    before = list(library.infos)
    source = panel._source
    source.set_pinned(["checkpoint-12320", "checkpoint-11800"], True)
    source.set_note("checkpoint-11800", "another")
    source.set_name("checkpoint-12100", "Champion")
    source.set_tags(["checkpoint-12100", "checkpoint-12310"], ["keep"], [])
    assert library.infos != before
    for _ in range(4):
        panel.actions_of_panel[ActionId.CHECKPOINT_UNDO].trigger()
    assert library.infos == before


def type_into_dialog(qtbot: QtBot, panel: CheckpointsPanel, text: str) -> None:
    dialog = panel.findChild(QDialog)
    qtbot.keyClicks(dialog.findChild(QLineEdit), text)
    qtbot.keyPress(dialog, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.findChild(QDialog) is None)
    panel.refresh()


def test_a_typed_name_and_tags_are_found_by_the_filter(qtbot: QtBot, panel: CheckpointsPanel) -> None:
    select(panel, 12_320)
    press(qtbot, panel, Qt.Key.Key_F2, SHIFT)
    type_into_dialog(qtbot, panel, "Champion")
    select(panel, 12_320, 12_310)
    press(qtbot, panel, Qt.Key.Key_T, CONTROL)
    type_into_dialog(qtbot, panel, "keep, calm-night")
    qtbot.keyClicks(panel.filter, "tags like '%calm-night%' and name is null")
    assert steps(panel) == [12_310]


@pytest.mark.parametrize("columns", [(), ("step", "adds")], ids=["as many as fit", "chosen ones"])
def test_a_new_name_or_tag_shows_its_column(qtbot: QtBot, panel: CheckpointsPanel, columns: tuple[str, ...]) -> None:
    """Otherwise nothing visible confirms the change."""
    panel.show_settings(replace(panel.table.settings, columns=columns))
    panel.resize(1_400, 320)
    panel.refresh()
    assert not {"name", "tags"} & set(panel.table.shown_columns())
    select(panel, 12_320)
    press(qtbot, panel, Qt.Key.Key_F2, SHIFT)
    type_into_dialog(qtbot, panel, "Champion")
    assert "name" in panel.table.shown_columns() and "tags" not in panel.table.shown_columns()
    select(panel, 12_310)
    press(qtbot, panel, Qt.Key.Key_T, CONTROL)
    type_into_dialog(qtbot, panel, "keep")
    assert {"name", "tags"} <= set(panel.table.shown_columns())


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("adds > 0.8 % and step > 12000", [12_340, 12_330, 12_320, 12_310, 12_100]),
        ("adds is null", [10_020]),
        ("not (pinned or best) and reason != 'periodic'", [12_310, 10_020]),
        ("age > 0.02", [11_800, 10_020]),
    ],
)
def test_columns_are_compared(qtbot: QtBot, panel: CheckpointsPanel, typed: str, expected: list[int]) -> None:
    qtbot.keyClicks(panel.filter, typed)
    assert steps(panel) == expected
    assert panel.message.isHidden()


def test_a_filter_error_is_shown_below_and_the_table_stays(qtbot: QtBot, panel: CheckpointsPanel) -> None:
    qtbot.keyClicks(panel.filter, "pinned and adss > 3")
    qtbot.keyClick(panel.filter, Qt.Key.Key_Escape) if panel.filter.offered else None
    assert len(steps(panel)) in (1, 7)
    qtbot.waitUntil(panel.message.isVisible)
    assert panel.message.text() == "There is no column “adss”; did you mean “adds”?"
    panel.filter.clear()
    assert panel.message.isHidden() and len(steps(panel)) == 7


def test_names_are_completed_by_keys(qtbot: QtBot, panel: CheckpointsPanel) -> None:
    panel.activateWindow()
    panel.filter.setFocus()
    qtbot.keyClicks(panel.filter, "cov")
    assert panel.filter.offered == ["coverage"]
    qtbot.keyClick(panel.filter, Qt.Key.Key_Tab)
    assert panel.filter.text() == "coverage "
    qtbot.keyClicks(panel.filter, "is null")
    assert len(steps(panel)) == 7


def test_the_focus_moves_from_the_filter_to_the_table(qtbot: QtBot, panel: CheckpointsPanel) -> None:
    press(qtbot, panel, Qt.Key.Key_F, CONTROL)
    qtbot.waitUntil(panel.filter.hasFocus)
    qtbot.keyClicks(panel.filter, "halved")
    qtbot.keyClick(panel.filter, Qt.Key.Key_Return)
    qtbot.waitUntil(panel.table.hasFocus)
    assert [info.step for info in panel.selected()] == [11_800]


def test_columns_are_chosen_and_moved_by_keys_and_remembered(
    qtbot: QtBot, panel: CheckpointsPanel, theme: Theme, state: RunState, library: scenario.Library
) -> None:
    received: list[BrowserSettings] = []
    panel.arranged.connect(received.append)
    press(qtbot, panel, Qt.Key.Key_L, CONTROL)
    dialog = panel.findChild(ColumnDialog)
    rows = [dialog.list.item(row).text() for row in range(dialog.list.count())]
    dialog.list.setCurrentRow(rows.index("Gradients"))
    qtbot.keyClick(dialog.list, Qt.Key.Key_Space)
    for _ in range(rows.index("Gradients") - 1):
        qtbot.keyClick(dialog.list, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    dialog.sort_by.setCurrentIndex(dialog.sort_by.findData("loss"))
    qtbot.mouseClick(dialog.descending, Qt.MouseButton.LeftButton, pos=QPoint(8, dialog.descending.height() // 2))
    dialog.reject()
    assert panel.table.shown_columns()[:3] == ("marks", "gradients", "step")
    assert steps(panel)[0] == 12_310, "the lowest loss of all"
    again = CheckpointsPanel(CheckpointSource(library, state, state), theme)
    shown_panel(qtbot, again, 900, 320)
    again.show_settings(received[-1])
    again.refresh()
    assert again.table.shown_columns() == panel.table.shown_columns() and steps(again) == steps(panel)
    again.resize(420, 320)
    qtbot.waitUntil(lambda: again.table.horizontalScrollBar().maximum() > 0)
    assert again.table.shown_columns() == panel.table.shown_columns(), "the chosen columns stay, and scroll"


def test_dragging_a_header_moves_its_column(qtbot: QtBot, panel: CheckpointsPanel) -> None:
    header = panel.table.horizontalHeader()
    with qtbot.waitSignal(panel.arranged) as received:
        header.moveSection(header.visualIndex(COLUMN["Loss"]), 1)
    assert received.args[0].columns[:3] == ("marks", "loss", "step")
    with qtbot.waitSignal(panel.arranged) as received:
        header.resizeSection(COLUMN["Loss"], 140)
    assert received.args[0].widths == {"loss": 140}


def test_all_runs_are_shown_by_a_key(qtbot: QtBot, panel: CheckpointsPanel, library: scenario.Library) -> None:
    other = replace(scenario.checkpoint(40), run_id="another", checkpoint_id="another-40")
    library.infos.append(other)
    panel._source._on_run()
    panel.refresh()
    (switch,) = (each for each in panel.findChildren(QToolButton) if each.text() == "All runs")
    assert 40 not in steps(panel) and not switch.isVisible()
    press(qtbot, panel, Qt.Key.Key_R, CONTROL)
    assert 40 in steps(panel) and switch.isChecked()
    qtbot.waitUntil(switch.isVisible)  # otherwise 15 rows become 55 without an explanation
    qtbot.keyClicks(panel.filter, "run = 'another'")
    assert steps(panel) == [40]
    switch.click()
    assert 40 not in steps(panel)
    qtbot.waitUntil(switch.isHidden)


def test_checkpoints_of_an_archived_run_can_be_found(
    qtbot: QtBot, panel: CheckpointsPanel, library: scenario.Library
) -> None:
    for step in (40, 50):
        library.infos.append(replace(scenario.checkpoint(step), run_id="another", checkpoint_id=f"another-{step}"))
    panel._source.reload()
    panel.refresh()
    press(qtbot, panel, Qt.Key.Key_R, CONTROL)
    assert {40, 50} < set(steps(panel))
    press(qtbot, panel, Qt.Key.Key_U, CONTROL)
    dialog = panel.findChild(RunsDialog)
    texts = [dialog.model.index(row, 0).data() for row in range(2)]
    assert sorted(texts) == ["another", scenario.RUN]
    dialog.table.selectRow(texts.index("another"))
    qtbot.mouseClick(dialog.archive_button, Qt.MouseButton.LeftButton)
    panel.refresh()
    assert library.archived == {"another"} and not {40, 50} & set(steps(panel))
    assert "archived" in dialog.model.index(texts.index("another"), 7).data()
    with qtbot.waitSignal(panel.compare_requested) as asked:
        dialog.table.selectAll()
        qtbot.mouseClick(dialog.compare_button, Qt.MouseButton.LeftButton)
    assert {kept.info.run_id for kept in asked.args[0]} == {"another", scenario.RUN}
    dialog.table.selectRow(texts.index("another"))
    qtbot.mouseClick(dialog.show_button, Qt.MouseButton.LeftButton)
    panel.refresh()
    assert steps(panel) == [50, 40]
    panel.actions_of_panel[ActionId.CHECKPOINT_UNDO].trigger()
    assert library.archived == set()


def test_every_control_has_a_name(panel: CheckpointsPanel) -> None:
    for widget in panel.findChildren(QWidget):
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible():
            accessible = QAccessible.queryAccessibleInterface(widget)
            assert accessible.text(QAccessible.Text.Name), widget


def test_the_context_menu_offers_the_same_actions(qtbot: QtBot, panel: CheckpointsPanel) -> None:
    panel.table.customContextMenuRequested.emit(QPoint(20, 10))
    menu = next(menu for menu in panel.findChildren(QMenu) if menu.isVisible() and menu.parent() is panel.table)
    assert menu.actions() == panel.actions_of_panel.actions()
    menu.close()


def test_the_selection_survives_new_and_deleted_checkpoints(
    panel: CheckpointsPanel, library: scenario.Library, state: RunState
) -> None:
    select(panel, 12_310, 11_800)
    saved = scenario.checkpoint(12_350)
    library.infos = [saved, *(info for info in library.infos if info.step != 12_320)]
    state.apply(CheckpointsChanged(scenario.RUN, saved, ("checkpoint-12320",)))
    panel.refresh()
    assert [info.step for info in panel.selected()] == [12_310, 11_800]
    assert steps(panel) == [12_350, 12_340, 12_330, 12_310, 12_100, 11_800, 10_020]


def point_at(panel: CheckpointsPanel, is_over: bool) -> None:
    """Qt learns from the pointer's events whether it is over the table."""
    panel.table.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, is_over)


def save(panel: CheckpointsPanel, library: scenario.Library, state: RunState, step: int) -> None:
    """The trainer saves one, and deletes the checkpoint of step 12,320."""
    saved = scenario.checkpoint(step)
    library.infos = [saved, *(info for info in library.infos if info.step != 12_320)]
    state.apply(CheckpointsChanged(scenario.RUN, saved, ("checkpoint-12320",)))
    panel.refresh_if_seen()


def test_rows_stay_in_place_under_the_pointer(
    panel: CheckpointsPanel, library: scenario.Library, state: RunState
) -> None:
    before = steps(panel)
    point_at(panel, True)
    save(panel, library, state, 12_350)
    assert steps(panel) == before and panel._count.text().startswith("7") and "1 new" in panel._count.text()
    panel._source.set_note("checkpoint-12310", "seen at once")
    panel.refresh_if_seen()
    assert steps(panel) == before and panel.model.index(3, COLUMN["Note"]).data() == "seen at once"
    panel.tick()
    assert not panel.is_stale
    point_at(panel, False)
    panel.tick()
    panel.refresh_if_seen()
    assert steps(panel)[:3] == [12_350, 12_340, 12_330] and 12_320 not in steps(panel)
    assert "new" not in panel._count.text()


def test_a_deleted_row_under_the_pointer_is_counted_and_not_restored(
    qtbot: QtBot, panel: CheckpointsPanel, library: scenario.Library, state: RunState
) -> None:
    """Regression: Restore did nothing, without a word."""
    select(panel, 12_320)
    point_at(panel, True)
    save(panel, library, state, 12_350)
    assert "1 deleted" in panel._count.text() and 12_320 in steps(panel)
    requested: list[str] = []
    panel.restore_requested.connect(requested.append)
    with qtbot.waitSignal(panel._source.trouble) as reported:
        panel.actions_of_panel[ActionId.CHECKPOINT_RESTORE].trigger()
    assert "step 12,320 has been deleted" in reported.args[0] and not requested
    assert 12_320 not in steps(panel) and "deleted" not in panel._count.text()


def test_a_word_before_a_colon_that_finds_nothing_is_explained_below_the_filter(
    qtbot: QtBot, panel: CheckpointsPanel
) -> None:
    qtbot.keyClicks(panel.filter, "colour:red")
    assert not steps(panel) and panel.message.isVisible() and "Columns: step, " in panel.message.text()
    panel.filter.setText("pinned")
    assert steps(panel) and panel.message.isHidden()


def test_rows_stay_in_place_below_an_open_menu(
    panel: CheckpointsPanel, library: scenario.Library, state: RunState
) -> None:
    before = steps(panel)
    panel.table.customContextMenuRequested.emit(QPoint(20, 10))
    save(panel, library, state, 12_350)
    assert steps(panel) == before
    QApplication.activePopupWidget().close()
    panel.tick()
    assert panel.is_stale


def test_what_the_user_changes_moves_rows_at_once(qtbot: QtBot, panel: CheckpointsPanel) -> None:
    """Though the pointer is over them, as it is after a click."""
    point_at(panel, True)
    select(panel, 12_330)
    panel.actions_of_panel[ActionId.CHECKPOINT_DELETE].trigger()
    assert 12_330 not in steps(panel)
    panel.actions_of_panel[ActionId.CHECKPOINT_UNDO].trigger()
    assert 12_330 in steps(panel)
    panel.filter.setText("pinned")
    assert steps(panel) == [11_800]
    panel.filter.clear()
    panel.table.sortByColumn(COLUMN["Step"], Qt.SortOrder.AscendingOrder)
    assert steps(panel)[0] == 10_020
    assert panel.reveal("checkpoint-12330")


def test_all_runs_bring_their_symbol_and_run(panel: CheckpointsPanel) -> None:
    panel.resize(1_400, 320)
    for columns in ((), ("marks", "step", "loss", "note")):
        panel.show_settings(replace(panel.table.settings, columns=columns))
        before = panel.table.shown_columns()
        panel.actions_of_panel[ActionId.CHECKPOINT_ALL_RUNS].trigger()
        assert panel.table.shown_columns() == (*before[:2], "symbol", "run", *before[2:])
        header = panel.table.horizontalHeader()
        header.moveSection(header.visualIndex(COLUMN["Loss"]), 1)
        assert not {"symbol", "run"} & set(panel.table.settings.columns), "they were not chosen"
        panel.actions_of_panel[ActionId.CHECKPOINT_ALL_RUNS].trigger()
        assert set(panel.table.shown_columns()) == set(before)


def test_a_decimal_comma_is_read_as_the_language_writes_it(qtbot: QtBot, panel: CheckpointsPanel) -> None:
    panel.filter.has_decimal_comma = True
    panel.filter.setText("adds > 1,05 %")
    assert steps(panel) == [12_100]
    panel.filter.has_decimal_comma = False
    panel.filter.setText("adds > 0,5 %")
    qtbot.waitUntil(panel.message.isVisible)
    assert "“0,5”" in panel.message.text()


def test_a_locked_database_is_reported_as_such(
    qtbot: QtBot, panel: CheckpointsPanel, library: scenario.Library
) -> None:
    library.is_broken = True
    select(panel, 12_330)
    with qtbot.waitSignal(panel._source.trouble) as reported:
        panel.actions_of_panel[ActionId.CHECKPOINT_PIN].trigger()
    assert "locked" in reported.args[0]


@pytest.mark.parametrize("width", [380, 422, 600])
def test_in_a_narrow_panel_the_filter_is_readable_and_buttons_move_into_the_menu(
    panel: CheckpointsPanel, qtbot: QtBot, width: int
) -> None:
    """422 is its width in a window of 1600x900 at 200 %."""
    panel.resize(width, 140)
    qtbot.waitUntil(lambda: panel.width() == width)
    panel.layout().activate()
    line = panel.filter
    line.setText("adds > 1 %")
    assert line.contentsRect().width() > line.fontMetrics().horizontalAdvance(line.text()) + 24, "beside its cross"
    (bar,) = panel.findChildren(QToolBar)
    (extension,) = (each for each in bar.findChildren(QToolButton) if each.objectName() == "qt_toolbar_ext_button")
    assert bar.geometry().right() <= panel.width()
    qtbot.waitUntil(extension.isVisible)

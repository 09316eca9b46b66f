"""Every state of the browser in both themes: nothing is cut, and every text is legible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QDialog, QLabel
from pytestqt.qtbot import QtBot

from core.checkpoints.row import CheckpointRow
from core.domain.checkpoint_info import CheckpointInfo
from core.settings.tree import Settings, to_dict
from desktop.actions import ActionId
from desktop.chart.items.previews import Preview, PreviewLayer
from desktop.checkpoints.clean_up_dialog import CleanUpData, CleanUpDialog
from desktop.checkpoints.compare_dialog import CompareDialog
from desktop.checkpoints.runs_dialog import RunsDialog
from desktop.ui.theme import Mode
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench, fill
from tests.desktop.window.pictures import MODES, cut_texts, in_both_themes, keep_picture, make_dressed, settle
from tests.support.contrast import contrast

_INK, _GROUND = QPalette.ColorRole.WindowText, QPalette.ColorRole.Window


def rich() -> list[CheckpointInfo]:
    """Checkpoints with all fields, and one with few."""
    known = [
        replace(
            info,
            coverage=0.883 + 0.004 * number,
            direction=0.503 + 0.003 * number,
            health="healthy" if number % 3 else "always clipping",
            device="CPU, 2 threads",
            tags=("keep", "calm-night") if number in (1, 4) else (),
            name="Champion" if number == 4 else "",
            verified_at_ms=scenario.NOW_MS if number in (2, 4) else None,
            parent_id=f"checkpoint-{info.step - 10}",
        )
        for number, info in enumerate(scenario.checkpoints())
    ]
    return [*known[:-1], replace(scenario.checkpoints()[-1], fault="step-10020 was altered.", verified_at_ms=1)]


def dressed(make_bench: MakeBench, qtbot: QtBot, mode: Mode, size: tuple[int, int]) -> Bench:
    bench = make_dressed(make_bench, mode, size)
    bench.library.infos = rich()
    fill(bench)
    bench.window.show_dock(ActionId.SHOW_CHECKPOINTS)
    settle(qtbot, bench)
    return bench


@in_both_themes
def test_a_filter_and_its_error_are_not_cut(
    make_bench: MakeBench, qtbot: QtBot, mode: Mode, size: tuple[int, int]
) -> None:
    bench = dressed(make_bench, qtbot, mode, size)
    panel = bench.window.panels.checkpoints
    panel.filter.setText("adds > 0.5 and not pinned")
    settle(qtbot, bench)
    panel.table.select_ids(["checkpoint-12330", "checkpoint-12100"])
    keep_picture(bench.window, f"browser-filtered-{mode}-{size[0]}")
    assert cut_texts(bench.window) == []
    panel.filter.setText("adds > 0.5 and adss > 3 and this is much longer than any filter that a person would type")
    qtbot.waitUntil(panel.message.isVisible)
    settle(qtbot, bench)
    keep_picture(bench.window, f"browser-mistake-{mode}-{size[0]}")
    assert cut_texts(bench.window) == []


def test_all_columns_scroll_sideways(make_bench: MakeBench, qtbot: QtBot) -> None:
    bench = dressed(make_bench, qtbot, "dark", (1600, 900))
    dock = bench.window.docks[ActionId.SHOW_CHECKPOINTS]
    dock.setFloating(True)
    dock.resize(1_500, 320)
    panel = bench.window.panels.checkpoints
    columns = panel.choose_columns()
    for row in range(columns.list.count()):
        columns.list.item(row).setCheckState(Qt.CheckState.Checked)
    keep_picture(columns, "browser-columns")
    assert cut_texts(columns) == []
    columns.reject()
    settle(qtbot, bench)
    keep_picture(dock, "browser-all-columns")
    panel.table.horizontalScrollBar().setValue(panel.table.horizontalScrollBar().maximum())
    keep_picture(dock, "browser-all-columns-end")
    assert panel.table.horizontalScrollBar().maximum() > 0 and len(panel.table.shown_columns()) == 25


def of(bench: Bench, *steps: int) -> Sequence[CheckpointRow]:
    return list(bench.library.of([f"checkpoint-{step}" for step in steps]))


@pytest.mark.parametrize("mode", MODES)
def test_the_dialogs_are_not_cut(make_bench: MakeBench, qtbot: QtBot, mode: Mode) -> None:
    bench = dressed(make_bench, qtbot, mode, (1280, 720))
    one, other = to_dict(Settings()), to_dict(Settings())
    other["training"]["learning_rate"] = 1e-4
    other["gradients"]["clip_norm"] = 3.4
    kept = of(bench, 12_340, 12_100, 10_020)
    compare = CompareDialog(
        kept, [one, other, None], lambda _run: list(scenario.steps()), bench.theme.palette, bench.window
    )
    rules = bench.shell.settings.current.checkpoints
    many = CleanUpData(scenario_many(), scenario.NOW_MS, is_training=True)
    clean_up = CleanUpDialog(lambda: many, rules, bench.window)
    runs = RunsDialog(bench.source, bench.window)
    for name, dialog in (("compare", compare), ("clean-up", clean_up), ("runs", runs)):
        dialog.open()
        pages = compare.tabs.count() if dialog is compare else 1
        for page in range(pages):
            if dialog is compare:
                compare.tabs.setCurrentIndex(page)
            QApplication.sendPostedEvents()
            keep_picture(dialog, f"browser-{name}{page or ''}-{mode}")
            assert cut_texts(dialog) == []
            assert_legible(dialog)
        dialog.reject()


def scenario_many() -> list[CheckpointInfo]:
    return [scenario.checkpoint(12_340 - 10 * number, is_best=number == 24) for number in range(40)]


def assert_legible(dialog: QDialog) -> None:
    for label in dialog.findChildren(QLabel):
        if label.isVisible() and label.text():
            colours = label.palette()
            assert (
                contrast(colours.color(QPalette.ColorRole.WindowText), colours.color(QPalette.ColorRole.Window)) > 4.5
            )


@pytest.mark.parametrize("mode", MODES)
def test_ghosts_of_checkpoints_are_distinguishable(make_bench: MakeBench, qtbot: QtBot, mode: Mode) -> None:
    bench, count = dressed(make_bench, qtbot, mode, (1600, 900)), 3
    made = bench.chart.model.forecast
    assert made is not None
    layer = PreviewLayer()
    bench.chart.add_layer(layer)
    before = bench.chart.grab().toImage()
    labels = ("Champion", "step 12,310", "step 11,800")
    shifts = (1.0008, 0.9994, 1.0003)
    layer.show_previews([Preview(label, shifted(made, by)) for label, by in zip(labels, shifts, strict=True)])
    bench.chart.layers_changed()
    settle(qtbot, bench)
    keep_picture(bench.chart, f"browser-ghosts-{mode}")
    picture = bench.chart.grab().toImage()
    assert picture != before
    frame = bench.chart.frame
    colours = [layer.colour(frame, number) for number in range(count)]
    assert len({colour.rgb() for colour in colours}) == count
    assert all(contrast(colour, bench.theme.palette.background) > 4.5 for colour in colours)
    layer.show_previews([])
    bench.chart.layers_changed()
    settle(qtbot, bench)
    assert bench.chart.grab().toImage() == before


def shifted(made: object, by: float) -> object:
    ghosts = tuple(
        replace(
            ghost,
            open=ghost.open * by,
            high=ghost.high * by,
            low=ghost.low * by,
            close=ghost.close * by,
            close_quantiles=tuple(each * by for each in ghost.close_quantiles),
        )
        for ghost in made.ghosts  # type: ignore[attr-defined]
    )
    return replace(made, ghosts=ghosts)  # type: ignore[type-var]

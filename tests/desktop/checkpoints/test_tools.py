"""The browser's tools in the real program: a trainer that learns, files on the disk, the chart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from core.domain.checkpoint_info import CheckpointInfo
from core.training.commands import ApplyRetention, RestoreCheckpoint, TrainerCommand
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.checkpoints.clean_up_dialog import CleanUpDialog
from desktop.checkpoints.compare_dialog import CompareDialog
from tests.desktop.whole_window import CandleGate, context, run_window, step_of, until

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def press(application: Application, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> None:
    panel = application.window.panels.checkpoints
    application.window.activateWindow()
    application.window.show_dock(ActionId.SHOW_CHECKPOINTS)
    panel.table.setFocus()
    QTest.keyClick(panel.table, key, modifiers)


def would_delete(dialog: CleanUpDialog) -> list[str]:
    """The steps."""
    rows = range(dialog.model.rowCount())
    going = [row for row in rows if dialog.model.index(row, 0).data() == "would be deleted"]
    return [dialog.model.index(row, 1).data() for row in going]


async def some(
    application: Application, gate: CandleGate, count: int, *, is_training: bool = True
) -> list[CheckpointInfo]:
    """This many checkpoints, pinned and selected in the browser; none is in use."""
    gate.release(10 * count)
    source, panel = application.source, application.window.panels.checkpoints
    if is_training:  # a running trainer would clean up the checkpoints about to be chosen
        await until(lambda: gate.is_empty and _has_trained_all(application), "the last candle's forecast")
    # The newest may be in the table before the trainer has said that it is the one in use.
    await until(lambda: len(source.checkpoints()) > count + 1, "checkpoints")
    chosen = list(source.checkpoints()[2 : count + 2])
    source.set_pinned([info.checkpoint_id for info in chosen], True)  # later candles clean up
    panel.refresh()
    panel.table.select_ids([info.checkpoint_id for info in chosen])
    assert [info.checkpoint_id for info in panel.selected()] == [info.checkpoint_id for info in chosen]
    return chosen


def _has_trained_all(application: Application) -> bool:
    forecast, series = application.state.forecast, application.series
    return forecast is not None and series is not None and forecast.origin_open_time_ms == series.open_time_ms[-1]


async def still_there_after_a_clean_up(application: Application, chosen: CheckpointInfo) -> None:
    """Unpinned for the moment, it is kept because it may be restored."""
    source, state = application.source, application.state
    answers: list[bool] = []
    state.checkpoints_changed.connect(lambda: answers.append(True))
    source.set_pinned([chosen.checkpoint_id], False)
    rules = replace(application.settings.current.checkpoints, keep_newest=2, keep_best=1)
    application.trainer.send(ApplyRetention(rules, at_once=True))
    await until(lambda: bool(answers), "the clean-up")
    assert chosen.checkpoint_id in {info.checkpoint_id for info in source.checkpoints()}
    source.set_pinned([chosen.checkpoint_id], True)


def test_a_restore_is_asked_for_with_a_preview_that_ends_with_the_answer(
    qapp: QApplication, tmp_path: Path, gate: CandleGate
) -> None:
    async def story(application: Application) -> None:
        (chosen,) = await some(application, gate, 1)
        previews, banner = application.browser.previews, application.window.banner
        preview, restore = banner.other_row.option, banner.other_row.action
        sent: list[TrainerCommand] = []
        send = previews._send
        previews._send = lambda command: (sent.append(command), send(command))
        ask = application.window.panels.checkpoints.actions_of_panel[ActionId.CHECKPOINT_RESTORE].trigger
        ask()
        assert f"{chosen.step}?" in banner.text.text().replace(",", "")
        assert (preview.text(), restore.text()) == ("Preview", "Restore")
        await still_there_after_a_clean_up(application, chosen)
        assert previews.layer.shown == (), "nothing is drawn before it is asked for"
        QTest.mouseClick(preview, Qt.MouseButton.LeftButton)
        await until(lambda: bool(previews.layer.shown), "its ghosts")
        assert preview.isHidden() and restore.isVisible()
        QTest.mouseClick(banner.other_row.dismiss_button, Qt.MouseButton.LeftButton)
        assert previews.layer.shown == () and not previews.is_shown, "they go with the question"
        newest = step_of(application)
        gate.release(1)
        await until(lambda: step_of(application) > newest, "the next candle")
        assert previews.layer.shown == (), "they do not come back"
        ask()
        QTest.mouseClick(preview, Qt.MouseButton.LeftButton)
        await until(lambda: bool(previews.layer.shown), "its ghosts again")
        (drawn,) = previews.layer.shown
        assert drawn.forecast.step == chosen.step and drawn.forecast.checkpoint_id == chosen.checkpoint_id
        assert not any(each.kind == "restored" for each in application.state.incidents)
        origin_ms = drawn.forecast.origin_open_time_ms
        gate.release(1)
        await until(
            lambda: any(each.forecast.origin_open_time_ms > origin_ms for each in previews.layer.shown),
            "ghosts from the next candle on",
        )
        sent.clear()
        QTest.mouseClick(restore, Qt.MouseButton.LeftButton)
        assert sent == [RestoreCheckpoint(chosen.checkpoint_id)]
        await until(lambda: any(each.kind == "restored" for each in application.state.incidents), "the restore")
        assert previews.layer.shown == () and not previews.is_shown

    run_window(qapp, context(tmp_path), story)


@pytest.mark.slow
def test_two_checkpoints_are_compared_on_the_chart_and_in_numbers(
    qapp: QApplication, tmp_path: Path, gate: CandleGate
) -> None:
    async def story(application: Application) -> None:
        chosen = await some(application, gate, 2)
        previews = application.browser.previews
        press(application, Qt.Key.Key_H, CONTROL)
        await until(lambda: len(previews.layer.shown) == 2, "the ghosts of both")
        origins = {each.forecast.origin_open_time_ms for each in previews.layer.shown}
        assert len(origins) <= 2 and {each.forecast.step for each in previews.layer.shown} == {c.step for c in chosen}
        press(application, Qt.Key.Key_H, CONTROL)
        assert previews.layer.shown == ()
        press(application, Qt.Key.Key_D, CONTROL)
        dialog = application.window.findChild(CompareDialog)
        assert dialog is not None and dialog.metrics.columnCount() == 3
        await until(lambda: len(previews.layer.shown) == 2, "both on the same candles, while they are compared")
        targets = [[ghost.open_time_ms for ghost in each.forecast.ghosts] for each in previews.layer.shown]
        assert len(targets[0]) == 3 and set(targets[0]) & set(targets[1])
        titles = [dialog.metrics.item(row, 0).text() for row in range(dialog.metrics.rowCount())]
        losses = [dialog.metrics.item(titles.index("Gradients"), column).text() for column in (1, 2)]
        assert all(losses)
        assert "No known differences" in dialog.settings.item(0, 0).text()
        QTest.mouseClick(
            dialog.only_different, Qt.MouseButton.LeftButton, pos=dialog.only_different.rect().center() * 0.1
        )
        dialog.only_different.setChecked(False)
        paths = [dialog.settings.item(row, 0).text() for row in range(dialog.settings.rowCount())]
        assert "training.learning_rate" in paths
        assert dialog.plot.getPlotItem().listDataItems()[0].getData()[0].size > 10
        dialog.reject()

    run_window(qapp, context(tmp_path), story)


def test_an_exported_checkpoint_is_imported_and_verified(
    qapp: QApplication, tmp_path: Path, learned: Path, gate: CandleGate, idle_trainer: None
) -> None:
    place = tmp_path / "Export these"
    place.mkdir()

    async def export(application: Application) -> None:
        (chosen,) = await some(application, gate, 1, is_training=False)
        press(application, Qt.Key.Key_E, CONTROL | SHIFT)
        dialog = application.window.findChild(QFileDialog)
        assert dialog is not None
        dialog.fileSelected.emit(str(place))
        dialog.reject()
        await until(lambda: not application.browser.transfer.is_busy, "the export")
        assert str(place) in application.window.banner.text.text()
        (folder,) = place.iterdir()
        assert chosen.sha256 in (folder / "card.json").read_text()

    async def import_package(application: Application) -> None:
        (folder,) = place.iterdir()
        exchange, window = application.browser.transfer, application.window
        await until(lambda: application.state.is_starting, "a run without a checkpoint")
        exchange.import_from(folder)
        await until(lambda: not exchange.is_busy, "the import")
        (info,) = window.panels.checkpoints.selected()
        assert info.run_id.startswith("imported-") and info.verified_at_ms is not None
        assert window.shell.settings.current.browser.all_runs
        press(application, Qt.Key.Key_Y, CONTROL)
        await until(lambda: not exchange.is_busy, "the verification")
        assert "Intact: 1 of 1" in window.banner.text.text()
        file = application.browser.transfer._folder.absolute(info.file)
        file.write_bytes(file.read_bytes()[:-1])
        exchange.verify([info])
        await until(lambda: not exchange.is_busy, "the verification")
        window.panels.checkpoints.refresh()
        assert "altered" in window.banner.text.text() and window.panels.checkpoints.selected()[0].fault
        (folder / "weights.safetensors").write_bytes(b"\x80\x04.")
        exchange.import_from(folder)
        await until(lambda: not exchange.is_busy, "the import")
        assert "weights.safetensors was altered" in window.banner.text.text()

    run_window(qapp, context(learned), export)
    run_window(qapp, context(tmp_path / "another"), import_package)


def test_an_export_of_which_one_fails_says_how_many_did_not(
    qapp: QApplication, tmp_path: Path, learned: Path, gate: CandleGate, idle_trainer: None
) -> None:
    place = tmp_path / "Export these"
    place.mkdir()

    async def story(application: Application) -> None:
        first, second = await some(application, gate, 2, is_training=False)
        exchange, source = application.browser.transfer, application.source
        rows = [source.catalog.get(info.checkpoint_id) for info in (first, second)]
        application._context.folder.absolute(first.file).unlink()
        exchange.export([row for row in rows if row is not None], place)
        await until(lambda: not exchange.is_busy, "the export")
        assert f"1 of 2 checkpoints exported to {place}." in application.window.banner.text.text()

    run_window(qapp, context(learned), story)


def test_a_clean_up_deletes_the_announced_checkpoints(qapp: QApplication, tmp_path: Path, gate: CandleGate) -> None:
    async def story(application: Application) -> None:
        source = application.source
        gate.release(20)
        await until(lambda: len(source.checkpoints()) >= 5, "five checkpoints")
        press(application, Qt.Key.Key_D, CONTROL | SHIFT)
        dialog = application.window.findChild(CleanUpDialog)
        assert dialog is not None and would_delete(dialog) == []
        listed = dialog.model.rowCount()
        gate.release(10)
        await until(lambda: dialog.model.rowCount() > listed, "a checkpoint saved while the list is open")
        dialog.form.editor("keep_newest").put(2)
        dialog.form.editor("keep_best").put(1)
        gone = {info.checkpoint_id for info in source.checkpoints() if f"{info.step:,}" in would_delete(dialog)}
        assert gone and dialog.now.isEnabled() and "deleted" in dialog.summary.text()
        assert "would be deleted" in dialog.model.index(0, 0).data()
        QTest.mouseClick(dialog.now, Qt.MouseButton.LeftButton)
        await until(lambda: not gone & {info.checkpoint_id for info in source.checkpoints()}, "the clean-up")
        assert application.settings.current.checkpoints.keep_newest == 2

    run_window(qapp, context(tmp_path), story)

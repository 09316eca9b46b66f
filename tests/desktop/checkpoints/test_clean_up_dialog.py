"""The dialog of the clean-up rules, and its list of what they would delete."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialogButtonBox
from pytestqt.qtbot import QtBot

from core.settings.tree import CheckpointSettings
from desktop.checkpoints.clean_up_dialog import CleanUpData, CleanUpDialog
from tests.desktop import scenario

INFOS = [scenario.checkpoint(step, skill=None, loss=None, health="healthy") for step in range(300, 0, -10)]


@pytest.fixture
def known() -> list[CleanUpData]:
    """What there is: the last one."""
    return [CleanUpData(INFOS, scenario.NOW_MS, is_training=True)]


@pytest.fixture
def dialog(qtbot: QtBot, known: list[CleanUpData]) -> CleanUpDialog:
    made = CleanUpDialog(lambda: known[-1], CheckpointSettings(keep_newest=5, keep_every_steps=0))
    qtbot.addWidget(made)
    made.show()
    return made


def test_a_number_out_of_range_is_reported_while_it_is_typed(
    qtbot: QtBot, qapp: QApplication, dialog: CleanUpDialog
) -> None:
    """Regression: the 1 of 10 raised ValueError out of the window's event loop."""
    box, save = dialog.form.editor("keep_newest").widget, dialog.buttons.button(QDialogButtonBox.StandardButton.Save)
    before = len(would_delete(dialog))
    box.setFocus()
    box.selectAll()  # type: ignore[attr-defined]
    qtbot.keyClicks(box, "1")
    assert dialog.problem.text() == "Keep newest: 1 is out of range. Enter a number from 2 to 1,000."
    assert not dialog.now.isEnabled() and not save.isEnabled() and not dialog.summary.text()
    qtbot.keyClicks(box, "0")
    assert not dialog.problem.isVisible() and dialog.now.isEnabled() and save.isEnabled()
    assert len(would_delete(dialog)) == before - 5
    qtbot.keyClicks(box, "00000")
    assert not dialog.now.isEnabled()
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert dialog.isVisible(), "the key that refused the number accepts nothing"
    qapp.processEvents()
    assert "stays" in dialog.problem.text() and dialog.now.isEnabled() and save.isEnabled()


def test_the_list_follows_the_checkpoints(dialog: CleanUpDialog, known: list[CleanUpData]) -> None:
    """Regression: it named a step in use that no longer was, and kept ones that a clean-up then deleted."""
    before = would_delete(dialog)
    newer = [replace(INFOS[0], checkpoint_id=f"newer-{step}", step=step, is_in_use=step == 320) for step in (320, 310)]
    known.append(replace(known[-1], infos=[*newer, *INFOS]))
    dialog.refresh()
    assert fates(dialog)[320] == "kept: in use, among the newest"
    assert would_delete(dialog)[:3] == [270, 260, 250]
    assert would_delete(dialog)[2:] == before and f"{len(before) + 2} checkpoints of 32" in dialog.summary.text()
    held, offered = (next(info for info in INFOS if info.step == step) for step in before[:2])
    known.append(replace(known[-1], held=[held.checkpoint_id], offered=offered.checkpoint_id))
    dialog.refresh()
    assert fates(dialog)[held.step] == "kept: open in the window"
    assert "offered as a recovery point" in fates(dialog)[offered.step]
    known.append(replace(known[-1], is_training=False))
    dialog.refresh()
    assert not dialog.now.isEnabled() and "Training is stopped" in dialog.summary.text()


def test_a_change_meanwhile_leaves_the_number_that_is_being_typed(
    qtbot: QtBot, dialog: CleanUpDialog, known: list[CleanUpData]
) -> None:
    box = dialog.form.editor("keep_newest").widget
    box.setFocus()
    box.selectAll()  # type: ignore[attr-defined]
    qtbot.keyClicks(box, "1")
    known.append(replace(known[-1], infos=INFOS[1:]))
    dialog.refresh()
    assert "1 is out of range" in dialog.problem.text() and not dialog.now.isEnabled()
    qtbot.keyClicks(box, "2")
    assert dialog.form.value().keep_newest == 12 and " of 29 " in dialog.summary.text()


def would_delete(dialog: CleanUpDialog) -> list[int]:
    """Steps, the newest first."""
    return [step for step, fate in fates(dialog).items() if fate == "would be deleted"]


def fates(dialog: CleanUpDialog) -> dict[int, str]:
    """By step: what the list says of it."""
    rows = range(dialog.model.rowCount())
    return {int(dialog.model.index(row, 1).data().replace(",", "")): dialog.model.index(row, 0).data() for row in rows}

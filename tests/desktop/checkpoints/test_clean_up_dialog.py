"""The dialog of the clean-up rules, and its list of what they would delete."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialogButtonBox
from pytestqt.qtbot import QtBot

from core.settings.tree import CheckpointSettings
from desktop.checkpoints.clean_up_dialog import CleanUpDialog
from tests.desktop import scenario

INFOS = [replace(scenario.checkpoint(step), health="healthy") for step in range(300, 0, -10)]


@pytest.fixture
def dialog(qtbot: QtBot) -> CleanUpDialog:
    made = CleanUpDialog(
        INFOS, CheckpointSettings(keep_newest=5, keep_every_steps=0), scenario.NOW_MS, is_training=True
    )
    qtbot.addWidget(made)
    made.show()
    qtbot.waitExposed(made)
    return made


def test_a_number_out_of_range_is_reported_while_it_is_typed(
    qtbot: QtBot, qapp: QApplication, dialog: CleanUpDialog
) -> None:
    """Regression: the 1 of 10 raised ValueError out of the window's event loop."""
    box, save = dialog.editors["keep_newest"].widget, dialog.buttons.button(QDialogButtonBox.StandardButton.Save)
    before = len(dialog.would_delete())
    box.setFocus()
    box.selectAll()  # type: ignore[attr-defined]
    qtbot.keyClicks(box, "1")
    assert dialog.problem.text() == "Keep newest: 1 is out of range. Enter a number from 2 to 1,000."
    assert not dialog.now.isEnabled() and not save.isEnabled() and not dialog.summary.text()
    qtbot.keyClicks(box, "0")
    assert not dialog.problem.isVisible() and dialog.now.isEnabled() and save.isEnabled()
    assert len(dialog.would_delete()) == before - 5
    qtbot.keyClicks(box, "00000")
    assert not dialog.now.isEnabled()
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert dialog.isVisible(), "the key that refused the number accepts nothing"
    qapp.processEvents()
    assert "stays" in dialog.problem.text() and dialog.now.isEnabled() and save.isEnabled()

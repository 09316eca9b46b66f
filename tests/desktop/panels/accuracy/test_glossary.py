"""Words of the Accuracy panel lead to the glossary."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from desktop.panels.accuracy.models_table import Column, Entry
from desktop.panels.accuracy.panel import AccuracyPanel
from desktop.state.run_state import RunState
from desktop.ui.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel
from tests.support.docs import DOCS


def test_a_click_on_a_word_names_its_entry(qtbot: QtBot, state: RunState, theme: Theme) -> None:
    panel = AccuracyPanel(state, theme)
    shown_panel(qtbot, panel)
    state.apply(scenario.status())
    panel.refresh()
    chosen: list[str] = []
    panel.links.chosen.connect(chosen.append)
    linked = [
        label
        for label in panel.findChildren(QLabel)
        if label.isVisible() and label.cursor().shape() is Qt.CursorShape.PointingHandCursor
    ]
    for label in linked:
        qtbot.mouseClick(label, Qt.MouseButton.RightButton)
        qtbot.mouseClick(label, Qt.MouseButton.LeftButton)
    assert len(chosen) == len(linked) == 7
    table = panel.details.models.table
    for column in Column:
        table.horizontalHeader().sectionClicked.emit(column)
    for row in scenario.leaderboard().rows:
        panel.details.models.model.show([Entry(row, False, None, "")])
        table.doubleClicked.emit(panel.details.models.model.index(0, Column.NAME))
    assert {"weight", "rank", "baseline", "challenger", "no-change", "model"} <= set(chosen)
    chosen += panel.details.bands.links._anchors.values()
    assert {"coverage", "direction", "proven-not-proven"} <= set(chosen)
    entries = re.findall(r"^### (.+)$", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(chosen) <= {entry.lower().replace(",", "").replace(" ", "-") for entry in entries}

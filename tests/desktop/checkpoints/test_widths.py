"""The columns of the checkpoints are as wide as what stands in them."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from core.events import CheckpointsChanged
from core.window_settings import AppearanceSettings
from desktop.checkpoints.columns import PLACE
from desktop.checkpoints.panel import CheckpointsPanel
from desktop.checkpoints.source import CheckpointSource
from desktop.checkpoints.table import CheckpointTable
from desktop.interface_size import set_font
from desktop.state import RunState
from desktop.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel

WRECKED = {"skill": -0.848, "skill_low": -1.948, "skill_high": -0.1234, "loss": 14.2123}


@pytest.mark.parametrize("percent", [100, 150])
def test_numbers_get_their_room_before_notes(
    qtbot: QtBot, qapp: QApplication, state: RunState, theme: Theme, percent: int
) -> None:
    """A wrecked checkpoint's score is the longest; no column of words that was just written is cut either."""
    set_font(qapp, AppearanceSettings(interface_percent=percent))
    library = scenario.Library(
        [
            scenario.checkpoint(12_350, reason="change", tags=("good", "to keep")),
            scenario.checkpoint(12_345, reason="restore"),
            *(scenario.checkpoint(step, **WRECKED) for step in range(12_344, 12_240, -1)),
            scenario.checkpoint(12_000, **{**WRECKED, "skill_low": -12.171}),
        ]
    )
    state.apply(scenario.ready())
    state.apply(CheckpointsChanged(scenario.RUN, library.infos[0]))
    panel = CheckpointsPanel(CheckpointSource(library, state, state), theme)
    shown_panel(qtbot, panel, 900, 320)
    panel.refresh()
    for width in (1_600, 900, 640, 1_280):
        panel.resize(width, 320)
        for _ in range(4):
            qapp.processEvents()
        table = panel.table
        assert "skill" in table.shown_columns() and panel.model.rowCount() >= 103
        for row in range(panel.model.rowCount()):
            for name in table.shown_columns():
                if name not in ("marks", "note"):
                    index = panel.model.index(row, PLACE[name])
                    needed = table.itemDelegateForIndex(index).sizeHint(option(table), index).width()  # type: ignore[arg-type]
                    assert needed <= table.columnWidth(PLACE[name]), f"{index.data()} at {width}"


def option(table: CheckpointTable) -> QStyleOptionViewItem:
    made = QStyleOptionViewItem()
    table.initViewItemOption(made)
    return made

"""Columns of the checkpoint table are as wide as their contents."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QRect
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QStyleOptionViewItem, QWidget
from pytestqt.qtbot import QtBot

from core.domain.events import CheckpointsChanged
from core.settings.window import AppearanceSettings, BrowserSettings
from desktop.checkpoints.columns import COLUMNS, PLACE, SHRINKING, tooltip
from desktop.checkpoints.panel import CheckpointsPanel
from desktop.checkpoints.table import CheckpointTable
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.run_state import RunState
from desktop.ui.interface_size import set_font
from desktop.ui.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import shown_panel

WRECKED = {"model_gain": -0.848, "gain_low": -1.948, "gain_high": -0.1234, "loss": 14.2123}


@pytest.mark.parametrize("percent", [100, 150])
def test_number_columns_get_width_before_notes(
    qtbot: QtBot, qapp: QApplication, state: RunState, theme: Theme, percent: int
) -> None:
    """What a diverged checkpoint adds is the longest; a text column just edited is not cut either."""
    set_font(qapp, AppearanceSettings(interface_percent=percent))
    library = scenario.Library(
        [
            scenario.checkpoint(12_350, reason="change", tags=("good", "to keep")),
            scenario.checkpoint(12_345, reason="restore"),
            *(scenario.checkpoint(step, **WRECKED) for step in range(12_344, 12_240, -1)),
            scenario.checkpoint(12_000, **{**WRECKED, "gain_low": -12.171}),
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
        assert "adds" in table.shown_columns() and panel.model.rowCount() >= 103
        for row in range(panel.model.rowCount()):
            for name in table.shown_columns():
                if name not in ("marks", "note", *SHRINKING):
                    index = panel.model.index(row, PLACE[name])
                    needed = table.itemDelegateForIndex(index).sizeHint(option(table), index).width()  # type: ignore[arg-type]
                    assert needed <= table.columnWidth(PLACE[name]), f"{index.data()} at {width}"


def test_a_restore_takes_no_column_away(qtbot: QtBot, state: RunState, theme: Theme) -> None:
    """Regression: “as restored”, as it was, widened the column, and Coverage was gone until the end of the session."""
    library = scenario.Library([scenario.checkpoint(step, **WRECKED) for step in (12_350, 12_340)])
    state.apply(scenario.ready())
    state.apply(CheckpointsChanged(scenario.RUN, library.infos[0]))
    panel = CheckpointsPanel(CheckpointSource(library, state, state), theme)
    shown_panel(qtbot, panel, 900, 320)
    panel.refresh()
    widths = [panel.table.columnWidth(place) for place in PLACE.values()]
    restored = scenario.checkpoint(12_360, **WRECKED, reason="restore")
    library.infos.insert(0, restored)
    state.apply(CheckpointsChanged(scenario.RUN, restored))
    panel.refresh()
    row = panel.model.index(0, PLACE["adds"])
    assert row.data() == "−84.8 %, before restore" and "−194.8 to" in tooltip(panel.model.row(0))
    assert [panel.table.columnWidth(place) for place in PLACE.values()] == widths


def test_no_number_is_cut_at_the_edge_at_any_scroll_position(
    qtbot: QtBot, qapp: QApplication, state: RunState, theme: Theme
) -> None:
    """The last digit of a loss was under the edge, as would be the first of a step scrolled to the left."""
    library = scenario.Library([scenario.checkpoint(12_350), scenario.checkpoint(12_345)])
    state.apply(scenario.ready())
    state.apply(CheckpointsChanged(scenario.RUN, library.infos[0]))
    panel = CheckpointsPanel(CheckpointSource(library, state, state), theme)
    shown_panel(qtbot, panel, 320, 320)
    panel.show_settings(BrowserSettings(columns=tuple(PLACE), sort_by="note"))
    panel.refresh()
    qapp.processEvents()
    table, scrolled = panel.table, panel.table.horizontalScrollBar()
    painted, cut = Painted(table.viewport()), set[str]()
    cells, titles = table.viewport(), table.horizontalHeader().viewport()
    blank = {part: strip(part, 2) for part in (cells, titles)}  # where an icon would be, and of a column without title
    for value in range(1, scrolled.maximum() + 1, 7):
        scrolled.setValue(value)
        qapp.processEvents()
        assert painted.last == cells.rect(), "all again: Qt would move what it had painted"
        for x in (1, cells.width() - 2):
            column = COLUMNS[table.columnAt(x)]
            inside = x - table.columnViewportPosition(PLACE[column.name])
            if column.is_number and 3 < inside < table.columnWidth(PLACE[column.name]) - 3:
                cut.add(column.name)
                for part, empty in blank.items():
                    assert np.abs(strip(part, x) - empty).max() < 16, f"{column.name} at {value}: letters at the edge"
    assert cut >= {"step", "adds", "loss"}


class Painted(QObject):
    """Records the part of a widget painted last."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.last = QRect()
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            self.last = event.rect()
        return False


def strip(part: QWidget, x: int) -> np.ndarray:
    """How light one column of pixels is, as far down as the first row and a title go."""
    image = part.grab(QRect(x, 0, 1, 18)).toImage()
    return np.array([image.pixelColor(0, y).lightness() for y in range(18)])


def option(table: CheckpointTable) -> QStyleOptionViewItem:
    made = QStyleOptionViewItem()
    table.initViewItemOption(made)
    return made

"""Bar, dot and icon of a selected row have enough contrast with the selection's background."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QItemSelectionModel, QRect, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QTableView
from pytestqt.qtbot import QtBot

from core.domain.events import JobProgress
from core.logs.reading import LogBook
from desktop.checkpoints.columns import PLACE
from desktop.checkpoints.panel import CheckpointsPanel
from desktop.jobs.panel import JobsPanel
from desktop.jobs.table import PROGRESS
from desktop.panels.events.panel import EventsPanel
from desktop.panels.markets.model import Column
from desktop.panels.markets.panel import MarketsPanel
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.run_state import RunState
from desktop.ui.theme import Mode, Theme
from tests.desktop import feed_scenario, scenario, watch_scenario
from tests.desktop.conftest import shown_panel
from tests.support.contrast import contrast


@pytest.fixture(params=["dark", "light"])
def theme(request: pytest.FixtureRequest, qapp: QApplication) -> Theme:
    mode: Mode = request.param
    theme = Theme(mode)
    theme.apply_to(qapp)
    return theme


def pixels(table: QTableView, place: QRect) -> np.ndarray:
    image = table.viewport().grab(place).toImage().convertToFormat(QImage.Format.Format_RGB32)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine() // 4, 4)
    return rows[:, : image.width(), 2::-1].astype(int)


def has(area: np.ndarray, colour: QColor) -> bool:
    return bool((np.abs(area - np.array(colour.getRgb()[:3])) <= 3).all(axis=-1).any())


def has_contrast(area: np.ndarray, ground: QColor) -> bool:
    """Whether some pixel has a contrast of 3 to 1 with the background."""
    colours = {tuple(int(each) for each in colour) for colour in area.reshape(-1, 3)}
    return max(contrast(QColor(*colour), ground) for colour in colours) >= 3.0


def test_the_bar_of_the_market_on_the_chart_and_the_dot_of_its_state(
    qtbot: QtBot, state: RunState, theme: Theme
) -> None:
    panel = MarketsPanel(state, theme, watch_scenario.markets())
    shown_panel(qtbot, panel, 400, 420)
    panel.set_seen(True)
    feed_scenario.connected(state)
    watch_scenario.fill_quotes(state)
    panel.refresh()
    row = next(number for number, each in enumerate(panel.model.rows) if each.is_on_chart)
    panel.table.selectRow(row)
    cell = panel.table.visualRect(panel.model.index(row, Column.MARKET))
    bar = QRect(cell.left(), cell.top() + 4, 3, cell.height() - 8)
    ground = theme.palette.accent
    assert has_contrast(pixels(panel.table, bar), ground)
    dot = QRect(cell.left() + 3, cell.top(), 16, cell.height() // 2)
    area = pixels(panel.table, dot)
    assert has(area, panel.model.rows[row].dot(theme.palette)) and has_contrast(area, ground)


def test_the_bar_of_a_job(qtbot: QtBot, state: RunState, theme: Theme) -> None:
    panel = JobsPanel(state, theme)
    shown_panel(qtbot, panel, 700, 200)
    state.apply(JobProgress("job", "Working", 5, 10))
    panel.refresh()
    panel.table.selectRow(0)
    cell = panel.table.visualRect(panel.table.model().index(0, PROGRESS))
    half = QRect(cell.left() + 10, cell.top() + 2, 20, cell.height() - 4)
    assert has_contrast(pixels(panel.table, half), theme.palette.accent)


def test_the_icon_of_an_incident(qtbot: QtBot, tmp_path: Path, state: RunState, theme: Theme) -> None:
    panel = EventsPanel(state, LogBook(tmp_path), theme)
    shown_panel(qtbot, panel, 900, 300)
    state.apply(scenario.ready())
    for incident in scenario.incidents():
        state.apply(incident)
    panel.refresh()
    table = panel.findChild(QTableView)
    assert table is not None
    for row in range(table.model().rowCount()):
        table.selectRow(row)
        cell = table.visualRect(table.model().index(row, 0))
        icon = QRect(cell.left() + 2, cell.top() + 1, 20, cell.height() - 2)
        assert has_contrast(pixels(table, icon), theme.palette.accent)


def test_the_current_cell_of_a_selected_checkpoint_looks_like_its_row(
    qtbot: QtBot, state: RunState, theme: Theme
) -> None:
    """Regression: in the dark its text was grey on bright blue."""
    library = scenario.Library(scenario.checkpoints())
    state.apply(scenario.ready())
    panel = CheckpointsPanel(CheckpointSource(library, state, state), theme)  # type: ignore[arg-type]
    shown_panel(qtbot, panel, 900, 320)
    panel.refresh()
    table = panel.table
    panel.activateWindow()
    table.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(table.hasFocus)
    for column in (PLACE["marks"], PLACE["adds"], PLACE["reason"]):
        index = panel.model.index(1, column)
        table.setCurrentIndex(panel.model.index(1, PLACE["saved"]))
        table.selectRow(1)
        elsewhere = pixels(table, table.visualRect(index))
        table.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
        assert (pixels(table, table.visualRect(index)) == elsewhere).all()

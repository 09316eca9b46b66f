"""A window that costs a fifth of the whole one: the chart, its actions and the banner, and no docks."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QCloseEvent, QCursor, QShowEvent
from PySide6.QtWidgets import QMainWindow, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from core.domain.clock import ManualClock
from core.settings.tree import Settings
from desktop.actions import ActionRegistry
from desktop.actions.table import standard_actions
from desktop.chart.widget import ChartWidget
from desktop.notifications.messages import DesktopMessages
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.run_state import RunState
from desktop.ui.banner import Banner
from desktop.ui.theme import Theme
from desktop.window.main_window import MainWindow
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench

_SIZE = (871, 454)
"""That of the chart in a window of 1280 x 720."""


class ChartWindow(MainWindow):
    """What `desktop.chart.controllers` asks of the window, by the window's own code; none of its panels is made."""

    def __init__(
        self, state: RunState, theme: Theme, chart: ChartWidget, library: scenario.Library, settings: Settings
    ) -> None:
        QMainWindow.__init__(self)
        self._state, self._theme, self._settings = state, theme, settings
        self.chart, self.source = chart, CheckpointSource(library, state, self)
        self.banner, self.messages = Banner(theme), DesktopMessages(self)
        self.actions_of_window = ActionRegistry(standard_actions(), self)
        middle = QWidget()
        layout = QVBoxLayout(middle)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.banner)
        layout.addWidget(chart, 1)
        self.setCentralWidget(middle)

    def showEvent(self, event: QShowEvent) -> None:
        QMainWindow.showEvent(self, event)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.closing.emit()
        QMainWindow.closeEvent(self, event)

    def _store(self, settings: Settings) -> None:
        if settings != self._settings:
            self._settings = settings
            self.settings_changed.emit(settings)

    def _show_settings(self) -> None:
        self.settings_shown.emit(self._settings)


@pytest.fixture
def make_chart_bench(qtbot: QtBot, clock: ManualClock) -> MakeBench:
    def make(settings: Settings | None = None) -> Bench:
        QCursor.setPos(10, 700)  # below the window: where an earlier test left the mouse, the chart would believe it
        state, theme = RunState(clock), Theme("dark")
        chart, library = ChartWidget(theme, clock), scenario.Library(scenario.checkpoints())
        window = ChartWindow(state, theme, chart, library, settings or Settings())
        qtbot.addWidget(window)
        window.resize(*_SIZE)
        window.show()
        qtbot.waitExposed(window)
        chart.setFocus()
        return Bench(window, state, clock, theme, chart, library)

    return make

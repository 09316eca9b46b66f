"""A window at a fifth of the usual cost: the chart, its actions and the banner, without docks."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QCloseEvent, QCursor, QShowEvent
from PySide6.QtWidgets import QMainWindow, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from core.domain.clock import ManualClock
from core.settings.tree import Settings
from desktop.actions import ActionRegistry, menu_actions
from desktop.chart.widget import ChartWidget
from desktop.notifications.messages import DesktopMessages
from desktop.services.market_choice import MarketChoice
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore
from desktop.state.shell import Shell
from desktop.ui.banner import Banner
from desktop.ui.theme import Theme
from desktop.window.main_window import MainWindow
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench

_SIZE = (871, 454)
"""The chart's size in a window of 1280 x 720."""


class ChartWindow(MainWindow):
    """Dependencies of the chart's controllers, without any panel."""

    def __init__(self, theme: Theme, chart: ChartWidget, settings: SettingsStore) -> None:
        QMainWindow.__init__(self)
        self.chart, self.banner, self.messages = chart, Banner(theme), DesktopMessages(self)
        self.shell = Shell(self, settings, ActionRegistry(menu_actions(), self), self.banner)
        middle = QWidget()
        layout = QVBoxLayout(middle)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.banner)
        layout.addWidget(chart, 1)
        self.setCentralWidget(middle)

    def showEvent(self, event: QShowEvent) -> None:
        QMainWindow.showEvent(self, event)

    def closeEvent(self, event: QCloseEvent) -> None:
        QMainWindow.closeEvent(self, event)


@pytest.fixture
def make_chart_bench(qtbot: QtBot, clock: ManualClock) -> MakeBench:
    def make(settings: Settings | None = None) -> Bench:
        QCursor.setPos(10, 700)  # below the window, wherever an earlier test left the mouse
        state, theme = RunState(clock), Theme("dark")
        chart, library = ChartWidget(theme, clock), scenario.Library(scenario.checkpoints())
        store = SettingsStore(settings or Settings())
        window = ChartWindow(theme, chart, store)
        qtbot.addWidget(window)
        window.resize(*_SIZE)
        window.show()
        chart.setFocus()
        source = CheckpointSource(library, state, window)
        return Bench(window, state, clock, theme, chart, library, source, MarketChoice(store, window))

    return make

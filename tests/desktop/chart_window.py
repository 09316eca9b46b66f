"""A window at a fifth of the usual cost: the chart, its actions and the banner, without docks."""

from __future__ import annotations

from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import QMainWindow, QVBoxLayout, QWidget

from desktop.actions import ActionRegistry, menu_actions
from desktop.chart.widget import ChartWidget
from desktop.notifications.messages import DesktopMessages
from desktop.state.settings_store import SettingsStore
from desktop.state.shell import Shell
from desktop.ui.banner import Banner
from desktop.ui.theme import Theme
from desktop.window.main_window import MainWindow


class ChartWindow(MainWindow):
    """Dependencies of the chart's controllers, without any panel."""

    def __init__(self, theme: Theme, chart: ChartWidget, settings: SettingsStore) -> None:
        QMainWindow.__init__(self)
        self.chart, self.banner, self.messages = chart, Banner(theme), DesktopMessages(self)
        self.shell = Shell(self, settings, ActionRegistry(menu_actions(), self, theme), self.banner)
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

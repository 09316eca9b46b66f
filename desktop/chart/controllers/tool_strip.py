"""The strip at the left of the chart: buttons of the drawing tools."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolBar, QVBoxLayout, QWidget

from core.settings.tree import Settings
from desktop.actions import ActionId
from desktop.chart.controllers.drawings import DRAWING_KINDS
from desktop.state.shell import Shell
from desktop.ui.interface_size import enlarge_icons
from desktop.ui.stacks import NO_MARGINS, beside
from desktop.ui.translation import translate

_ICON_PX = 16


class ToolStrip(QToolBar):
    """Its buttons show which tool is active, as their actions do. Tools without room are in the menu at its end."""

    def __init__(self, shell: Shell, chart: QWidget) -> None:
        super().__init__(translate("Chart", "Drawing tools"), chart.parentWidget(), movable=False)
        self.setOrientation(Qt.Orientation.Vertical)
        self.setAccessibleName(translate("Chart", "Drawing tools"))
        enlarge_icons(self, _ICON_PX)
        self.addActions([shell.actions[action_id] for action_id in DRAWING_KINDS])
        self.addSeparator()
        self.addAction(shell.actions[ActionId.MEASURE])
        self._lay_out(chart)
        shell.settings.changed.connect(self._show)
        self._show(shell.settings.current)

    def buttons(self) -> list[QWidget]:
        return [self.widgetForAction(action) for action in self.actions() if not action.isSeparator()]

    def _lay_out(self, chart: QWidget) -> None:
        parent = chart.parentWidget()
        around = None if parent is None else parent.layout()
        assert isinstance(around, QVBoxLayout), "the chart lies in a column"
        place = around.indexOf(chart)
        around.removeWidget(chart)
        around.insertLayout(place, beside(None, self, chart, stretched=chart, margins=NO_MARGINS, spacing=0), 1)
        for button in self.buttons():
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves keyboard focus on the chart

    def _show(self, settings: Settings) -> None:
        self.setVisible(settings.chart.show_drawing_tools)

"""What can be done to the whole window, at random: its actions, menus, dialogs and docks, and what the trainer says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import shiboken6
from PySide6.QtWidgets import QApplication, QDialog, QToolButton, QWidget

from core.clock import ManualClock
from core.events import CheckpointsChanged, TrainerState
from core.indicators.spec import IndicatorKind, IndicatorSpec
from core.settings import Settings
from desktop.actions import ActionId
from desktop.chart.widget import ChartWidget
from desktop.charting.appearance import ChartAppearance
from desktop.charting.go_to_date import GoToDate
from desktop.charting.saving import ChartSaving
from desktop.charting.studies import ChartStudies
from desktop.state import RunState
from desktop.theme import Theme
from desktop.window import MainWindow
from tests.desktop import scenario
from tests.torture.chart import ZONES, ChartActs
from tests.torture.hands import Hands
from tests.torture.run import Act

LEFT_ALONE = (ActionId.QUIT, ActionId.OPEN_DATA_FOLDER, ActionId.SAVE_PICTURE, ActionId.EXPORT_CSV)
"""They end the window, start a file manager, or open a dialog that reads the disk."""
_MOST_DIALOGS = 3


class WindowActs:
    """A window as the application composes it, with a chart that is tortured as well."""

    def __init__(self, theme: Theme, clock: ManualClock, random: np.random.Generator, folder: Path) -> None:
        self._random = random
        self.state = RunState(clock)
        chart = ChartWidget(theme, clock)
        self.library = scenario.Library(scenario.checkpoints())
        self.window = MainWindow(self.state, theme, chart, self.library, Settings(), folder)
        self.appearance = ChartAppearance(self.window, chart)
        ChartSaving(self.window, chart, clock)
        GoToDate(self.window, chart)
        ChartStudies(self.window, chart)
        for action_id in LEFT_ALONE:
            self.window.actions_of_window[action_id].setEnabled(False)
        self.chart_acts = ChartActs(chart, theme, clock, random)
        self._everywhere = Hands(random, self.window)
        self._statuses = list(TrainerState)
        self.begin()

    def begin(self) -> None:
        """A run in full swing."""
        self.state.apply(scenario.ready())
        for event in (*scenario.steps(200), *scenario.incidents(), scenario.status()):
            self.state.apply(event)

    def acts(self) -> dict[Act, float]:
        chart = self.chart_acts
        return (
            chart.data_acts()
            | chart.hand_acts()
            | {
                self.key: 0.1,
                self.click_somewhere: 0.01,
                self.trigger: 0.03,
                self.close_dialog: 0.02,
                self.answer: 0.01,
                self.choose_settings: 0.004,
                self.choose_indicators: 0.003,
                self.hear_from_trainer: 0.02,
                self.resize: 0.002,
                self.move_dock: 0.002,
            }
        )

    def key(self) -> str:
        """To whatever has the focus."""
        return self._everywhere.key(self._focus)

    def click_somewhere(self) -> str:
        """On some button or box that is shown, with the wheel as well."""
        # PySide may hand out the wrapper of a popup's list that is gone already.
        found = [child for child in self._top().findChildren(QWidget) if shiboken6.isValid(child)]
        shown = [child for child in found if child.isVisible() and child.isEnabled()]
        shown = [child for child in shown if child is not self.chart_acts.chart and not _nests(child)]
        if not shown:
            return "nothing is shown"
        child = shown[int(self._random.integers(len(shown)))]
        hands, name = Hands(self._random, child), f"{type(child).__name__} {child.objectName()}"
        done = hands.wheel() if self._random.random() < 0.4 else hands.drag()
        return f"{done} on {name}"

    def trigger(self) -> str:
        """An action, as its menu or key does; only what is offered."""
        actions = self.window.actions_of_window
        names = [name for name in (info.id for info in actions.infos()) if name not in LEFT_ALONE]
        name = names[int(self._random.integers(len(names)))]
        if len(self._dialogs()) >= _MOST_DIALOGS:
            self.close_dialog()
        actions[name].trigger()
        return name.value

    def close_dialog(self) -> str:
        dialogs = self._dialogs()
        if not dialogs:
            return "none is open"
        dialog = dialogs[-1]
        if self._random.random() < 0.5:
            dialog.accept()
            return f"accept {type(dialog).__name__}"
        dialog.reject()
        return f"reject {type(dialog).__name__}"

    def answer(self) -> str:
        """What the banner and the gradient doctor offer."""
        button = self.window.banner.action
        if button.isVisible():
            button.click()
            return "the banner's button"
        self.window.banner.dismiss()
        return "dismissed the banner"

    def choose_settings(self) -> str:
        """A time zone, theme and colours, by way of the settings."""
        settings = self.window.settings
        zone = str(self._random.choice(ZONES))
        theme = str(self._random.choice(["dark", "light", "system"]))
        colours = str(self._random.choice(["green-red", "blue-orange"]))
        appearance = replace(settings.appearance, theme=theme, colours=colours)  # type: ignore[arg-type]
        changed = replace(settings, appearance=appearance, chart=replace(settings.chart, time_zone=zone))
        self.window.change_settings(changed)
        return f"{zone}, {theme}, {colours}"

    def choose_indicators(self) -> str:
        """Any few, by way of the settings."""
        count = int(self._random.integers(0, 4))
        kinds = [IndicatorKind(each) for each in self._random.choice([kind.value for kind in IndicatorKind], count)]
        chosen = tuple(IndicatorSpec.of(kind).to_json() for kind in kinds)
        settings = self.window.settings
        self.window.change_settings(replace(settings, chart=replace(settings.chart, indicators=chosen)))
        return ", ".join(kind.value for kind in kinds)

    def hear_from_trainer(self) -> str:
        """A status, a step, an incident, or that there are other checkpoints."""
        kind = int(self._random.integers(4))
        if kind == 0:
            self.state.apply(scenario.status(self._statuses[int(self._random.integers(len(self._statuses)))]))
        elif kind == 1:
            newest = self.state.steps.last
            step = next(scenario.steps(1, first=1 if newest is None else newest.step + 1))
            self.state.apply(step)
        elif kind == 2:
            self.state.apply(scenario.incidents()[int(self._random.integers(2))])
        else:
            self.state.apply(CheckpointsChanged(scenario.RUN, None))
        return ("status", "step", "incident", "checkpoints")[kind]

    def resize(self) -> str:
        width, height = int(self._random.integers(300, 1_700)), int(self._random.integers(200, 1_000))
        self.window.resize(width, height)
        return f"{width} x {height}"

    def move_dock(self) -> str:
        """Afloat, back, hidden or shown."""
        docks = list(self.window.docks.values())
        dock = docks[int(self._random.integers(len(docks)))]
        if self._random.random() < 0.5:
            dock.setFloating(not dock.isFloating())
        else:
            dock.setVisible(not dock.isVisible())
        return dock.objectName()

    def rest(self) -> None:
        """No dialog, the layout and settings of the first start, an empty banner, one small market."""
        self.close_popups()
        self.window.banner.dismiss()
        self.library.requested.clear()
        self.library.infos = scenario.checkpoints()
        for dock in self.window.docks.values():
            dock.setFloating(False)
        self.window.change_settings(Settings())
        self.window.reset_layout()
        self.window.resize(1_280, 720)
        self.chart_acts.rest()
        self.begin()

    def close_popups(self) -> None:
        """Menus and dialogs."""
        while (popup := QApplication.activePopupWidget()) is not None and popup.isVisible():
            popup.close()
        for dialog in self._dialogs():
            dialog.reject()

    def _dialogs(self) -> list[QDialog]:
        return [dialog for dialog in self.window.findChildren(QDialog) if dialog.isVisible()]

    def _top(self) -> QWidget:
        return QApplication.activePopupWidget() or QApplication.activeModalWidget() or self.window

    def _focus(self) -> QWidget:
        top = self._top()
        focused = QApplication.focusWidget()
        return focused if focused is not None and top.isAncestorOf(focused) else top


def _nests(widget: QWidget) -> bool:
    """Whether a press lets Qt open a menu in an event loop of its own, which would wait for hands that wait for it:
    the button of a tool bar that is too narrow does."""
    return isinstance(widget, QToolButton) and widget.menu() is not None

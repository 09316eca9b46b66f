"""Random actions on the complete window: its actions, menus, dialogs and docks, and trainer messages."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import shiboken6
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QToolButton, QWidget

from core.domain.clock import ManualClock
from core.domain.events import CheckpointsChanged, MemberRun, TrainerState, TrainerStatus
from core.indicators.registry import INDICATORS
from core.indicators.spec import IndicatorSpec
from core.settings.tree import Settings
from core.storage.folder import DataFolder
from desktop.actions import ActionId
from desktop.chart.controllers.candles import SHOWN_AT_FIRST
from desktop.chart.controllers.composition import ChartEnsemble
from desktop.chart.widget import ChartWidget
from desktop.services.market_choice import MarketChoice
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.database import WindowDatabase
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore
from desktop.ui.banner import Banner
from desktop.ui.theme import Theme
from desktop.window.main_window import MainWindow
from tests.desktop import scenario
from tests.torture.chart import ZONES
from tests.torture.run import Act
from tests.torture.user import LEFT, PLAIN, User, move_mouse
from tests.torture.venue import Venue, WatchedMarket

LEFT_ALONE = (
    ActionId.QUIT,
    ActionId.OPEN_DATA_FOLDER,
    ActionId.SAVE_PICTURE,
    ActionId.EXPORT_CSV,
    ActionId.FULL_SCREEN,
)
"""They close the window, start a file manager, open a dialog that reads the disk, or make the window larger than the
offscreen platform's screen, which paints no more than that."""
_MOST_DIALOGS = 3
_MOST_LINES = 12
_STEPS = 200
_LOOKS_BACK = (
    ActionId.HINDSIGHT,
    ActionId.HINDSIGHT_HORIZON,
    ActionId.REGIMES,
    ActionId.VOLUME_PROFILE,
)
_ON_CHART = 0.5
"""Share of the keys sent to the chart, wherever the focus is."""


class WindowActs:
    """The window as the application composes it, over a real database, with a venue that feeds it."""

    def __init__(self, theme: Theme, clock: ManualClock, random: np.random.Generator, folder: DataFolder) -> None:
        self.theme, self.clock, self._random = theme, clock, random
        self.database = WindowDatabase(folder)
        self.database.open()
        self.state = RunState(clock)
        self.chart = ChartWidget(theme, clock)
        settings, source = SettingsStore(Settings()), CheckpointSource(self.database, self.state)
        choice = MarketChoice(settings)
        self.window = MainWindow(self.state, theme, self.chart, Banner(theme), source, settings, choice, folder.root)
        shell, messages = self.window.shell, self.window.messages
        self.charting = ChartEnsemble(
            shell, self.chart, self.state, source, messages, self.database, folder, self.database.record, theme
        )
        self.charting.incident_chosen.connect(self.window.show_incident)
        self.charting.checkpoint_chosen.connect(self.window.show_checkpoint)
        for action_id in LEFT_ALONE:
            self.window.shell.actions[action_id].setEnabled(False)
        self.user, self._everywhere = User(random, self.chart), User(random, self.window)
        self._statuses = list(TrainerState)
        self.met: Counter[str] = Counter()
        """What the random user reached in the window: a torture test that reaches nothing proves nothing."""
        self.venue = Venue(random, clock, self.database)
        self.watched = self.venue.at_rest
        self.watch(self.venue.markets[2])

    def close(self) -> None:
        """Before the window closes."""
        self.charting.cancel_reading()
        assert self.charting.wait_for_reading()
        self.database.close()

    def watch(self, watched: WatchedMarket) -> None:
        """Another market, in the application's order of events for market and run."""
        self.watched = watched
        watched.walk.forming = None
        scenario.watch(self.state, watched.run_id, watched.name)
        self.charting.show_market(watched.name)
        self.state.apply(scenario.ready(watched.run_id, MemberRun(watched.run_id, watched.name, is_learned=True)))
        for step in scenario.steps(_STEPS):
            self.state.apply(replace(step, run_id=watched.run_id))
        for incident in scenario.incidents():
            self.state.apply(replace(incident, run_id=watched.run_id))
        self.state.apply(self._status())
        forecast = self.database.newest_forecast(watched.run_id, watched.name.interval)
        if forecast is not None:
            self.state.apply(forecast)

    def _status(self, state: TrainerState = TrainerState.TRAINING) -> TrainerStatus:
        run_id = self.watched.run_id
        return scenario.status(state, run_id=run_id, markets=(scenario.market_status(self.watched.name, run_id),))

    def tick(self) -> None:
        """One trade; a closed candle is passed to feed and trainer."""
        forming = self.watched.walk.tick()
        self._tell()
        self.state.markets.set_forming(self.watched.name, forming)

    def acts(self) -> dict[Act, float]:
        return self.user.acts() | self._data_acts() | self._line_acts() | self._window_acts()

    def _data_acts(self) -> dict[Act, float]:
        return {
            self.come_late: 0.01,
            self.correct: 0.005,
            self.remember: 0.001,
            self.sleep: 0.001,
            self.switch_market: 0.004,
            self.switch_while_loading: 0.002,
            self.switch_live: 0.002,
            self.look_back: 0.01,
            self.choose_interval: 0.005,
            self.compare: 0.004,
            self.hear_from_trainer: 0.02,
        }

    def _line_acts(self) -> dict[Act, float]:
        return {self.set_line: 0.01, self.drag_line: 0.01, self.choose_from_menu: 0.01, self.thin_lines: 0.004}

    def _window_acts(self) -> dict[Act, float]:
        return {
            self.key: 0.15,
            self.click_somewhere: 0.01,
            self.trigger: 0.04,
            self.close_dialog: 0.03,
            self.answer: 0.01,
            self.choose_settings: 0.004,
            self.choose_indicators: 0.003,
            self.resize: 0.002,
            self.move_dock: 0.002,
        }

    def notice(self) -> None:
        """Count what is visible now."""
        tools, model, frame = self.charting.tools, self.chart.model, self.chart.frame
        lines, shown = tools.lines.things, self.window.shell.settings.current.chart
        is_own_interval = model.whole is self.charting.candles.stored
        past = () if model.series is None else model.past.view(model.series, frame.first, frame.stop)
        seen = {
            "lines": bool(lines),
            "crossed lines": any(line.crossed_at_ms is not None for line in lines),
            "markers": len(tools.markers.layer.track) > 0,
            "a measure": tools.placed.passing is not None,
            "hindsight": shown.hindsight and len(past) > 0,
            "regimes": shown.regimes
            and model.series is not None
            and len(model.regimes.view(model.series, frame.first, frame.stop, frame.group)) > 0,
            "another interval": not is_own_interval,
            "a whole history": is_own_interval and model.count > SHOWN_AT_FIRST,
            "a coarse whole history": len(self.charting.candles.stored or ()) > SHOWN_AT_FIRST and not is_own_interval,
            "ghosts": bool(model.ghosts()),
            "a comparison": (compared := self.charting.comparison.layer.shown) is not None and bool(compared.series),
            "a held range": self.chart.frame.is_manual,
        }
        self.met.update(name for name, is_met in seen.items() if is_met)

    def come_late(self) -> None:
        """A missing candle arrives."""
        self.watched.walk.come_late()
        self._tell()

    def correct(self) -> None:
        """The venue corrects a stored candle."""
        self.watched.walk.correct()
        for candle in self.watched.walk.take_news():
            self.watched.keep([candle])
            self.state.markets.correct(self.watched.name, candle)

    def remember(self) -> str:
        """Older history arrives."""
        count = int(self._random.integers(1, 60))
        self.watched.walk.remember(count)
        self._tell()
        return f"{count} candles"

    def sleep(self) -> str:
        """The machine was asleep: a hole."""
        seconds = int(self._random.integers(2, 500))
        self.clock.advance_ms(1_000 * seconds)
        return f"{seconds} s"

    def switch_market(self) -> str:
        markets = self.venue.markets
        self.watch(markets[int(self._random.integers(len(markets)))])
        return str(self.watched.name)

    def switch_while_loading(self) -> str:
        """Switch to a market that takes a while to read, in which candles close; then, sometimes, to the other one."""
        large = self.venue.large[int(self._random.integers(2))]
        self.watch(large)
        was_loading = self.charting.history.is_loading
        for _ in range(int(self._random.integers(0, 3))):
            large.walk.close()
            self.tick()
            QApplication.processEvents()
        if self._random.random() < 0.5:
            self.met["interrupted loads"] += self.charting.history.is_loading
            self.switch_market()
        return f"{large.name}, loading: {was_loading}, then {self.watched.name}"

    def switch_live(self) -> None:
        self.chart.set_live(bool(self._random.integers(2)))

    def look_back(self) -> str:
        """Toggle past forecasts over the candles, their horizon, regimes or the volume profile."""
        name = _one_of(self._random, _LOOKS_BACK)
        self.window.shell.actions[name].trigger()
        return name.value

    def choose_interval(self) -> str:
        """Mostly the market's own interval, to which keys seldom return."""
        name = _one_of(self._random, (ActionId.INTERVAL_MARKET,) * 4 + (ActionId.INTERVAL_1M, ActionId.INTERVAL_5M))
        self.window.shell.actions[name].trigger()
        return name.value

    def compare(self) -> str:
        """Compare with any market, including the shown one, or the compared one, which removes it."""
        markets = self.venue.markets
        self.charting.comparison.choose(markets[int(self._random.integers(len(markets)))].name)
        return self.window.shell.settings.current.chart.compare or "stopped"

    def set_line(self) -> str:
        """An alert or a note at the mouse, as a user adds it: a key, then a click."""
        kind = ActionId.ADD_ALERT if self._random.random() < 0.8 else ActionId.ADD_NOTE
        at = self._on_prices()
        move_mouse(self.chart.viewport(), at)
        self.window.shell.actions[kind].trigger()
        self.user.release()
        QTest.mouseClick(self.chart.viewport(), LEFT, PLAIN, at)
        return f"{kind.value} at {at.x()},{at.y()}"

    def drag_line(self) -> str:
        """Drag an existing line from its place to anywhere."""
        lines = self.charting.tools.lines.things
        if not lines:
            return "there is none"
        line, frame = lines[int(self._random.integers(len(lines)))], self.chart.frame
        start = QPoint(self._on_prices().x(), round(frame.y(line.price) / frame.ratio))
        return self.user.drag_between(start, self._on_prices())

    def thin_lines(self) -> str:
        """Remove lines beyond a limit, so that the space between them stays visible."""
        lines, placed = self.charting.tools.lines, self.charting.tools.placed
        while len(lines.things) > _MOST_LINES:
            placed.remove(lines.things[int(self._random.integers(len(lines.things)))])
        return f"{len(lines.things)} left"

    def choose_from_menu(self) -> str:
        """Choose from the open menu; if there is none, open the chart's."""
        menu = QApplication.activePopupWidget()
        if not isinstance(menu, QMenu):
            return self.user.context_menu()
        offered = [each for each in menu.actions() if each.isEnabled() and not each.isSeparator() and not each.menu()]
        if not offered:
            return "nothing is offered"
        action = offered[int(self._random.integers(len(offered)))]
        text = action.text()
        action.trigger()
        menu.close()
        return text

    def key(self) -> str:
        """To the chart, or to the focused widget."""
        if self._random.random() < _ON_CHART and self._top() is self.window:
            self.chart.setFocus()
            return self.user.key()
        return self._everywhere.key(self._focus)

    def click_somewhere(self) -> str:
        """On a visible button or box, including the wheel."""
        # PySide may return the wrapper of a popup's list that is deleted already.
        found = [child for child in self._top().findChildren(QWidget) if shiboken6.isValid(child)]
        shown = [child for child in found if child.isVisible() and child.isEnabled()]
        shown = [child for child in shown if child is not self.chart and not _nests(child)]
        if not shown:
            return "nothing is shown"
        child = shown[int(self._random.integers(len(shown)))]
        user, name = User(self._random, child), f"{type(child).__name__} {child.objectName()}"
        done = user.wheel() if self._random.random() < 0.4 else user.drag()
        return f"{done} on {name}"

    def trigger(self) -> str:
        """An enabled action, as by its menu or key."""
        actions = self.window.shell.actions
        names = [name for name in actions.ids() if name not in LEFT_ALONE]
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
        """Buttons of the banner and the gradient doctor."""
        button = self.window.banner.action
        if button.isVisible():
            button.click()
            return "the banner's button"
        self.window.banner.dismiss()
        return "dismissed the banner"

    def choose_settings(self) -> str:
        """A time zone, theme and colours, through the settings."""
        settings = self.window.shell.settings.current
        zone = str(self._random.choice(ZONES))
        theme = str(self._random.choice(["dark", "light", "system"]))
        colours = str(self._random.choice(["green-red", "blue-orange"]))
        appearance = replace(settings.appearance, theme=theme, colours=colours)  # type: ignore[arg-type]
        changed = replace(settings, appearance=appearance, chart=replace(settings.chart, time_zone=zone))
        self.window.shell.settings.change(changed)
        return f"{zone}, {theme}, {colours}"

    def choose_indicators(self) -> str:
        """A few random indicators, through the settings."""
        count = int(self._random.integers(0, 4))
        kinds = [str(kind) for kind in self._random.choice(list(INDICATORS), count)]
        chosen = tuple(IndicatorSpec.of(kind).to_json() for kind in kinds)
        settings = self.window.shell.settings.current
        self.window.shell.settings.change(replace(settings, chart=replace(settings.chart, indicators=chosen)))
        return ", ".join(kinds)

    def hear_from_trainer(self) -> str:
        """A status, a step, an incident, or a change of checkpoints."""
        kind, run_id = int(self._random.integers(4)), self.watched.run_id
        if kind == 0:
            state = self._statuses[int(self._random.integers(len(self._statuses)))]
            self.state.apply(self._status(state))
        elif kind == 1:
            newest = self.state.steps.last
            step = next(scenario.steps(1, first=1 if newest is None else newest.step + 1))
            self.state.apply(replace(step, run_id=run_id))
        elif kind == 2:
            incident = scenario.incidents()[int(self._random.integers(3))]
            self.state.apply(replace(incident, run_id=run_id, at_ms=self.clock.now_ms()))
        else:
            self.state.apply(CheckpointsChanged(run_id, None))
        return ("status", "step", "incident", "checkpoints")[kind]

    def resize(self) -> str:
        width, height = int(self._random.integers(300, 1_700)), int(self._random.integers(200, 1_000))
        self.window.resize(width, height)
        return f"{width} x {height}"

    def move_dock(self) -> str:
        """Float, dock, hide or show."""
        docks = list(self.window.docks.values())
        dock = docks[int(self._random.integers(len(docks)))]
        if self._random.random() < 0.5:
            dock.setFloating(not dock.isFloating())
        else:
            dock.setVisible(not dock.isVisible())
        return dock.objectName()

    def rest(self) -> None:
        """No dialog, the layout and settings of the first start, an empty banner, the market reserved for it."""
        self.close_popups()
        self.user.rest()
        self.user.leave()
        for dock in self.window.docks.values():
            dock.setFloating(False)
        self.window.shell.settings.change(Settings())
        self.window.reset_layout()
        self.window.resize(1_280, 720)
        self.chart.set_live(False)
        self.watch(self.venue.at_rest)
        while self.window.banner.shown is not None:
            self.window.banner.dismiss()

    def close_popups(self) -> None:
        """Close menus and dialogs."""
        while (popup := QApplication.activePopupWidget()) is not None and popup.isVisible():
            popup.close()
        for dialog in self._dialogs():
            dialog.reject()

    def _tell(self) -> None:
        """Candles added to the market are stored and reported; the trainer continues with the newest."""
        news = self.watched.walk.take_news()
        if not news:
            return
        self.watched.keep(news)
        self.state.markets.add_closed(self.watched.name, news)
        if self._random.random() < 0.1:  # training is behind and never receives this candle
            return
        scores, forecast = self.watched.record(news[-1])
        for score in scores:
            self.state.apply(score)
        self.state.apply(forecast)

    def _on_prices(self) -> QPoint:
        """A random place over the candles."""
        layout, ratio = self.chart.frame.layout, self.chart.frame.ratio
        x = self._random.integers(0, max(round(layout.plot_right / ratio), 1))
        y = self._random.integers(0, max(round(layout.price_bottom / ratio), 1))
        return QPoint(int(x), int(y))

    def _dialogs(self) -> list[QDialog]:
        return [dialog for dialog in self.window.findChildren(QDialog) if dialog.isVisible()]

    def _top(self) -> QWidget:
        return QApplication.activePopupWidget() or QApplication.activeModalWidget() or self.window

    def _focus(self) -> QWidget:
        top = self._top()
        focused = QApplication.focusWidget()
        return focused if focused is not None and top.isAncestorOf(focused) else top


def _one_of(random: np.random.Generator, names: tuple[ActionId, ...]) -> ActionId:
    return names[int(random.integers(len(names)))]


def _nests(widget: QWidget) -> bool:
    """Whether a press makes Qt open a menu in a nested event loop, which would wait for input that waits for it: the
    extension button of a narrow tool bar does."""
    return isinstance(widget, QToolButton) and widget.menu() is not None

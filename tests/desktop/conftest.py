from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.clock import ManualClock
from core.settings.tree import Settings
from desktop.chart.widget import ChartWidget
from desktop.commands.headless import run_headless
from desktop.layouts.store import LayoutStore
from desktop.services.market_choice import MarketChoice
from desktop.state.checkpoint_source import CheckpointSource
from desktop.state.leaderboard import FoundLeaderboard, LeaderboardRequest
from desktop.state.run_state import RunState
from desktop.state.settings_store import SettingsStore
from desktop.state.shell import Shell
from desktop.ui.banner import Banner
from desktop.ui.theme import Mode, Theme
from desktop.window.main_window import MainWindow
from tests.desktop import scenario
from tests.desktop.application_style import restored_style
from tests.desktop.chart_window import ChartWindow
from tests.desktop.made_up_language import MadeUpLanguage, installed_language
from tests.desktop.played_check import PlayedCheck
from tests.desktop.whole_window import CATCH_UP, CandleGate, IdleWorker, context
from tests.support.loopback_exchange import loopback_thread
from tests.support.loopback_tickers import LoopbackTickers


@dataclass
class Bench:
    """A window with all that it was made of."""

    window: MainWindow
    state: RunState
    clock: ManualClock
    theme: Theme
    chart: ChartWidget
    library: scenario.Library
    source: CheckpointSource
    market_choice: MarketChoice

    @property
    def shell(self) -> Shell:
        return self.window.shell


MakeBench = Callable[..., Bench]
_CHART_SIZE = (871, 454)
"""Of the chart in a window of 1280 x 720."""


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(scenario.NOW_MS)


@pytest.fixture
def state(clock: ManualClock) -> RunState:
    """It watches `scenario.MARKET`, whose run is known."""
    state = RunState(clock)
    scenario.watch(state)
    return state


@pytest.fixture
def theme(qapp: object) -> Theme:
    return Theme("dark")


@pytest.fixture
def banner(qtbot: QtBot, theme: Theme) -> Banner:
    banner = Banner(theme)
    qtbot.addWidget(banner)
    return banner


def compose(
    folder: Path,
    clock: ManualClock,
    infos: Sequence[CheckpointInfo] = (),
    mode: Mode = "dark",
    size: tuple[int, int] = (1280, 720),
    layout_store: LayoutStore | None = None,
    settings: Settings | None = None,
) -> Bench:
    """A window that is not shown. The caller closes it."""
    QCursor.setPos(-50, -50)  # on no widget, wherever an earlier test left it
    state, theme = RunState(clock), Theme(mode)
    scenario.watch(state)
    chart = ChartWidget(theme, clock)
    library = scenario.Library(infos)
    store, source = SettingsStore(settings or _settings(mode)), CheckpointSource(library, state)
    choice = MarketChoice(store)
    window = MainWindow(state, theme, chart, Banner(theme), source, store, choice, folder, layout_store)
    if layout_store is None:
        window.resize(*size)
    return Bench(window, state, clock, theme, chart, library, source, choice)


@pytest.fixture
def make_bench(qtbot: QtBot, clock: ManualClock, tmp_path: Path) -> MakeBench:
    """Makes a window by `compose`; it is shown unless `is_shown` is False."""

    def make(*arguments: Any, is_shown: bool = True, **options: Any) -> Bench:
        bench = compose(tmp_path, clock, *arguments, **options)
        qtbot.addWidget(bench.window)
        if is_shown:
            bench.window.show()
        return bench

    return make


@pytest.fixture
def make_chart_bench(qtbot: QtBot, clock: ManualClock) -> MakeBench:
    """Makes a window of the chart alone; it is shown unless `is_shown` is False."""

    def make(settings: Settings | None = None, *, is_shown: bool = True) -> Bench:
        QCursor.setPos(10, 700)  # below the window, wherever an earlier test left the mouse
        state, theme = RunState(clock), Theme("dark")
        scenario.watch(state)
        chart, library = ChartWidget(theme, clock), scenario.Library(scenario.checkpoints())
        store = SettingsStore(settings or Settings())
        window = ChartWindow(theme, chart, store)
        qtbot.addWidget(window)
        window.resize(*_CHART_SIZE)
        if is_shown:
            window.show()
        chart.setFocus()
        source = CheckpointSource(library, state, window)
        return Bench(window, state, clock, theme, chart, library, source, MarketChoice(store, window))

    return make


@contextmanager
def lasting_bench(folder: Path, *arguments: Any, **options: Any) -> Iterator[Bench]:
    """A shown window for all tests of a module, which leave it as it is, or put back what they change."""
    bench = compose(folder, ManualClock(scenario.NOW_MS), *arguments, **options)
    bench.window.show()
    known = QApplication.topLevelWidgets()  # held: the suite compares windows by their Python objects
    yield bench
    del known
    bench.window.close()
    bench.window.deleteLater()
    QCoreApplication.sendPostedEvents(bench.window, QEvent.Type.DeferredDelete.value)


@pytest.fixture(scope="module")
def lasting(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with lasting_bench(tmp_path_factory.mktemp("window"), scenario.checkpoints()) as made:
        yield made


def fill(bench: Bench, candles: Sequence[Candle] | None = None) -> None:
    """Feed a window with a run in full swing."""
    candles = candles or scenario.market()
    series = CandleSeries(scenario.MINUTE)
    series.extend(candles)
    bench.chart.set_series(series, "BTC/USDT · 1m · Binance")
    bench.state.apply(scenario.ready())
    bench.state.add_steps(scenario.steps())
    for event in (*scenario.incidents(), scenario.status()):
        bench.state.apply(event)
    made = scenario.forecast(candles)
    bench.state.apply(made)
    bench.state.leaderboard.set_found(FoundLeaderboard((scenario.RUN,), LeaderboardRequest(), scenario.leaderboard()))
    bench.state.markets.on_feed_event(bench.state.market, scenario.live_feed())
    bench.chart.set_forecast(made)


def shown_panel(qtbot: QtBot, panel: QWidget, width: int = 400, height: int = 300) -> None:
    """Show one panel by itself."""
    qtbot.addWidget(panel)
    panel.resize(width, height)
    panel.show()


def _settings(mode: Mode) -> Settings:
    defaults = Settings()
    return replace(defaults, appearance=replace(defaults.appearance, theme=mode))


@pytest.fixture
def exchange() -> Iterator[LoopbackTickers]:
    """An exchange's prices, served on a separate thread because the main thread is Qt's."""
    served = LoopbackTickers({"BTC/USDT": 64_000.0, "ETH/USDT": 3_200.0})
    with loopback_thread(served):
        yield served


@pytest.fixture
def played_check(monkeypatch: pytest.MonkeyPatch) -> PlayedCheck:
    """No exchange is asked whether it has a market: each has all to which the test makes no objection."""
    played = PlayedCheck()
    monkeypatch.setattr("desktop.services.market_check.check_market", played)
    return played


@pytest.fixture
def made_up_language(qapp: QCoreApplication) -> Iterator[MadeUpLanguage]:
    with installed_language(qapp) as language:
        yield language


@pytest.fixture(autouse=True)
def mouse_elsewhere(qapp: QApplication) -> None:
    """On no widget, wherever an earlier test left it."""
    QCursor.setPos(-50, -50)


@pytest.fixture(autouse=True)
def style_restored(qapp: QApplication) -> Iterator[None]:
    """Restores style, palette and font of the application after the test."""
    with restored_style(qapp):
        yield


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> CandleGate:
    """Candles of replays and simulations arrive when the test releases them."""
    return CandleGate.install(monkeypatch)


@pytest.fixture(scope="session")
def learned_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = replace(context(tmp_path_factory.mktemp("learned") / "data", speed=0.0), candles=CATCH_UP)
    run_headless(made)
    return made.folder.root


@pytest.fixture
def learned(learned_once: Path, tmp_path: Path) -> Path:
    """The folder of a run that has learned from all of the catch-up: candles, steps, forecasts and checkpoints."""
    return shutil.copytree(learned_once, tmp_path / "learned")


@pytest.fixture
def idle_trainer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The window's trainer takes commands and does nothing."""
    monkeypatch.setattr("desktop.services.trainer.TrainingWorker", IdleWorker)

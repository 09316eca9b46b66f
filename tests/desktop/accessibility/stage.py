"""The window as the program composes it, with a run in it, and a way into each of its dialogs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from core.domain.candle import Interval, Market
from core.domain.drawings import Anchor, Drawing, DrawingKind
from core.domain.price_lines import LineKind
from core.indicators.spec import IndicatorSpec
from core.logs.crashes import CrashReport
from core.settings.tree import Settings
from core.settings.window import AppearanceSettings
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.app.context import Context
from desktop.app.crash_watch import open_crash_report
from desktop.dialogs.compared_market import ComparedMarketDialog
from desktop.dialogs.messages import open_dialog
from desktop.dialogs.welcome import WelcomeDialog
from tests.desktop import scenario
from tests.desktop.application_style import restored_style
from tests.desktop.whole_window import CATCH_UP, Story, context, run_window, step_of, until


def play(qapp: QApplication, root: Path, story: Story) -> None:
    """Open the whole program over a folder, let it learn a little, run the story, close everything."""
    context = _context(root)

    async def dressed(application: Application) -> None:
        application.window.resize(1600, 900)
        await until(lambda: _is_caught_up(application), "a run with checkpoints")
        dress(application, context.settings)
        await story(application)

    with restored_style(qapp):
        run_window(qapp, context, dressed)


def dress(application: Application, settings: Settings) -> None:
    """Switch everything on: indicators, past forecasts, regimes, a line, incidents."""
    window = application.window
    kinds = ("bollinger", "rsi")
    chart = replace(
        settings.chart,
        indicators=tuple(IndicatorSpec.of(kind).to_json() for kind in kinds),
        hindsight=True,
        regimes=True,
    )
    window.shell.settings.change(replace(window.shell.settings.current, chart=chart))
    series = application.series
    assert series is not None
    application.charting.tools.lines.add(LineKind.ALERT, round(series[-1].close * 1.001, 5))
    words = Drawing(DrawingKind.TEXT, (Anchor(series[-9].open_time_ms, series[-1].close),), "Support")
    application.charting.tools.placed_store.put(words)
    for incident in scenario.incidents():
        application.state.apply(incident)


def show_docks(application: Application) -> Iterator[tuple[str, QWidget]]:
    """Each dock in turn, afloat and large enough for all of it; then back in its place."""
    window = application.window
    for action_id, dock in window.docks.items():
        dock.setFloating(True)
        dock.resize(900, 800)
        window.show_dock(action_id)
        yield dock.windowTitle(), dock
        dock.setFloating(False)


Opener = Callable[[Application], QDialog]


def _open_compared_market(application: Application) -> QDialog:
    markets = [Market("binance", symbol, Interval.parse("1m")) for symbol in ("ETH/USDT", "SOL/USDT")]
    return open_dialog(ComparedMarketDialog(markets, markets[0], application.window))


def openers() -> dict[str, Opener]:
    """A way into every dialog of the program, by its name."""
    triggered = {
        "about": ActionId.ABOUT,
        "shortcuts": ActionId.SHORTCUTS,
        "documentation": ActionId.DOCUMENTATION,
        "finder": ActionId.FIND,
        "indicators": ActionId.INDICATORS,
        "go to date": ActionId.GO_TO_DATE,
        "time zone": ActionId.ZONE_OTHER,
        "layout": ActionId.KEEP_LAYOUT,
        "picture": ActionId.SAVE_PICTURE,
        "import of candles": ActionId.IMPORT_CANDLES,
        "history": ActionId.FETCH_HISTORY,
        "pretraining": ActionId.PRETRAIN,
        "evaluation": ActionId.EVALUATE,
        "sweep": ActionId.SWEEP,
    }
    of_checkpoints = {
        "columns": ActionId.CHECKPOINT_COLUMNS,
        "runs": ActionId.CHECKPOINT_RUNS,
        "clean up": ActionId.CHECKPOINT_CLEAN_UP,
        "note": ActionId.CHECKPOINT_NOTE,
        "name": ActionId.CHECKPOINT_NAME,
        "tags": ActionId.CHECKPOINT_TAGS,
        "compare": ActionId.CHECKPOINT_COMPARE,
        "import": ActionId.CHECKPOINT_IMPORT,
    }
    return {
        "market": lambda application: application.window.open_market(),
        "preferences": lambda application: application.window.open_preferences(),
        "welcome": _open_welcome,
        "crash report": lambda application: open_crash_report(
            application.window, CrashReport(scenario.NOW_MS, "It ended.\n" * 5, Path("report.txt"))
        ),
        "line": _open_line,
        "drawing": _open_drawing,
        "compared market": _open_compared_market,
        "market search": lambda application: application.finder.open_markets("e"),
        **{name: lambda application, id_=id_: _by_window(application, id_) for name, id_ in triggered.items()},
        **{name: lambda application, id_=id_: _by_panel(application, id_) for name, id_ in of_checkpoints.items()},
    }


@contextmanager
def opened(application: Application, opener: Opener) -> Iterator[QDialog]:
    """The dialog, open within the context."""
    dialog = opener(application)
    dialog.activateWindow()
    QApplication.sendPostedEvents()
    yield dialog
    dialog.reject()
    QApplication.sendPostedEvents()


def _context(root: Path) -> Context:
    made = context(root, speed=2.0)
    learning = replace(made.settings, checkpoints=replace(made.settings.checkpoints, catch_up_seconds=0.0))
    return replace(made, settings=replace(learning, appearance=AppearanceSettings(theme="dark")))


def _is_caught_up(application: Application) -> bool:
    is_far = step_of(application) >= CATCH_UP - 1
    return is_far and bool(application.chart.model.ghosts()) and len(application.source.checkpoints()) >= 3


def _new_dialog(application: Application, open_it: Callable[[], object]) -> QDialog:
    before = set(application.window.findChildren(QDialog))
    open_it()
    new = [dialog for dialog in application.window.findChildren(QDialog) if dialog not in before]
    assert len(new) == 1, [type(dialog).__name__ for dialog in new]
    return new[0]


def _by_window(application: Application, action_id: ActionId) -> QDialog:
    return _new_dialog(application, application.window.shell.actions[action_id].trigger)


def _by_panel(application: Application, action_id: ActionId) -> QDialog:
    panel = application.window.panels.checkpoints
    application.window.show_dock(ActionId.SHOW_CHECKPOINTS)
    panel.refresh()
    wanted = 2 if action_id is ActionId.CHECKPOINT_COMPARE else 1
    chosen = [info.checkpoint_id for info in application.source.checkpoints()[:wanted]]
    assert panel.table.select_ids(chosen) == chosen
    return _new_dialog(application, panel.actions_of_panel[action_id].trigger)


def _open_welcome(application: Application) -> QDialog:
    return open_dialog(WelcomeDialog(application.settings.current, application.window))


def _open_drawing(application: Application) -> QDialog:
    drawings = application.charting.tools.drawings
    return _new_dialog(application, lambda: drawings.edit(drawings.things[0]))


def _open_line(application: Application) -> QDialog:
    chart, window = application.chart, application.window
    chart.setFocus(Qt.FocusReason.OtherFocusReason)
    tools = application.charting.tools
    while tools.placed.selected not in tools.lines.things:  # the drawing is selected in turn, too
        window.shell.actions[ActionId.NEXT_LINE].trigger()
    return _by_window(application, ActionId.EDIT_LINE)

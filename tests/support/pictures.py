"""The pictures of README and docs: the real window over the shipped sample, at its sizes and in both themes.

python -m tests.support.pictures docs/pictures [--steps 900] [--only moving --only first-hour]
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

os.environ.setdefault(  # without a file the screen has 800 x 800 pixels, which limits dialogs
    "QT_QPA_PLATFORM", f"offscreen:configfile={Path(__file__).resolve().parents[1] / 'stranger' / 'screen.json'}"
)

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPixmap
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from core.domain.drawings import Anchor
from core.domain.price_lines import LineKind, PriceLine
from core.indicators.spec import IndicatorSpec
from core.settings.tree import MarketSettings, Settings, TrainingSettings, save
from core.settings.window import BrowserSettings, ChartSettings
from core.storage.folder import DataFolder
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.app.context import Context
from desktop.chart.widget import ChartWidget
from desktop.checkpoints.compare_dialog import CompareDialog
from tests.support import first_hour_pictures, job_pictures, moving_picture, overview_pictures, panel_pictures, watching
from tests.support.picture_names import MADE, SIZES, THEMES

_NO_VENUE = "no-exchange"
"""Never answers, so the window shows the shipped sample: the pictures are the same on every machine."""
GRADIENTS_SIZE = (440, 860)
ACCURACY_SIZE = (400, 586)
ACCURACY_PAGES = ("Verdict", "Models", "Bands and errors")
_EARLY_STEPS = 300
"""The verdict is still open."""
_GAP_PX = 16
BROWSER_SIZE = (1180, 310)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=900, help="the scores have intervals from 750 on")
    parser.add_argument("--only", action="append", choices=_PARTS, help="may be given several times")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    qt = QApplication(["ghostcandle"])
    qt.setQuitOnLastWindowClosed(False)
    with tempfile.TemporaryDirectory() as data, QEventLoop(qt) as loop:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(_shoot(qt, chosen.folder, Path(data), chosen.steps, chosen.only))


async def _shoot(qt: QApplication, folder: Path, data: Path, steps: int, only: Iterable[str] | None) -> None:
    started_s = time.time()
    market = MarketSettings(feed="auto", venue=_NO_VENUE, catch_up_candles=steps)
    settings = Settings(market=market, training=TrainingSettings(seed=1))
    context = Context(settings, DataFolder(data), as_json=False)
    context.folder.ensure()
    save(settings, context.folder.settings)  # its jobs are separate processes
    application = Application(context, qt)
    application.window.resize(*SIZES[0])
    application.start()
    try:
        if not only or "first-hour" in only:
            await _until(lambda: _is_caught_up(application, min(_EARLY_STEPS, steps)))
            await first_hour_pictures.shoot_early(application, folder)
        await _until(lambda: _is_caught_up(application, steps))
        await asyncio.sleep(3.0)
        while application.window.banner.shown is not None:
            application.window.banner.dismiss()
        for name in only or _PARTS:
            await _PARTS[name](application, folder)
    finally:
        application.jobs.let_close()
        application.window.close()
        await application.close()
    if only:
        return
    with tempfile.TemporaryDirectory() as second:
        await watching.shoot(qt, folder, Path(second))
    with tempfile.TemporaryDirectory() as third:
        await overview_pictures.shoot(qt, folder, Path(third))
    missing = sorted(name for name in MADE if _is_older(folder / name, started_s))
    assert not missing, f"not made: {', '.join(missing)}"


def _is_older(path: Path, started_s: float) -> bool:
    return not path.exists() or path.stat().st_mtime < started_s


def _is_caught_up(application: Application, steps: int) -> bool:
    status, forecast = application.state.status, application.state.forecast
    return status is not None and forecast is not None and status.step >= steps + 2


async def _until(condition: object, timeout_s: float = 600.0) -> None:
    assert callable(condition)
    async with asyncio.timeout(timeout_s):
        while not condition():  # noqa: ASYNC110 - Qt state has no asyncio event
            await asyncio.sleep(0.1)


async def _ghosts(application: Application) -> None:
    """Wait for those of the newest candle, and take the mouse off the chart.

    On a busy machine the trainer may be behind the replay. Closed dialogs and resized windows bring the mouse back.
    """
    await _until(lambda: _has_ghosts_of_the_model(application))
    chart = application.chart
    for widget in (chart.viewport(), chart):  # the view's own handler gets none from its viewport
        QApplication.sendEvent(widget, QEvent(QEvent.Type.Leave))
    chart.flush()


async def _windows(application: Application, folder: Path) -> None:
    for theme in THEMES:
        for size in SIZES:
            await _one(application, theme, size, folder)


async def _one(application: Application, theme: str, size: tuple[int, int], folder: Path) -> None:
    window = application.window
    appearance = dataclasses.replace(window.shell.settings.current.appearance, theme=theme)
    window.shell.settings.change(dataclasses.replace(window.shell.settings.current, appearance=appearance))
    window.resize(*size)
    await asyncio.sleep(0.8)
    path = folder / f"window-{theme}-{size[0]}x{size[1]}.png"
    await _ghosts(application)
    assert window.grab().save(str(path)), path


async def _gradients(application: Application, folder: Path) -> None:
    """The Gradients dock by itself, as high as all of it needs, in both themes."""
    window = application.window
    dock = window.docks[ActionId.SHOW_GRADIENTS]
    dock.setFloating(True)
    dock.show()
    for theme in THEMES:
        appearance = dataclasses.replace(window.shell.settings.current.appearance, theme=theme)
        window.shell.settings.change(dataclasses.replace(window.shell.settings.current, appearance=appearance))
        dock.resize(*GRADIENTS_SIZE)
        await _until(lambda: len(application.state.gradients) > 0 and not window.has_stale_panels())
        await asyncio.sleep(0.8)
        assert dock.widget().grab().save(str(folder / f"gradients-{theme}.png"))
    window.reset_layout()


async def _accuracy(application: Application, folder: Path) -> None:
    """Three pages of the Accuracy dock beside each other, in both themes."""
    window, panel = application.window, application.window.panels.accuracy
    dock = window.docks[ActionId.SHOW_ACCURACY]
    dock.setFloating(True)
    dock.show()
    for theme in THEMES:
        appearance = dataclasses.replace(window.shell.settings.current.appearance, theme=theme)
        window.shell.settings.change(dataclasses.replace(window.shell.settings.current, appearance=appearance))
        dock.resize(*ACCURACY_SIZE)
        pages = []
        for name in ACCURACY_PAGES:
            names = [panel.tabs.tabText(place) for place in range(panel.tabs.count())]
            panel.tabs.setCurrentIndex(names.index(name))
            if panel.tabs.currentIndex() > 0:
                await _until(lambda: application.state.accuracy is not None and application.state.accuracy.is_whole)
                await asyncio.sleep(1.6)  # the plots come one after another
            await asyncio.sleep(0.8)
            pages.append(panel.grab())
        assert _side_by_side(pages, window.palette().window().color()).save(str(folder / f"accuracy-{theme}.png"))
    panel.tabs.setCurrentIndex(0)
    window.reset_layout()


def _side_by_side(pictures: list[QPixmap], ground: QColor) -> QPixmap:
    width = sum(picture.width() for picture in pictures) + _GAP_PX * (len(pictures) - 1)
    joined = QPixmap(width, max(picture.height() for picture in pictures))
    joined.fill(ground)
    painter, left = QPainter(joined), 0
    for picture in pictures:
        painter.drawPixmap(left, 0, picture)
        left += picture.width() + _GAP_PX
    painter.end()
    return joined


async def _browser(application: Application, folder: Path) -> None:
    """The checkpoint browser by itself, filtered; two of them compared; the ghosts of both on the chart."""
    window, panel = application.window, application.window.panels.checkpoints
    dock = window.docks[ActionId.SHOW_CHECKPOINTS]
    dock.setFloating(True)
    dock.show()
    dock.resize(*BROWSER_SIZE)
    source = application.source
    await _until(lambda: len(source.checkpoints()) >= 6 and source.best() is not None)
    chosen = [info.checkpoint_id for info in source.checkpoints()[2:4]]
    source.set_pinned(chosen, True)
    source.set_name(chosen[0], "Calm evening")
    source.set_tags(chosen, ["keep"], [])
    shown = ("marks", "name", "step", "saved", "adds", "coverage", "direction", "loss", "gradients", "device", "tags")
    panel.show_settings(BrowserSettings(columns=shown))
    panel.filter.setText("coverage > 85 and step > 500")
    for theme in THEMES:
        appearance = dataclasses.replace(window.shell.settings.current.appearance, theme=theme)
        window.shell.settings.change(dataclasses.replace(window.shell.settings.current, appearance=appearance))
        panel.show_settings(BrowserSettings(columns=shown))
        panel.refresh()
        panel.table.select_ids(chosen)
        await asyncio.sleep(0.8)
        assert dock.widget().grab().save(str(folder / f"checkpoints-{theme}.png"))
    panel.actions_of_panel[ActionId.CHECKPOINT_COMPARE].trigger()
    dialog = window.findChild(CompareDialog)
    assert dialog is not None
    await asyncio.sleep(0.8)
    assert dialog.grab().save(str(folder / "checkpoints-compare-light.png"))
    dialog.reject()
    # comparing has put their ghosts on the chart; the replay pauses until they are those of the newest candle
    await _until(lambda: len(application.browser.previews.layer.shown) == len(chosen))
    window.shell.actions[ActionId.TRAVEL_PLAY].trigger()
    await _ghosts(application)
    await asyncio.sleep(2.0)
    application.chart.zoom(3.0)
    await asyncio.sleep(0.8)
    assert application.chart.grab().save(str(folder / "checkpoints-ghosts-light.png"))
    window.shell.actions[ActionId.TRAVEL_PLAY].trigger()
    application.browser.previews.hide()
    application.chart.reset_view()
    panel.filter.clear()
    panel.show_settings(BrowserSettings())
    window.reset_layout()


async def _hindsight(application: Application, folder: Path) -> None:
    """Past forecasts over the candles that followed, in both themes."""
    window, chart = application.window, application.chart
    window.resize(*SIZES[0])
    shown = dataclasses.replace(window.shell.settings.current.chart, hindsight=True, hindsight_horizon=3)
    window.shell.settings.change(dataclasses.replace(window.shell.settings.current, chart=shown))
    for theme in THEMES:
        appearance = dataclasses.replace(window.shell.settings.current.appearance, theme=theme)
        window.shell.settings.change(dataclasses.replace(window.shell.settings.current, appearance=appearance))
        await _until(lambda: not chart.model.past.is_waiting)
        await asyncio.sleep(0.8)
        await _ghosts(application)
        assert chart.grab().save(str(folder / f"hindsight-{theme}.png"))
    window.shell.settings.change(dataclasses.replace(window.shell.settings.current, chart=ChartSettings()))


async def _regimes(application: Application, folder: Path) -> None:
    """Market regimes behind the candles, in both themes, with a few days in view."""
    window, chart = application.window, application.chart
    window.resize(*SIZES[0])
    shown = dataclasses.replace(window.shell.settings.current.chart, regimes=True)
    window.shell.settings.change(dataclasses.replace(window.shell.settings.current, chart=shown))
    chart.zoom(0.4)
    for theme in THEMES:
        appearance = dataclasses.replace(window.shell.settings.current.appearance, theme=theme)
        window.shell.settings.change(dataclasses.replace(window.shell.settings.current, appearance=appearance))
        await asyncio.sleep(0.8)
        await _until(lambda: not chart.model.regimes.is_waiting)
        await _ghosts(application)
        assert chart.grab().save(str(folder / f"regimes-{theme}.png"))
    window.shell.settings.change(dataclasses.replace(window.shell.settings.current, chart=ChartSettings()))
    chart.reset_view()


async def _indicators(application: Application, folder: Path) -> None:
    """Two over the candles and two below, on the light chart."""
    window, chart = application.window, application.chart
    kinds = ("ema", "bollinger", "rsi", "macd")
    chosen = tuple(IndicatorSpec.of(kind).to_json() for kind in kinds)
    shown = dataclasses.replace(window.shell.settings.current.chart, indicators=chosen)
    window.shell.settings.change(dataclasses.replace(window.shell.settings.current, chart=shown))
    await asyncio.sleep(0.8)
    await _ghosts(application)
    assert chart.grab().save(str(folder / "chart-indicators-light.png"))
    window.shell.settings.change(dataclasses.replace(window.shell.settings.current, chart=ChartSettings()))


async def _jobs(application: Application, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as aside:
        await job_pictures.shoot(application, folder, Path(aside))


async def _tooltip(application: Application, folder: Path) -> None:
    """The mouse on a past candle: its forecast and its outcome."""
    chart, series = application.chart, application.series
    assert series is not None
    index = len(series) - 24
    until_s = asyncio.get_running_loop().time() + 30.0
    while chart.overlay.tooltip is None:  # the replay continues, and the forecast has to be read first
        assert asyncio.get_running_loop().time() < until_s, "that candle has no forecast"
        _hover(application, index)
        await asyncio.sleep(0.1)
    assert chart.grab().save(str(folder / "chart-hindsight.png"))


def _hover(application: Application, index: int) -> None:
    chart, series = application.chart, application.series
    assert series is not None
    middle = (series[index].open + series[index].close) / 2.0
    _move_mouse(chart, QPointF(chart.frame.x(index), chart.frame.y(middle)) / chart.devicePixelRatio())


def _move_mouse(chart: ChartWidget, place: QPointF) -> None:
    event = QMouseEvent(
        QMouseEvent.Type.MouseMove,
        place,
        chart.mapToGlobal(place),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(chart.viewport(), event)
    chart.flush()


async def _tools(application: Application, folder: Path) -> None:
    """Alerts, a note, a crossed alert and a measurement, on the dark chart."""
    window, chart, tools, series = application.window, application.chart, application.charting.tools, application.series
    assert series is not None
    appearance = dataclasses.replace(window.shell.settings.current.appearance, theme="dark")
    window.shell.settings.change(dataclasses.replace(window.shell.settings.current, appearance=appearance))
    window.resize(*SIZES[0])
    await asyncio.sleep(0.8)
    store, shown, decimals = tools.placed_store, chart.frame.prices, chart.model.decimals()
    rise = max(
        [series[index] for index in range(len(series) - 60, len(series))], key=lambda candle: candle.close - candle.open
    )
    drawn = (
        PriceLine(round(shown.low + 0.88 * shown.span, decimals), LineKind.ALERT, "Take profit", is_armed=True),
        PriceLine(round((rise.open + rise.close) / 2.0, decimals), LineKind.ALERT, crossed_at_ms=rise.open_time_ms),
        PriceLine(round(shown.low + 0.4 * shown.span, decimals), LineKind.NOTE, "Support since Tuesday"),
    )
    for line in drawn:
        store.put(line)
    tools.placed.select(None)
    start, end = series[-46], series[-22]
    tools.measure.follow(Anchor(start.open_time_ms, start.low))
    tools.placed.put(Anchor(end.open_time_ms, end.high))
    await asyncio.sleep(0.8)
    await _ghosts(application)
    assert chart.grab().save(str(folder / "chart-tools-dark.png"))


async def _chances(application: Application, folder: Path) -> None:
    """Sample paths, and the chances of the price at the mouse, which is on the price axis."""
    settings, chart = application.window.shell.settings, application.chart
    settings.change(
        dataclasses.replace(settings.current, appearance=dataclasses.replace(settings.current.appearance, theme="dark"))
    )
    application.window.resize(*SIZES[0])
    settings.change_chart(sample_paths=True)
    application.window.shell.actions[ActionId.TRAVEL_PLAY].trigger()  # else the next candle comes before the paths
    await _ghosts(application)
    await _until(lambda: chart.model.central_path() is not None)
    chart.zoom(3.0)
    await asyncio.sleep(2.0)
    ghost = chart.model.ghosts()[-1].ghost
    place = QPointF(chart.frame.layout.plot_right + 20.0, chart.frame.y(ghost.close_quantiles[-2]))
    _move_mouse(chart, place / chart.devicePixelRatio())
    await asyncio.sleep(0.8)
    assert chart.grab().save(str(folder / "chances-dark.png"))
    chart.reset_view()
    application.window.shell.actions[ActionId.TRAVEL_PLAY].trigger()
    settings.change_chart(sample_paths=False)


def _has_ghosts_of_the_model(application: Application) -> bool:
    model = application.chart.model
    is_of_model = model.forecast is not None and not model.forecast.is_by_simple_rules
    return is_of_model and bool(model.ghosts()) and not model.forecast_age


_PARTS: dict[str, Callable[[Application, Path], Awaitable[None]]] = {
    "windows": _windows,
    "first-hour": first_hour_pictures.shoot,
    "moving": moving_picture.shoot,
    "gradients": _gradients,
    "accuracy": _accuracy,
    "checkpoints": _browser,
    "jobs": _jobs,
    "tooltip": _tooltip,
    "hindsight": _hindsight,
    "regimes": _regimes,
    "indicators": _indicators,
    "chances": _chances,
    "tools": _tools,
    "panels": panel_pictures.shoot,
}
"""In the order in which they are made; the window of several markets is made after them."""

if __name__ == "__main__":
    main()

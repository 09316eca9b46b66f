"""The context menu at an axis, an indicator, a ghost and a past candle: its entries and their effects."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu

from core.indicators.spec import IndicatorSpec
from core.settings.tree import ChartSettings, Settings
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.chart.controllers.appearance import ChartAppearance
from desktop.chart.controllers.context_menu import ChartMenu, PlaceMenu
from desktop.chart.controllers.indicators import ChartIndicators
from desktop.chart.widget import ChartWidget
from desktop.dialogs.indicators import IndicatorsDialog
from tests.desktop.conftest import Bench, MakeBench, fill
from tests.desktop.whole_window import CandleGate, context, run_window, until

AVERAGE, RSI = IndicatorSpec.of("sma"), IndicatorSpec.of("rsi")
SETTINGS = Settings(chart=ChartSettings(indicators=(AVERAGE.to_json(), RSI.to_json())))


class Placed:
    """A chart with an average over its candles and an oscillator below them."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.chart = bench, bench.chart
        ChartAppearance(bench.shell, bench.chart)
        self.indicators = ChartIndicators(bench.shell, bench.chart)
        place = PlaceMenu(bench.shell, bench.chart, self.indicators, bench.source, lambda _id: None)
        menu = ChartMenu(bench.chart)
        for part in (place.add_checkpoint, place.add_indicator, place.add_axis, place.add_plot):
            menu.add(part)
        fill(bench)
        bench.chart.flush()

    def at_average(self, above_px: float = 0.0) -> QPoint:
        """On its line, or this far above."""
        frame, model = self.chart.frame, self.chart.model
        index = model.count - 20
        closes = [candle.close for candle in (model.candle(each) for each in range(model.count)) if candle is not None]
        period = int(AVERAGE.parameters()["period"])
        value = sum(closes[index + 1 - period : index + 1]) / period
        return QPoint(round(frame.x(index) / frame.ratio), round(frame.y(value) / frame.ratio - above_px))

    def at_pane(self, name: str) -> QPoint:
        pane = next(each for each in self.chart.frame.panes if each.name == name)
        return QPoint(200, round((pane.top + pane.bottom) / 2 / self.chart.frame.ratio))


@pytest.fixture
def placed(make_chart_bench: MakeBench) -> Placed:
    return Placed(make_chart_bench(SETTINGS))


def right_click(chart: ChartWidget, point: QPoint) -> QMenu | None:
    reason = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(chart.viewport(), QContextMenuEvent(reason, point, chart.mapToGlobal(point)))
    menu = QApplication.activePopupWidget()
    assert menu is None or isinstance(menu, QMenu)
    return menu


def offered(chart: ChartWidget, point: QPoint) -> list[str]:
    menu = right_click(chart, point)
    if menu is None:
        return []
    texts = [action.text().replace("&", "") for action in menu.actions() if not action.isSeparator()]
    menu.close()
    return texts


def choose(chart: ChartWidget, point: QPoint, text: str) -> None:
    menu = right_click(chart, point)
    assert menu is not None
    next(action for action in menu.actions() if text in action.text().replace("&", "")).trigger()
    menu.close()
    chart.flush()


def test_each_axis_offers_its_commands(placed: Placed) -> None:
    chart, layout = placed.chart, placed.chart.frame.layout
    right, below = layout.plot_right + 10, layout.plot_bottom + 5
    zones = ["Local", "UTC", "Exchange", "Other…"]
    assert offered(chart, QPoint(right, 50)) == ["Fit prices", "Linear", "Logarithmic", "Percent"]
    assert offered(chart, QPoint(100, below)) == ["Go to newest candle", "Go to date…", *zones]
    assert offered(chart, QPoint(right, below)) == zones
    choose(chart, QPoint(right, 50), "Logarithmic")
    assert placed.bench.shell.settings.current.chart.scale == "log"
    choose(chart, QPoint(100, below), "UTC")
    assert placed.bench.shell.settings.current.chart.time_zone == "UTC"


def test_an_indicator_is_set_and_removed_where_it_runs(placed: Placed) -> None:
    chart = placed.chart
    names = ["Settings of SMA 20…", "Remove SMA 20"]
    assert offered(chart, placed.at_average()) == offered(chart, placed.at_average(3)) == names
    assert "Settings" not in str(offered(chart, placed.at_average(25)))
    choose(chart, placed.at_pane("rsi 0"), "Settings of RSI")
    dialog = placed.bench.window.findChild(IndicatorsDialog)
    assert isinstance(dialog, IndicatorsDialog) and dialog.list.currentItem().text().startswith("RSI")
    dialog.reject()
    choose(chart, placed.at_average(), "Remove SMA")
    assert [layer.spec.kind for layer in placed.indicators.layers] == ["rsi"]
    choose(chart, placed.at_pane("rsi 0"), "Remove RSI")
    assert placed.indicators.layers == [] and placed.bench.shell.settings.current.chart.indicators == ()


def test_an_empty_place_offers_drawing_adding_and_resetting_the_view(placed: Placed) -> None:
    chart, layout = placed.chart, placed.chart.frame.layout
    entries = ["Draw", "Indicators…", "Fit prices", "Reset view", "Save picture…"]
    on_bars = QPoint(200, layout.main_bottom - 5)
    assert offered(chart, placed.at_average(25)) == entries
    assert offered(chart, on_bars) == ["Hide volume", *entries]
    menu = right_click(chart, on_bars)
    assert menu is not None
    (inner,) = menu.findChildren(QMenu)
    assert [action.text().replace("&", "") for action in inner.actions()][:2] == ["Trend line", "Ray"]
    menu.close()
    choose(chart, on_bars, "Hide volume")
    assert not placed.bench.shell.settings.current.chart.show_volume and offered(chart, on_bars) == entries
    spacing = chart.scale.spacing
    chart.zoom(3.0)
    choose(chart, placed.at_average(25), "Reset view")
    assert chart.scale.spacing == spacing


def place_of_forecast(chart: ChartWidget, name: str) -> QPoint:
    """On a ghost, or on a closed candle with a forecast, as the chart is laid out now."""
    chart.flush()
    frame, model = chart.frame, chart.model
    ghost, closed = model.ghosts()[0], model.count - 2
    candle = model.candle(closed)
    assert candle is not None
    index, price = (ghost.index, ghost.ghost.close) if name == "ghost" else (closed, candle.close)
    return QPoint(round(frame.x(index) / frame.ratio), round(frame.y(price) / frame.ratio))


def test_a_ghost_and_a_past_candle_open_their_checkpoint(qapp: QApplication, learned: Path, gate: CandleGate) -> None:
    def is_known(application: Application) -> bool:
        """Past forecasts and the checkpoints kept are read in the background, one after the other."""
        model, known = application.chart.model, {each.checkpoint_id for each in application.source.checkpoints()}
        past = model.past_forecast(model.count - 2)
        is_made = model.forecast is not None and bool(model.ghosts()) and model.forecast.checkpoint_id in known
        return is_made and past is not None and model.past.nearest_kept(past) is not None

    async def story(application: Application) -> None:
        chart, window = application.chart, application.window
        await until(lambda: is_known(application), "a ghost and a past forecast of checkpoints that are kept", 40)
        known = {each.checkpoint_id for each in application.source.checkpoints()}
        for name in ("ghost", "past"):
            window.show_dock(ActionId.SHOW_EVENTS)
            point = place_of_forecast(chart, name)
            (entry,) = [text for text in offered(chart, point) if "heckpoint" in text]
            assert "step" in entry, name
            choose(chart, point, "heckpoint")
            (selected,) = window.panels.checkpoints.selected()
            assert selected.checkpoint_id in known and f"{selected.step:,}" in entry
            assert window.docks[ActionId.SHOW_CHECKPOINTS].isVisible()

    run_window(qapp, context(learned), story)

"""The chart is a pyqtgraph view, and everything visible is an item in its scene."""

from __future__ import annotations

from types import NoneType

import numpy as np
import pyqtgraph
import pytest
from numpy.typing import NDArray
from pyqtgraph.exporters import ImageExporter
from PySide6.QtCore import QPoint, QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QGraphicsItem

from core.indicators.spec import IndicatorSpec
from desktop.chart.items.indicator import IndicatorLayer
from desktop.chart.panes.item import ChartItem, PaneBox
from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.paint_helpers import channels
from tests.desktop.chart.support import random_series


@pytest.fixture
def chart(show_chart: ShowChart) -> ChartWidget:
    """With ghosts, a forming candle, an indicator over the candles and one below, and the mouse over it."""
    series = random_series(400)
    chart = show_chart(series, has_forecast=True, has_forming=True)
    for number, kind in enumerate(("sma", "rsi")):
        chart.add_layer(IndicatorLayer(IndicatorSpec.of(kind), number))
    QTest.mouseMove(chart.viewport(), QPoint(300, 200))
    settle(chart)
    return chart


def painted(chart: ChartWidget) -> list[QGraphicsItem]:
    """The items that draw; views and groups only contain others."""
    return [item for item in chart.scene().items() if isinstance(item, ChartItem)]


def test_the_chart_is_a_pyqtgraph_view_of_pyqtgraph_items(chart: ChartWidget) -> None:
    assert isinstance(chart, pyqtgraph.GraphicsView)
    names = {type(item).__name__ for item in painted(chart)}
    assert names >= {"Background", "FormingCandleItem", "ForecastItem", "CrosshairItem"}
    assert names >= {"AxisLabelsItem", "LastPriceItem", "TextItem"}
    others = [item for item in chart.scene().items() if not isinstance(item, pyqtgraph.GraphicsItem)]
    made_by = {type(item.parentItem()) for item in others}
    assert made_by == {PaneBox, NoneType}, "pyqtgraph's view and its views have parts of Qt's own"
    assert [item for item in others if item.parentItem() is None] == [chart.centralWidget]


def test_nothing_is_painted_but_by_items(chart: ChartWidget) -> None:
    def picture() -> NDArray[np.uint8]:
        image = QImage(chart.viewport().size(), QImage.Format.Format_RGB32)
        image.fill(0)
        painter = QPainter(image)
        chart.render(painter, QRectF(chart.rect()), chart.rect())
        painter.end()
        return channels(image)

    assert picture().any()
    for item in painted(chart):
        item.hide()
    assert not picture().any()


def test_panes_share_their_times(chart: ChartWidget) -> None:
    lower = chart.box(chart.frame.panes[0].name)
    for factor in (1.0, 1.7, 0.3):
        chart.zoom(factor)
        settle(chart)
        assert lower.viewRange()[0] == pytest.approx(chart.box().viewRange()[0])


def test_an_exporter_of_pyqtgraph_draws_what_the_window_shows(chart: ChartWidget) -> None:
    """Without the cached picture of the closed candles: each item draws itself."""
    size = chart.viewport().size()
    exporter = ImageExporter(chart.scene())
    exporter.parameters()["width"] = size.width()
    exported = channels(exporter.export(toBytes=True))
    shown = channels(chart.viewport().grab().toImage())
    assert exported.shape == shown.shape
    assert (exported != shown).any(axis=-1).mean() < 0.03

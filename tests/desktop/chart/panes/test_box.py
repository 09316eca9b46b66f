"""pyqtgraph's positions in a pane's view equal the chart's pixels for the same index and value."""

from __future__ import annotations

import math

import pytest
from PySide6.QtCore import QPointF

from desktop.chart.axes.price_scale import ScaleKind
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import random_series


@pytest.mark.parametrize("kind", ScaleKind)
@pytest.mark.parametrize("factor", [1.0, 0.2, 5.0])
def test_indices_and_prices_lie_where_the_candles_are(show_chart: ShowChart, kind: ScaleKind, factor: float) -> None:
    series = random_series(400)
    chart = show_chart(series)
    chart.restyle(scale=kind)
    chart.zoom(factor)
    settle(chart)
    frame, box = chart.frame, chart.box()
    for index in range(frame.first, frame.stop):
        price = float(series.close[index])
        y = math.log10(price) if kind is ScaleKind.LOG else price
        place = box.mapViewToDevice(QPointF(index, y)) * frame.ratio
        assert place.x() - 0.5 == pytest.approx(frame.x(index), abs=0.51)
        assert place.y() - 0.5 == pytest.approx(frame.y(price), abs=0.51)

"""Items of pyqtgraph on the chart: marks of the largest volumes, and the return of each candle in a separate pane."""

import numpy as np
import pyqtgraph

from desktop.chart.widget import ChartWidget


def add_items(chart: ChartWidget) -> None:
    marks, returns = pyqtgraph.PlotDataItem(pen=None, symbol="t"), pyqtgraph.PlotDataItem()
    chart.box().addItem(marks)
    chart.add_pane("Return, %").addItem(returns)

    def draw() -> None:
        series, palette = chart.model.series, chart.style_shown.palette
        largest = np.sort(np.argsort(series.volume)[-20:])
        marks.setData(largest, series.high[largest], symbolBrush=palette.warning)
        returns.setData(np.arange(1, len(series)), 100.0 * np.diff(np.log(series.close)), pen=palette.accent)

    for changed in (chart.candles_changed, chart.style_changed):
        changed.connect(draw)
    draw()

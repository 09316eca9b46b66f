"""Items of pyqtgraph on the chart: marks of the largest volumes, and the return of each candle in a pane of its own."""

import numpy as np
import pyqtgraph

from desktop.chart.widget import ChartWidget


def add_items(chart: ChartWidget) -> None:
    series = chart.model.series
    largest = np.argsort(series.volume)[-20:]
    chart.box().addItem(pyqtgraph.ScatterPlotItem(largest, series.high[largest], symbol="t", brush="#ffb000"))
    returns = 100.0 * np.diff(np.log(series.close))
    chart.add_pane("Return, %").addItem(pyqtgraph.PlotCurveItem(np.arange(1, len(series)), returns, pen="#8fb8ff"))

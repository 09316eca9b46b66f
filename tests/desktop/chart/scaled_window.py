"""Run in a separate process, because a scale factor applies to a whole process: checks the pixels of a chart at an odd
position in a window. Exits with 0, or with an error message."""

from __future__ import annotations

import sys

import numpy as np
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from core.domain.candle import Interval
from core.domain.candle_series import CandleSeries
from core.domain.clock import ManualClock
from desktop.chart.widget import ChartWidget
from desktop.ui.theme import Theme
from tests.desktop.chart.paint_helpers import pixels, rgb_of
from tests.desktop.chart.support import candle

OFFSET_X, OFFSET_Y = 7, 5


def main() -> int:
    application = QApplication([])
    series = CandleSeries(Interval.parse("1m"))
    for index in range(60):
        series.add(candle(index, 101.0, opened=100.0, reach=2.0))
    window = QWidget()
    layout = QVBoxLayout(window)
    layout.setContentsMargins(OFFSET_X, OFFSET_Y, 3, 3)
    chart = ChartWidget(Theme("dark"), ManualClock(0))
    chart.set_series(series, "test")
    chart.set_forming(candle(60, 101.0, opened=100.0, reach=2.0))
    layout.addWidget(chart)
    window.resize(701, 433)
    window.show()
    if not QTest.qWaitForWindowExposed(window, 60_000):
        return _fail("the window was not exposed")
    chart.flush()
    chart.repaint()
    result = _check(chart, pixels(window.grab().toImage()))
    window.close()
    application.processEvents()
    return result


def _check(chart: ChartWidget, shown: np.ndarray) -> int:
    frame = chart.frame
    up = shown == rgb_of(frame.palette.up)
    left, top = round(OFFSET_X * frame.ratio), round(OFFSET_Y * frame.ratio)
    half = int(frame.spacing / 2)
    extents = set()
    # The last one is the forming candle, painted by another layer.
    for index in range(40, 61):
        centre = left + frame.x(index)
        body = np.flatnonzero(up[top + frame.y(100.3), centre - half : centre + half])
        wick = np.flatnonzero(up[top + frame.y(98.5), centre - half : centre + half])
        if (len(body), len(wick)) != (frame.widths.body, frame.widths.wick):
            return _fail(f"candle {index}: {len(body)} and {len(wick)} sharp pixels, not {frame.widths}")
        if body[0] + body[-1] != wick[0] + wick[-1]:
            return _fail(f"candle {index}: the wick is not in the middle")
        inked_rows = np.flatnonzero(
            up[top + frame.layout.price_top : top + frame.layout.price_bottom, centre - half + wick[0]]
        )
        extents.add((int(body[0]), int(inked_rows[0]), int(inked_rows[-1])))
    if len(extents) != 1:
        return _fail(f"candles of the same prices cover other pixels: {extents}")
    return 0


def _fail(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

"""Times finplot's live update and its panning; run by `tests.benchmarks.peers` in a separate environment.

Arguments: a .npz file of candles (open_time_ms, open, high, low, close), how many are in view, how many samples.
Prints one JSON object. Needs finplot and PyQt6, and nothing of Ghostcandle.

What is timed is what finplot's own live example does with each trade: the last row of the DataFrame is set, and the
plot is given the DataFrame again (`update_data`). Setting the row is not timed. Time ends when the view has been
painted: events are processed until its viewport has had its paint event. Only candles are drawn, without volume,
crosshair or anything else that Ghostcandle's own figure has in it.
"""

from __future__ import annotations

import json
import os
import sys
import time

os.environ["QT_QPA_PLATFORM"] = "offscreen"

import finplot
import numpy as np
import pandas as pd
from pyqtgraph.Qt import QtCore, QtWidgets

WIDTH, HEIGHT = 1600, 900
WARM_UP = 5
MOST_TURNS = 200
TICK_SHARE = 2e-4


class PaintCounter(QtCore.QObject):
    """Counts the viewport's paint events."""

    count = 0

    def eventFilter(self, watched: QtCore.QObject, event: QtCore.QEvent) -> bool:
        if event.type() == QtCore.QEvent.Type.Paint:
            self.count += 1
        return False


class Chart:
    """A finplot window over the candles."""

    def __init__(self, frame: pd.DataFrame, in_view: int) -> None:
        self.frame = frame
        self.axis = finplot.create_plot("peer", init_zoom_periods=in_view, maximize=False)
        self.plot = finplot.candlestick_ochl(self.candles())
        finplot.show(qt_exec=False)
        self.window = self.axis.vb.win
        self.window.resize(WIDTH, HEIGHT)
        self.window.show()
        self.paints = PaintCounter()
        self.window.viewport().installEventFilter(self.paints)
        self.application = QtWidgets.QApplication.instance()
        for _ in range(20):
            self.application.processEvents()
            time.sleep(0.01)

    def candles(self) -> pd.DataFrame:
        return self.frame[["t", "o", "c", "h", "l"]]

    def in_view(self) -> float:
        return float(self.axis.vb.targetRect().width())

    def timed_ms(self, change) -> float:
        before = self.paints.count
        started = time.perf_counter()
        change()
        for _ in range(MOST_TURNS):
            if self.paints.count > before:
                break
            self.application.processEvents()
        ended = time.perf_counter()
        if self.paints.count == before:
            raise SystemExit("finplot painted nothing after an update")
        self.application.processEvents()
        return 1000.0 * (ended - started)

    def tick(self, share: float) -> float:
        last = self.frame.index[-1]
        price = self.frame.at[last, "o"] * (1.0 + share)
        self.frame.at[last, "c"] = price
        self.frame.at[last, "h"] = max(price, self.frame.at[last, "h"])
        self.frame.at[last, "l"] = min(price, self.frame.at[last, "l"])
        candles = self.candles()
        return self.timed_ms(lambda: self.plot.update_data(candles))

    def pan(self, steps: int) -> float:
        return self.timed_ms(lambda: self.axis.vb.pan_x(steps=steps))


def summary(samples: list[float]) -> dict[str, float]:
    kept = samples[WARM_UP:]
    p50, p99 = np.percentile(kept, [50.0, 99.0])
    return {"p50": float(p50), "p99": float(p99), "max": max(kept), "samples": len(kept)}


def main() -> None:
    file, in_view, samples = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with np.load(file) as stored:
        columns = {name[0]: stored[name] for name in ("open", "close", "high", "low")}
        frame = pd.DataFrame({"t": pd.to_datetime(stored["open_time_ms"], unit="ms"), **columns})
    chart = Chart(frame, in_view)
    random = np.random.default_rng(3)
    ticks = [chart.tick(float(share)) for share in random.normal(0.0, TICK_SHARE, samples + WARM_UP)]
    pans = [chart.pan(-2 if turn // 60 % 2 == 0 else 2) for turn in range(samples + WARM_UP)]
    print(
        json.dumps(
            {
                "in_view": chart.in_view(),
                "tick_ms": summary(ticks),
                "pan_ms": summary(pans),
                "size": [chart.window.width(), chart.window.height()],
                "qt": QtCore.QT_VERSION_STR,
            }
        )
    )


main()

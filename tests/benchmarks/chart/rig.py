"""A real chart on the offscreen platform, and a stopwatch that stops only when the picture has changed.

Why the figure is honest:

- The widget is the program's `ChartWidget` at 1600 x 900 with volume, ghosts, bands, axes, readout, countdown and a
  crosshair. Nothing in it is switched off or replaced.
- Time runs from before the call that brings the news (`set_forming`, a mouse event, `refresh`) to the return of the
  paint that shows it. `ChartWidget.flush` does the frame clock's work at once: the clock merges what comes within
  16 ms into one picture, and that waiting is no work, so it is not in the figure.
- The paint is Qt's own: `update` has posted an UpdateRequest to the window, and delivering that request makes Qt paint
  the dirty region, and only that, into the window's backing store before it returns. It is the road by which a picture
  comes in the running program. (`QWidget.repaint` would paint the whole widget, and `grab` another picture.)
- An event filter counts the paint events. A sample without exactly one is an error, not a fast frame.
- What the figure leaves out is the way from the backing store to glass: offscreen there is none, and on a desktop it
  is the compositor's.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns, thread_time_ns

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries
from core.domain.clock import ManualClock
from core.domain.events import ForecastMade
from desktop.chart.widget import ChartWidget
from desktop.ui.theme import Theme
from tests.benchmarks.chart import scenario
from tests.benchmarks.chart.everything import Everything, WalkedPast

WIDTH, HEIGHT = 1600, 900
IN_VIEW = 300
"""Candles in view, but for the measure that shows all."""

_TICKS_OF_A_CANDLE = 200
_INTO_CANDLE_MS = 20_000
_EXPOSED_WITHIN_MS = 10_000
_FROM_A_SCREEN = Qt.MouseEventSource.MouseEventNotSynthesized


class MeasureError(Exception):
    """A figure could not be taken as promised. The message is a sentence."""


def application() -> QApplication:
    """The process's one application, made where there is none."""
    existing = QApplication.instance() or QApplication(["ghostcandle"])
    assert isinstance(existing, QApplication)
    return existing


class PaintCounter(QObject):
    """Counts the paint events of what it is installed on."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint:
            self.count += 1
        return False


class Rig:
    """One shown chart over `count` closed candles."""

    def __init__(
        self, count: int, make_chart: Callable[..., ChartWidget] = ChartWidget, *, with_everything: bool = False
    ) -> None:
        """with_everything: each kind of indicator and hindsight as well."""
        self.count = count
        self.series: CandleSeries = scenario.series(count)
        self.ticks: list[Candle] = []
        self.cpu_ms = 0.0
        """What the newest timed change took of a core: less than on the wall's clock where others had the core."""
        self.closed_paints = 0
        """How often the newest timed change had the closed candles painted."""
        self._theme = Theme("dark")
        clock = ManualClock(scenario.MINUTE.close_time_ms(self.series[-1].open_time_ms) + _INTO_CANDLE_MS)
        self.chart: ChartWidget = make_chart(self._theme, clock)
        self._paints = PaintCounter(self.chart)
        self.chart.viewport().installEventFilter(self._paints)
        self.chart.resize(WIDTH, HEIGHT)
        self.chart.set_series(self.series, "BTC/USDT · 1m · bench")
        self.chart.set_forecast(self.prepare_candle(self.series[-1]))
        self.chart.set_forming(self.ticks[0])
        self.chart.set_live(True)
        self._everything = Everything(self.chart, WalkedPast(self.series), scenario.MINUTE) if with_everything else None
        self.chart.show()
        if not QTest.qWaitForWindowExposed(self.chart, _EXPOSED_WITHIN_MS):
            raise MeasureError("The chart's window did not open, so nothing is painted and there are no figures.")
        self.settle()
        self.show_newest()

    @property
    def paints(self) -> int:
        """Paint events so far."""
        return self._paints.count

    def prepare_candle(self, newest: Candle) -> ForecastMade:
        """Lay out the ticks of the candle that forms after `newest`, and return the forecast made at its opening."""
        self.ticks = scenario.forming_path(newest, _TICKS_OF_A_CANDLE)
        return scenario.forecast_after(newest)

    def show_newest(self) -> None:
        """Release the plot; show the newest `IN_VIEW` candles, with the room to the right, and the cursor over them."""
        chart = self.chart
        middle = (WIDTH * 0.4, HEIGHT * 0.45)
        for kind in (QEvent.Type.MouseButtonRelease, QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease):
            self.point_at(*middle, kind, held=kind is QEvent.Type.MouseButtonPress)  # a click stops what still glides
        chart.reset_view()
        for _ in range(3):  # the price axis may take another width with each
            shown = min(IN_VIEW, self.count) + chart.scale.margin
            chart.zoom(chart.scale.width / shown / chart.scale.spacing)
            self.settle()
        self.point_at(*middle)
        self.settle()

    @property
    def in_view(self) -> int:
        """Closed candles in the picture."""
        return self.chart.frame.stop - self.chart.frame.first

    def point_at(self, x: float, y: float, kind: QEvent.Type = QEvent.Type.MouseMove, *, held: bool = False) -> None:
        """A mouse event, as a window system sends it; logical pixels."""
        left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
        button = none if kind is QEvent.Type.MouseMove else left
        spot = QPointF(x, y)
        modifiers = Qt.KeyboardModifier.NoModifier
        event = QMouseEvent(kind, spot, spot, spot, button, left if held else none, modifiers, _FROM_A_SCREEN)
        QApplication.sendEvent(self.chart.viewport(), event)

    def settle(self) -> None:
        """Bring the picture up to date, untimed."""
        self.chart.flush()
        self._paint()
        while self._everything is not None and self._everything.finish():
            self.chart.flush()
            self._paint()

    def timed_ms(self, change: Callable[[], None]) -> float:
        """Milliseconds from the call of `change` to the return of the paint that shows it. Raises MeasureError where
        that was not exactly one paint."""
        before, closed_before = self._paints.count, self.chart.closed_paints
        cpu_ns, started_ns = thread_time_ns(), perf_counter_ns()
        change()
        self.chart.flush()
        self._paint()
        ended_ns = perf_counter_ns()
        self.cpu_ms = (thread_time_ns() - cpu_ns) / 1e6
        paints, self.closed_paints = self._paints.count - before, self.chart.closed_paints - closed_before
        if paints != 1:
            raise MeasureError(
                f"A change of the chart was followed by {paints} paints instead of one; no figure is given."
            )
        if self._everything is not None:
            self.settle()  # what the window does between frames
        return (ended_ns - started_ns) / 1e6

    def close(self) -> None:
        """Take the window away."""
        self.chart.close()
        self.chart.deleteLater()
        self._theme.deleteLater()

    def _paint(self) -> None:
        QCoreApplication.sendPostedEvents(self.chart, QEvent.Type.UpdateRequest)

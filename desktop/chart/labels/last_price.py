"""The labels that change with each tick: the last price, and the countdown to the forming candle's close."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QRect, Qt, QTimer, Slot
from PySide6.QtGui import QColor

from core.domain.clock import Clock
from desktop.chart.data.model import ChartModel
from desktop.chart.labels.axis_labels import price_label_rect
from desktop.chart.painting.text import Box, Row, Span
from desktop.chart.panes.frame import Frame
from desktop.chart.style import CandleStyle
from desktop.ui import formatting

_LINE_REACH_PX = 4
_SECOND_MS = 1000


@dataclass(frozen=True)
class LastPriceLine:
    """Laid out with the labels, so that paints between two frames draw it at the same place as the next frame."""

    row: int
    colour: QColor


def forming_area(frame: Frame, model: ChartModel, *, has_lines: bool) -> QRect:
    """The columns that change with a tick. has_lines: a line joins the forming candle to the one before."""
    if model.forming is None:
        return QRect()
    left = frame.x(model.count) - frame.widths.body // 2 - 1
    right = left + frame.widths.body + 3
    if has_lines or frame.style.candles is CandleStyle.LINE:  # the newest segment of a line, and the dot at its end
        reach = frame.scaled(_LINE_REACH_PX)
        left, right = min(left, frame.x(model.count - 1) - reach), max(right, frame.x(model.count) + reach)
    return QRect(left, 0, right - left, frame.layout.plot_bottom).intersected(frame.layout.plot)


def last_price_line(frame: Frame, model: ChartModel) -> LastPriceLine | None:
    """The last price's row, in the newest candle's colour; None if out of view."""
    newest = model.newest
    if newest is None or not frame.prices.low <= newest.close <= frame.prices.high:
        return None
    return LastPriceLine(frame.y(newest.close), frame.palette.candle(newest.close >= newest.open))


def last_price_box(frame: Frame, model: ChartModel, countdown: str | None) -> Box | None:
    """The price on the axis, with the time to the candle's close below it if known; None on small axes."""
    line, newest = last_price_line(frame, model), model.newest
    if line is None or newest is None or frame.style.has_small_axes:
        return None
    ink = frame.palette.inverse_text
    rows: tuple[Row, ...] = ((Span(frame.price_text(newest.close), ink, bold=True),),)
    if countdown is not None:
        rows += ((Span(countdown, ink),),)
    return Box(price_label_rect(frame, line.row, rows), rows, line.colour, price=newest.close)


class Countdown(QObject):
    """Calls `on_second` at the start of each second, while the market is live and the chart is visible."""

    def __init__(self, on_second: Callable[[], None], clock: Clock, parent: QObject) -> None:
        super().__init__(parent)
        self._on_second, self._clock = on_second, clock
        self._is_live = self._is_seen = False
        self._timer = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    def set_live(self, is_live: bool) -> None:
        """Set whether ticks come from a market that is open now."""
        self._is_live = is_live
        self._run()

    def set_seen(self, is_seen: bool) -> None:
        self._is_seen = is_seen
        self._run()

    def text(self, model: ChartModel) -> str | None:
        """``00:45``; None without a live market or a forming candle, or if it should have closed long ago."""
        forming, interval = model.forming, model.series.interval
        if not self._is_live or forming is None:
            return None
        left_ms = interval.close_time_ms(forming.open_time_ms) - self._clock.now_ms()
        return None if left_ms < -interval.duration_ms else formatting.format_countdown(left_ms)

    def _run(self) -> None:
        """A busy market repaints by itself; a quiet one needs this timer."""
        if self._is_live and self._is_seen:
            self._timer.start(_SECOND_MS - self._clock.now_ms() % _SECOND_MS)
        else:
            self._timer.stop()

    @Slot()
    def _tick(self) -> None:
        self._on_second()
        self._run()

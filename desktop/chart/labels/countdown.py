"""The time left until the forming candle closes."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Slot

from core.clock import Clock
from desktop import formatting
from desktop.chart.data.model import ChartModel

_SECOND_MS = 1000


class Countdown(QObject):
    """Calls `on_second` as each second of the clock begins, while the market is live and the chart is seen."""

    def __init__(self, on_second: Callable[[], None], clock: Clock | None, parent: QObject) -> None:
        super().__init__(parent)
        self._on_second = on_second
        self._clock = clock
        self._is_live = self._is_seen = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    @property
    def is_live(self) -> bool:
        """Whether the market is."""
        return self._is_live

    def set_live(self, is_live: bool) -> None:
        """Whether ticks come from a market that is open now."""
        self._is_live = is_live
        self._run()

    def set_seen(self, is_seen: bool) -> None:
        """Whether the chart is on the screen."""
        self._is_seen = is_seen
        self._run()

    def text(self, model: ChartModel) -> str | None:
        """``00:45``; None without a clock, a live market or a forming candle, or where that should be over for long."""
        forming, series = model.forming, model.series
        if self._clock is None or not self._is_live or forming is None or series is None:
            return None
        left_ms = series.interval.close_time_ms(forming.open_time_ms) - self._clock.now_ms()
        return None if left_ms < -series.interval.duration_ms else formatting.format_countdown(left_ms)

    def _run(self) -> None:
        """A market that ticks often repaints by itself; a quiet one needs this."""
        if self._clock is not None and self._is_live and self._is_seen:
            self._timer.start(_SECOND_MS - self._clock.now_ms() % _SECOND_MS)
        else:
            self._timer.stop()

    @Slot()
    def _tick(self) -> None:
        self._on_second()
        self._run()

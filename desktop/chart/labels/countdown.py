"""The time left until the forming candle closes."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Slot

from core.clock import Clock
from desktop import formatting
from desktop.chart.data.model import ChartModel

_SECOND_MS = 1000


class Countdown(QObject):
    """Of a market that is open now. Calls `on_second` as each second of the clock begins, while the chart is shown."""

    def __init__(self, model: ChartModel, on_second: Callable[[], None], clock: Clock | None, parent: QObject) -> None:
        super().__init__(parent)
        self._model, self._on_second, self._clock = model, on_second, clock
        self.is_live = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    def set_live(self, is_live: bool, *, is_shown: bool) -> None:
        """Whether ticks come from a market that is open now."""
        self.is_live = is_live
        self.run(is_shown=is_shown)

    def run(self, *, is_shown: bool) -> None:
        """A market that ticks often repaints by itself; a quiet one needs this."""
        if not (self.is_live and is_shown):
            self._timer.stop()
        elif self._clock is not None:
            self._timer.start(_SECOND_MS - self._clock.now_ms() % _SECOND_MS)

    def text(self) -> str | None:
        """``00:45``; None where there is none."""
        forming, series = self._model.forming, self._model.series
        if self._clock is None or not self.is_live or forming is None or series is None:
            return None
        left_ms = series.interval.close_time_ms(forming.open_time_ms) - self._clock.now_ms()
        return formatting.format_countdown(left_ms)

    @Slot()
    def _tick(self) -> None:
        self._on_second()
        self.run(is_shown=True)

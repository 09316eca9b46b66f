"""The time left until the forming candle closes."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Slot

from core.clock import Clock
from core.market.candle import Interval
from desktop import formatting

_SECOND_MS = 1000


class Countdown(QObject):
    """Calls `on_second` as each second of the clock begins, while it runs."""

    def __init__(self, on_second: Callable[[], None], clock: Clock | None, parent: QObject) -> None:
        super().__init__(parent)
        self._on_second = on_second
        self._clock = clock
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        """Run, if there is a clock. A market that ticks often repaints by itself; a quiet one needs this."""
        if self._clock is not None:
            self._timer.start(_SECOND_MS - self._clock.now_ms() % _SECOND_MS)

    def stop(self) -> None:
        self._timer.stop()

    def text(self, opened_at_ms: int, interval: Interval) -> str | None:
        """``00:45``; None without a clock."""
        if self._clock is None:
            return None
        return formatting.format_countdown(interval.close_time_ms(opened_at_ms) - self._clock.now_ms())

    @Slot()
    def _tick(self) -> None:
        self._on_second()
        self.start()

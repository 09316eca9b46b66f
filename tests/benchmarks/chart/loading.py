"""How soon a long stored history is on the chart, and whether the window stays fluid while it comes.

The road is the window's own: its connection reads the newest candles, the chart shows them, `HistoryLoading` reads all
on its thread, and the chart takes the whole over. Meanwhile a timer asks for a whole picture every 16 ms. A frame is
the time from the end of one whole paint to the end of the next, whatever caused it, so that it contains all that keeps
the window from painting: the loader's share of the interpreter and of the processor, and the takeover itself. With
everything there are each kind of indicator and hindsight as well; then it is over when the
indicators are drawn over the whole history. The database was written just now: its pages are in the system's memory,
not to be fetched from a disk.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

import numpy as np
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QPaintEvent
from qasync import QEventLoop

from core.domain.candle import Market
from core.domain.candle_series import CandleSeries
from core.domain.clock import ManualClock
from core.storage.candles import CandleStore
from core.storage.database import open_database
from desktop.chart.widget import ChartWidget
from desktop.services.candle_loader import SHOWN_AT_FIRST, HistoryLoading
from desktop.ui.paint_in_turn import FRAME_MS
from desktop.ui.theme import Theme
from tests.benchmarks.chart import scenario
from tests.benchmarks.chart.everything import Everything, WalkedPast
from tests.benchmarks.chart.rig import HEIGHT, WIDTH, MeasureError, application

_MARKET = Market("simulated", "LOAD/TEST", scenario.MINUTE)
_FRAMES_AFTER = 30
_FRAMES_ALONE = 120
_GIVEN_UP_AFTER_S = 120.0


def measure_loading(candles: int, *, with_everything: bool) -> dict[str, Any]:
    """Store so many candles in a temporary database (some seconds, not measured), then load them.

    Times run from the moment at which the market is chosen, and end when the paint that shows it has returned.
    `while_loading` are the frames from the first picture to half a second after the takeover; `before_loading` those of
    the same chart with nothing beside it, to tell the machine's own mood apart.

    with_everything: indicators and hindsight are on; else `everything_painted_ms` is None. Raises
    MeasureError, StorageError.
    """
    qt = application()
    with tempfile.TemporaryDirectory(prefix="ghostcandle-load-") as root:
        path = Path(root) / "ghostcandle.sqlite3"
        with open_database(path) as db:
            store = CandleStore(db)
            store.save_columns(_MARKET, scenario.columns(candles), replaces=True)
            stage = _Stage(store, path, with_everything=with_everything)
            try:
                with QEventLoop(qt) as loop:  # the window's loop
                    figures: dict[str, Any] = loop.run_until_complete(stage.measure(candles))
                return figures
            finally:
                stage.close()


class _Chart(ChartWidget):
    """Says when it has painted all of itself."""

    painted = Signal()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if event.rect().contains(self.viewport().rect()):
            self.painted.emit()


class _Stage(QObject):
    """A shown chart, its loader, and the timer that asks for pictures."""

    def __init__(self, store: CandleStore, path: Path, *, with_everything: bool) -> None:
        super().__init__()
        self._store = store
        self._theme = Theme("dark")
        self._chart = _Chart(self._theme, ManualClock())
        self._chart.resize(WIDTH, HEIGHT)
        self._chart.painted.connect(self._on_painted)
        self._loading = HistoryLoading(path, self)
        self._loading.loaded.connect(self._on_loaded)
        self._loading.failed.connect(self._on_failed)
        self._timer = QTimer(self, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._paint)
        self._is_over: Callable[[], bool] = lambda: True
        self._over = asyncio.Event()
        self._painted_at: list[float] = []
        self._worked_until_ms: list[float] = []
        self._whole: CandleSeries | None = None
        self._whole_painted_at: float | None = None
        self._everything = self._all_layers() if with_everything else None
        self._everything_painted_at: float | None = None
        self._frames_left = _FRAMES_AFTER
        self._failure = ""

    async def measure(self, candles: int) -> dict[str, Any]:
        self._chart.show()
        self._choose_market()
        before = await self._frames_until(lambda: len(self._painted_at) > _FRAMES_ALONE)
        chosen_at = perf_counter()
        self._choose_market()
        self._loading.start(_MARKET)
        self._paint()
        newest_painted_at = perf_counter()
        while_loading = await self._frames_until(lambda: self._frames_left == 0 or bool(self._failure))
        if self._failure or self._whole_painted_at is None:
            raise MeasureError(f"The history did not come. {self._failure}")
        if self._whole is None or len(self._whole) != candles:
            raise MeasureError(f"Of {candles} stored candles not all came.")
        everything_at = self._everything_painted_at
        return {
            "candles": candles,
            "newest_painted_ms": (newest_painted_at - chosen_at) * 1e3,
            "all_painted_ms": (self._whole_painted_at - chosen_at) * 1e3,
            "while_loading": while_loading,
            "before_loading": before,
            "everything_painted_ms": None if everything_at is None else (everything_at - chosen_at) * 1e3,
        }

    def close(self) -> None:
        self._timer.stop()
        self._loading.cancel()
        self._loading.wait()
        self._chart.close()
        for part in (self._chart, self._theme, self):
            part.deleteLater()

    def _choose_market(self) -> None:
        self._chart.set_series(self._newest(), str(_MARKET))

    def _newest(self) -> CandleSeries:
        stored = self._store.columns_before(_MARKET, None, SHOWN_AT_FIRST)
        return CandleSeries.from_columns(_MARKET.interval, stored.open_time_ms, stored.values)

    def _all_layers(self) -> Everything:
        self._choose_market()  # drawings lie on its candles
        return Everything(self._chart, WalkedPast(self._newest()), _MARKET.interval)

    async def _frames_until(self, is_over: Callable[[], bool]) -> dict[str, float]:
        """Their lengths; `cpu_worst_ms` is the most that the window's thread worked in one of them, without waiting for
        a core that others had."""
        self._is_over = is_over
        self._painted_at, self._worked_until_ms = [perf_counter()], [thread_time() * 1e3]
        self._timer.start(FRAME_MS)
        self._over.clear()
        try:
            await asyncio.wait_for(self._over.wait(), _GIVEN_UP_AFTER_S)
        except TimeoutError as error:
            raise MeasureError(f"The history was not there after {_GIVEN_UP_AFTER_S:g} s.") from error
        finally:
            self._timer.stop()
        lengths_ms = np.diff(self._painted_at) * 1e3
        p50, p99 = np.percentile(lengths_ms, [50.0, 99.0])
        return {
            "frames": lengths_ms.size,
            "p50_ms": float(p50),
            "p99_ms": float(p99),
            "worst_ms": float(lengths_ms.max()),
            "cpu_worst_ms": float(np.diff(self._worked_until_ms).max()),
        }

    @Slot()
    def _on_painted(self) -> None:
        self._painted_at.append(perf_counter())
        self._worked_until_ms.append(thread_time() * 1e3)
        if self._whole is not None:
            self._whole_painted_at = self._whole_painted_at or self._painted_at[-1]
            self._look_at_everything()
        if self._is_over():
            self._over.set()

    def _look_at_everything(self) -> None:
        if self._everything is not None and self._everything_painted_at is None:
            if not self._everything.is_whole:
                return
            self._everything_painted_at = self._painted_at[-1]
        self._frames_left -= 1

    @Slot(object, object)
    def _on_loaded(self, series: CandleSeries, _holes: object) -> None:
        self._whole = series
        self._chart.replace_series(series)

    @Slot(str)
    def _on_failed(self, sentence: str) -> None:
        self._failure = sentence

    @Slot()
    def _paint(self) -> None:
        """A whole picture, by the road that Qt takes: not one that it may merge away."""
        self._chart.refresh()
        self._chart.flush()
        QCoreApplication.sendPostedEvents(self._chart, QEvent.Type.UpdateRequest)

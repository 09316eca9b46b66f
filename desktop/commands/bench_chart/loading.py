"""How soon a long stored history is on the chart, and whether the window stays fluid while it comes.

The road is the window's own: its connection reads the newest candles, the chart shows them, `HistoryLoading` reads all
on its thread, and the chart takes the whole over. Meanwhile a timer asks for a whole picture every 16 ms. A frame is
the time from the end of one whole paint to the end of the next, whatever caused it, so that it contains all that keeps
the window from painting: the loader's share of the interpreter and of the processor, and the takeover itself. With
everything there are each kind of indicator, hindsight and the strip of errors as well; then it is over when the
indicators are drawn over the whole history. The database was written just now: its pages are in the system's memory,
not to be fetched from a disk.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, thread_time

import numpy as np
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from core.domain.candle import Candle, Interval, Market
from core.domain.candle_series import CandleSeries
from core.domain.clock import ManualClock
from core.storage.candles import CandleStore
from core.storage.database import open_database
from desktop.chart.frame_clock import FRAME_MS
from desktop.chart.widget import ChartWidget
from desktop.commands.bench_chart.everything import Everything, WalkedPast
from desktop.services.candle_loader import SHOWN_AT_FIRST, HistoryLoading
from desktop.ui.theme import Theme

_WIDTH, _HEIGHT = 1600, 900
_START_MS = 1_000_000_000_000 // 60_000 * 60_000
_MARKET = Market("simulated", "LOAD/TEST", Interval(60_000))
_WRITTEN_AT_ONCE = 50_000
_FRAMES_AFTER = 30
_FRAMES_ALONE = 120
_GIVEN_UP_AFTER_S = 120.0


class LoadingError(Exception):
    """The history did not come. The message is a sentence."""


@dataclass(frozen=True, slots=True)
class FrameTimes:
    """From the end of one paint to the end of the next, milliseconds; a timer asks for one every 16."""

    frames: int
    p50_ms: float
    p99_ms: float
    worst_ms: float
    cpu_worst_ms: float
    """The most that the window's thread worked in one of them: without waiting for a core that others had."""


@dataclass(frozen=True, slots=True)
class LoadingFigures:
    """Times run from the moment at which the market is chosen, and end when the paint that shows it has returned.

    `while_loading` are the frames from the first picture to half a second after the takeover; `before_loading` those of
    the same chart with nothing beside it, to tell the machine's own mood apart.
    """

    candles: int
    newest_painted_ms: float
    all_painted_ms: float
    while_loading: FrameTimes
    before_loading: FrameTimes
    everything_painted_ms: float | None = None
    """Indicators over the whole history too; None where there were none."""


def measure_loading(
    candles: int = 1_000_000, folder: Path | None = None, *, with_everything: bool = False
) -> LoadingFigures:
    """Store so many candles in a separate database (some seconds, not measured), then load them.

    with_everything: indicators, hindsight and the strip of errors are on. folder: where the database goes; a temporary
    one without it. Raises LoadingError, StorageError.
    """
    application = QApplication.instance() or QApplication(sys.argv[:1])
    with tempfile.TemporaryDirectory(prefix="ghostcandle-load-", dir=folder) as root:
        path = Path(root) / "ghostcandle.sqlite3"
        with open_database(path) as db:
            store = CandleStore(db)
            _fill(store, candles)
            stage = _Stage(store, path, with_everything=with_everything)
            try:
                with QEventLoop(application) as loop:  # the window's loop
                    figures: LoadingFigures = loop.run_until_complete(stage.measure(candles))
                return figures
            finally:
                stage.close()


def _fill(store: CandleStore, count: int) -> None:
    """A random walk in cents, minute by minute."""
    random = np.random.default_rng(11)
    for first in range(0, count, _WRITTEN_AT_ONCE):
        size = min(_WRITTEN_AT_ONCE, count - first)
        close = np.round(20_000 + np.cumsum(random.normal(0, 4, size)), 2)
        opened = np.concatenate((close[:1], close[:-1]))
        high, low = np.maximum(opened, close) + 0.5, np.minimum(opened, close) - 0.5
        times = _START_MS + (first + np.arange(size)) * _MARKET.interval.duration_ms
        rows = np.stack((opened, high, low, close, np.round(random.uniform(1, 300, size), 3)), axis=1)
        store.save(_MARKET, [Candle(time, *row) for time, row in zip(times.tolist(), rows.tolist(), strict=True)])


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
        self._chart = _Chart(self._theme, ManualClock(_START_MS))
        self._chart.resize(_WIDTH, _HEIGHT)
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

    async def measure(self, candles: int) -> LoadingFigures:
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
            raise LoadingError(f"The history did not come. {self._failure}")
        if self._whole is None or len(self._whole) != candles:
            raise LoadingError(f"Of {candles} stored candles not all came.")
        return LoadingFigures(
            candles,
            (newest_painted_at - chosen_at) * 1e3,
            (self._whole_painted_at - chosen_at) * 1e3,
            while_loading,
            before,
            None if self._everything_painted_at is None else (self._everything_painted_at - chosen_at) * 1e3,
        )

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
        return Everything(self._chart, WalkedPast(self._newest()), _MARKET.interval)

    async def _frames_until(self, is_over: Callable[[], bool]) -> FrameTimes:
        self._is_over = is_over
        self._painted_at, self._worked_until_ms = [perf_counter()], [thread_time() * 1e3]
        self._timer.start(FRAME_MS)
        self._over.clear()
        try:
            await asyncio.wait_for(self._over.wait(), _GIVEN_UP_AFTER_S)
        except TimeoutError as error:
            raise LoadingError(f"The history was not there after {_GIVEN_UP_AFTER_S:g} s.") from error
        finally:
            self._timer.stop()
        lengths_ms = np.diff(self._painted_at) * 1e3
        p50, p99 = np.percentile(lengths_ms, [50.0, 99.0])
        cpu_worst_ms = float(np.diff(self._worked_until_ms).max())
        return FrameTimes(lengths_ms.size, float(p50), float(p99), float(lengths_ms.max()), cpu_worst_ms)

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

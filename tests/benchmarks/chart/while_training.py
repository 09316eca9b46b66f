"""Frames while a trainer runs flat out: the mouse moves, 100 ticks come a second, and Qt's own loop runs.

A frame is the frame clock's work (geometry and labels) and the paint that follows it, both on the wall's clock: when
the trainer holds the interpreter or the core in the middle of one, that counts. The waiting between the two, and for
the frame clock's 16 ms, does not; `interval_ms`, from one paint to the next, has all of it.

Each host is measured in a separate process, so that the figure of the process host is that of a window without
torch; `has_torch` says whether that held.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import perf_counter_ns
from typing import Any, Literal

import numpy as np
from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from core.domain.candle import SIMULATED_VENUE, Market
from core.domain.clock import SystemClock
from core.domain.events import EventBatch, StepDone, TrainerFailed
from core.settings.tree import Settings
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.training.online.trainer_spec import SessionSpec
from desktop.chart.frame_clock import Dirty
from desktop.chart.widget import ChartWidget
from desktop.services.trainer import TrainingWorker
from tests.benchmarks.chart import scenario
from tests.benchmarks.chart.rig import HEIGHT, WIDTH, MeasureError, Rig

Host = Literal["none", "process", "thread"]

TICK_MS = 10
_MOUSE_MS = 8
_SHOWN = 10_000
_TO_LEARN = 30_000
"""Candles that wait for the trainer: more than it can take while it is measured."""
_FIRST_STEP_WITHIN_S = 120.0
_SETTLING_S = 1.0
_STEADY_AFTER = 20
"""Steps: the first ones are slow, and the trainer looks for its number of threads."""
_LOOK_S = 0.05
_FEWEST_FRAMES = 20


class FramedChart(ChartWidget):
    """The chart, with a stopwatch around what the frame clock and Qt make it do for a frame."""

    frames_ms: list[float]
    painted_at_ms: list[float]
    _begun_ms: float = 0.0

    def _on_frame(self, dirty: Dirty) -> None:
        started_ns = perf_counter_ns()
        super()._on_frame(dirty)
        self._begun_ms += (perf_counter_ns() - started_ns) / 1e6

    def event(self, event: QEvent) -> bool:
        if event.type() is not QEvent.Type.UpdateRequest:
            return bool(super().event(event))
        started_ns = perf_counter_ns()
        is_taken = bool(super().event(event))  # paints what is dirty into the backing store before it returns
        self._note(started_ns, perf_counter_ns())
        return is_taken

    def forget_frames(self) -> None:
        """Begin to measure."""
        self.frames_ms, self.painted_at_ms = [], []

    def _note(self, started_ns: int, ended_ns: int) -> None:
        if self._begun_ms > 0.0 and hasattr(self, "frames_ms"):
            self.frames_ms.append(self._begun_ms + (ended_ns - started_ns) / 1e6)
            self.painted_at_ms.append(ended_ns / 1e6)
        self._begun_ms = 0.0


class Hand(QObject):
    """Moves the mouse over the chart and sends it ticks, each at its own pace."""

    def __init__(self, rig: Rig) -> None:
        super().__init__(rig.chart)
        self._rig = rig
        self.ticks = self.moves = 0
        self._timers = [self._timer(TICK_MS, self._tick), self._timer(_MOUSE_MS, self._move)]

    def stop(self) -> None:
        """Rest."""
        for timer in self._timers:
            timer.stop()

    def _timer(self, interval_ms: int, act: Any) -> QTimer:
        timer = QTimer(self, timerType=Qt.TimerType.PreciseTimer)
        timer.timeout.connect(act)
        timer.start(interval_ms)
        return timer

    def _tick(self) -> None:
        self.ticks += 1
        self._rig.chart.set_forming(self._rig.ticks[self.ticks % len(self._rig.ticks)])

    def _move(self) -> None:
        self.moves += 1
        self._rig.point_at(40 + 11 * self.moves % (WIDTH - 200), 30 + 7 * self.moves % (HEIGHT - 90))


class Trainer(QObject):
    """A real run in a separate folder, with its events so far."""

    def __init__(self, folder: Path, settings: Settings, host: Literal["process", "thread"]) -> None:
        super().__init__()
        self.steps = 0
        self.failure: str | None = None
        market = Market(SIMULATED_VENUE, "BENCH", scenario.MINUTE)
        _store_candles(folder, market)
        training = replace(settings.training, host=host)
        self._worker = TrainingWorker(
            SessionSpec(folder, market, replace(settings, training=training)), SystemClock(), self
        )
        self._worker.batch.connect(self._take)
        self._worker.start()

    def stop(self) -> None:
        """End the run and wait."""
        self._worker.stop()
        self.deleteLater()

    @Slot(object)
    def _take(self, batch: EventBatch) -> None:
        for event in batch.events:
            if isinstance(event, StepDone):
                self.steps += 1
            elif isinstance(event, TrainerFailed):
                self.failure = event.sentence


def _store_candles(folder: Path, market: Market) -> None:
    DataFolder(folder).ensure()
    with closing(open_database(DataFolder(folder).database)) as db:
        CandleStore(db).save_columns(market, scenario.columns(_TO_LEARN), replaces=True)


def measure_frames(settings: Settings, host: Host, seconds: float, qt: QApplication) -> dict[str, Any]:
    """Frame times with that host, or with no trainer at all. Raises MeasureError. Runs the event loop."""
    with tempfile.TemporaryDirectory(prefix="ghostcandle-bench-") as folder, QEventLoop(qt) as loop:
        asyncio.set_event_loop(loop)
        measured: dict[str, Any] = loop.run_until_complete(_measure(Path(folder), settings, host, seconds))
        return measured


async def _measure(folder: Path, settings: Settings, host: Host, seconds: float) -> dict[str, Any]:
    rig = Rig(_SHOWN, FramedChart)
    trainer = None if host == "none" else Trainer(folder, settings, host)
    try:
        if trainer is not None:
            await _until(lambda: trainer.steps >= _STEADY_AFTER, trainer, _FIRST_STEP_WITHIN_S)
        return await _frames(rig, trainer, seconds)
    finally:
        if trainer is not None:
            trainer.stop()
        rig.close()


async def _frames(rig: Rig, trainer: Trainer | None, seconds: float) -> dict[str, Any]:
    chart, hand = rig.chart, Hand(rig)
    assert isinstance(chart, FramedChart)
    await asyncio.sleep(_SETTLING_S)
    steps, ticks = 0 if trainer is None else trainer.steps, hand.ticks
    chart.forget_frames()
    started_ns = perf_counter_ns()
    await _while_it_trains(trainer, seconds)
    lasted_s = (perf_counter_ns() - started_ns) / 1e9
    hand.stop()
    return {
        "frame_ms": _spread(chart.frames_ms),
        "interval_ms": _spread([later - earlier for earlier, later in pairwise(chart.painted_at_ms)]),
        "frames": len(chart.frames_ms),
        "ticks_per_s": (hand.ticks - ticks) / lasted_s,
        "steps_per_s": None if trainer is None else (trainer.steps - steps) / lasted_s,
        "has_torch": "torch" in sys.modules,
    }


async def _until(is_reached: Callable[[], bool], trainer: Trainer, within_s: float) -> None:
    clock = SystemClock()
    until_s = clock.monotonic_s() + within_s
    while not is_reached():
        _complain(trainer)
        if clock.monotonic_s() > until_s:
            raise MeasureError(
                f"The trainer made no {_STEADY_AFTER} steps within {within_s:.0f} s; no frame was measured."
            )
        await asyncio.sleep(_LOOK_S)


async def _while_it_trains(trainer: Trainer | None, seconds: float) -> None:
    """Raises MeasureError where the trainer stops, or has nothing left to do, meanwhile."""
    await asyncio.sleep(seconds)
    if trainer is None:
        return
    _complain(trainer)
    if trainer.steps >= _TO_LEARN - 1:
        raise MeasureError("The trainer ran out of candles while frames were measured; ask for fewer --seconds.")


def _complain(trainer: Trainer) -> None:
    if trainer.failure is not None:
        raise MeasureError(f"Frames were not measured, because the trainer stopped. {trainer.failure}")


def _spread(values_ms: list[float]) -> dict[str, float]:
    if len(values_ms) < _FEWEST_FRAMES:
        raise MeasureError(
            f"Only {len(values_ms)} frames were painted, too few for a percentile; ask for more --seconds."
        )
    p50, p99 = np.percentile(values_ms, [50.0, 99.0])
    return {"p50": float(p50), "p99": float(p99), "max": max(values_ms)}

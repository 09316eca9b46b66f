"""Candle files with a learnable pattern, and pretraining of a small model on them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.domain.candle import Candle, Interval
from core.domain.clock import SystemClock
from core.domain.events import JobProgress
from core.settings.tree import ModelSettings, Settings, TrainingSettings
from core.storage.folder import DataFolder
from core.training.pretraining.loop import PretrainingContext, PretrainingRequest
from core.training.pretraining.run import pretrain
from tests.support.candles import MINUTE, START_MS

SMALL = Settings(
    model=ModelSettings(width=16, layers=1, heads=2, context=8, horizons=3),
    training=TrainingSettings(seed=5, learning_rate=3e-3, device="cpu", replay_samples=3, replay_window=64),
)


def reverting(count: int, seed: int = 0, interval: Interval = MINUTE, start_ms: int = START_MS) -> list[Candle]:
    """Candles whose every return takes most of the last one back: there is something to learn."""
    generator = np.random.default_rng(seed)
    log_return, log_close, candles = 0.0, np.log(100.0), []
    for index in range(count):
        before = log_close
        log_return = -0.9 * log_return + generator.normal(0.0, 5e-4)
        log_close += log_return
        top, bottom = max(before, log_close), min(before, log_close)
        high, low = np.exp(top + abs(generator.normal(0.0, 2e-4))), np.exp(bottom - abs(generator.normal(0.0, 2e-4)))
        time_ms = start_ms + index * interval.duration_ms
        prices = (float(np.exp(before)), float(high), float(low), float(np.exp(log_close)))
        candles.append(Candle(time_ms, *prices, float(generator.gamma(2.0, 10.0))))
    return candles


def write(path: Path, candles: Sequence[Candle]) -> Path:
    """A candle file. Numbers are written so that reading gives the same ones."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("open_time_ms", "open", "high", "low", "close", "volume"))
        for one in candles:
            writer.writerow((one.open_time_ms, *map(repr, (one.open, one.high, one.low, one.close, one.volume))))
    return path


class Listener:
    """Records its calls."""

    def __init__(self) -> None:
        self.jobs: list[JobProgress] = []
        self.sentences: list[str] = []

    def show(self, job: JobProgress) -> None:
        self.jobs.append(job)

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)


def run(
    root: Path,
    *files: Path,
    epochs: int = 2,
    settings: Settings = SMALL,
    should_stop: Callable[[], bool] = lambda: False,
    listener: Listener | None = None,
    **wanted: Any,
) -> dict[str, Any]:
    """Pretrain in this process."""
    folder = DataFolder(root)
    folder.ensure()
    listener = listener or Listener()
    context = PretrainingContext(settings, folder, SystemClock(), listener.show, listener.say, should_stop)
    account = pretrain(PretrainingRequest(files, epochs, **wanted), context)
    assert account is not None
    return account

"""The learning rate over the steps: a warm-up, then constant, a cosine, or halved when the loss is stuck."""

from __future__ import annotations

import math
from typing import Any

from core.settings import TrainingSettings

_COSINE_END = 0.1
_PLATEAU_FACTOR = 0.5
_PLATEAU_FLOOR = 1e-3
_BETTER_BY = 1e-3
"""A loss counts as progress when it is lower by this share: the noise of the last digits is none."""


class RateSchedule:
    """Owns the factor on the learning rate. It goes on once for each optimizer step that was done."""

    def __init__(self, settings: TrainingSettings) -> None:
        self._kind = settings.schedule
        self._warmup = settings.warmup_steps
        self._length = settings.schedule_steps
        self._done = 0
        self._plateau = 1.0
        self._best: float | None = None
        self._stuck = 0

    @property
    def factor(self) -> float:
        """What the rate of the next step is multiplied with."""
        if self._done < self._warmup:
            return (self._done + 1) / (self._warmup + 1)
        if self._kind == "cosine":
            return _cosine(min(1.0, (self._done - self._warmup) / self._length))
        return self._plateau

    def advance(self) -> None:
        """An optimizer step was done."""
        self._done += 1

    def observe(self, prequential_loss: float) -> None:
        """The loss of a forecast that was made before its candle was seen: what `plateau` goes by."""
        if self._kind != "plateau" or self._done < self._warmup or not math.isfinite(prequential_loss):
            return
        if self._best is None or prequential_loss < self._best * (1.0 - _BETTER_BY):
            self._best, self._stuck = prequential_loss, 0
            return
        self._stuck += 1
        if self._stuck > self._length:
            self._plateau, self._stuck = max(_PLATEAU_FLOOR, self._plateau * _PLATEAU_FACTOR), 0

    def state(self) -> dict[str, Any]:
        """All of it, as JSON."""
        return {"done": self._done, "plateau": self._plateau, "best": self._best, "stuck": self._stuck}

    def restore(self, state: dict[str, Any]) -> None:
        self._done, self._stuck = int(state["done"]), int(state["stuck"])
        self._plateau, self._best = float(state["plateau"]), state["best"]


def _cosine(progress: float) -> float:
    return _COSINE_END + (1.0 - _COSINE_END) * (1.0 + math.cos(math.pi * progress)) / 2.0

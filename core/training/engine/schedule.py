"""The learning rate over the steps: a warm-up, then constant, cosine, adaptive, or halved when the loss is stuck."""

from __future__ import annotations

import math
from collections import deque
from statistics import NormalDist
from typing import Any

import numpy as np

from core.domain.quantities import FloatArray
from core.settings.tree import TrainingSettings

_COSINE_END = 0.1
_PLATEAU_FACTOR = 0.5
_PLATEAU_FLOOR = 1e-3
_PLATEAU_PATIENCE = 2
"""Windows without progress before the rate is halved. One candle's loss is mostly chance and so is a short mean: of 200
runs whose mean loss fell by 63 % in 16 windows, under noise as large as the loss, 18 % were halved with a patience of
one window, and none with two."""
_BETTER_BY = 1e-3
"""A loss counts as progress if it is lower by this share, which excludes rounding noise."""
ADAPTIVE_BLOCK = 50
"""Candles in a block of `AdaptiveRate`."""
_KEPT_BLOCKS = 20
_FEWEST_BLOCKS = 10
"""Blocks between two tests, and before the first."""
_CHANCE = 1.0 - NormalDist().cdf(2.0)
"""Chance of a false harm or gain at one test: two standard errors. Divided among the tested quantities and horizons
(Bonferroni)."""
_ADAPTIVE_FLOOR = 0.125
"""An online model must be able to follow the market for as long as it runs."""


class RateSchedule:
    """Owns the factor on the learning rate. It advances once per completed optimizer step."""

    def __init__(self, settings: TrainingSettings) -> None:
        self._kind = settings.schedule
        self._warmup = settings.warmup_steps
        self._length = settings.schedule_steps
        self._done = 0
        self._has_stepped = False
        """Whether an optimizer step was completed since the last observed loss."""
        self._plateau = 1.0
        self._sum, self._count = 0.0, 0
        """The sum and number of the losses in the current window."""
        self._best: float | None = None
        self._stuck = 0
        self._adaptive = AdaptiveRate()
        self._boost, self._boost_steps, self._boost_left = 1.0, 1, 0

    def boost(self, factor: float, steps: int) -> None:
        """Multiply the rate by `factor` now, falling back linearly over `steps`."""
        self._boost, self._boost_steps, self._boost_left = factor, steps, steps
        self._adaptive.renew()

    @property
    def factor(self) -> float:
        """Factor on the rate of the next step."""
        return self._planned * (1.0 + (self._boost - 1.0) * self._boost_left / self._boost_steps)

    @property
    def _planned(self) -> float:
        if self._done < self._warmup:
            return (self._done + 1) / (self._warmup + 1)
        if self._kind == "cosine":
            progress = min(1.0, (self._done - self._warmup) / self._length)
            return _COSINE_END + (1.0 - _COSINE_END) * (1.0 + math.cos(math.pi * progress)) / 2.0
        if self._kind == "adaptive":
            return self._adaptive.factor
        return self._plateau

    def advance(self) -> None:
        """An optimizer step was completed."""
        self._done += 1
        self._boost_left = max(0, self._boost_left - 1)
        self._has_stepped = True

    def observe(self, prequential_loss: float) -> None:
        """Take the loss of a forecast made before its candle closed, for `plateau`.

        It counts only after a completed step: a model that is not trained is not stuck.
        """
        if self._kind != "plateau" or self._done < self._warmup or not math.isfinite(prequential_loss):
            return
        if not self._has_stepped:
            return
        self._has_stepped = False
        self._sum, self._count = self._sum + prequential_loss, self._count + 1
        if self._count >= self._length:
            self._judge(self._sum / self._count)
            self._sum, self._count = 0.0, 0

    def compare(self, model: FloatArray, without: FloatArray) -> float | None:
        """Take the losses [K] of such forecasts, of the model alone and without it, for `adaptive`.

        Returns the factor by which it changed the rate, or None.
        """
        if self._kind != "adaptive" or self._done < self._warmup or not self._has_stepped:
            return None
        self._has_stepped = False
        before = self._adaptive.factor
        self._adaptive.observe(model, without)
        return None if self._adaptive.factor == before else self._adaptive.factor / before

    @property
    def compared_candles(self) -> int:
        """Number of candles on which the newest decision of `compare` was based."""
        return self._adaptive.tested_candles

    def _judge(self, mean: float) -> None:
        """Judge the mean of a full window, as torch's ReduceLROnPlateau does its metric."""
        if self._best is None or mean < self._best * (1.0 - _BETTER_BY):
            self._best, self._stuck = mean, 0
            return
        self._stuck += 1
        if self._stuck > _PLATEAU_PATIENCE:
            self._plateau, self._stuck = max(_PLATEAU_FLOOR, self._plateau * _PLATEAU_FACTOR), 0

    def state(self) -> dict[str, Any]:
        """The whole state, as JSON."""
        return {
            "done": self._done,
            "has_stepped": self._has_stepped,
            "plateau": self._plateau,
            "window": [self._sum, self._count],
            "best_mean": self._best,
            "stuck": self._stuck,
            "adaptive": self._adaptive.state(),
            "hurry": [self._boost, self._boost_steps, self._boost_left],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from the result of `state`."""
        self._done, self._plateau = int(state["done"]), float(state["plateau"])
        self._has_stepped = bool(state["has_stepped"])
        window_sum, window_count = state["window"]
        self._sum, self._count = float(window_sum), int(window_count)
        self._best, self._stuck = state["best_mean"], int(state["stuck"])
        self._adaptive.restore(state["adaptive"])
        factor, steps, left = state["hurry"]
        self._boost, self._boost_steps, self._boost_left = float(factor), int(steps), int(left)


class AdaptiveRate:
    """Owns a factor on the rate that is halved when learning does harm, and doubled again when it helps: 1 for the
    configured rate, at least an eighth.

    It compares the model's loss with the loss of the forecast without it, which an untrained model equals, on the same
    candles: their difficulty is in both and cancels out. The loss of a single model moves with the market far more than
    with its rate. Each quantity and horizon is tested separately: harm eight candles ahead must not hide behind a gain
    one candle ahead. Losses are summed in blocks, since losses of consecutive candles are correlated.
    """

    def __init__(self) -> None:
        self.factor = 1.0
        self._gain, self._count = np.zeros(1), 0
        """The model's gain in the block in progress: the losses without the model minus its own."""
        self._blocks: deque[FloatArray] = deque(maxlen=_KEPT_BLOCKS)
        self._since_test = 0
        self.tested_candles = 0
        """Number of candles of the newest test."""

    def observe(self, model: FloatArray, without: FloatArray) -> None:
        """Take the losses of one candle's forecasts, made before it closed: [K], one for each quantity and horizon. A
        non-finite difference counts as zero."""
        gain = np.subtract(without, model)
        self._gain = self._gain + np.where(np.isfinite(gain), gain, 0.0)
        self._count += 1
        if self._count < ADAPTIVE_BLOCK:
            return
        self._blocks.append(self._gain)
        self._gain, self._count = np.zeros(1), 0
        self._since_test += 1
        if self._since_test >= _FEWEST_BLOCKS:
            self._test()

    def renew(self) -> None:
        """The market has changed: start again at the full rate."""
        self.factor = 1.0
        self._forget()

    def _test(self) -> None:
        self._since_test = 0
        blocks = np.stack(list(self._blocks))
        self.tested_candles = len(blocks) * ADAPTIVE_BLOCK
        if (_scores(blocks) < NormalDist().inv_cdf(_CHANCE / blocks.shape[1])).any():
            wanted = max(_ADAPTIVE_FLOOR, self.factor / 2.0)
        elif _scores(blocks.sum(axis=1, keepdims=True))[0] > -NormalDist().inv_cdf(_CHANCE):
            wanted = min(1.0, self.factor * 2.0)
        else:
            return
        if wanted != self.factor:
            self.factor = wanted
            self._forget()

    def _forget(self) -> None:
        """Forget results for another rate, which reveal little about this one."""
        self._gain, self._count, self._since_test = np.zeros(1), 0, 0
        self._blocks.clear()

    def state(self) -> dict[str, Any]:
        """The whole state, as JSON."""
        return {
            "factor": self.factor,
            "block": [self._gain.tolist(), self._count],
            "blocks": [block.tolist() for block in self._blocks],
            "since_look": self._since_test,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from the result of `state`."""
        self.renew()
        self.factor, self._since_test = float(state["factor"]), int(state["since_look"])
        gain, count = state["block"]
        self._gain, self._count = np.atleast_1d(np.array(gain, dtype=np.float64)), int(count)
        self._blocks.extend(np.atleast_1d(np.array(block, dtype=np.float64)) for block in state["blocks"])


def _scores(blocks: FloatArray) -> FloatArray:
    """The blocks' means in standard errors: [block, K] to [K]; 0 if the blocks do not differ."""
    error = blocks.std(axis=0, ddof=1) / math.sqrt(len(blocks))
    means: FloatArray = blocks.mean(axis=0)
    scores: FloatArray = np.divide(means, error, out=np.zeros_like(means), where=error > 0.0)
    return scores

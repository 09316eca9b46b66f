"""A learning rate that is halved when learning does harm, and doubled again when it helps.

It compares the model's loss with that of the forecast without it, which an untrained model equals, on the same candles:
their difficulty is in both and cancels out. The loss of a single model moves with the market far more than with its
rate. Each quantity and horizon is tested separately: harm eight candles ahead must not hide behind a gain one candle
ahead. Losses are summed in blocks, since those of consecutive candles are correlated.
"""

from __future__ import annotations

import math
from collections import deque
from statistics import NormalDist
from typing import Any

import numpy as np

from core.domain.quantities import FloatArray

BLOCK = 50
"""Candles in a block."""
_KEPT = 20
_FEWEST = 10
"""Blocks between two tests, and before the first."""
_CHANCE = 1.0 - NormalDist().cdf(2.0)
"""Chance of a false harm or gain at one test: two standard errors. Divided among the tested quantities and horizons
(Bonferroni)."""
_FLOOR = 0.125
"""An online model must be able to follow the market for as long as it runs."""


class AdaptiveRate:
    """Owns the factor on the rate: 1 for the configured rate, at least an eighth."""

    def __init__(self) -> None:
        self.factor = 1.0
        self._gain, self._count = np.zeros(1), 0
        """Of the block in progress: the losses without the model minus the model's."""
        self._blocks: deque[FloatArray] = deque(maxlen=_KEPT)
        self._since_test = 0
        self.tested_candles = 0
        """Number of candles of the newest test."""

    def observe(self, model: FloatArray, without: FloatArray) -> None:
        """Take the losses of one candle's forecasts, made before it closed: [K], one for each quantity and horizon. A
        non-finite difference counts as zero."""
        gain = np.subtract(without, model)
        self._gain = self._gain + np.where(np.isfinite(gain), gain, 0.0)
        self._count += 1
        if self._count < BLOCK:
            return
        self._blocks.append(self._gain)
        self._gain, self._count = np.zeros(1), 0
        self._since_test += 1
        if self._since_test >= _FEWEST:
            self._test()

    def renew(self) -> None:
        """The market has changed: start again at the full rate."""
        self.factor = 1.0
        self._forget()

    def _test(self) -> None:
        self._since_test = 0
        blocks = np.stack(list(self._blocks))
        self.tested_candles = len(blocks) * BLOCK
        if (_scores(blocks) < NormalDist().inv_cdf(_CHANCE / blocks.shape[1])).any():
            wanted = max(_FLOOR, self.factor / 2.0)
        elif _scores(blocks.sum(axis=1, keepdims=True))[0] > -NormalDist().inv_cdf(_CHANCE):
            wanted = min(1.0, self.factor * 2.0)
        else:
            return
        if wanted != self.factor:
            self.factor = wanted
            self._forget()

    def _forget(self) -> None:
        """Results for another rate say little about this one."""
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

    def restore(self, state: dict[str, Any] | None) -> None:
        """Continue from what `state` returned, or from None as a new one."""
        self.renew()
        if state is None:
            return
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

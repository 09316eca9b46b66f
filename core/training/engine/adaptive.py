"""A rate that is halved when learning has done harm, and doubled again when it helps.

What is watched is the model's loss beside that of the forecast without it, which is what a model that has learned
nothing says, on the same candles: how hard those were to forecast is in both and drops out. A single model's loss moves
with the market far more than with its rate, and says little of it. Each quantity and horizon is watched by itself: harm
eight candles ahead must not hide behind a gain one candle ahead. The losses are added up in blocks: those of candles in
a row are alike.
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
"""Blocks between two looks, and before the first."""
_CHANCE = 1.0 - NormalDist().cdf(2.0)
"""Of calling harm, or a gain, what is none, at one look: two standard errors. Shared among the quantities and horizons
that are looked at (Bonferroni)."""
_FLOOR = 0.125
"""An online model has to be able to follow the market as long as it runs."""


class AdaptiveRate:
    """Owns the factor on the rate: 1 as it was set, at least an eighth."""

    def __init__(self) -> None:
        self.factor = 1.0
        self._spared, self._count = np.zeros(1), 0
        """Of the block that is not full yet: the losses without the model less the model's."""
        self._blocks: deque[FloatArray] = deque(maxlen=_KEPT)
        self._since_look = 0

    def observe(self, model: FloatArray, without: FloatArray) -> None:
        """Losses of one candle's forecasts, made before it was seen: [K], of as many quantities and horizons as there
        are. One that is not finite spares nothing."""
        spared = np.subtract(without, model)
        self._spared = self._spared + np.where(np.isfinite(spared), spared, 0.0)
        self._count += 1
        if self._count < BLOCK:
            return
        self._blocks.append(self._spared)
        self._spared, self._count = np.zeros(1), 0
        self._since_look += 1
        if self._since_look >= _FEWEST:
            self._look()

    def renew(self) -> None:
        """The market has changed: the whole rate again, and nothing is held against it."""
        self.factor = 1.0
        self._forget()

    def _look(self) -> None:
        self._since_look = 0
        blocks = np.stack(list(self._blocks))
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
        """What was found of another rate says little of this one."""
        self._spared, self._count, self._since_look = np.zeros(1), 0, 0
        self._blocks.clear()

    def state(self) -> dict[str, Any]:
        """All of it, as JSON."""
        return {
            "factor": self.factor,
            "block": [self._spared.tolist(), self._count],
            "blocks": [block.tolist() for block in self._blocks],
            "since_look": self._since_look,
        }

    def restore(self, state: dict[str, Any] | None) -> None:
        """Continue from what `state` returned; from None, as a new one."""
        self.renew()
        if state is None:
            return
        self.factor, self._since_look = float(state["factor"]), int(state["since_look"])
        spared, count = state["block"]
        self._spared, self._count = np.atleast_1d(np.array(spared, dtype=np.float64)), int(count)
        self._blocks.extend(np.atleast_1d(np.array(block, dtype=np.float64)) for block in state["blocks"])


def _scores(blocks: FloatArray) -> FloatArray:
    """The blocks' means in their standard errors: [block, K] to [K]; 0 where the blocks do not differ."""
    error = blocks.std(axis=0, ddof=1) / math.sqrt(len(blocks))
    means: FloatArray = blocks.mean(axis=0)
    scores: FloatArray = np.divide(means, error, out=np.zeros_like(means), where=error > 0.0)
    return scores

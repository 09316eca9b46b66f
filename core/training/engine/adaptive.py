"""A rate that is halved when learning has done harm, and doubled again when it helps.

What is watched is the model's loss beside that of the reference, which is the model that has learned nothing, on the
same candles: how hard those were to forecast is in both and drops out. A single model's loss moves with the market far
more than with its rate, and says little of it. The losses are added up in blocks: those of candles in a row are alike.
"""

from __future__ import annotations

import math
import statistics
from collections import deque
from typing import Any

BLOCK = 50
"""Candles in a block."""
_KEPT = 20
_FEWEST = 10
"""Blocks between two looks, and before the first."""
_CERTAIN = 2.0
"""Standard errors by which the mean of the blocks has to differ from zero."""
_FLOOR = 0.125
"""An online model has to be able to follow the market as long as it runs."""


class AdaptiveRate:
    """Owns the factor on the rate: 1 as it was set, at least an eighth."""

    def __init__(self) -> None:
        self.factor = 1.0
        self._spared, self._count = 0.0, 0
        """Of the block that is not full yet: the reference's losses less the model's."""
        self._blocks: deque[float] = deque(maxlen=_KEPT)
        self._since_look = 0

    def observe(self, model_loss: float, reference_loss: float) -> None:
        """Both losses of one candle's forecast, made before it was seen."""
        if not (math.isfinite(model_loss) and math.isfinite(reference_loss)):
            return
        self._spared += reference_loss - model_loss
        self._count += 1
        if self._count < BLOCK:
            return
        self._blocks.append(self._spared)
        self._spared, self._count = 0.0, 0
        self._since_look += 1
        if self._since_look >= _FEWEST:
            self._look()

    def renew(self) -> None:
        """The market has changed: the whole rate again, and nothing is held against it."""
        self.factor = 1.0
        self._forget()

    def _look(self) -> None:
        self._since_look = 0
        error = statistics.stdev(self._blocks) / math.sqrt(len(self._blocks))
        mean = statistics.fmean(self._blocks)
        if abs(mean) <= _CERTAIN * error:
            return
        wanted = max(_FLOOR, self.factor / 2.0) if mean < 0.0 else min(1.0, self.factor * 2.0)
        if wanted != self.factor:
            self.factor = wanted
            self._forget()

    def _forget(self) -> None:
        """What was found of another rate says little of this one."""
        self._spared, self._count, self._since_look = 0.0, 0, 0
        self._blocks.clear()

    def state(self) -> dict[str, Any]:
        """All of it, as JSON."""
        return {
            "factor": self.factor,
            "block": [self._spared, self._count],
            "blocks": list(self._blocks),
            "since_look": self._since_look,
        }

    def restore(self, state: dict[str, Any] | None) -> None:
        """Go on from what `state` returned; from None, as a new one."""
        self.renew()
        if state is None:
            return
        self.factor, self._since_look = float(state["factor"]), int(state["since_look"])
        self._spared, count = state["block"]
        self._count = int(count)
        self._blocks.extend(state["blocks"])

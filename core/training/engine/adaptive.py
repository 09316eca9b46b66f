"""A rate that is halved when the model has stopped gaining on the reference, and whole again when the market changed.

What is watched is the model's loss before learning over the reference's on the same candles: how hard those candles
were to forecast is in both, and drops out. A single model's loss moves with the market far more than with its rate.
"""

from __future__ import annotations

import math
from typing import Any

WINDOW = 500
"""Candles over which the two losses are added up."""
_PATIENCE = 2
"""Windows without progress that are put up with."""
_BETTER_BY = 1e-3
_FLOOR = 0.125
"""An online model has to be able to follow the market as long as it runs."""


class AdaptiveRate:
    """Owns the factor on the rate."""

    def __init__(self) -> None:
        self.factor = 1.0
        self._model, self._reference, self._count = 0.0, 0.0, 0
        """What was lost in the window that is not full yet."""
        self._best: float | None = None
        self._stuck = 0

    def observe(self, model_loss: float, reference_loss: float) -> None:
        """Both losses of one candle's forecast, made before it was seen and while the model was learning."""
        if not (math.isfinite(model_loss) and math.isfinite(reference_loss)):
            return
        self._model += model_loss
        self._reference += reference_loss
        self._count += 1
        if self._count >= WINDOW and self._reference > 0.0:
            self._judge(self._model / self._reference)
            self._model, self._reference, self._count = 0.0, 0.0, 0

    def renew(self) -> None:
        """The market has changed: the whole rate again, and nothing is held against it."""
        self.factor = 1.0
        self._model, self._reference, self._count = 0.0, 0.0, 0
        self._best, self._stuck = None, 0

    def _judge(self, ratio: float) -> None:
        if self._best is None or ratio < self._best * (1.0 - _BETTER_BY):
            self._best, self._stuck = ratio, 0
            return
        self._stuck += 1
        if self._stuck > _PATIENCE:
            self.factor, self._stuck = max(_FLOOR, self.factor / 2.0), 0

    def state(self) -> dict[str, Any]:
        """All of it, as JSON."""
        return {
            "factor": self.factor,
            "window": [self._model, self._reference, self._count],
            "best": self._best,
            "stuck": self._stuck,
        }

    def restore(self, state: dict[str, Any] | None) -> None:
        """Go on from what `state` returned; from None, as a new one."""
        self.renew()
        if state is not None:
            self.factor, self._best, self._stuck = float(state["factor"]), state["best"], int(state["stuck"])
            self._model, self._reference, count = state["window"]
            self._count = int(count)

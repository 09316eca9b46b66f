"""What is forecast without the model: the reference, the baselines beside it, and their calibrated combination.

It is what a model that has learned nothing says too: the model's output is a correction of it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from core.domain.quantities import FloatArray
from core.forecast.arrays import Arrays, named, part_of
from core.forecast.baseline_experts import BaselineExperts
from core.forecast.baseline_inputs import Outcomes
from core.forecast.combination import Combination, prior
from core.forecast.history import History


@dataclass(frozen=True, slots=True)
class BaselineQuantiles:
    """Made at one candle's close, normalised. The model's row of the experts repeats the reference."""

    experts: FloatArray
    """[E, H, Q, L]"""
    combined: FloatArray
    """[H, Q, L]"""


class BaselineForecast:
    """Owns everything that learns without the model. `observe` takes the history's newest candle and sets `now`."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._experts = BaselineExperts(history)
        self._combination = Combination(prior(with_model=False), history.horizons)
        self._made: deque[BaselineQuantiles] = deque(maxlen=history.horizons)
        """The forecasts at the newest candles, newest last."""

    @property
    def now(self) -> BaselineQuantiles:
        """Made at the newest candle. Raises IndexError before the first."""
        return self._made[-1]

    def observe(self) -> None:
        """Learn from the newest candle as a target, then forecast from it. Once per candle."""
        self._learn(self._experts.observe())
        experts = self._experts.quantiles()
        self._made.append(BaselineQuantiles(experts, self._combination.predict(experts)))
        self._history.keep_anchor(self.now.combined)

    def _learn(self, outcomes: Outcomes) -> None:
        made = list(reversed(self._made))
        rows = np.flatnonzero(outcomes.is_known[: len(made)])
        if not rows.size:
            return
        experts = np.stack([made[row].experts[:, row] for row in rows], axis=1)
        combined = np.stack([made[row].combined[row] for row in rows])
        self._combination.learn(rows + 1, experts, combined, outcomes.normalised[rows])

    def state(self) -> Arrays:
        """The complete state as arrays, for a checkpoint; to be restored with the history's."""
        made: Arrays = {
            "experts": np.array([each.experts for each in self._made]),
            "combined": np.array([each.combined for each in self._made]),
        }
        return named({"experts": self._experts.state(), "combination": self._combination.state(), "made": made})

    def restore(self, state: Arrays) -> None:
        """Continue from what `state` returned."""
        self._experts.restore(part_of(state, "experts"))
        self._combination.restore(part_of(state, "combination"))
        made = part_of(state, "made")
        pairs = zip(made["experts"].astype(np.float64), made["combined"].astype(np.float64), strict=True)
        self._made.clear()
        self._made.extend(BaselineQuantiles(experts, combined) for experts, combined in pairs)

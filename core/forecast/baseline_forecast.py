"""What is forecast without the model: the reference, the baselines beside it, and their calibrated combination.

It is what a model that has learned nothing says too: the model's output is a correction of it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from core.domain.candle import Candle, Interval
from core.domain.quantities import FloatArray, within_bounds
from core.forecast.arrays import Arrays, named, part_of
from core.forecast.baseline_experts import BaselineExperts
from core.forecast.baseline_inputs import Outcomes
from core.forecast.combination import Combination, prior
from core.forecast.history import History
from core.forecast.reference_forecast import REFERENCE_WINDOW


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


class SimpleRules:
    """The reference and the baselines, mixed by their prior trust. It needs no training, so it is available as soon as
    there are candles, which it takes in order. Not calibrated: nothing has been scored yet."""

    def __init__(self, interval: Interval, horizons: int) -> None:
        self._history = History(interval, REFERENCE_WINDOW + horizons, horizons)
        self._baselines = BaselineExperts(self._history)
        self._mixture = Combination(prior(with_model=False), horizons)

    @property
    def position_ms(self) -> int | None:
        """The opening time of the newest candle taken."""
        return self._history.last_open_time_ms

    def observe(self, candle: Candle) -> None:
        """Take the next closed candle. Raises ValueError for one that is not later than the last."""
        self._history.append(candle)
        self._baselines.observe()

    def forecast(self) -> FloatArray:
        """Quantiles of the candles after the newest one, natural units: [H, Q, L]. Requires at least one candle."""
        mixed = self._mixture.predict(self._baselines.quantiles())
        newest = np.array([len(self._history) - 1], dtype=np.int64)
        factor, offset = (units[0][..., None] for units in self._history.units(newest))
        return within_bounds(offset + factor * mixed)

"""What is forecast without the model: the reference, the baselines beside it, and their calibrated combination.

A model that has learned nothing forecasts the same: its output is a correction of this.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Candle, Interval
from core.domain.quantities import LEVELS, QUANTITIES, FloatArray, within_bounds
from core.forecast.arrays import Arrays, ArrayState, Places, named, part_of
from core.forecast.baseline_experts import BaselineExperts
from core.forecast.combination import Combination, prior
from core.forecast.experts import EXPERTS
from core.forecast.outcomes import Outcomes
from core.forecast.panel import Panel
from core.forecast.reference_forecast import REFERENCE_WINDOW

_ONE_MARKET = np.array([0])


class _Made(ArrayState):
    """The forecasts at the newest candles of each market, normalised, until their targets have closed."""

    _STATE = ("experts", "combined", "count")

    def __init__(self, horizons: int, markets: int) -> None:
        self.experts = np.zeros((markets, horizons, horizons, len(EXPERTS), QUANTITIES, len(LEVELS)))
        """[market, slot, H, E, Q, L]; the model's row repeats the reference."""
        self.combined = np.zeros((markets, horizons, horizons, QUANTITIES, len(LEVELS)))
        self.count = np.zeros(markets, dtype=np.int64)
        """Forecasts so far; the next one goes into the slot of this number."""

    def slots(self, places: Places, back: NDArray[np.int64] | int) -> NDArray[np.int64]:
        """The slot of the newest forecast of each market, of the one before it, and so on, by back = 1, 2, ..."""
        slots: NDArray[np.int64] = (self.count[places] - back) % self.experts.shape[1]
        return slots


class BaselineForecast:
    """Owns everything that learns without the model. `observe` takes the newest candles of a panel and sets what
    `experts` and `combined` return."""

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self._experts = BaselineExperts(panel)
        self._combination = Combination(prior(with_model=False), panel.horizons, panel.markets)
        self._made = _Made(panel.horizons, panel.markets)

    def experts(self, places: Places) -> FloatArray:
        """The forecasts of all experts at the newest candles, normalised: [n, H, E, Q, L]. The model's row repeats the
        reference."""
        return self._made.experts[places, self._made.slots(places, 1)]

    def combined(self, places: Places) -> FloatArray:
        """Their combination: [n, H, Q, L]."""
        return self._made.combined[places, self._made.slots(places, 1)]

    def observe(self, places: Places, of_others: FloatArray | None = None) -> Outcomes:
        """Learn from the newest candles of these markets as targets, then forecast from them. Once per candle.

        of_others: as in `BaselineExperts.observe`. Returns the candles as targets.
        """
        outcomes = self._experts.observe(places, of_others)
        self._learn(places, outcomes)
        experts = self._experts.quantiles(places)
        combined, slot = self._combination.predict(places, experts), self._made.slots(places, 0)
        self._made.experts[places, slot], self._made.combined[places, slot] = experts, combined
        self._made.count[places] += 1
        self._panel.keep_anchors(places, combined)
        return outcomes

    def _learn(self, places: Places, outcomes: Outcomes) -> None:
        horizons = np.arange(self._panel.horizons)
        made = places[:, None], self._made.slots(places[:, None], horizons + 1), horizons
        is_known = outcomes.is_known & (horizons < self._made.count[places, None])
        experts, combined = self._made.experts[made], self._made.combined[made]
        self._combination.learn(places, experts, combined, outcomes.normalised, is_known)

    def state(self, market: int) -> Arrays:
        """The complete state of a market as arrays, for a checkpoint; to be restored with its past."""
        return named(
            {
                "experts": self._experts.state(market),
                "combination": self._combination.state(market),
                "made": self._made.state(market),
            }
        )

    def restore(self, state: Arrays, market: int) -> None:
        """Continue a market from what `state` returned."""
        self._experts.restore(part_of(state, "experts"), market)
        self._combination.restore(part_of(state, "combination"), market)
        self._made.restore(part_of(state, "made"), market)


class SimpleRules:
    """The reference and the baselines of one market, mixed by their prior trust. It needs no training, so it is
    available as soon as there are candles, which it takes in order. Not calibrated: nothing has been scored yet."""

    def __init__(self, interval: Interval, horizons: int) -> None:
        self._panel = Panel(interval, 1, REFERENCE_WINDOW + horizons, horizons)
        self._baselines = BaselineExperts(self._panel)
        self._mixture = Combination(prior(with_model=False), horizons, 1)

    @property
    def position_ms(self) -> int | None:
        """The opening time of the newest candle taken."""
        newest = int(self._panel.size[0]) - 1
        return None if newest < 0 else int(self._panel.time[0, newest])

    def observe(self, candle: Candle) -> None:
        """Take the next closed candle. Raises ValueError for one that is not later than the last."""
        self._panel.append(_ONE_MARKET, [candle])
        self._baselines.observe(_ONE_MARKET, None)

    def forecast(self) -> FloatArray:
        """Quantiles of the candles after the newest one, natural units: [H, Q, L]. Requires at least one candle."""
        mixed = self._mixture.predict(_ONE_MARKET, self._baselines.quantiles(_ONE_MARKET))[0]
        factor, offset = (
            units[0][..., None] for units in self._panel.units(_ONE_MARKET, self._panel.newest(_ONE_MARKET))
        )
        return within_bounds(offset + factor * mixed)

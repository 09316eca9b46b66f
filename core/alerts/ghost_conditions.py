"""When an alert on ghosts is due. Each is armed while its condition does not hold, and fires once when it does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.domain.events import ForecastMade, ForecastMode
from core.domain.quantities import BAND_50, BAND_90
from core.forecast.chance import Chances

_OWN = frozenset({ForecastMode.LIVE, ForecastMode.REPLAY, ForecastMode.SIMULATED})


class AlertState(StrEnum):
    """Stored. One that is neither has not been armed yet: its condition held from the beginning."""

    ARMED = "armed"
    FIRED = "fired"


@dataclass(frozen=True, slots=True)
class LineCondition:
    """The band of any of the next closes includes the price of an alert line.

    name: stored, and the value of the setting `notifications.band_alerts`: the width of the band in percent.
    """

    name: str
    band: tuple[int, int]

    def is_met(self, forecast: ForecastMade, price: float) -> bool:
        low, high = self.band
        return any(ghost.close_quantiles[low] <= price <= ghost.close_quantiles[high] for ghost in forecast.ghosts)


LINE_CONDITIONS = (LineCondition("50", BAND_50), LineCondition("90", BAND_90))


@dataclass(frozen=True, slots=True)
class ChanceCondition:
    """The chance that an alert line is touched within so many candles is above so many percent.

    A chance moves a little with each forecast: to fire again it has to have been below half of them first.
    """

    within: int
    percent: int

    @property
    def name(self) -> str:
        """Stored."""
        return f"chance {self.percent} in {self.within}"

    def chance(self, chances: Chances, origin_close: float, price: float) -> float | None:
        """Of a price; None if the forecast is of fewer candles, and for a price that no market has."""
        if self.within > chances.horizons or price <= 0.0:
            return None
        return float(chances.touched(np.array([math.log(price / origin_close)]), self.within)[0])

    def after_check(self, state: AlertState | None, chance: float) -> AlertState | None:
        """The state after a look, as of the function of this name."""
        is_over = chance < 0.5 * self.percent / 100.0
        return after_check(None if is_over else state, is_met=chance > self.percent / 100.0)


def after_check(state: AlertState | None, *, is_met: bool) -> AlertState | None:
    """The state after a look; it fires where it becomes FIRED."""
    if state is AlertState.ARMED and is_met:
        return AlertState.FIRED
    return AlertState.ARMED if state is None and not is_met else state


def is_judged(forecast: ForecastMade) -> bool:
    """Whether alerts are due to this forecast: not to one of a candle that was caught up on, nor of the simple rules
    alone, which the trainer's replaces."""
    return forecast.mode in _OWN and not forecast.is_by_simple_rules

"""Decides when an alert on ghosts is due. Each is armed while its condition does not hold, and fires once when it
does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.domain.events import Estimate, ForecastMade, ForecastMode
from core.domain.quantities import BAND_50, BAND_90
from core.forecast.chance import Chances
from core.forecast.score import NOMINAL_COVERAGE

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
    """The condition that an alert line is touched within `within` candles with a chance above `percent`.

    A chance moves a little with each forecast: to fire again it must first fall below half of `percent`.
    """

    within: int
    percent: int

    @property
    def name(self) -> str:
        return f"chance {self.percent} in {self.within}"

    def chance(self, chances: Chances, origin_close: float, price: float) -> float | None:
        """The chance that `price` is touched; None if the forecast covers fewer candles or the price is not
        positive."""
        if self.within > chances.horizons or price <= 0.0:
            return None
        return float(chances.touched(np.array([math.log(price / origin_close)]), self.within)[0])

    def after_check(self, state: AlertState | None, chance: float) -> AlertState | None:
        """The state after a look, as of the function of this name."""
        is_over = chance < 0.5 * self.percent / 100.0
        return after_check(None if is_over else state, is_met=chance > self.percent / 100.0)


def after_check(state: AlertState | None, *, is_met: bool) -> AlertState | None:
    """The state after a look; the alert fires when this becomes FIRED."""
    if state is AlertState.ARMED and is_met:
        return AlertState.FIRED
    return AlertState.ARMED if state is None and not is_met else state


def coverage_after_check(state: AlertState | None, coverage: Estimate) -> AlertState | None:
    """The state after a look at the newest coverage of the 90 % band: it fires when the band holds fewer closes than
    chance explains, and is armed again (None) once the band holds enough of them."""
    if coverage.value is None or coverage.high is None:
        return state
    if state is AlertState.FIRED:
        return None if coverage.value >= NOMINAL_COVERAGE else state
    return AlertState.FIRED if coverage.high < NOMINAL_COVERAGE else state


def is_judged(forecast: ForecastMade) -> bool:
    """Whether this forecast may trigger alerts. Forecasts from catch-up may not, nor forecasts of the simple rules
    alone, which the trainer's replace."""
    return forecast.mode in _OWN and not forecast.is_by_simple_rules

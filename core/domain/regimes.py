"""The market conditions published with each forecast."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Regime(StrEnum):
    CALM = "calm"
    TRENDING = "trending"
    VOLATILE = "volatile"


@dataclass(frozen=True, slots=True)
class RegimeProbabilities:
    """The probability of each market regime, from past candles only. They add up to 1."""

    calm: float
    trending: float
    volatile: float

    @property
    def likeliest(self) -> Regime:
        """The most probable regime; the first of equals."""
        return max(Regime, key=self.of)

    def of(self, regime: Regime) -> float:
        return {Regime.CALM: self.calm, Regime.TRENDING: self.trending, Regime.VOLATILE: self.volatile}[regime]


@dataclass(frozen=True, slots=True)
class MarketConditions:
    """The market conditions at a forecast's origin, from candles closed by then."""

    regime: RegimeProbabilities
    novelty: float | None = None
    """Distance of the input from its usual values, over the largest usual distance: above 1, nothing like it was seen.
    None while there is too little data."""
    oddity: str = ""
    """The unusual input if the novelty is above 1, such as ``range 9 times its usual``; else empty."""

    @property
    def is_odd(self) -> bool:
        """Whether the input is unlike anything seen before."""
        return bool(self.oddity)

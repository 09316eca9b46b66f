"""The market regime published with each forecast."""

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

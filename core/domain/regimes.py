"""What a market is like, as it is told with each forecast."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Regime(StrEnum):
    """What a market is like at a time."""

    CALM = "calm"
    TRENDING = "trending"
    VOLATILE = "volatile"


@dataclass(frozen=True, slots=True)
class RegimeProbabilities:
    """How likely each market regime is, from the past alone. They add up to 1."""

    calm: float
    trending: float
    volatile: float

    @property
    def likeliest(self) -> Regime:
        """Of two that are equally likely the first."""
        return max(Regime, key=self.of)

    def of(self, regime: Regime) -> float:
        """The probability of one of them."""
        return {Regime.CALM: self.calm, Regime.TRENDING: self.trending, Regime.VOLATILE: self.volatile}[regime]


@dataclass(frozen=True, slots=True)
class MarketConditions:
    """What the market was like where a forecast was made, from what had closed by then."""

    regime: RegimeProbabilities
    novelty: float | None = None
    """How far the input is from what is usual, over how far is still usual: above 1, nothing like it was seen. None
    while too little was seen to say."""
    oddity: str = ""
    """Where the novelty is above 1, which input is odd, in words: ``range 9 times its usual``. Else empty."""

    @property
    def is_odd(self) -> bool:
        """Whether the input is unlike anything that was seen before it."""
        return bool(self.oddity)

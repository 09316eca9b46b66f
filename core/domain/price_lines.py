"""Lines at a price of a market: alerts, which are watched, and notes, which are only shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

LONGEST_TEXT = 120


class LineKind(StrEnum):
    """What a line is for."""

    ALERT = "alert"
    NOTE = "note"


class Direction(StrEnum):
    """From where the price has to come for an alert to go off."""

    UP = "up"
    DOWN = "down"
    EITHER = "either"
    """The price stood at the line when it was armed: which way it is gets decided once the price has left."""


@dataclass(frozen=True, slots=True)
class KnownCandle:
    """The newest candle when a line was armed, as it stood then."""

    open_time_ms: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PriceLine:
    """One line. Times are UTC milliseconds, the price that of the market."""

    price: float
    kind: LineKind
    text: str = ""
    direction: Direction = Direction.EITHER
    created_at_ms: int = 0
    watched_from_ms: int = 0
    """Candles that open at or after it, by the market's time, count in full."""
    crossed_at_ms: int | None = None
    """When it was crossed; of one that a closed candle told, that candle's last moment."""
    is_armed: bool = False
    number: int | None = None
    """Its number in the table; None before it is there."""
    known: KnownCandle | None = None
    """Of this candle only what goes beyond counts. None: nothing is known of the time that it was armed in."""
    crossed_within_ms: int | None = None
    """How long the candle is that told of the crossing, where the moment in it is not known."""

    def __post_init__(self) -> None:
        if not math.isfinite(self.price):
            raise ValueError(f"a line lies at a finite price, was {self.price}")

    @property
    def crossing_candle_ms(self) -> int | None:
        """When the candle opened in which it was crossed; None where the very moment is known, or there was none."""
        if self.crossed_at_ms is None or self.crossed_within_ms is None:
            return None
        return self.crossed_at_ms + 1 - self.crossed_within_ms

    @property
    def is_watched(self) -> bool:
        """Whether a price can set it off."""
        return self.kind is LineKind.ALERT and self.is_armed

"""Horizontal lines at a price: alerts, which are watched, and notes, which are only shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum


class LineKind(StrEnum):
    ALERT = "alert"
    NOTE = "note"


class Direction(StrEnum):
    """The direction in which the price must cross for an alert to fire."""

    UP = "up"
    DOWN = "down"
    EITHER = "either"
    """The price was at the line when it was armed: the direction is decided once the price has left it."""


@dataclass(frozen=True, slots=True)
class KnownCandle:
    """The newest candle when a line was armed, as it was then."""

    open_time_ms: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PriceLine:
    """One line. Times are UTC milliseconds, the price is the market's."""

    price: float
    kind: LineKind
    text: str = ""
    direction: Direction = Direction.EITHER
    created_at_ms: int = 0
    watched_from_ms: int = 0
    """Candles that open at or after this, in the market's time, count in full."""
    crossed_at_ms: int | None = None
    """When it was crossed; if only a closed candle shows it, that candle's last millisecond."""
    is_armed: bool = False
    number: int | None = None
    """Its id in the table; None before it is stored."""
    known: KnownCandle | None = None
    """Only prices beyond this candle's range count. None: no candle was known when it was armed."""
    crossed_within_ms: int | None = None
    """The length of the candle that shows the crossing, if the exact time is unknown."""

    def __post_init__(self) -> None:
        if not math.isfinite(self.price):
            raise ValueError(f"a line lies at a finite price, was {self.price}")

    @property
    def crossing_candle_ms(self) -> int | None:
        """The opening time of the candle in which it was crossed; None: the exact time is known, or it was not
        crossed."""
        if self.crossed_at_ms is None or self.crossed_within_ms is None:
            return None
        return self.crossed_at_ms + 1 - self.crossed_within_ms

    @property
    def is_watched(self) -> bool:
        """Whether a price can fire it."""
        return self.kind is LineKind.ALERT and self.is_armed

"""Parameters of an indicator: numbers within a range, and choices of a few words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

Value = int | float | str


class IndicatorError(ValueError):
    """An invalid indicator or parameter. The message is a sentence for the user."""


class Source(StrEnum):
    """The candle price that an indicator is computed from."""

    OPEN = "open"
    HIGH = "high"
    LOW = "low"
    CLOSE = "close"
    HL2 = "hl2"
    HLC3 = "hlc3"
    OHLC4 = "ohlc4"


class Anchor(StrEnum):
    """The session, in UTC, at whose start VWAP restarts. A week begins on Monday."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@dataclass(frozen=True, slots=True)
class Number:
    """A parameter that is a number, from `minimum` to `maximum`. `unit` may be empty."""

    name: str
    title: str
    default: int | float
    minimum: int | float
    maximum: int | float
    is_whole: bool = True
    unit: str = "candles"
    step: float = 1.0
    """Step of its editor's arrows."""

    def checked(self, value: object) -> int | float:
        """The value, a whole one as an int. Raises IndicatorError for an invalid value."""
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise IndicatorError(f"The {self.title} is a number from {self._range()}, not {value!r}.")
        if not self.minimum <= value <= self.maximum:
            raise IndicatorError(f"The {self.title} was {value}; choose a number from {self._range()}.")
        if not self.is_whole:
            return float(value)
        if value != int(value):
            raise IndicatorError(f"The {self.title} was {value}; choose a whole number from {self._range()}.")
        return int(value)

    def _range(self) -> str:
        return f"{self.minimum} to {self.maximum}" + (f" {self.unit}" if self.unit else "")


@dataclass(frozen=True, slots=True)
class Choice:
    """A parameter with a few words to choose from."""

    name: str
    title: str
    default: str
    options: tuple[str, ...]

    def checked(self, value: object) -> str:
        """The option. Raises IndicatorError for an unknown one."""
        if not isinstance(value, str) or value not in self.options:
            raise IndicatorError(f"The {self.title} is one of {', '.join(self.options)}, not {value!r}.")
        return str(value)


Parameter = Number | Choice

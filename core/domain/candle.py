"""The candle, its interval, and the market it belongs to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

FILE_VENUE = "file"
SIMULATED_VENUE = "simulated"
DAY_MS = 86_400_000

_UNIT_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": DAY_MS, "w": 604_800_000}
_INTERVAL_PATTERN = re.compile(r"(\d+)([smhdw])")
_MARKET_PATTERN = re.compile(r"(.+) (\d+[smhdw]) \((.+)\)")


@dataclass(frozen=True, slots=True)
class Inside:
    """What the finer candles within a candle say of it; how it is made: `core.market.inside`."""

    count: int
    """The finer candles that there were."""
    variance: float
    """The sum of their squared log ranges."""
    up: float
    down: float
    """The parts of the variance that are of rising and of falling ones."""
    last_fifth: float
    """The part of the variance that is of the last fifth of the time."""
    high_at: float
    low_at: float
    """When the highest and the lowest one opened, as a share of the time."""


@dataclass(frozen=True, slots=True)
class Candle:
    """One candle. Times are UTC milliseconds, prices in the quote currency, volume in the base currency."""

    open_time_ms: int
    open: float
    high: float
    low: float
    close: float
    volume: float
    inside: Inside | None = field(default=None, compare=False, repr=False, kw_only=True)
    """None where no finer candles of the same market were known when it closed."""


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """The length of a candle, written as exchanges write it: ``1m``, ``15m``, ``1h``, ``1d``."""

    duration_ms: int

    def __post_init__(self) -> None:
        if self.duration_ms <= 0:
            raise ValueError(f"an interval must be longer than 0 ms, was {self.duration_ms} ms")

    @classmethod
    def parse(cls, text: str) -> Interval:
        """Read ``15m``. Raises ValueError, in a sentence fit for a user, for anything else."""
        match = _INTERVAL_PATTERN.fullmatch(text.strip())
        if match is None or int(match[1]) == 0:
            raise ValueError(f"'{text}' is not an interval; try 1m, 5m, 15m, 1h, 4h or 1d")
        return cls(int(match[1]) * _UNIT_MS[match[2]])

    def open_time_ms(self, time_ms: int) -> int:
        """The opening time of the candle that contains `time_ms` (aligned to the epoch)."""
        return time_ms - time_ms % self.duration_ms

    def close_time_ms(self, open_time_ms: int) -> int:
        """The first millisecond after the candle that opened at `open_time_ms`."""
        return open_time_ms + self.duration_ms

    @property
    def has_seconds(self) -> bool:
        """Whether its candles also open within a minute, so that times are written with seconds."""
        return self.duration_ms % _UNIT_MS["m"] != 0

    def __str__(self) -> str:
        for unit in ("w", "d", "h", "m", "s"):
            if self.duration_ms % _UNIT_MS[unit] == 0:
                return f"{self.duration_ms // _UNIT_MS[unit]}{unit}"
        return f"{self.duration_ms}ms"


@dataclass(frozen=True, slots=True, order=True)
class Market:
    """A symbol at a venue, with an interval. `venue` is an exchange's ccxt id, ``file`` or ``simulated``."""

    venue: str
    symbol: str
    interval: Interval

    @property
    def is_simulated(self) -> bool:
        """Simulated candles are marked as such everywhere and never mixed with real ones."""
        return self.venue == SIMULATED_VENUE

    @classmethod
    def parse(cls, text: str) -> Market:
        """Parse the output of `str`. Raises ValueError for anything else."""
        match = _MARKET_PATTERN.fullmatch(text)
        if match is None:
            raise ValueError(f"'{text}' is not a market; try BTC/USDT 1m (binance)")
        return cls(match[3], match[1], Interval.parse(match[2]))

    def __str__(self) -> str:
        return f"{self.symbol} {self.interval} ({self.venue})"

"""What the supervisor asks of an exchange. ccxt's objects answer it, and in tests a simulated exchange does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, Self

from core.domain.candle import Candle
from core.market.aggregate import Trade


@dataclass(frozen=True, slots=True)
class Kline:
    """A candle as the stream shows it. `is_closed`: the exchange says that it is over and final."""

    candle: Candle
    is_closed: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that came and cannot be read: why, in a word that is counted, and what it was."""

    reason: str
    raw: str


@dataclass(slots=True)
class Updates:
    """What the stream brought since the last time, in the order in which it came.

    messages: how many came, of any kind. is_ending: the exchange says that it is about to hang up.
    """

    klines: list[Kline] = field(default_factory=list)
    trades: list[Trade] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    messages: int = 0
    is_ending: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether the stream was quiet about the market; a heartbeat says nothing of it."""
        return not (self.klines or self.trades)


class Venue(Protocol):
    """One connection to one market, from opening to closing. All methods raise VenueError; `close` raises nothing.

    Nothing here judges what comes: that is the supervisor's part, so that it is the same for every exchange.
    """

    @property
    def name(self) -> str:
        """As people know it: ``Binance``."""
        ...

    @property
    def page_rows(self) -> int:
        """How many candles one request brings at most. Known once it is open."""
        ...

    @property
    def listed_rows(self) -> int | None:
        """How many of the newest candles its list has, whatever is asked for: of those before it says nothing, not even
        that there are none. None where it goes back to the market's beginning."""
        ...

    @property
    def tells_close(self) -> bool:
        """Whether its stream says of a candle that it is over."""
        ...

    @property
    def has_consecutive_ids(self) -> bool:
        """Whether its trades are numbered without gaps."""
        ...

    @property
    def is_streaming(self) -> bool:
        """Whether the stream's socket stands, though it may not have said anything yet."""
        ...

    async def open(self, older: Self | None) -> None:
        """Learn the market. `older`: a closed one, from which may be taken over what does not change."""
        ...

    async def server_ms(self) -> int | None:
        """The exchange's time; None where it does not tell."""
        ...

    async def candles(self, since_ms: int) -> list[Candle]:
        """The first page of candles that opened at or after `since_ms`, ascending; the last may be unfinished."""
        ...

    async def updates(self, timeout_s: float) -> Updates:
        """What the stream brings next; empty where nothing comes in time."""
        ...

    async def close(self) -> None:
        """Let go of the sockets. Whoever calls it, and however often, returns when they are gone."""
        ...


OpenVenue = Callable[[], Venue]
"""Makes the next connection's object. Raises VenueError."""

"""The interface of an exchange's connection. Implemented by ccxt's objects, and in tests by a simulated exchange."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, Self

from core.domain.candle import Candle
from core.market.aggregate import Trade


@dataclass(frozen=True, slots=True)
class ExchangeUrls:
    """Base addresses of REST and WebSocket in ccxt's form: for Binance ``.../api/v3`` and ``.../ws``, for Kraken
    ``https://...`` and ``wss://.../v2``, for Coinbase without a path.

    form: the ccxt id of the exchange whose message format is used there.
    """

    public: str
    ws: str
    form: str = "binance"


FUTURE = "a time in the future"
"""The reason of a candle that opens later than now."""


@dataclass(frozen=True, slots=True)
class Kline:
    """A streamed candle. `is_closed`: the exchange marks it as closed and final."""

    candle: Candle
    is_closed: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """A rejected message or row: the reason, by which it is counted, and its text."""

    reason: str
    raw: str


@dataclass(slots=True)
class Updates:
    """The stream's data since the last call, in order of arrival.

    messages: the number of messages of any kind. is_ending: the exchange announces that it will close the connection.
    """

    klines: list[Kline] = field(default_factory=list)
    trades: list[Trade] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    messages: int = 0
    is_ending: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is no market data; heartbeats do not count."""
        return not (self.klines or self.trades)


class Venue(Protocol):
    """One connection to one market, from opening to closing. All methods raise VenueError; `close` raises nothing.

    It does not validate data: the supervisor does that, in the same way for every exchange.
    """

    @property
    def name(self) -> str:
        """Display name: ``Binance``."""
        ...

    @property
    def page_rows(self) -> int:
        """The most candles of one response. Known once it is open."""
        ...

    @property
    def listed_rows(self) -> int | None:
        """The length of the exchange's list of newest candles, if it lists no older ones, which may exist nevertheless.
        None if it goes back to the market's beginning."""
        ...

    @property
    def farthest_rows(self) -> int | None:
        """How many candles back a request may begin: older ones are refused, or answered with nothing. None if no limit
        is known; it may be learned from a refusal."""
        ...

    @property
    def reports_close(self) -> bool:
        """Whether its stream marks closed candles."""
        ...

    @property
    def has_consecutive_ids(self) -> bool:
        """Whether trade ids have no gaps."""
        ...

    @property
    def is_streaming(self) -> bool:
        """Whether the stream's socket is connected, even if no message has come yet."""
        ...

    @property
    def has_stream(self) -> bool:
        """Whether it streams anything of this market, as far as is known. Without a stream it is read by request."""
        ...

    async def open(self, older: Self | None) -> None:
        """Load the market. `older`: a closed venue, whose unchanging data may be reused."""
        ...

    async def server_ms(self) -> int | None:
        """The exchange's time; None if it does not report it."""
        ...

    async def candles(self, since_ms: int) -> list[Candle]:
        """The first page of candles that opened at or after `since_ms`, ascending; the last may be unfinished."""
        ...

    async def updates(self, timeout_s: float) -> Updates:
        """The next data of the stream; empty after the timeout."""
        ...

    async def close(self) -> None:
        """Close the sockets. May be called repeatedly; every call returns when they are closed."""
        ...


OpenVenue = Callable[[], Venue]
"""Creates the next connection's venue. Raises VenueError."""

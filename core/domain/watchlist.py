"""The user's list of watched markets, and its edits. All functions return a new list."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pydantic import ConfigDict, Field, field_validator
from pydantic.dataclasses import dataclass

from core.domain.candle import Interval, Market

MOST_WATCHED = 100


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class WatchedMarket:
    """One row: `venue` is an exchange's ccxt id, `symbol` as ccxt writes it, `interval` the interval of the run that it
    opens. Rows of the same market are equal."""

    venue: str = Field(pattern=r"^[a-z0-9_]{2,40}$")
    symbol: str = Field(pattern=r"^([^\s/]{1,40}/[^\s/]{1,40}|SIM-[0-9]{1,19})$")
    """SIM and a number: a simulated market."""
    interval: str = "1m"
    is_learned: bool = dataclasses.field(default=False, compare=False)
    """Whether a model learns from it together with the market that is opened, if both have the same interval."""

    @field_validator("interval")
    @classmethod
    def _is_an_interval(cls, text: str) -> str:
        return str(Interval.parse(text))

    @property
    def market(self) -> Market:
        return Market(self.venue, self.symbol, Interval.parse(self.interval))


DEFAULT_WATCHLIST = (
    WatchedMarket("binance", "BTC/USDT", "1m"),
    WatchedMarket("binance", "ETH/USDT", "1m"),
    WatchedMarket("binance", "SOL/USDT", "1m"),
)

Watchlist = tuple[WatchedMarket, ...]


def added(markets: Sequence[WatchedMarket], market: WatchedMarket) -> Watchlist:
    """Append `market`. Raises ValueError, with a sentence, if it is in the list already or the list is full."""
    if market in markets:
        raise ValueError(f"{market.symbol} {market.interval} on {market.venue} is already in the list.")
    if len(markets) >= MOST_WATCHED:
        raise ValueError(f"The list is full: {MOST_WATCHED} markets. Remove one first.")
    return (*markets, market)


def without(markets: Sequence[WatchedMarket], market: WatchedMarket) -> Watchlist:
    return tuple(each for each in markets if each != market)


def moved(markets: Sequence[WatchedMarket], market: WatchedMarket, place: int) -> Watchlist:
    """Move `market` to index `place`, clamped to the list. The others keep their order."""
    others = [each for each in markets if each != market]
    if len(others) == len(markets):
        return tuple(markets)
    place = max(0, min(place, len(others)))
    return (*others[:place], market, *others[place:])


def with_learning(markets: Sequence[WatchedMarket], market: WatchedMarket, *, is_learned: bool) -> Watchlist:
    """Set whether a model learns from `market`."""
    return tuple(dataclasses.replace(each, is_learned=is_learned) if each == market else each for each in markets)

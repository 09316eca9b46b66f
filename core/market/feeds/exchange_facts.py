"""What differs from exchange to exchange, one row each, with the source of every value.

A missing row, or a field left at its default, means: as ccxt says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Refusal(Enum):
    """The reasons of an exchange that need an answer of their own."""

    RATE = "too many requests"
    LOCATION = "this location"
    AGE = "candles of that age"
    MAINTENANCE = "maintenance"
    MARKET = "an unknown market"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeFacts:
    """source: where the values are documented or were seen, with version or date.

    listed_rows: how many of its newest candles a request can reach; None: as far back as asked.
    farthest_rows: how many candles back a request may begin, as older ones are refused or answered with nothing.
    page_rows: the candles of one answer, where ccxt's features name more.
    refusals: words or parts of an answer that mean a refusal, beside those of `core.market.feeds.refusals`.
    """

    source: str
    listed_rows: int | None = None
    farthest_rows: int | None = None
    page_rows: int | None = None
    refusals: Mapping[str, Refusal] = field(default_factory=dict)


FACTS: dict[str, ExchangeFacts] = {
    "bithumb": ExchangeFacts(
        source="ccxt 4.5.90, bithumb.py fetch_ohlcv: sends market and count, at most 200, and no start",
        listed_rows=200,
    ),
    "bitrue": ExchangeFacts(
        source="ccxt 4.5.90, bitrue.py fetch_ohlcv: sends scale and limit for spot, and no start",
        listed_rows=1000,
    ),
    "bittrade": ExchangeFacts(
        source="ccxt 4.5.90, bittrade.py fetch_ohlcv: sends period and size, and no start",
        listed_rows=1000,
    ),
    "bullish": ExchangeFacts(
        source="ccxt 4.5.90, bullish.py fetch_ohlcv: asks for windows of 100 candles, whatever the limit",
        page_rows=100,
    ),
    "deepcoin": ExchangeFacts(
        source="ccxt 4.5.90, deepcoin.py fetch_ohlcv: sends bar and limit, at most 300, and no start",
        listed_rows=300,
    ),
    "deribit": ExchangeFacts(
        source="Deribit's API documentation: `param` names the wrong parameter of a request with invalid params",
        refusals={'"param":"instrument_name"': Refusal.MARKET},
    ),
    "gate": ExchangeFacts(
        source='ccxt issue 27887 (2026-02): "Candlestick too long ago. Maximum 10000 points ago are allowed"',
        farthest_rows=10_000,
    ),
    "gateeu": ExchangeFacts(
        source="As Gate, whose API it shares (ccxt 4.5.90, gateeu.py)",
        farthest_rows=10_000,
    ),
    "gemini": ExchangeFacts(
        source="ccxt 4.5.90, gemini.py fetch_ohlcv: sends symbol and interval only; 1440 are those of 1m",
        listed_rows=1440,
    ),
    "hyperliquid": ExchangeFacts(
        source="Hyperliquid's documentation, Candle snapshot: only the most recent 5000 candles are available",
        listed_rows=5000,
    ),
    "kraken": ExchangeFacts(
        source="Kraken REST OHLC: up to 720 of the most recent entries, whatever `since` is",
        listed_rows=720,
    ),
    "mexc": ExchangeFacts(
        source="ccxt 4.5.90, mexc.py fetch_ohlcv: sends an end 500 candles after the start for spot",
        page_rows=500,
    ),
    "p2b": ExchangeFacts(
        source="ccxt 4.5.90, p2b.py fetch_ohlcv: sends interval and limit, at most 500, and no start",
        listed_rows=500,
    ),
    "phemex": ExchangeFacts(
        source="ccxt 4.5.90, phemex.py fetch_ohlcv: no start for spot; ccxt issue 18044: the last 1000",
        listed_rows=1000,
    ),
    "weex": ExchangeFacts(
        source="ccxt 4.5.90, weex.py fetch_spot_ohlcv: sends symbol and interval only; its docstring: 100 by default",
        listed_rows=100,
    ),
}
"""By ccxt's id."""

_NOTHING_KNOWN = ExchangeFacts(source="")


def facts_of(venue: str) -> ExchangeFacts:
    """The row of an exchange, by ccxt's id; one of defaults for others."""
    return FACTS.get(venue, _NOTHING_KNOWN)

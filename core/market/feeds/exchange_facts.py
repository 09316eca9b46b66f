"""The peculiarities of exchanges, one row each, with the source of every value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Refusal(Enum):
    """The reasons of an exchange that need a special answer."""

    RATE = "too many requests"
    LOCATION = "this location"
    AGE = "candles of that age"
    MAINTENANCE = "maintenance"
    MARKET = "an unknown market"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeFacts:
    """source: where the values are documented or were seen, with version or date.

    listed_rows: how many of its newest candles a request can reach; None: as far back as asked.
    timeframes: ccxt's names of intervals and the exchange's, which ccxt lacks or which replace its own.
    options: ccxt's options that replace its own.
    lacks: capabilities that ccxt's `has` claims, but spot markets do not have.
    row_cells: the cells of a candle that ccxt reads from the wrong place, each with the right one.
    alias_quote: the quote currency whose markets' trades the stream sends under another currency's name.
    farthest_rows: how many candles back a request may begin, as older ones are refused or answered with nothing.
    page_rows: the candles of one answer, if ccxt's features name more.
    refusals: words or parts of an answer that mean a refusal, besides the texts of `core.market.feeds.refusals`.
    """

    source: str
    lacks: tuple[str, ...] = ()
    listed_rows: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    row_cells: Mapping[int | str, int | str] = field(default_factory=dict)
    timeframes: Mapping[str, str] = field(default_factory=dict)
    alias_quote: tuple[str, str] | None = None
    farthest_rows: int | None = None
    page_rows: int | None = None
    refusals: Mapping[str, Refusal] = field(default_factory=dict)


_GATE = ExchangeFacts(
    source="Gate spot.candlesticks: `v` is the quote volume, `a` the base one (cryptofeed's capture; ccxt PR 19054); "
    'ccxt issue 27887 (2026-02): "Candlestick too long ago. Maximum 10000 points ago are allowed"',
    farthest_rows=10_000,
    row_cells={"v": "a"},
)
_OKX = ExchangeFacts(
    source="OKX candlesticks channel: 6H to 1W open at midnight in Hong Kong, 6Hutc to 1Wutc at 00:00 UTC; ccxt 4.5.90 "
    "requests the latter and streams the former (pro/okx.py watch_ohlcv; freqtrade issue 7700)",
    timeframes={"6h": "6Hutc", "12h": "12Hutc", "1d": "1Dutc", "1w": "1Wutc"},
    options={"fetchOHLCV": {"timezone": "as in the name"}},  # any but "UTC", which adds a second suffix
)

FACTS: dict[str, ExchangeFacts] = {
    "backpack": ExchangeFacts(
        source="ccxt 4.5.90 backpack.py: names 15 and 30 for 15m and 30m; fetch_time reads the first digit of the time",
        lacks=("fetchTime",),
        timeframes={"15m": "15m", "30m": "30m"},
    ),
    "bingx": ExchangeFacts(
        source="JKorf/BingX.Net BingXSocketClientSpotApi.cs, KlineIntervalToWebsocketString",
        options={
            "spot": {
                "timeframes": {
                    "3m": "3min",
                    "2h": "2hour",
                    "4h": "4hour",
                    "6h": "6hour",
                    "12h": "12hour",
                    "1w": "1week",
                }
            }
        },
    ),
    "bitget": ExchangeFacts(
        source="JKorf/Bitget.Net BitgetStreamKlineIntervalV2.cs; ccxt 4.5.90 requests utc candles and streams others",
        options={
            "timeframes": {"6h": "6Hutc", "12h": "12Hutc", "1d": "1Dutc", "3d": "3Dutc", "1w": "1Wutc"},
        },
    ),
    "bithumb": ExchangeFacts(
        source="ccxt 4.5.90, bithumb.py fetch_ohlcv: sends market and count, at most 200, and no start",
        listed_rows=200,
    ),
    "bitrue": ExchangeFacts(
        source="ccxt 4.5.90, bitrue.py fetch_ohlcv: sends scale and limit for spot, and no start; "
        "pro/bitrue.py: watch_ohlcv and watch_trades are for swap markets only",
        lacks=("watchOHLCV", "watchTrades"),
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
    "coinbase": ExchangeFacts(
        source="ccxt issues 26465 and 25922: trades of BTC-USDC come as those of BTC-USD, as their books are one",
        alias_quote=("USDC", "USD"),
    ),
    "deepcoin": ExchangeFacts(
        source="ccxt 4.5.90, deepcoin.py fetch_ohlcv: sends bar and limit, at most 300, and no start",
        listed_rows=300,
    ),
    "deribit": ExchangeFacts(
        source="Deribit's API documentation: `param` names the wrong parameter of a request with invalid params",
        refusals={'"param":"instrument_name"': Refusal.MARKET},
    ),
    "gate": _GATE,
    "gateeu": _GATE,
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
    "myokx": _OKX,
    "ndax": ExchangeFacts(
        source="ccxt 4.5.90 ndax.py, sample of GetTickerHistory: cell 0 is the end, 9 the beginning; pro/ndax.py makes "
        "candles of every interval from tickers, at any second",
        lacks=("watchOHLCV",),
        row_cells={0: 9},
    ),
    "okx": _OKX,
    "okxus": _OKX,
    "onetrading": ExchangeFacts(
        source="ccxt 4.5.90 pro/onetrading.py: streamed candles have their end as time and a quote volume only",
        lacks=("watchOHLCV",),
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
"""Rows by ccxt's id."""

_NOTHING_KNOWN = ExchangeFacts(source="")


def facts_of(venue: str) -> ExchangeFacts:
    """The row of an exchange, by ccxt's id; a row of defaults if it has none."""
    return FACTS.get(venue, _NOTHING_KNOWN)

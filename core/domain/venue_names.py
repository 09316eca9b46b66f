"""Display names of exchanges, without loading ccxt."""

from __future__ import annotations

_NAMES = {
    "binanceus": "Binance US",
    "bitfinex": "Bitfinex",
    "bybit": "Bybit",
    "coinbase": "Coinbase",
    "coinbaseexchange": "Coinbase Exchange",
    "cryptocom": "Crypto.com",
    "gate": "Gate",
    "htx": "HTX",
    "kucoin": "KuCoin",
    "mexc": "MEXC",
    "okx": "OKX",
    "file": "File",
    "simulated": "Simulated",
}


def venue_name(venue: str) -> str:
    """``Binance`` for ``binance``; an unknown id is capitalised."""
    return _NAMES.get(venue, venue.capitalize())

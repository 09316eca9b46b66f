"""What exchanges are called, without loading ccxt."""

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
    "file": "A file",
    "simulated": "Simulated",
}


def venue_name(venue: str) -> str:
    """``Binance`` for ``binance``; an id that is not known by another name, with a capital."""
    return _NAMES.get(venue, venue.capitalize())

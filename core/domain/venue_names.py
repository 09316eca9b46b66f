"""Exchanges: their display names, without loading ccxt, and the one that is offered when one fails."""

from __future__ import annotations

from collections.abc import Sequence

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


def next_venue(order: Sequence[str], venue: str) -> str | None:
    """The venue after `venue` in the user's order, or the first if `venue` is not in it; None if there is no other."""
    start = order.index(venue) + 1 if venue in order else 0
    return next((each for each in (*order[start:], *order[:start]) if each != venue), None)

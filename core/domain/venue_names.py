"""Exchanges: their display names, without loading ccxt, and the one that is offered when one fails."""

from __future__ import annotations

from collections.abc import Sequence

_NAMES = {
    "binancecoinm": "Binance COIN-M",
    "binanceus": "Binance US",
    "binanceusdm": "Binance USDⓈ-M",
    "bingx": "BingX",
    "bitopro": "BitoPro",
    "bittrade": "BitTrade",
    "blofin": "BloFin",
    "bybiteu": "Bybit EU",
    "bybitid": "Bybit Indonesia",
    "bydfi": "BYDFi",
    "cex": "CEX.IO",
    "coinbaseexchange": "Coinbase Exchange",
    "coinbaseinternational": "Coinbase International",
    "coinone": "CoinOne",
    "cryptocom": "Crypto.com",
    "deepcoin": "DeepCoin",
    "dydx": "dYdX",
    "gateeu": "Gate EU",
    "grvt": "GRVT",
    "hashkey": "HashKey",
    "hitbtc": "HitBTC",
    "hollaex": "HollaEx",
    "htx": "HTX",
    "independentreserve": "Independent Reserve",
    "krakenfutures": "Kraken Futures",
    "kucoin": "KuCoin",
    "kucoinfutures": "KuCoin Futures",
    "lbank": "LBank",
    "mexc": "MEXC",
    "modetrade": "Mode Trade",
    "myokx": "OKX (EEA)",
    "ndax": "NDAX",
    "okx": "OKX",
    "okxus": "OKX (US)",
    "onetrading": "One Trading",
    "p2b": "P2B",
    "weex": "WEEX",
    "whitebit": "WhiteBit",
    "woo": "WOO X",
    "woofipro": "WOOFI PRO",
    "xt": "XT",
}
"""Names other than the capitalised id. All sentences use these, whatever ccxt's names are."""


def venue_name(venue: str) -> str:
    """``Binance`` for ``binance``; an unknown id is capitalised."""
    return _NAMES.get(venue, venue.capitalize())


def next_venue(order: Sequence[str], venue: str) -> str | None:
    """The venue after `venue` in the user's order, or the first if `venue` is not in it; None if there is no other."""
    start = order.index(venue) + 1 if venue in order else 0
    return next((each for each in (*order[start:], *order[:start]) if each != venue), None)

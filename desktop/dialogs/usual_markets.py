"""Markets and intervals that are offered before an exchange's own list is known."""

from __future__ import annotations

EXCHANGES = ("binance", "binanceus", "bitfinex", "bitstamp", "bybit", "coinbase", "gemini", "kraken", "kucoin", "okx")
USUAL_SYMBOLS = ("BTC/USDT", "ETH/USDT", "SOL/USDT", "XRP/USDT", "BTC/USD", "ETH/USD", "BTC/EUR")
INTERVALS = ("1m", "3m", "5m", "15m", "30m", "1h", "4h", "1d")

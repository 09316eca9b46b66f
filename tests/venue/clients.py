"""A bare ccxt client of the loopback exchange."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import ccxt.pro

from core.market.feeds.urls import ExchangeUrls


@asynccontextmanager
async def client(urls: ExchangeUrls) -> AsyncIterator[Any]:
    """It knows one market, and is closed at the end."""
    exchange = ccxt.pro.binance({"aiohttp_trust_env": False})
    exchange.options["fetchMarkets"] = {"types": ["spot"]}
    exchange.urls["api"]["public"] = urls.public
    exchange.urls["api"]["ws"]["spot"] = urls.ws
    try:
        await exchange.load_markets(params={"symbol": "BTCUSDT"})
        yield exchange
    finally:
        await exchange.close()

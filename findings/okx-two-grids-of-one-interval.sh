#!/usr/bin/env bash
# Expected: ccxt's fetch_ohlcv and watch_ohlcv of one market and interval give the same candles.
# Is: at OKX the request is for days that open at 00:00 UTC, the subscription for days that open at midnight in
# Hong Kong (16:00 UTC). The same at 6h, 12h and 1w; 4h is the same on both sides.
# Version: ccxt 4.5.90. Source: its objects; OKX's list of candle channels has both names (also freqtrade issue 7700).
# Output seen: 4h: bar=4H and candle4H; 6h: bar=6Hutc and candle6H; 1d: bar=1Dutc and candle1D; 1w: bar=1Wutc and
# candle1W.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q ccxt==4.5.90
"$folder/venv/bin/python" - <<'PYTHON'
import asyncio
import contextlib

import ccxt.pro

def market(symbol: str, name: str) -> dict:
    base, quote = symbol.split("/")
    return {
        "id": name, "symbol": symbol, "base": base, "quote": quote, "baseId": base, "quoteId": quote,
        "type": "spot", "spot": True, "active": True, "swap": False, "future": False, "option": False,
        "contract": False, "linear": None, "inverse": None, "settle": None, "info": {},
    }


async def names(timeframe: str) -> tuple[str, str]:
    """The name in the request's URL, and in the subscription."""
    exchange, requested, subscribed = ccxt.pro.okx(), [], []

    async def fetch(url: str, *_: object) -> dict:
        requested.append(url)
        return {"code": "0", "data": []}

    async def watch(url: str, key: str, message: dict, *_: object) -> list:
        subscribed.append(message["args"][0]["channel"])
        raise asyncio.CancelledError  # nothing is to be received

    exchange.fetch, exchange.watch, exchange.watch_multiple = fetch, watch, watch
    exchange.set_markets([market("BTC/USDT", "BTC-USDT")])
    exchange.options["cachedCurrencies"] = {}
    await exchange.fetch_ohlcv("BTC/USDT", timeframe)
    with contextlib.suppress(asyncio.CancelledError):
        await exchange.watch_ohlcv("BTC/USDT", timeframe)
    await exchange.close()
    return requested[0].split("bar=")[1].split("&")[0], subscribed[0]


assert ccxt.__version__ == "4.5.90"
for timeframe, expected in {
    "4h": ("4H", "candle4H"), "6h": ("6Hutc", "candle6H"), "1d": ("1Dutc", "candle1D"), "1w": ("1Wutc", "candle1W"),
}.items():
    bar, channel = asyncio.run(names(timeframe))
    print(f"{timeframe}: bar={bar} and {channel}")
    assert (bar, channel) == expected
PYTHON

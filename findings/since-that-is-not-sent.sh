#!/usr/bin/env bash
# Expected: fetch_ohlcv(symbol, timeframe, since) asks for the candles from `since` on.
# Is: at these exchanges nothing of `since` is in the request for a spot market, neither as a start nor as an end, so the
# answer is the newest candles, and a gap after `since` is no gap of the market.
# Version: ccxt 4.5.90. Source: its objects.
# Output seen: eight lines, each with the path and query that is sent, such as
# bithumb: api.bithumb.com/v1/candles/minutes/1?market=BTC-USDT&count=50
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q ccxt==4.5.90
"$folder/venv/bin/python" - <<'PYTHON'
import asyncio

import ccxt.pro

def market(symbol: str, name: str) -> dict:
    base, quote = symbol.split("/")
    return {
        "id": name, "symbol": symbol, "base": base, "quote": quote, "baseId": base, "quoteId": quote,
        "type": "spot", "spot": True, "active": True, "swap": False, "future": False, "option": False,
        "contract": False, "linear": None, "inverse": None, "settle": None, "info": {},
    }


SINCE_MS = 1_763_164_800_000
NAMES = ("bithumb", "bitrue", "bittrade", "deepcoin", "gemini", "p2b", "phemex", "weex")


async def sent(name: str) -> str:
    exchange, requests = getattr(ccxt.pro, name)(), []

    async def fetch(url: str, method: str = "GET", headers: object = None, body: object = None) -> list:
        requests.append(f"{url} {body or ''}")
        return []

    exchange.fetch = fetch
    exchange.set_markets([market("BTC/USDT", "BTC-USDT") | {"priceScale": 8, "lowercaseId": "btcusdt"}])
    exchange.options["cachedCurrencies"] = {}
    try:
        await exchange.fetch_ohlcv("BTC/USDT", "1m", SINCE_MS, 50)
    except Exception as error:  # of the empty answer, which is no concern here
        print(f"  ({type(error).__name__} of the answer)")
    await exchange.close()
    return requests[-1]


assert ccxt.__version__ == "4.5.90"
for name in NAMES:
    request = asyncio.run(sent(name))
    print(f"{name}: {request.split('://')[1]}")
    assert not any(text in request for text in ("17631", "2025-11")), request
assert "startTime=1763164800000" in asyncio.run(sent("binance"))
PYTHON

#!/usr/bin/env bash
# Expected: fetch_ohlcv returns the candles of the answer.
# Is: minutes without trades are filled in. At the beginning of the answer, where no earlier candle is known, they get
# the close of the first row, which is of later.
# Version: ccxt 4.5.90. Source: its objects (async_support/bitopro.py, fetch_ohlcv and insert_missing_candles).
# Output seen: of one row of 00:02 with the close 7 come three: 00:00 and 00:01 with 7 and no volume, and the row.
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


MIDNIGHT_MS = 1_763_164_800_000
ROW_MS = MIDNIGHT_MS + 2 * 60_000


async def candles() -> list:
    exchange = ccxt.pro.bitopro()

    async def fetch(*_: object) -> dict:
        return {"data": [{"timestamp": ROW_MS, "open": "5", "high": "8", "low": "4", "close": "7", "volume": "3"}]}

    exchange.fetch = fetch
    exchange.set_markets([market("BTC/USDT", "btc_usdt")])
    exchange.options["cachedCurrencies"] = {}
    rows = await exchange.fetch_ohlcv("BTC/USDT", "1m", MIDNIGHT_MS, 3)
    await exchange.close()
    return rows


assert ccxt.__version__ == "4.5.90"
rows = asyncio.run(candles())
for time_ms, *numbers in rows:
    print(f"00:{(time_ms - MIDNIGHT_MS) // 60_000:02} {numbers}")
assert [row[1:] for row in rows] == [[7, 7, 7, 7, 0], [7, 7, 7, 7, 0], [5, 8, 4, 7, 3]]
assert [row[0] for row in rows] == [MIDNIGHT_MS, MIDNIGHT_MS + 60_000, ROW_MS]
PYTHON

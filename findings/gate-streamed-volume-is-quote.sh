#!/usr/bin/env bash
# Expected: the sixth cell of ccxt's candle is the volume in the base currency, by request and by stream.
# Is: of Gate's streamed candle ccxt takes `v`, which is the volume in the quote currency (the base volume is `a`).
# Of the row that a request gives it takes the base volume.
# Version: ccxt 4.5.90. Source: its objects; Gate's description of the channel spot.candlesticks (also ccxt PR 19054).
# Output seen: by request 2.0, by stream 200.0, of a candle of 2 at the price 100.
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


async def volumes() -> tuple[float, float]:
    """Of one candle, in which 2 were traded at 100: by request, and by stream."""
    exchange = ccxt.pro.gate()
    exchange.set_markets([market("BTC/USDT", "BTC_USDT")])
    # time, quote volume, close, high, low, open, base volume, whether it is over
    row = ["1700000040", "200", "100", "100", "100", "100", "2", "false"]
    listed = exchange.parse_ohlcv(row, exchange.market("BTC/USDT"))
    cells = {"t": "1700000040", "v": "200", "c": "100", "h": "100", "l": "100", "o": "100", "n": "1m_BTC_USDT", "a": "2"}
    message = {"time": 1700000050, "channel": "spot.candlesticks", "event": "update", "result": cells}
    exchange.handle_ohlcv(exchange.client("wss://example.invalid"), message)
    streamed = exchange.ohlcvs["BTC/USDT"]["1m"][-1]
    await exchange.close()
    return listed[5], streamed[5]


assert ccxt.__version__ == "4.5.90"
listed, streamed = asyncio.run(volumes())
print(f"by request {listed}, by stream {streamed}")
assert (listed, streamed) == (2.0, 200.0)
PYTHON

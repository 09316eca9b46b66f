#!/usr/bin/env bash
# Expected: fetch_time of a text 1763164800000, which ccxt names as the form of Backpack's answer, is 1763164800000.
# Is: it is 1. The answer is no JSON object but a text, and item 0 of a text is its first character.
# Version: ccxt 4.5.90, Python. Source: its objects; the form is in the comment of async_support/backpack.py, fetch_time.
# Output seen: 1763164800000 is read as 1.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q ccxt==4.5.90
"$folder/venv/bin/python" - <<'PYTHON'
import asyncio

import ccxt.pro


async def read() -> int:
    exchange = ccxt.pro.backpack()

    async def fetch(*_: object) -> str:
        return "1763164800000"

    exchange.fetch = fetch
    time_ms = await exchange.fetch_time()
    await exchange.close()
    return time_ms


assert ccxt.__version__ == "4.5.90"
time_ms = asyncio.run(read())
print(f"1763164800000 is read as {time_ms}")
assert time_ms == 1
PYTHON

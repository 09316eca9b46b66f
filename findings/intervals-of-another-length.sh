#!/usr/bin/env bash
# Expected: a ccxt timeframe is as long as its name says.
# Is: Bitstamp's 1w is requested as step=259200, which is three days; Kraken's 2w as 21600 minutes, which is fifteen.
# Of all other spot exchanges of ccxt.pro whose names are numbers of seconds, minutes or milliseconds each is right.
# Version: ccxt 4.5.90. Source: its objects (ccxt issue 18649 names Bitstamp's).
# Output seen: bitstamp 1w: 259200 s instead of 604800 s; kraken 2w: 1296000 s instead of 1209600 s.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q ccxt==4.5.90
"$folder/venv/bin/python" - <<'PYTHON'
import ccxt.pro

assert ccxt.__version__ == "4.5.90"
UNITS_S = (1.0, 60.0, 0.001)
found = set()
for name in ccxt.pro.exchanges:
    exchange = getattr(ccxt.pro, name)()
    if exchange.has.get("spot") is False:
        continue
    for timeframe, native in (exchange.timeframes or {}).items():
        if timeframe[-1:] not in tuple("smhdw") or not timeframe[:-1].isdecimal() or not str(native).isdecimal():
            continue
        length_s = exchange.parse_timeframe(timeframe)
        if all(int(native) * unit_s != length_s for unit_s in UNITS_S):
            native_s = int(native) * (60 if name == "kraken" else 1)
            print(f"{name} {timeframe}: {native_s} s instead of {length_s} s")
            found.add((name, timeframe, native_s, length_s))
assert found == {("bitstamp", "1w", 259200, 604800), ("kraken", "2w", 1296000, 1209600)}, found
PYTHON

"""A forecaster in a process that does everything wrong, at random from a seed: `python chaos_forecaster.py SEED`.

Needs nothing of Ghostcandle. In memory, `answers` has the same faults.
"""

from __future__ import annotations

import json
import os
import random
import sys
from typing import Any

FAULTS = {
    "crash": 0.01,
    "hang": 0.001,
    "flood": 0.005,
    "long line": 0.001,
    "not a number": 0.03,
    "crossed": 0.03,
    "too few": 0.02,
    "too large": 0.02,
    "garbage before the answer": 0.03,
    "garbage": 0.001,
    "another candle": 0.001,
    "nothing": 0.02,
}
"""How often each happens."""
Answer = tuple[float, bytes | None]
"""Seconds to wait, and a line; None: it ends."""


def fault_of(seed: int, candle: dict[str, Any]) -> str | None:
    """What goes wrong at this candle."""
    chance = random.Random(f"{seed} {candle['open_time_ms']}").random()
    for fault, share in FAULTS.items():
        chance -= share
        if chance < 0.0:
            return fault
    return None


def answers(seed: int, message: dict[str, Any], horizons: int) -> list[Answer]:
    """What it writes after a message."""
    if message["type"] == "hello":
        return [(0.0, b"Welcome to chaos\n"), (0.0, line({"type": "ready", "protocol": 1}))]
    if message["type"] != "candle":
        return []
    fault = fault_of(seed, message)
    written: list[bytes | None] = {
        "crash": [None],
        "hang": [],
        "flood": [b"}{\n"] * 500,
        "long line": [b"x" * 2_000_000 + b"\n"],
        "garbage": [b"}{\n"],
        "garbage before the answer": [b"}{\n", line(forecast(fault, message, horizons))],
    }.get(fault or "", [line(forecast(fault, message, horizons))])
    return [(0.0, each) for each in written]


def forecast(fault: str | None, candle: dict[str, Any], horizons: int) -> dict[str, Any]:
    row = [share * 1e-3 for share in (-1.6, -1.3, -0.7, 0.0, 0.7, 1.3, 1.6)]
    rows = {"crossed": row[::-1], "not a number": [float("nan")] * 7, "too large": [candle["close"] * 1e9] * 7}
    table = [rows.get(fault or "", row)] * (horizons - (fault == "too few"))
    opened_ms = candle["open_time_ms"] - (fault == "another candle")
    close = None if fault == "nothing" else table
    return {"type": "forecast", "market": candle["market"], "open_time_ms": opened_ms, "close": close}


def line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def main() -> None:
    seed, horizons = int(sys.argv[1]), 0
    for text in sys.stdin:
        message = json.loads(text)
        horizons = message.get("horizons", horizons)
        for _, written in answers(seed, message, horizons):
            if written is None:
                print("Chaos has reached its end.", file=sys.stderr, flush=True)
                os._exit(3)
            sys.stdout.buffer.write(written)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()

"""What the adapters share: the protocol of docs/your-own-model.md, and quantiles of the levels that it wants."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

TAIL = 1.645 / 1.282
"""How much further from the median a normal distribution's 5 % quantile lies than its 10 % quantile."""
FEWEST = 32
"""Candles before the first forecast."""


@dataclass(frozen=True)
class Wanted:
    """The forecasts that Ghostcandle asks for."""

    interval_ms: int
    horizons: int
    levels: tuple[float, ...]


Forecast = Callable[[Wanted, np.ndarray], dict[str, np.ndarray]]
"""From candles [n, 6] (open time in ms, open, high, low, close, volume) to quantiles [horizon, level] by quantity."""


def serve(forecast: Forecast, context: int) -> None:
    """Answer until stdin ends. context: how many of the newest candles the forecast is made from."""
    wanted, candles = Wanted(0, 0, ()), {}
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            wanted = Wanted(message["interval_ms"], message["horizons"], tuple(message["levels"]))
            answer = {"type": "ready", "protocol": 1}
        elif message["type"] == "history":
            candles[message["market"]] = message["candles"][-context:]
            continue
        elif message["type"] == "candle":
            names = ("open_time_ms", "open", "high", "low", "close", "volume")
            own = candles[message["market"]] = [*candles[message["market"]], [message[name] for name in names]][
                -context:
            ]
            made = forecast(wanted, np.array(own)) if len(own) >= FEWEST else {}
            which = {name: message[name] for name in ("market", "open_time_ms")}
            answer = {"type": "forecast", **which, **{name: table.tolist() for name, table in made.items()}}
        else:
            continue
        print(json.dumps(answer), flush=True)


def close_and_range(candles: np.ndarray) -> np.ndarray:
    """Two series to forecast, [2, n]: the logarithm of the close, 0 at the newest, and that of the range."""
    log_close = np.log(candles[:, 4])
    log_range = np.log(np.maximum(np.log(candles[:, 2] / candles[:, 3]), 1e-5))
    return np.stack([log_close - log_close[-1], log_range])


def with_tails(deciles: np.ndarray, levels: tuple[float, ...]) -> np.ndarray:
    """From quantiles at 0.1, 0.2 to 0.9, [.., 9], to these levels, [.., level].

    Between two of them it is interpolated; beyond them the distance from the median grows as in a normal distribution.
    """
    known = np.linspace(0.1, 0.9, 9)
    flat = deciles.reshape(-1, 9)
    inside = np.stack([np.interp(levels, known, row) for row in flat])
    beyond = np.array([TAIL if level < 0.1 or level > 0.9 else 1.0 for level in levels])
    median = flat[:, 4:5]
    return (median + (inside - median) * beyond).reshape(*deciles.shape[:-1], len(levels))

"""Forecasters in a process, each with one habit: `python odd_forecasters.py HABIT [FILE]`. Needs no Ghostcandle."""

from __future__ import annotations

import csv
import json
import math
import random
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

LEVELS = (-1.6, -1.3, -0.7, 0.0, 0.7, 1.3, 1.6)


class Forecaster:
    """The usual size of a move, around no change. Habits: honest, mute, late to begin, moody, forgetful, broken,
    crashing, peeking, and peeking at ranges."""

    def __init__(self, habit: str, file: str | None) -> None:
        self.habit = habit
        self.closes: list[float] = []
        self.asked = 0
        self.future: dict[int, float] = {}
        """The next move after each candle of the file."""
        self.next_range: dict[int, float] = {}
        if file is not None:
            with Path(file).open(encoding="utf-8") as lines:
                rows = [(int(row[0]), *map(float, row[1:5])) for row in list(csv.reader(lines))[1:]]
            self.future = {before[0]: math.log(after[4] / before[4]) for before, after in pairwise(rows)}
            self.next_range = {before[0]: math.log(after[2] / after[3]) for before, after in pairwise(rows)}

    def forecast(self, candle: dict[str, Any], horizons: int) -> dict[str, Any]:
        self.closes.append(candle["close"])
        self.asked += 1
        newest = self.closes[-20:]
        usual = max(newest) / min(newest) - 1.0 + 1e-4
        middle = self.future.get(candle["open_time_ms"], 0.0) if self.habit == "peeking" else 0.0
        if self.habit == "crashing":
            raise ValueError("not today")
        if self.habit == "moody":
            middle = random.SystemRandom().uniform(-usual, usual)
        if self.habit == "forgetful":
            usual *= self.asked
        if self.habit == "broken" and self.asked % 10 == 0:
            usual = math.nan
        row = [middle + 0.1 * usual * level for level in LEVELS]
        answer = {"type": "forecast", "open_time_ms": candle["open_time_ms"], "close": [row] * horizons}
        if self.habit == "mute" or (self.habit == "late-to-begin" and len(self.closes) <= 20):
            del answer["close"]
        if self.habit == "peeking-at-ranges":
            size = self.next_range.get(candle["open_time_ms"], usual)
            answer["range"] = [[size * (1.0 + 0.1 * level) for level in LEVELS]] * horizons
        return answer


def main() -> None:
    forecaster, horizons = Forecaster(sys.argv[1], *(sys.argv[2:] or [None])), 0
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            horizons = message["horizons"]
            print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
        elif message["type"] == "history":
            forecaster.closes += [candle[4] for candle in message["candles"]]
        elif message["type"] == "candle":
            print(json.dumps(forecaster.forecast(message, horizons)), flush=True)


if __name__ == "__main__":
    main()

"""HAR as a forecaster in a process: the built-in baseline of that name, written again from the protocol alone.

    ghostcandle evaluate btc.csv --model "process:python har_process.py"

Its losses equal those of the row HAR. It is longer than a forecaster needs to be, as it repeats every detail of the
built-in one; docs/your-own-model.md has one of twenty lines. It needs NumPy, and nothing of Ghostcandle.

The log range of the next candles is a regression on averages over 1, 5, 20 and 200 candles (Corsi, 2009), the time of
day, volume and the newest fall. The expected range sets the width of close, body and wicks. Quantiles are the empirical
ones of the newest 1,000 errors, and before there are 30, of the outcomes themselves.
"""

from __future__ import annotations

import json
import math
import sys

import numpy as np

SPANS = (5, 20, 200)
WINDOW, FEWEST = 1000, 30
KEEP, PENALTY, FEATURES = 0.9995, 10.0, 13
LOWEST_WIDTH, LARGEST_WIDTH = -1.5, 2.0
DAY_MS = 86_400_000
QUANTITIES = ("close", "body", "upper_wick", "lower_wick", "range")
SIGNED = np.array([True, True, False, False, False])
"""Those with a direction: their errors count with both signs."""
NORMAL = (-1.645, -1.282, -0.674, 0.0, 0.674, 1.282, 1.645)
WICK = (0.0, 0.05, 0.15, 0.4, 0.8, 1.3, 1.8)
ASSUMED = np.array([NORMAL, NORMAL, WICK, WICK, np.multiply(NORMAL, 0.5)])
"""Quantiles of the outcomes before there are any, [quantity, level]."""


class Average:
    """Exponentially weighted mean and deviation, as pandas has them."""

    def __init__(self, span: float) -> None:
        self.keep = 1.0 - 2.0 / (span + 1.0)
        self.weight = self.weight_squared = self.first = self.second = 0.0

    def add(self, value: float) -> None:
        self.weight = 1.0 + self.keep * self.weight
        self.weight_squared = 1.0 + self.keep * self.keep * self.weight_squared
        self.first = value + self.keep * self.first
        self.second = value * value + self.keep * self.second

    @property
    def mean(self) -> float:
        return self.first / self.weight

    @property
    def deviation(self) -> float:
        """0 before the second value."""
        spread = self.weight * self.weight - self.weight_squared
        if spread <= 0.0:
            return 0.0
        variance = self.second / self.weight - (self.first / self.weight) ** 2
        return math.sqrt(max(variance, 0.0) * self.weight * self.weight / spread)


class Regression:
    """Discounted ridge regression, one for each horizon."""

    def __init__(self, horizons: int) -> None:
        self.products = np.zeros((horizons, FEATURES, FEATURES))
        self.response = np.zeros((horizons, FEATURES))
        self.read = np.zeros((horizons, FEATURES))
        """The features at the newest candles, newest first."""

    def learn(self, outcomes: np.ndarray, known: np.ndarray) -> None:
        row = self.read[known]
        self.products[known] = KEEP * self.products[known] + row[:, :, None] * row[:, None, :]
        self.response[known] = KEEP * self.response[known] + outcomes[known, None] * row

    def predict(self, features: np.ndarray) -> np.ndarray:
        push(self.read, features)
        penalised = self.products + PENALTY * np.eye(FEATURES)
        return np.linalg.solve(penalised, self.response[..., None])[..., 0] @ features


class Har:
    """Takes candles in order; forecasts after each."""

    def __init__(self, interval_ms: int, horizons: int, levels: list[float]) -> None:
        self.interval_ms, self.horizons, self.levels = interval_ms, horizons, np.array(levels)
        self.sizes = np.abs(2.0 * self.levels - 1.0).round(12)
        self.ahead = np.arange(1, horizons + 1)
        self.returns, self.ranges, self.volumes = Average(60), Average(50), Average(50)
        self.averages = {name: [Average(span) for span in SPANS] for name in ("range", "width")}
        self.volume_5 = Average(5)
        self.regressions = {"range": Regression(horizons), "width": Regression(horizons)}
        self.rows: list[dict[str, float]] = []
        """What is known of the newest candles, newest first."""
        self.centre = np.zeros((horizons, len(QUANTITIES), horizons))
        self.spread = np.ones((horizons, len(QUANTITIES), horizons))
        """Forecast at the newest candles, newest first: [candle, quantity, horizon]."""
        self.errors = np.zeros((len(QUANTITIES), horizons, WINDOW), dtype=np.float32)
        self.seen = np.zeros(horizons, dtype=np.int64)
        self.outcomes: list[list[np.ndarray]] = [[] for _ in range(horizons)]
        """The first ones of each horizon, [quantity] each."""
        self.count = 0

    def take(self, opened_ms: float, opened: float, high: float, low: float, close: float, volume: float) -> None:
        """Learn from a candle as the target of earlier forecasts, then forecast from it."""
        self.rows = [self.row(int(opened_ms), opened, high, low, close, volume), *self.rows[: self.horizons]]
        self.count += 1
        self.learn()
        self.look_ahead()

    def row(self, opened_ms: int, opened: float, high: float, low: float, close: float, volume: float) -> dict:
        last = self.rows[0] if self.rows else None
        has_hole = last is not None and opened_ms != last["time"] + self.interval_ms
        log_close, log_range = math.log(close), math.log(max(math.log(high / low), 1e-5))
        if last is not None and not has_hole:
            self.returns.add(log_close - last["close"])
        self.ranges.add(log_range)
        self.volumes.add(volume)
        deviation = self.returns.deviation
        if deviation == 0.0 or self.count + 1 <= 11:
            deviation = math.exp(self.ranges.mean) / (2.0 * math.sqrt(math.log(2.0)))
        usual_volume = max(self.volumes.mean, 1e-12)
        return {
            "time": opened_ms,
            "close": log_close,
            "body": math.log(close / opened),
            "upper_wick": math.log(high / max(opened, close)),
            "lower_wick": math.log(min(opened, close) / low),
            "range": log_range,
            "volume": math.log(max(volume, 0.01 * usual_volume)),
            "scale": max(deviation, 1e-6),
            "level": self.ranges.mean,
            "volume_level": math.log(usual_volume),
            "part": (last["part"] if last is not None else 0.0) + has_hole,
        }

    def learn(self) -> None:
        now, origins = self.rows[0], self.rows[1:]
        known = np.array([row for row, origin in enumerate(origins) if origin["part"] == now["part"]], dtype=np.int64)
        outcomes, width = np.zeros((self.horizons, len(QUANTITIES))), np.zeros(self.horizons)
        for row, origin in enumerate(origins):
            scale = origin["scale"]
            move = (now["close"] - origin["close"]) / (scale * np.sqrt(self.ahead[row]))
            shape = [now[name] / scale for name in ("body", "upper_wick", "lower_wick")]
            outcomes[row] = (move, *shape, now["range"] - origin["level"])
            width[row] = max(now["range"] - np.log(scale), LOWEST_WIDTH)
        self.regressions["range"].learn(outcomes[:, -1], known)
        self.regressions["width"].learn(width, known)
        for row in known:
            error = (outcomes[row] - self.centre[row, :, row]) / self.spread[row, :, row]
            self.errors[:, row, self.seen[row] % WINDOW] = error
            self.seen[row] += 1
            if len(self.outcomes[row]) < FEWEST:
                self.outcomes[row].append(outcomes[row])

    def look_ahead(self) -> None:
        now, last = self.rows[0], (self.rows[1] if len(self.rows) > 1 else None)
        log_scale, level = math.log(now["scale"]), now["level"]
        width = max(now["range"], log_scale + LOWEST_WIDTH)
        for name, value in (("range", now["range"]), ("width", width)):
            for average in self.averages[name]:
                average.add(value)
        self.volume_5.add(now["volume"])
        fall = 0.0
        if last is not None and last["part"] == now["part"]:
            fall = min(max((now["close"] - last["close"]) / last["scale"], -4.0), 0.0)
        day = 2.0 * math.pi * (now["time"] % DAY_MS) / DAY_MS
        times = [math.sin(day), math.cos(day), math.sin(2.0 * day), math.cos(2.0 * day)]
        volume = [now["volume"] - now["volume_level"], self.volume_5.mean - now["volume_level"]]
        ranges = [average.mean - level for average in self.averages["range"]]
        widths = [average.mean - log_scale for average in self.averages["width"]]
        shared = [1.0, *times, *volume, fall]
        expected = {
            "range": np.array([now["range"] - level, *ranges, log_scale - level, *shared]),
            "width": np.array([width - log_scale, *widths, level - log_scale, *shared]),
        }
        expected = {name: self.regressions[name].predict(features) for name, features in expected.items()}
        widths = np.exp(np.clip(expected["width"], -LARGEST_WIDTH, LARGEST_WIDTH))
        centre, spread = np.zeros((len(QUANTITIES), self.horizons)), np.ones((len(QUANTITIES), self.horizons))
        centre[-1] = expected["range"]
        spread[0] = np.sqrt(np.cumsum(widths**2) / self.ahead)
        spread[1:4] = widths
        push(self.centre, centre)
        push(self.spread, spread)

    def forecast(self) -> dict[str, list]:
        """Quantiles of the next candles, [horizon][level] of each quantity."""
        quantiles = np.empty((len(QUANTITIES), self.horizons, self.levels.size))
        for row in range(self.horizons):
            known = int(min(self.seen[row], WINDOW))
            if known < FEWEST:
                quantiles[:, row] = self.first_quantiles(self.outcomes[row])
            else:
                ordered = self.sorted_sizes(self.errors[:, row, :known])
                own = self.mirrored(interpolated(ordered, self.levels), interpolated(ordered, self.sizes))
                quantiles[:, row] = self.centre[0, :, row, None] + self.spread[0, :, row, None] * own
        now = self.rows[0]
        quantiles[0] *= (now["scale"] * np.sqrt(self.ahead))[:, None]
        quantiles[1:4] *= now["scale"]
        quantiles[-1] = np.exp(now["level"] + quantiles[-1])
        return {name: table.tolist() for name, table in zip(QUANTITIES, quantiles, strict=True)}

    def first_quantiles(self, outcomes: list[np.ndarray]) -> np.ndarray:
        """Of few outcomes, completed by those of an assumed distribution: [quantity, level]."""
        missing = FEWEST - len(outcomes)
        points = (np.arange(missing) + 0.5) / missing
        drawn = np.stack([np.interp(points, self.levels, row) for row in ASSUMED])
        ordered = self.sorted_sizes(np.concatenate([np.array(outcomes).reshape(-1, len(QUANTITIES)).T, drawn], axis=1))
        return self.mirrored(np.quantile(ordered, self.levels, axis=1).T, np.quantile(ordered, self.sizes, axis=1).T)

    def sorted_sizes(self, values: np.ndarray) -> np.ndarray:
        """[quantity, n], of those with a direction the sizes."""
        return np.sort(np.where(SIGNED[:, None], np.abs(values), values), axis=-1)

    def mirrored(self, at_levels: np.ndarray, at_sizes: np.ndarray) -> np.ndarray:
        """[quantity, level]: of those with a direction symmetric about 0."""
        return np.where(SIGNED[:, None], np.sign(self.levels - 0.5) * at_sizes, at_levels)


def interpolated(ordered: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """[quantity, n] in ascending order to [quantity, level]."""
    last = ordered.shape[-1] - 1
    position = levels * last
    below = position.astype(np.int64)
    low, high = (ordered[:, index].astype(np.float64) for index in (below, np.minimum(below + 1, last)))
    return low + (position - below) * (high - low)


def push(newest_first: np.ndarray, values: np.ndarray) -> None:
    newest_first[1:] = newest_first[:-1].copy()
    newest_first[0] = values


def main() -> None:
    models: dict[str, Har] = {}
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            wanted = message["interval_ms"], message["horizons"], message["levels"]
            models = {market: Har(*wanted) for market in message["markets"]}
            answer = {"type": "ready", "protocol": 1}
        elif message["type"] == "history":
            for candle in message["candles"]:
                models[message["market"]].take(*candle)
            continue
        elif message["type"] == "candle":
            names = ("open_time_ms", "open", "high", "low", "close", "volume")
            model = models[message["market"]]
            model.take(*(message[name] for name in names))
            which = {name: message[name] for name in ("market", "open_time_ms")}
            answer = {"type": "forecast", **which, **model.forecast()}
        else:
            continue  # of a later version of the protocol
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

"""Whether the newest candle is unlike anything seen before, and which of its inputs is unusual, in words.

The inputs describe a candle in units known before it closed: its move, wicks, range and volume, and the current
volatility. Their distance from the usual values is Mahalanobis's, with a mean and a covariance over the newest few
thousand candles. Such distances have fat tails that differ between markets, so the threshold comes from past distances,
not from a table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from core.domain.quantities import FloatArray
from core.forecast.arrays import Arrays, ArrayState
from core.forecast.history import History

FEWEST = 300
"""Candles before anything is reported as unusual."""
_KEPT = 3000
"""Past distances for the threshold."""
_KEEP = 1.0 - 1.0 / 3000.0
_LEVEL = 0.995
_MARGIN = 1.4
"""The threshold, as a multiple of the distance exceeded by one candle in 200."""
_RIDGE = 0.05
"""Added to each variance, which limits the resolution of an input."""
_PLAINLY_ODD = 3.5
"""Standard deviations beyond which an input alone is unusual, not only in combination."""


class Input(IntEnum):
    """The inputs, in the order of all arrays. Logs of ratios, and signed logs of what may be 0."""

    MOVE = 0
    UPPER_WICK = 1
    LOWER_WICK = 2
    RANGE = 3
    VOLUME = 4
    VOLATILITY = 5


_OF_THE_CANDLE = tuple(each for each in Input if each is not Input.VOLATILITY)
_NAMES = {
    Input.UPPER_WICK: "upper wick",
    Input.LOWER_WICK: "lower wick",
    Input.RANGE: "range",
    Input.VOLUME: "volume",
    Input.VOLATILITY: "volatility",
}


@dataclass(frozen=True, slots=True)
class Novelty:
    """score: the distance over the threshold, above 1 if nothing like it was seen; None while there is too little data.
    oddity: the unusual input, in words; else empty."""

    score: float | None
    oddity: str


class NoveltyDetector(ArrayState):
    """Owns the usual values. `observe` each closed candle once, in order; its result is never revised."""

    _STATE = ("_sum", "_products", "_distances")

    def __init__(self) -> None:
        self._weight = 0.0
        self._sum = np.zeros(len(Input))
        self._products = np.zeros((len(Input), len(Input)))
        self._distances = np.zeros(_KEPT)
        self._judged = 0
        """Count of distances; the newest one is at index `_judged - 1` of the ring buffer."""
        self.newest = Novelty(None, "")
        """The result for the newest candle."""

    def observe(self, history: History, row: int) -> None:
        """Judge the candle of this row of the history, then include it in the usual values."""
        if row < 1:
            return
        values = measured(history, row)
        self.newest = Novelty(None, "")
        if self._weight > 0.0:
            values = self._judge(values)
        self._weight = _KEEP * self._weight + 1.0
        self._sum = _KEEP * self._sum + values
        self._products = _KEEP * self._products + np.outer(values, values)

    def state(self) -> Arrays:
        score = self.newest.score
        return super().state() | {
            "weight": np.array([self._weight]),
            "judged": np.array([self._judged], dtype=np.int64),
            "score": np.array([] if score is None else [score], dtype=np.float64),
            "oddity": np.frombuffer(self.newest.oddity.encode(), dtype=np.uint8).copy(),
        }

    def restore(self, state: Arrays) -> None:
        super().restore(state)
        self._weight, self._judged = float(state["weight"][0]), int(state["judged"][0])
        score = float(state["score"][0]) if state["score"].size else None
        self.newest = Novelty(score, state["oddity"].tobytes().decode())

    def _judge(self, values: FloatArray) -> FloatArray:
        """Judge the newest candle. Returns its values for the usual ones: those of an unusual candle are shrunk to the
        threshold, or the next crash would pass for usual."""
        mean = self._sum / self._weight
        spread = self._products / self._weight - np.outer(mean, mean) + np.diag(np.full(len(Input), _RIDGE))
        off = values - mean
        shares = off * np.linalg.solve(spread, off)
        distance = math.sqrt(max(float(shares.sum()), 0.0))
        threshold = self._threshold()
        self._distances[self._judged % _KEPT] = distance
        self._judged += 1
        if threshold is None:
            return values
        deviations = off / np.sqrt(np.diag(spread))
        oddity = _in_words(mean, off, deviations, shares) if distance > threshold else ""
        self.newest = Novelty(distance / threshold, oddity)
        counted: FloatArray = mean + off * min(1.0, threshold / distance) if distance > 0.0 else values
        return counted

    def _threshold(self) -> float | None:
        known = min(self._judged, _KEPT)
        if known < FEWEST:
            return None
        beyond = int(_LEVEL * known)
        return _MARGIN * float(np.partition(self._distances[:known], beyond)[beyond])


def measured(history: History, row: int) -> FloatArray:
    """The inputs of the candle of this row, which must not be the first: [len(Input)]. Move and wicks as signed logs of
    1 + their multiple of the previous volatility; range and volume as logs of their ratio to their previous level; and
    the log of the volatility."""
    now, before = ({name: float(history.column(name)[each]) for name in _COLUMNS} for each in (row, row - 1))
    scale = before["scale"]
    return np.array(
        [
            _signed_log((now["log_close"] - before["log_close"]) / scale),
            _signed_log(now["upper_wick"] / scale),
            _signed_log(now["lower_wick"] / scale),
            now["log_range"] - before["range_level"],
            now["log_volume"] - before["volume_level"],
            math.log(now["scale"]),
        ]
    )


_COLUMNS = ("log_close", "upper_wick", "lower_wick", "log_range", "log_volume", "scale", "range_level", "volume_level")


def _signed_log(value: float) -> float:
    return math.copysign(math.log1p(abs(value)), value)


def _in_words(mean: FloatArray, off: FloatArray, deviations: FloatArray, shares: FloatArray) -> str:
    """The unusual input, the candle's own before the volatility; if no single one is, the two that are unusual
    together."""
    sizes = np.abs(deviations)
    for candidates in (_OF_THE_CANDLE, tuple(Input)):
        oddest = max(candidates, key=lambda each: float(sizes[each]))
        if sizes[oddest] >= _PLAINLY_ODD:
            return _phrase(oddest, mean, off)
    first, second = (Input(int(row)) for row in np.argsort(-shares, kind="stable")[:2])
    return f"{_phrase(first, mean, off)} together with {_phrase(second, mean, off)}"


def _phrase(which: Input, mean: FloatArray, off: FloatArray) -> str:
    if which is Input.MOVE:
        value = float(mean[which] + off[which])
        return f"{'rise' if value >= 0.0 else 'fall'} of {_times(math.expm1(abs(value)))} the usual volatility"
    if which in (Input.UPPER_WICK, Input.LOWER_WICK):
        usual, value = math.expm1(float(mean[which])), math.expm1(float(mean[which] + off[which]))
        ratio = _times(value / usual) if usual > 0.0 else "far beyond"
        return f"{_NAMES[which]} {ratio} its usual"
    return f"{_NAMES[which]} {_times(math.exp(float(off[which])))} its usual"


def _times(ratio: float) -> str:
    """`19 times`, `1.6 times`, `1/30 of`."""
    if ratio >= 9.95:
        return f"{ratio:,.0f} times"
    if ratio >= 0.095:
        return f"{ratio:.1f} times"
    return f"1/{1.0 / ratio:,.0f} of" if ratio > 1e-6 else "nothing of"

"""Half-open intervals of time, and their differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Interval


@dataclass(frozen=True, slots=True, order=True)
class TimeSpan:
    """Opening times from `first_ms` on and before `stop_ms`."""

    first_ms: int
    stop_ms: int

    def candles(self, interval: Interval) -> int:
        """The number of candles that open in it, if one opens at `first_ms`."""
        return -(-(self.stop_ms - self.first_ms) // interval.duration_ms)


def holes_between(times: NDArray[np.int64], interval: Interval) -> list[TimeSpan]:
    """The spans without candles between these ascending opening times, shape (n,)."""
    step_ms = interval.duration_ms
    places = np.flatnonzero(np.diff(times) > step_ms)
    return [TimeSpan(int(times[place]) + step_ms, int(times[place + 1])) for place in places]


def without(spans: Iterable[TimeSpan], taken: Sequence[TimeSpan]) -> list[TimeSpan]:
    """The difference `spans` - `taken`, ascending and disjoint; both may come in any order."""
    cuts = sorted(taken)
    left: list[TimeSpan] = []
    first_cut = 0
    for span in sorted(spans):
        while first_cut < len(cuts) and cuts[first_cut].stop_ms <= span.first_ms:
            first_cut += 1
        begin_ms = span.first_ms
        for cut in cuts[first_cut:]:
            if cut.first_ms >= span.stop_ms:
                break
            if cut.first_ms > begin_ms:
                left.append(TimeSpan(begin_ms, cut.first_ms))
            begin_ms = max(begin_ms, cut.stop_ms)
        if begin_ms < span.stop_ms:
            left.append(TimeSpan(begin_ms, span.stop_ms))
    return left


def candles_in(spans: Iterable[TimeSpan], interval: Interval) -> int:
    """How many candles open in these spans altogether."""
    return sum(span.candles(interval) for span in spans)

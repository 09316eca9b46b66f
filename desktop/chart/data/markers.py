"""What training had at a candle: an incident, a new best checkpoint, a restore, a rollback."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from desktop.chart.data.model import ChartModel


class MarkerKind(IntEnum):
    """In the order in which they are stacked, what matters most at the bottom."""

    ERROR = 0
    ROLLBACK = 1
    WARNING = 2
    BEST = 3
    RESTORE = 4
    INFO = 5


@dataclass(frozen=True, slots=True)
class Marker:
    """One thing that happened. `source` is what it came from, for whoever opens it."""

    time_ms: int
    """Any moment of its candle."""
    kind: MarkerKind
    sentence: str
    source: object


@dataclass(frozen=True, slots=True)
class MarkerGroup:
    """The markers of one candle, or of several that are too narrow to be told apart; what matters most first."""

    index: float
    """Where it stands: between the first and the last candle that it is of."""
    markers: tuple[Marker, ...]


class MarkerTrack:
    """Markers by time. Finding those in view costs a search, not a walk."""

    def __init__(self, markers: Iterable[Marker] = ()) -> None:
        self._markers = sorted(markers, key=lambda marker: marker.time_ms)
        self._times = np.array([marker.time_ms for marker in self._markers], dtype=np.int64)

    def __len__(self) -> int:
        return len(self._markers)

    def groups(self, model: ChartModel, first: float, last: float, apart: float) -> list[MarkerGroup]:
        """Those between two indices, grouped so that two groups are about `apart` candles from each other.

        Groups begin at multiples of a power of two, so that panning never regroups them.
        """
        start, indices = self._between(model, first, last)
        slot = 1 if apart <= 1.0 else 1 << int(np.ceil(np.log2(apart)))
        slots = indices // slot
        edges = np.flatnonzero(np.diff(slots)) + 1
        bounds = [0, *edges.tolist(), indices.size] if indices.size else []
        groups = []
        for begin, end in pairwise(bounds):
            members = sorted(self._markers[start + begin : start + end], key=lambda marker: marker.kind)
            groups.append(MarkerGroup(float(indices[begin] + indices[end - 1]) / 2.0, tuple(members)))
        return groups

    def _between(self, model: ChartModel, first: float, last: float) -> tuple[int, NDArray[np.int64]]:
        """The first of them, and the indices of their candles."""
        nothing = (0, np.empty(0, dtype=np.int64))
        series, opens_next = model.series, model.time_at(model.count)
        if opens_next is None or last < 0:
            return nothing
        begin_ms, end_ms = model.time_at(max(int(first), 0)), model.time_at(min(int(last) + 1, model.count))
        assert begin_ms is not None and end_ms is not None
        stop_ms = end_ms + series.interval.duration_ms
        if model.moment is not None:
            stop_ms = min(stop_ms, model.moment.time_ms)
        start, stop = np.searchsorted(self._times, (begin_ms, stop_ms))
        if start >= stop:
            return nothing
        times = self._times[start:stop]
        indices = np.searchsorted(series.open_time_ms, times, side="right").astype(np.int64) - 1
        indices[times >= opens_next] = model.count
        return int(start), indices

"""Training events at a candle: an incident, a new best checkpoint, a restore, a rollback."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from desktop.chart.data.model import ChartModel


class MarkerKind(IntEnum):
    """In stacking order, the most important at the bottom."""

    ERROR = 0
    ROLLBACK = 1
    WARNING = 2
    BEST = 3
    RESTORE = 4
    INFO = 5


@dataclass(frozen=True, slots=True)
class Marker:
    """One event. `source` is the record to open on a click."""

    time_ms: int
    """Any time within its candle."""
    kind: MarkerKind
    sentence: str
    source: object


@dataclass(frozen=True, slots=True)
class MarkerGroup:
    """The markers of one candle, or of several that are too narrow to separate; the most important first."""

    index: float
    """Index, between the first and the last candle of the group."""
    markers: tuple[Marker, ...]


class MarkerTrack:
    """Markers by time. Visible ones are found by binary search."""

    def __init__(self, markers: Iterable[Marker] = ()) -> None:
        self._markers = sorted(markers, key=lambda marker: marker.time_ms)
        self._times = np.array([marker.time_ms for marker in self._markers], dtype=np.int64)

    def __len__(self) -> int:
        return len(self._markers)

    def groups(self, model: ChartModel, first: float, last: float, apart: float) -> list[MarkerGroup]:
        """Groups between two indices, about `apart` candles from each other.

        Groups begin at multiples of a power of two, so that panning does not regroup them.
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
        """The position of the first one, and the indices of their candles."""
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

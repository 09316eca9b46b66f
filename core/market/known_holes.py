"""Candles that an exchange is known not to have: they were not lost, and are not fetched again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]


class KnownHoles:
    """Half-open spans of opening times. Immutable."""

    def __init__(self, spans: Times | None = None) -> None:
        """spans: shape (n, 2), in any order; they may overlap."""
        found = np.empty((0, 2), np.int64) if spans is None else spans[np.argsort(spans[:, 0], kind="stable")]
        reach = np.maximum.accumulate(found[:, 1])
        is_first = np.append(True, found[1:, 0] > reach[:-1])[: len(found)]
        is_last = np.append(is_first[1:], True)[: len(found)]
        self.spans: Times = np.stack([found[is_first, 0], reach[is_last]], axis=1)
        """Ascending and disjoint, shape (n, 2)."""
        self._sums = np.append(0, np.cumsum(self.spans[:, 1] - self.spans[:, 0]))

    def __len__(self) -> int:
        return len(self.spans)

    def joined(self, other: Times) -> KnownHoles:
        """The union with other spans, shape (n, 2)."""
        return KnownHoles(np.concatenate([self.spans, other]))

    def within_ms(self, first_ms: Any, stop_ms: Any) -> Times:
        """How much of each span first_ms..stop_ms - 1 lies in holes; both of shape (n,), or numbers."""
        return np.asarray(self._before_ms(stop_ms) - self._before_ms(first_ms), dtype=np.int64)

    def _before_ms(self, time_ms: Any) -> Times:
        """The total length of the holes before each time."""
        times = np.asarray(time_ms, dtype=np.int64)
        if not len(self.spans):
            return np.zeros_like(times)
        begun = np.searchsorted(self.spans[:, 0], times, side="right")
        left = np.maximum(0, self.spans[np.maximum(begun, 1) - 1, 1] - times)
        return np.asarray(self._sums[begun] - np.where(begun > 0, left, 0), dtype=np.int64)

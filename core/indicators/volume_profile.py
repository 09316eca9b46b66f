"""Volume by price, estimated from candles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.domain.quantities import FloatArray


def volume_by_price(low: FloatArray, high: FloatArray, volume: FloatArray, edges: FloatArray) -> FloatArray:
    """The volume between neighbouring `edges`, which ascend: shape [len(edges) - 1].

    The prices of a candle's trades are unknown: its volume is spread evenly from its low to its high, as charts usually
    do. A candle without a range counts at its price, upper edges included. Volume beyond the edges is left out. low,
    high, volume: shape [candles].
    """
    span = high - low
    with np.errstate(divide="ignore", invalid="ignore"):
        below = np.clip((edges[None, :] - low[:, None]) / span[:, None], 0.0, 1.0)
    below = np.where(span[:, None] > 0.0, below, edges[None, :] >= high[:, None])
    return np.asarray(np.diff(volume @ below), dtype=np.float64)


@dataclass(frozen=True)
class VolumeProfile:
    """edges: the bars' edges, as prices; rising, falling: the volume of candles that closed higher, and lower."""

    edges: FloatArray
    rising: FloatArray
    falling: FloatArray

    @property
    def total(self) -> FloatArray:
        return self.rising + self.falling

    @property
    def largest(self) -> int:
        """The bar with the most volume; the lowest of equals."""
        return int(np.argmax(self.total))

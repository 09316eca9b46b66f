"""The forecast's candles and their indices at the shown interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from core.domain.candle import Candle, Interval
from core.domain.events import QUANTILE_LEVELS, Ghost

_BAND_LEVELS = {50: (0.25, 0.75), 90: (0.05, 0.95)}


@dataclass(frozen=True, slots=True)
class PlacedGhost:
    """A ghost and its index. `ahead` counts from 1."""

    index: int
    ahead: int
    ghost: Ghost


def band(ghost: Ghost, percent: int) -> tuple[float, float] | None:
    """Lower and upper close of the 50 or 90 % band. None if the quantiles are not those of `QUANTILE_LEVELS`."""
    if len(ghost.close_quantiles) != len(QUANTILE_LEVELS):
        return None
    low, high = (ghost.close_quantiles[QUANTILE_LEVELS.index(level)] for level in _BAND_LEVELS[percent])
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def is_drawable(candle: Candle | Ghost) -> bool:
    values = (candle.open, candle.high, candle.low, candle.close, candle.volume)
    return all(math.isfinite(value) for value in values)


def joined(ghosts: Sequence[Ghost], own_ms: int, shown: Interval, begun: Candle | None) -> tuple[Ghost, ...]:
    """Merge ghosts of `own_ms` into candles of a coarser interval, as candles are merged. begun: the open candle at the
    first ghost, as far as known. Its part before that ghost is included, without its volume: the share that would count
    twice is unknown.

    Only coarser candles whose end is forecast are returned. A partial one would show a close forecast for another time,
    a range of too few parts and bands that are too narrow, and nothing in the picture would say so.
    """
    found = []
    for open_time_ms, group in groupby(ghosts, key=lambda ghost: shown.open_time_ms(ghost.open_time_ms)):
        parts = list(group)
        if parts[-1].open_time_ms + own_ms != shown.close_time_ms(open_time_ms):
            continue
        whole = Ghost(
            open_time_ms,
            parts[0].open,
            max(part.high for part in parts),
            min(part.low for part in parts),
            parts[-1].close,
            sum(part.volume for part in parts),
            parts[-1].close_quantiles,  # as calibrated
        )
        if parts[0].open_time_ms == open_time_ms:
            found.append(whole)
        elif begun is not None and begun.open_time_ms == open_time_ms:
            high, low = max(whole.high, begun.high), min(whole.low, begun.low)
            found.append(replace(whole, open=begun.open, high=high, low=low, volume=0.0))
    return tuple(found)

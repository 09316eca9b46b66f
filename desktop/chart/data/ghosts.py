"""The forecast's candles and the places where they stand, at the interval that is shown."""

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
    """A ghost and the index it is drawn at. `ahead` counts from 1."""

    index: int
    ahead: int
    ghost: Ghost


def band(ghost: Ghost, percent: int) -> tuple[float, float] | None:
    """Lower and upper close of the 50 or 90 % band. None where the quantiles are not those of `QUANTILE_LEVELS`."""
    if len(ghost.close_quantiles) != len(QUANTILE_LEVELS):
        return None
    low, high = (ghost.close_quantiles[QUANTILE_LEVELS.index(level)] for level in _BAND_LEVELS[percent])
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def is_drawable(candle: Candle | Ghost) -> bool:
    values = (candle.open, candle.high, candle.low, candle.close, candle.volume)
    return all(math.isfinite(value) for value in values)


def joined(ghosts: Sequence[Ghost], own_ms: int, shown: Interval, begun: Candle | None) -> tuple[Ghost, ...]:
    """Ghosts of `own_ms` each as candles of a coarser interval, joined as candles are. begun: the candle that is
    open at the first ghost, as far as it is known: what of it lies before that ghost is taken from there, and without
    its volume, of which nobody knows the share that is counted twice.

    Only those whose end is forecast. One that stops before would have to be drawn at a whole candle's place with a
    close that is forecast for another time, a range of too few parts, and bands too narrow for what they seem to be of:
    no look of it says that, and every number that is read off it is wrong."""
    found = []
    for open_time_ms, group in groupby(ghosts, key=lambda ghost: shown.open_time_ms(ghost.open_time_ms)):
        parts = list(group)
        if parts[-1].open_time_ms + own_ms != shown.close_time_ms(open_time_ms):
            continue
        whole = _joined(open_time_ms, parts)
        if parts[0].open_time_ms == open_time_ms:
            found.append(whole)
        elif begun is not None and begun.open_time_ms == open_time_ms:
            found.append(_continuing(whole, begun))
    return tuple(found)


def _joined(open_time_ms: int, parts: Sequence[Ghost]) -> Ghost:
    """The quantiles of its close are the last part's, as calibrated."""
    return Ghost(
        open_time_ms,
        parts[0].open,
        max(part.high for part in parts),
        min(part.low for part in parts),
        parts[-1].close,
        sum(part.volume for part in parts),
        parts[-1].close_quantiles,
    )


def _continuing(ghost: Ghost, begun: Candle) -> Ghost:
    high, low = max(ghost.high, begun.high), min(ghost.low, begun.low)
    return replace(ghost, open=begun.open, high=high, low=low, volume=0.0)

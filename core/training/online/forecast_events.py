"""Packs and unpacks forecasts in events for drawing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Interval
from core.domain.events import ExpertForecasts, ForecastMade, Ghost
from core.domain.quantities import LEVELS, QUANTITIES, FloatArray
from core.forecast.ghosts import ghosts
from core.forecast.paths import Paths, sample_paths
from core.storage.packing import pack_drawn, unpack_drawn


def packed_quantiles(natural: FloatArray) -> bytes:
    """[H, Q, L], natural units."""
    return natural.astype("<f8").tobytes()


def quantiles_of(made: ForecastMade) -> FloatArray | None:
    """The inverse, of an event: [H, Q, L]; None if it has none."""
    if made.quantiles is None:
        return None
    return np.frombuffer(made.quantiles, "<f8").reshape(-1, QUANTITIES, len(LEVELS)).astype(np.float64)


def paths_of(
    made: ForecastMade, open_time_ms: NDArray[np.int64], prices: FloatArray, interval: Interval
) -> Paths | None:
    """Its sample paths. open_time_ms, prices: of the candles up to its origin, as `sample_paths` takes them.

    None if there are none: it has no quantiles, its origin is not known, or too few candles before it are.
    """
    natural = quantiles_of(made)
    has_origin = open_time_ms.size > 0 and int(open_time_ms[-1]) == made.origin_open_time_ms
    return sample_paths(natural, open_time_ms, prices, interval) if has_origin and natural is not None else None


def drawn_experts(names: Sequence[str], natural: FloatArray) -> ExpertForecasts:
    """Forecasts of these experts, in natural units: [E, H, Q, L]."""
    return ExpertForecasts(tuple(names), pack_drawn(natural))


def expert_ghosts(made: ForecastMade, name: str, interval: Interval) -> tuple[Ghost, ...]:
    """The ghosts of one expert alone; empty if the event does not have its forecast."""
    if made.experts is None or name not in made.experts.names:
        return ()
    place, size = made.experts.names.index(name), len(made.experts.drawn) // len(made.experts.names)
    natural = unpack_drawn(made.experts.drawn[place * size : (place + 1) * size], QUANTITIES, len(LEVELS))
    return ghosts(natural, made.origin_close, made.origin_open_time_ms, interval)

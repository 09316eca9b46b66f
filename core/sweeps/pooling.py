"""The losses of a sweep's cells as one series for each configuration, on the candles that all of them have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import FloatArray
from core.forecast.score import LEAST_LOSS

LOST_CELLS = "not compared: not all of its cells ended well"
"""Why a configuration is left out. One without its hardest file would look better than the others."""
NOT_FINITE = "not compared: a loss is not a finite number"


@dataclass(frozen=True, slots=True, eq=False)
class CellLosses:
    """Losses one candle ahead of one configuration with one seed on one market: [n] each, in time order."""

    configuration: int
    market: str
    seed: int
    target_open_time_ms: NDArray[np.int64]
    close: FloatArray
    range: FloatArray
    reference_close: FloatArray
    reference_range: FloatArray

    def is_finite(self) -> bool:
        all_losses = (self.close, self.range, self.reference_close, self.reference_range)
        return all(bool(np.isfinite(each).all()) for each in all_losses)


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Means over markets and seeds at each target, in units of the reference's mean loss: close and range in equal
    parts. losses: [n, configuration]."""

    configurations: tuple[int, ...]
    losses: FloatArray
    reference: FloatArray

    def of(self, configuration: int) -> FloatArray:
        losses: FloatArray = self.losses[:, self.configurations.index(configuration)]
        return losses


def left_out(cells: Iterable[CellLosses], configurations: Sequence[int]) -> dict[int, str]:
    """The configurations that cannot be compared, and why: those without the markets and seeds that another has."""
    present: dict[int, set[tuple[str, int]]] = {number: set() for number in configurations}
    reasons = {}
    for cell in cells:
        present[cell.configuration].add((cell.market, cell.seed))
        if not cell.is_finite():
            reasons[cell.configuration] = NOT_FINITE
    complete = set().union(*present.values())
    return {number: LOST_CELLS for number in configurations if present[number] != complete} | reasons


def pool(cells: Sequence[CellLosses], configurations: Sequence[int], default: int) -> Pool:
    """cells: of one part, of these configurations alone, each with all markets and seeds. default: the configuration
    whose reference gives the unit of each market."""
    columns = {number: place for place, number in enumerate(configurations)}
    markets = []
    for market in sorted({cell.market for cell in cells}):
        of_market = [cell for cell in cells if cell.market == market]
        markets.append(_of_market(of_market, columns, default))
    return Pool(tuple(configurations), *_means_by_time(markets, len(columns)))


@dataclass(frozen=True, slots=True, eq=False)
class _Market:
    times: NDArray[np.int64]
    losses: FloatArray
    reference: FloatArray


def _of_market(cells: Sequence[CellLosses], columns: dict[int, int], default: int) -> _Market:
    times = _common_times(cells)
    seeds = len(cells) / len(columns)
    sums = np.zeros((2, times.size, len(columns)))
    references = np.zeros((2, times.size))
    for cell in cells:
        rows = np.searchsorted(cell.target_open_time_ms, times)
        sums[:, :, columns[cell.configuration]] += np.stack([cell.close[rows], cell.range[rows]])
        if cell.configuration == default:
            references += np.stack([cell.reference_close[rows], cell.reference_range[rows]])
    units = references.mean(axis=1) if times.size else np.zeros(2)
    known = units > LEAST_LOSS * seeds  # a price that hardly ever moves has nothing to forecast
    inverse = np.divide(0.5, units, out=np.zeros(2), where=known)
    return _Market(times, np.tensordot(inverse, sums, axes=1), inverse @ references)


def _common_times(cells: Sequence[CellLosses]) -> NDArray[np.int64]:
    times = cells[0].target_open_time_ms
    for cell in cells[1:]:
        times = np.intersect1d(times, cell.target_open_time_ms, assume_unique=True)
    return times


def _means_by_time(markets: Sequence[_Market], columns: int) -> tuple[FloatArray, FloatArray]:
    """Markets move together, so those with the same target are one observation."""
    if not markets:
        return np.empty((0, columns)), np.empty(0)
    times = np.concatenate([market.times for market in markets])
    _, place, count = np.unique(times, return_inverse=True, return_counts=True)
    sums = np.zeros((count.size, columns + 1))
    all_rows = [np.column_stack([market.losses, market.reference]) for market in markets]
    np.add.at(sums, place, np.concatenate(all_rows))
    means = sums / np.maximum(count, 1)[:, None]
    return means[:, :-1], means[:, -1]

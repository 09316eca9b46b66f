"""The losses of a sweep's cells as one series for each configuration, on the candles that all of them have.

Series are read one configuration at a time, and twice: all of a large sweep may exceed memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import FloatArray
from core.forecast.score import LEAST_LOSS
from core.sweeps.rows import LossSeries

LOST_CELLS = "not all of its cells are done"
"""Why a configuration is left out. One without its hardest file would look better than the others."""
NOT_FINITE = "a loss is not a finite number"

Reader = Callable[[int], Sequence[LossSeries]]
"""A configuration's series in one part: one for each file and seed that is done."""
Times = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Means over files and seeds at each target, in units of the reference's mean loss: close and range in equal parts.
    losses: [n, configuration]."""

    configurations: tuple[int, ...]
    losses: FloatArray
    reference: FloatArray

    def of(self, configuration: int) -> FloatArray:
        losses: FloatArray = self.losses[:, self.configurations.index(configuration)]
        return losses


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """What there is of each configuration. faults: why one cannot be compared; times: the targets that all seeds of a
    file have."""

    faults: dict[int, str]
    times: dict[int, dict[str, Times]]

    def shared(self, configurations: Iterable[int]) -> dict[str, Times]:
        """The targets of each file that all these configurations have, which have the same files."""
        shared: dict[str, Times] = {}
        for number in configurations:
            for file, times in self.times[number].items():
                shared[file] = _both(shared.get(file, times), times)
        return shared


def survey(read: Reader, configurations: Sequence[int]) -> Survey:
    """Which configurations can be compared: those without the files and seeds that another has cannot."""
    known: dict[bytes, Times] = {}
    present, all_times, faults = {}, {}, {}
    for number in configurations:
        series = read(number)
        present[number] = {(each.file, each.seed) for each in series}
        all_times[number] = _times(series, known)
        if not all(map(_is_finite, series)):
            faults[number] = NOT_FINITE
    complete = set().union(*present.values())
    incomplete = {n: LOST_CELLS for n in configurations if not present[n] or present[n] != complete}
    return Survey(incomplete | faults, all_times)


def _times(series: Sequence[LossSeries], known: dict[bytes, Times]) -> dict[str, Times]:
    """known: arrays that are shared, since most configurations have the same."""
    times: dict[str, Times] = {}
    for each in series:
        times[each.file] = _both(times.get(each.file, each.target_open_time_ms), each.target_open_time_ms)
    return {file: known.setdefault(array.tobytes(), array) for file, array in times.items()}


def _both(one: Times, other: Times) -> Times:
    return one if np.array_equal(one, other) else np.intersect1d(one, other, assume_unique=True)


def _is_finite(series: LossSeries) -> bool:
    return all(bool(np.isfinite(each).all()) for each in _losses(series) + _references(series))


def _losses(series: LossSeries) -> tuple[NDArray[np.float32], ...]:
    return series.forecast_close, series.forecast_range


def _references(series: LossSeries) -> tuple[NDArray[np.float32], ...]:
    return series.reference_close, series.reference_range


def pool(read: Reader, configurations: Sequence[int], times: Mapping[str, Times], default: int) -> Pool:
    """times: as of `Survey.shared`. default: the configuration whose reference gives the unit of each file. Files move
    together, so those with the same target are one observation."""
    series = read(default)
    references = {file: _mean(series, file, of, _references) for file, of in times.items()}
    weights = {file: _weights(reference) for file, reference in references.items()}
    targets = _Targets(times)
    reference = targets.mean({file: weights[file] @ of for file, of in references.items()})
    losses = np.empty((reference.size, len(configurations)))
    for column, number in enumerate(configurations):
        series = read(number)
        of_files = {file: weights[file] @ _mean(series, file, of, _losses) for file, of in times.items()}
        losses[:, column] = targets.mean(of_files)
    return Pool(tuple(configurations), losses, reference)


def _weights(reference: FloatArray) -> FloatArray:
    """Of close and range: half the inverse of the mean loss each, so that a restless market counts no more than a calm
    one. 0 where nothing moves, as there is nothing to forecast."""
    units = reference.mean(axis=1) if reference.size else np.zeros(2)
    weights: FloatArray = np.divide(0.5, units, out=np.zeros(2), where=units > LEAST_LOSS)
    return weights


def _mean(
    series: Sequence[LossSeries], file: str, times: Times, of: Callable[[LossSeries], tuple[NDArray[np.float32], ...]]
) -> FloatArray:
    """Over the seeds of this file, at these times: [2, n]."""
    found = [np.stack(of(each))[:, np.searchsorted(each.target_open_time_ms, times)] for each in _of_file(series, file)]
    mean: FloatArray = np.mean(found, axis=0, dtype=np.float64)
    return mean


def _of_file(series: Sequence[LossSeries], file: str) -> list[LossSeries]:
    return [each for each in series if each.file == file]


class _Targets:
    """All targets of all files, each once, in time order."""

    def __init__(self, times: Mapping[str, Times]) -> None:
        self._files = list(times)
        joined = np.concatenate([times[file] for file in self._files]) if times else np.empty(0, dtype=np.int64)
        _, self._place, self._count = np.unique(joined, return_inverse=True, return_counts=True)

    def mean(self, values: Mapping[str, FloatArray]) -> FloatArray:
        """Over the files that have the target. values: [n] of each file."""
        if not self._count.size:
            return np.empty(0)
        joined = np.concatenate([values[file] for file in self._files])
        means: FloatArray = np.bincount(self._place, weights=joined, minlength=self._count.size) / self._count
        return means

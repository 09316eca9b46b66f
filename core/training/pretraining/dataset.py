"""All samples of the files, each with only the knowledge of its time; the training and the validation part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.quantities import LEVELS, QUANTITIES, FloatArray
from core.forecast.baseline_forecast import BaselineForecast
from core.forecast.experts import REFERENCE
from core.forecast.history import History
from core.training.engine.samples import Batch, LossWeights, build_batch, joined, padded
from core.training.pretraining.sources import Source

_EVEN = LossWeights(1.0, 1.0)
"""History has no forecasts, so no sample was forecast badly: all count equally."""
_REPORT_EVERY = 1000


@dataclass(frozen=True, slots=True)
class Series:
    """One file's past. Rows are candles.

    references: the reference's quantiles one step ahead, as known at each candle's close: [candle, Q, L].
    """

    history: History
    references: NDArray[np.float32]
    training: NDArray[np.int64]
    """Origin rows with all targets before the cut."""
    validation: NDArray[np.int64]
    """Origin rows from the cut on that are followed by a candle without a gap."""


def build_series(source: Source, horizons: int, on_progress: Callable[[int], None] = lambda candles: None) -> Series:
    """Process a file's candles in order, as a session does. horizons: candles forecast ahead.

    on_progress: called now and then with the number of processed candles.
    """
    candles = source.file.candles
    history = History.alone(source.file.interval, len(candles) + horizons, horizons)
    baselines, alone = BaselineForecast(history.panel), np.array([0])
    references = np.empty((len(candles), QUANTITIES, len(LEVELS)), dtype=np.float32)
    for index, candle in enumerate(candles):
        history.append(candle)
        baselines.observe(alone)
        references[index] = baselines.experts(alone)[0, 0, REFERENCE]
        if index % _REPORT_EVERY == 0:
            on_progress(index)
    count = len(candles)
    training = np.arange(max(0, source.cut - horizons), dtype=np.int64)
    validation = np.arange(source.cut, count - 1, dtype=np.int64)
    return Series(
        history,
        references,
        training[history.targets(training)[2].any(axis=1)],
        validation[history.targets(validation)[2][:, 0]],
    )


class Dataset:
    """Samples of several series with one numbering. A sample's place is its number within its part."""

    def __init__(self, series: Sequence[Series], context: int) -> None:
        self.series = tuple(series)
        self.context = context
        self._training = _places([one.training for one in series])

    @property
    def samples(self) -> int:
        """Number of training samples."""
        return int(self._training.shape[0])

    @property
    def validation_samples(self) -> int:
        return sum(one.validation.shape[0] for one in self.series)

    def order(self, seed: int, epoch: int) -> NDArray[np.int64]:
        """The places of an epoch's training samples, shuffled: the same for the same seed and epoch, in every process.

        As many as there are samples, with an equal share of each file, whatever its length: a longer file's are left
        out in part, a shorter one's repeat.
        """
        generator = np.random.default_rng([seed, epoch])
        parts = np.split(np.arange(self.samples), np.cumsum([one.training.size for one in self.series])[:-1])
        filled = [part for part in parts if part.size]
        shares = np.array_split(np.arange(self.samples), len(filled))
        drawn = [_drawn(generator, part, share.size) for part, share in zip(filled, shares, strict=True)]
        return generator.permutation(np.concatenate(drawn))

    def batch(self, places: NDArray[np.int64], size: int) -> tuple[Batch, FloatArray]:
        """These training samples with the quantiles that the model corrects [B, H, Q, L].

        Padded to `size` with rows of weight 0: a captured step needs batches of one size, and every replica needs a
        row.
        """
        chosen = self._training[places]
        batches, references = [], []
        for index, one in enumerate(self.series):
            rows = chosen[chosen[:, 0] == index, 1]
            if rows.size:
                batches.append(build_batch(one.history.panel, np.zeros_like(rows), rows, self.context, _EVEN))
                references.append(one.history.anchors(rows))
        batch = joined(batches).padded(size)
        return batch, padded(np.concatenate(references), size)


def share_of(batch: Batch, reference: FloatArray, rank: int, world_size: int) -> tuple[Batch, FloatArray]:
    """The part of one process: every `world_size`-th sample, starting at `rank`."""
    rows = slice(rank, None, world_size)
    return Batch(*(array[rows] for array in batch.arrays)), reference[rows]


def _drawn(generator: np.random.Generator, places: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """So many of the places, each as often as the others or once more."""
    rounds = -(-count // places.size)
    return np.concatenate([generator.permutation(places) for _ in range(rounds)])[:count]


def _places(rows: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """[place, (series, row)]"""
    return np.concatenate([np.stack([np.full_like(own, index), own], axis=1) for index, own in enumerate(rows)])

"""What each expert lost and hit over the blocks of one market or several, and how any two of them compare. No torch.

Blocks have 50 candles. Those of several markets that end within the time of 50 candles are one observation: their mean,
each market in units of its mean reference loss, since markets move together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from core.domain.quantities import FloatArray, Quantity
from core.forecast.confidence import BLOCK
from core.forecast.experts import EXPERTS, FORECASTS, MODEL, REFERENCE
from core.storage.evidence import COMBINATION, ExpertSums, read_expert_sums
from core.storage.record_reader import RecordReader
from core.storage.records import ChallengerFigures
from core.storage.runs import Run, RunStore, challenger_figures
from core.training.online.trainer_spec import own_mode_of

if TYPE_CHECKING:
    from sqlite_utils import Database

REFERENCE_NAME = EXPERTS[REFERENCE]
_COST_STEPS = 1000


class Ranking(Enum):
    """What counts: close and range in equal parts, or one of them. An expert that does not forecast a quantity repeats
    the reference there."""

    BOTH = "both"
    CLOSE = "close"
    RANGE = "range"

    @property
    def weights(self) -> FloatArray:
        """Of the losses of close and range: [2]."""
        return np.array([self is not Ranking.RANGE, self is not Ranking.CLOSE], dtype=np.float64)


class Hit(Enum):
    """What may be right or wrong with a candle; the value is its row of `ExpertSums.sums`."""

    COVERAGE_90 = 1
    DIRECTION = 2


def is_ranked(name: str, ranking: Ranking) -> bool:
    """Whether the expert forecasts the quantity; of both, at least one of them."""
    if name not in EXPERTS:  # a combination, or a challenger
        return True
    forecasts = FORECASTS[EXPERTS.index(name), [Quantity.CLOSE, Quantity.RANGE]]
    return bool(forecasts[ranking.weights > 0.0].any())


class Series:
    """A ratio's numerator and denominator over B blocks in time order, and how many candles they hold: [B] each."""

    def __init__(self, parts: FloatArray, wholes: FloatArray, counts: FloatArray) -> None:
        """parts, wholes, counts: [M, B], NaN where a market has no block: the others' mean is taken."""
        known = np.isfinite(parts) & (wholes > 0.0)
        of = known.sum(axis=0)
        some = of > 0
        self.parts, self.wholes = (np.where(known, each, 0.0).sum(axis=0)[some] / of[some] for each in (parts, wholes))
        self.n = int(np.where(known, counts, 0.0).sum())


class ExpertTable:
    """The blocks of M markets: B of each, NaN where a market or an expert has none."""

    def __init__(self, markets: Sequence[tuple[int, Mapping[str, ExpertSums]]]) -> None:
        """markets: the interval in ms of each, and its blocks by the expert's name."""
        times = [
            {name: sums.last_target_ms // (BLOCK * interval_ms) for name, sums in found.items()}
            for interval_ms, found in markets
        ]
        every = np.unique(np.concatenate([np.empty(0, np.int64), *(each for of in times for each in of.values())]))
        known = {name for _, found in markets for name in found}
        self.names = tuple(
            name for name in (COMBINATION, *EXPERTS, *sorted(known - {COMBINATION, *EXPERTS})) if name in known
        )
        self._sums = {name: np.full((len(markets), every.size, 3, 2), np.nan) for name in self.names}
        for place, (_, found) in enumerate(markets):
            for name, sums in found.items():
                self._sums[name][place, np.searchsorted(every, times[place][name])] = sums.sums
        reference = self._losses(REFERENCE_NAME) if REFERENCE_NAME in known else np.empty((len(markets), 0, 2))
        self._units = _mean_of_known(reference)

    def _losses(self, name: str) -> FloatArray:
        losses: FloatArray = self._sums[name][:, :, 0]
        return losses

    def gain(self, of: str, against: str, ranking: Ranking) -> Series:
        """By how much `of` loses less than `against`, as a share of what the reference loses."""
        weights = ranking.weights / self._units
        parts, wholes = (
            (losses * weights[:, None]).sum(axis=-1)
            for losses in (self._losses(against) - self._losses(of), self._losses(REFERENCE_NAME))
        )
        return Series(parts, wholes, np.full_like(parts, BLOCK))

    def share(self, of: str, hit: Hit) -> Series:
        """How often the expert was right, among the candles of which that is known."""
        hits, known = self._sums[of][:, :, hit.value, 0], self._sums[of][:, :, hit.value, 1]
        return Series(hits, np.nan_to_num(known), known)


def _mean_of_known(losses: FloatArray) -> FloatArray:
    """The mean of each market's blocks: [M, B, 2] to [M, 2]; 1 where there is none, or nothing was lost."""
    known = np.isfinite(losses)
    means = np.where(known, losses, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return np.where(means > 0.0, means, 1.0)


class ExpertRecord:
    """Reads the blocks of runs of one model, only what is new each time. Used from one thread; raises StorageError."""

    def __init__(self, db: Database, runs: Sequence[Run]) -> None:
        self._db, self._runs = db, tuple(runs)
        self._readers = [RecordReader(db, run.run_id) for run in runs]
        self._head = RecordReader(db, runs[0].head_id)
        self._markets = len(RunStore(db).members(runs[0].head_id))
        self._found: list[dict[str, ExpertSums]] = [{} for _ in runs]
        self._first: dict[tuple[int, int], int] = {}

    def read_more(self) -> Iterator[None]:
        """One run per iteration, so that a stopped reader can end."""
        for found, run in zip(self._found, self._runs, strict=True):
            after_ms = max((int(sums.last_target_ms[-1]) for sums in found.values()), default=-(2**63))
            for name, new in read_expert_sums(self._db, run.run_id, after_ms).items():
                if name in found:
                    parts = (found[name], new)
                    last = np.concatenate([part.last_target_ms for part in parts])
                    found[name] = ExpertSums(last, np.concatenate([part.sums for part in parts]))
                else:
                    found[name] = new
            yield

    @property
    def table(self) -> ExpertTable:
        """Of all that was read."""
        intervals = [run.market.interval.duration_ms for run in self._runs]
        return ExpertTable(list(zip(intervals, self._found, strict=True)))

    def since_ms(self, name: str) -> int | None:
        """The first target in the expert's blocks, of any market; None without any."""
        firsts = (
            self._first_target(place, int(found[name].last_target_ms[0]))
            for place, found in enumerate(self._found)
            if name in found
        )
        return min(firsts, default=None)

    def figures(self) -> dict[str, ChallengerFigures]:
        """What is known of experts that are models: of the model the time of a training step."""
        step_ms = self._head.mean_step_ms(_COST_STEPS)
        of_model = {} if step_ms is None else {EXPERTS[MODEL]: ChallengerFigures(step_ms / self._markets, None)}
        return challenger_figures(self._db, self._head.run_id) | of_model

    def _first_target(self, place: int, last_ms: int) -> int:
        """Of the block that ends with this target."""
        if (place, last_ms) not in self._first:
            mode = own_mode_of(self._runs[place].market)
            self._first[place, last_ms] = self._readers[place].first_of_newest(mode, last_ms, BLOCK)
        return self._first[place, last_ms]

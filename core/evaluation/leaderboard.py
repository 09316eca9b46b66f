"""Ranks a model's experts, with intervals that stay valid however often and whenever one looks. No torch.

The skills of the combination are the figures of the run (`core.training.online.evidence`). Skill, coverage and
direction of any other row have an interval of the same kind: each alone leaves out its true value at any time in at
most 5 % of runs. Ranks and distances from the leader hold all together, by union bounds: of all comparisons of two
rows, by close, by range and by both, any one is wrong at any time in at most 5 % of runs
(`core.forecast.confidence.running_bounds`).

Not corrected: a choice of the best among several runs or markets, and rows that were added because others disappointed.

Blocks have 50 candles. Blocks of several markets that end within the time of 50 candles are one observation: their
mean, each market in units of its mean reference loss, since markets move together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from core.domain.events import Estimate
from core.domain.quantities import FloatArray, Quantity
from core.evaluation.findings import estimate_data
from core.evaluation.stored_evidence import StoredEvidence
from core.forecast.confidence import RunningBounds, ratio_sequence, running_bounds
from core.forecast.experts import EXPERTS, FORECASTS, MODEL, REFERENCE
from core.forecast.sample_sizes import BLOCK
from core.forecast.score import LEAST_LOSS, quotient
from core.storage.evidence_blocks import COMBINATION, ExpertSums, read_expert_sums
from core.storage.record_reader import RecordReader
from core.storage.records import ChallengerFigures
from core.storage.runs import Run, RunStore, challenger_figures
from core.training.online.evidence import REFERENCE as OF_REFERENCE
from core.training.online.evidence import LossSums, pooled
from core.training.online.trainer_spec import own_mode_of

if TYPE_CHECKING:
    from sqlite_utils import Database

_ALPHA = 0.05
_UNKNOWN = ChallengerFigures(None, None)
REFERENCE_NAME = EXPERTS[REFERENCE]
_COST_STEPS = 1000


class Ranking(Enum):
    """The ranked quantities: close and range in equal parts, or one of them. An expert that does not forecast a
    quantity repeats the reference there."""

    BOTH = "both"
    CLOSE = "close"
    RANGE = "range"

    @property
    def weights(self) -> FloatArray:
        """Weights of the losses of close and range: [2]."""
        return np.array([self is not Ranking.RANGE, self is not Ranking.CLOSE], dtype=np.float64)


class Hit(Enum):
    """The hits and misses of a candle; the value is its row of `ExpertSums.sums`."""

    COVERAGE_90 = 1
    DIRECTION = 2


def is_ranked(name: str, ranking: Ranking) -> bool:
    """Whether the expert forecasts the quantity; for BOTH, at least one of them."""
    if name not in EXPERTS:  # a combination, or a challenger
        return True
    forecasts = FORECASTS[EXPERTS.index(name), [Quantity.CLOSE, Quantity.RANGE]]
    return bool(forecasts[ranking.weights > 0.0].any())


class Series:
    """A ratio's numerator and denominator over B blocks in time order: [B] each. Blocks with nothing to forecast are
    left out, but not from n, the number of candles."""

    def __init__(self, parts: FloatArray, wholes: FloatArray, counts: FloatArray) -> None:
        """parts, wholes, counts: [M, B], NaN if a market has no block: the others' mean is used."""
        stored = np.isfinite(parts)
        known = stored & (wholes > 0.0)
        of = known.sum(axis=0)
        some = of > 0
        self.parts, self.wholes = (np.where(known, each, 0.0).sum(axis=0)[some] / of[some] for each in (parts, wholes))
        self.n = int(np.where(stored, counts, 0.0).sum())

    @property
    def estimate(self) -> Estimate:
        """The ratio with its interval for this series alone."""
        value = quotient(float(self.parts.sum()), float(self.wholes.sum()), self.n)
        return ratio_sequence(self.parts, self.wholes, value, self.n)


class ExpertTable:
    """The blocks of M markets: B of each, NaN if a market or an expert has none."""

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
        losses = self._losses(REFERENCE_NAME) if REFERENCE_NAME in known else np.empty((len(markets), 0, 2))
        losses[losses < LEAST_LOSS * BLOCK] = 0.0  # rounding: there was nothing to forecast
        stored = np.isfinite(losses)
        means = np.where(stored, losses, 0.0).sum(axis=1) / np.maximum(stored.sum(axis=1), 1)
        self._units = np.where(means > 0.0, means, 1.0)
        """The mean loss of the reference in each market's blocks: [M, 2]; 1 without a block, or if nothing was lost."""

    def _losses(self, name: str) -> FloatArray:
        losses: FloatArray = self._sums[name][:, :, 0]
        return losses

    def gain(self, of: str, against: str, ranking: Ranking) -> Series:
        """How much less `of` loses than `against`, as a share of the reference's loss."""
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


class ExpertRecord:
    """Reads the blocks of one model's runs, each time only the new ones. Used from one thread; raises StorageError."""

    def __init__(self, db: Database, runs: Sequence[Run]) -> None:
        self._db, self._runs = db, tuple(runs)
        self._readers = [RecordReader(db, run.run_id) for run in runs]
        self._evidence = [StoredEvidence(reader, run) for reader, run in zip(self._readers, runs, strict=True)]
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
        intervals = [run.market.interval.duration_ms for run in self._runs]
        return ExpertTable(list(zip(intervals, self._found, strict=True)))

    @property
    def own(self) -> LossSums:
        """The losses behind the figures of the runs, of all of them as one."""
        intervals = [run.market.interval.duration_ms for run in self._runs]
        return pooled([(interval, of.read().own) for interval, of in zip(intervals, self._evidence, strict=True)])

    def since_ms(self, name: str) -> int | None:
        """The first target in the expert's blocks, of any market; None without any."""
        firsts = (
            self._first_target(place, int(found[name].last_target_ms[0]))
            for place, found in enumerate(self._found)
            if name in found
        )
        return min(firsts, default=None)

    def figures(self) -> dict[str, ChallengerFigures]:
        """Figures of the experts that are models, by name; of the model itself, the time of a training step."""
        step_ms = self._head.mean_step_ms(_COST_STEPS)
        of_model = {} if step_ms is None else {EXPERTS[MODEL]: ChallengerFigures(step_ms / self._markets, None)}
        return challenger_figures(self._db, self._head.run_id) | of_model

    def _first_target(self, place: int, last_ms: int) -> int:
        """The first target of the block that ends at `last_ms`."""
        if (place, last_ms) not in self._first:
            mode = own_mode_of(self._runs[place].market)
            self._first[place, last_ms] = self._readers[place].first_of_newest(mode, last_ms, BLOCK)
        return self._first[place, last_ms]


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One expert, or the combination of all, whose skills are the figures of the run. Estimates are one candle ahead,
    with an interval for each alone; None for quantities that it does not forecast, and before the first block of
    candles."""

    name: str
    rank: int | None = None
    """One more than the number of rows that are proven better; None if it does not forecast the ranked quantity, and
    while no row is proven better than another."""
    n: int = 0
    """Candles that count, of all markets."""
    since_ms: int | None = None
    """The first of them."""
    close: Estimate | None = None
    """Skill of the close against the reference."""
    range: Estimate | None = None
    coverage_90: Estimate | None = None
    direction: Estimate | None = None
    cost_ms: float | None = None
    """A candle; None if it is not measured."""
    answered: float | None = None
    """The share of due forecasts that a challenger returned, over all markets of its model; otherwise the forecast
    without any model is scored. None for other experts, and if not counted."""
    behind_leader: Estimate | None = None
    """How much more it loses than the leader, as a share of the reference's loss, with an interval that holds for all
    rows together; None for the leader."""

    @property
    def is_indistinguishable(self) -> bool | None:
        """Whether it may be as good as the leader; None for the leader, and before an interval is known."""
        behind = self.behind_leader
        if behind is None or behind.low is None or behind.high is None:
            return None
        return behind.low <= 0.0 <= behind.high


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The ranking of one market, or of all markets of one model together."""

    ranking: Ranking
    rows: tuple[LeaderboardRow, ...]
    """Rows by rank, then by skill; unranked rows last."""

    @property
    def leader(self) -> LeaderboardRow | None:
        return self.rows[0] if self.rows else None


class Standings:
    """Comparisons of any two of a table's rows, each with its part of the 5 %, after each block of candles."""

    def __init__(self, table: ExpertTable) -> None:
        self._table = table
        self.names = tuple(name for name in table.names if is_ranked(name, Ranking.BOTH))
        rows = len(self.names)
        self._alpha = _ALPHA / max(len(Ranking) * rows * (rows - 1) // 2, 1)

    def order(self, one: str, other: str, ranking: Ranking) -> Bounded:
        """How much less `one` loses than `other`, as a share of the reference's loss."""
        return Bounded(self._table.gain(one, other, ranking), self._alpha)

    def ranks(self, ranking: Ranking) -> dict[str, int]:
        """One more than the number of rows that are proven better, for each row that forecasts the ranked quantity."""
        ranks = {name: 1 for name in self.names if is_ranked(name, ranking)}
        for one, other in combinations(ranks, 2):
            found = self.order(one, other, ranking).estimate
            if found.low is not None and found.high is not None:
                ranks[other] += found.low > 0.0
                ranks[one] += found.high < 0.0
        return ranks


class Bounded:
    """A ratio with its intervals at the level 1 - alpha."""

    def __init__(self, series: Series, alpha: float) -> None:
        self.bounds: RunningBounds = running_bounds(series.parts, series.wholes, alpha)
        self.estimate: Estimate = self.bounds.last(series.n)


def leaderboard(record: ExpertRecord, ranking: Ranking = Ranking.BOTH) -> Leaderboard:
    """Rank all experts by the blocks read so far. Raises StorageError."""
    return leaderboard_of(record.table, record.own, ranking, record.since_ms, record.figures())


def stored_leaderboard(db: Database, runs: Sequence[Run], ranking: Ranking = Ranking.BOTH) -> Leaderboard:
    """The leaderboard of everything stored of these runs of one model. Raises StorageError."""
    record = ExpertRecord(db, runs)
    for _ in record.read_more():
        pass
    return leaderboard(record, ranking)


def leaderboard_of(
    table: ExpertTable,
    own: LossSums,
    ranking: Ranking,
    since_ms: Callable[[str], int | None],
    figures: Mapping[str, ChallengerFigures],
) -> Leaderboard:
    """own, since_ms, figures: as in `ExpertRecord`."""
    standings = Standings(table)
    ranks = standings.ranks(ranking)
    combined = dict(zip(Ranking, own.gains(OF_REFERENCE), strict=True))

    def skill(name: str, of: Ranking) -> Estimate:
        return combined[of] if name == COMBINATION else table.gain(name, REFERENCE_NAME, of).estimate

    skills = {name: skill(name, ranking) for name in ranks}
    is_any_better = len(set(ranks.values())) > 1
    order = sorted(ranks, key=lambda name: (ranks[name], -(skills[name].value or 0.0)))

    def row(name: str) -> LeaderboardRow:
        is_behind = name in ranks and name != order[0]
        return LeaderboardRow(
            name=name,
            rank=ranks.get(name) if is_any_better else None,
            n=skill(name, Ranking.BOTH).n,
            since_ms=since_ms(name),
            close=_shown(name, Ranking.CLOSE, skill(name, Ranking.CLOSE)),
            range=_shown(name, Ranking.RANGE, skill(name, Ranking.RANGE)),
            coverage_90=_share(table, name, Hit.COVERAGE_90),
            direction=_share(table, name, Hit.DIRECTION),
            cost_ms=figures.get(name, _UNKNOWN).cost_ms,
            answered=figures.get(name, _UNKNOWN).answered,
            behind_leader=standings.order(order[0], name, ranking).estimate if is_behind else None,
        )

    unranked = (name for name in standings.names if name not in ranks)
    return Leaderboard(ranking, tuple(row(name) for name in (*order, *unranked)))


def _shown(name: str, ranking: Ranking, skill: Estimate) -> Estimate | None:
    if not is_ranked(name, ranking):
        return None
    return Estimate(skill.value, None, None, skill.n) if name == REFERENCE_NAME else skill


def _share(table: ExpertTable, name: str, hit: Hit) -> Estimate | None:
    """None also if it is known of no candle: the record is older, or the expert never had a direction."""
    if not is_ranked(name, Ranking.CLOSE):
        return None
    found = table.share(name, hit).estimate
    return found if found.n else None


def as_data(found: Leaderboard) -> dict[str, Any]:
    """Plain data, fit for JSON."""
    plain = ("name", "rank", "n", "since_ms", "cost_ms", "answered")
    estimates = ("close", "range", "coverage_90", "direction", "behind_leader")
    rows = [
        {
            **{name: getattr(row, name) for name in plain},
            **{name: None if (of := getattr(row, name)) is None else estimate_data(of) for name in estimates},
            "indistinguishable": row.is_indistinguishable,
        }
        for row in found.rows
    ]
    leader = None if found.leader is None else found.leader.name
    return {"ranked_by": found.ranking.value, "leader": leader, "rows": rows}

"""Which of a model's experts forecasts best, and how sure that is, however often and whenever one looks. No torch.

All intervals hold at every moment (`core.forecast.confidence.running_bounds`) and all together, by union bounds:

- of all skills that are shown, any one leaves out its true value at any time in at most 5 % of runs;
- the same of all comparisons of two rows, by close, by range and by both;
- the same of all coverages, and of all directions.

Not corrected: a choice of the best among several runs or markets, and rows that were added because others disappointed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from core.domain.events import Estimate
from core.evaluation.expert_table import REFERENCE_NAME, ExpertRecord, ExpertTable, Hit, Ranking, Series, is_ranked
from core.evaluation.findings import estimate_data
from core.forecast.confidence import RunningBounds, running_bounds
from core.storage.records import ChallengerFigures

if TYPE_CHECKING:
    from sqlite_utils import Database

    from core.storage.runs import Run

_ALPHA = 0.05
_UNKNOWN = ChallengerFigures(None, None)


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One expert, or the combination of all. Estimates are one candle ahead; None for what it does not forecast, and
    before the first block of candles."""

    name: str
    rank: int | None = None
    """One more than the number of rows that are proven better; None if it does not forecast what is ranked by."""
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
    """The share of due forecasts that a challenger gave, of all markets of its model; at the others the forecast
    without any model is scored in its place. None of others, and where it was not counted."""
    behind_leader: Estimate | None = None
    """By how much it loses more than the leader, as a share of what the reference loses; None for the leader."""

    @property
    def is_indistinguishable(self) -> bool | None:
        """Whether it may be as good as the leader; None for the leader, and before an interval is known."""
        behind = self.behind_leader
        if behind is None or behind.low is None or behind.high is None:
            return None
        return behind.low <= 0.0 <= behind.high


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Of one market, or of all markets of one model as one."""

    ranking: Ranking
    rows: tuple[LeaderboardRow, ...]
    """By rank, then by skill; those that are not ranked last."""

    @property
    def leader(self) -> LeaderboardRow | None:
        """The first row; None without any block of candles."""
        return self.rows[0] if self.rows else None


class Standings:
    """Comparisons of a table's rows, each with its part of the 5 %, after each block of candles."""

    def __init__(self, table: ExpertTable) -> None:
        self._table = table
        self.names = tuple(name for name in table.names if is_ranked(name, Ranking.BOTH))
        rows = len(self.names)
        skills = sum(is_ranked(name, of) for name in self.names if name != REFERENCE_NAME for of in _SKILLS)
        self._alpha_of_skill = _ALPHA / max(skills, 1)
        self._alpha_of_order = _ALPHA / max(len(Ranking) * rows * (rows - 1) // 2, 1)
        self._alpha_of_share = _ALPHA / max(rows, 1)

    def skill(self, name: str, ranking: Ranking) -> Bounded:
        """Against the reference."""
        return Bounded(self._table.gain(name, REFERENCE_NAME, ranking), self._alpha_of_skill)

    def order(self, one: str, other: str, ranking: Ranking) -> Bounded:
        """By how much one loses less than the other, as a share of what the reference loses."""
        return Bounded(self._table.gain(one, other, ranking), self._alpha_of_order)

    def share(self, name: str, hit: Hit) -> Bounded:
        """How often it was right."""
        return Bounded(self._table.share(name, hit), self._alpha_of_share)

    def ranks(self, ranking: Ranking) -> dict[str, int]:
        """One more than the number of rows that are proven better, of each row that forecasts what is ranked by."""
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


_SKILLS = (Ranking.CLOSE, Ranking.RANGE)


def leaderboard(record: ExpertRecord, ranking: Ranking = Ranking.BOTH) -> Leaderboard:
    """Of all that the record has read. Raises StorageError."""
    return leaderboard_of(record.table, ranking, record.since_ms, record.figures())


def stored_leaderboard(db: Database, runs: Sequence[Run], ranking: Ranking = Ranking.BOTH) -> Leaderboard:
    """Of all that is stored of these runs of one model. Raises StorageError."""
    record = ExpertRecord(db, runs)
    for _ in record.read_more():
        pass
    return leaderboard(record, ranking)


def leaderboard_of(
    table: ExpertTable,
    ranking: Ranking,
    since_ms: Callable[[str], int | None],
    figures: Mapping[str, ChallengerFigures],
) -> Leaderboard:
    """since_ms, figures: as those of `ExpertRecord`."""
    standings = Standings(table)
    ranks = standings.ranks(ranking)
    skills = {name: standings.skill(name, ranking).estimate for name in ranks}
    order = sorted(ranks, key=lambda name: (ranks[name], -(skills[name].value or 0.0)))

    def row(name: str) -> LeaderboardRow:
        is_behind = name in ranks and name != order[0]
        return LeaderboardRow(
            name=name,
            rank=ranks.get(name),
            n=standings.skill(name, Ranking.BOTH).estimate.n,
            since_ms=since_ms(name),
            close=_skill(standings, name, Ranking.CLOSE),
            range=_skill(standings, name, Ranking.RANGE),
            coverage_90=_share(standings, name, Hit.COVERAGE_90),
            direction=_share(standings, name, Hit.DIRECTION),
            cost_ms=figures.get(name, _UNKNOWN).cost_ms,
            answered=figures.get(name, _UNKNOWN).answered,
            behind_leader=standings.order(order[0], name, ranking).estimate if is_behind else None,
        )

    unranked = (name for name in standings.names if name not in ranks)
    return Leaderboard(ranking, tuple(row(name) for name in (*order, *unranked)))


def _skill(standings: Standings, name: str, ranking: Ranking) -> Estimate | None:
    if not is_ranked(name, ranking):
        return None
    found = standings.skill(name, ranking).estimate
    return Estimate(found.value, None, None, found.n) if name == REFERENCE_NAME else found


def _share(standings: Standings, name: str, hit: Hit) -> Estimate | None:
    """None also where it is known of no candle: the record is older, or the expert never had a direction."""
    if not is_ranked(name, Ranking.CLOSE):
        return None
    found = standings.share(name, hit).estimate
    return found if found.n else None


def as_data(found: Leaderboard) -> dict[str, Any]:
    """Plain data, fit for JSON."""
    leader = found.leader
    return {
        "ranked_by": found.ranking.value,
        "leader": None if leader is None else leader.name,
        "rows": [_row_data(row) for row in found.rows],
    }


def _row_data(row: LeaderboardRow) -> dict[str, Any]:
    names = ("close", "range", "coverage_90", "direction", "behind_leader")
    return {
        **{name: getattr(row, name) for name in ("name", "rank", "n", "since_ms", "cost_ms", "answered")},
        **{name: None if (found := getattr(row, name)) is None else estimate_data(found) for name in names},
        "indistinguishable": row.is_indistinguishable,
    }

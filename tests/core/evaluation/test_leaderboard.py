"""No row's edge is wrongly claimed at any time, rows are ranked by what is proven, and any two on the same candles."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from core.domain.events import Estimate
from core.domain.quantities import LEVELS, FloatArray, Quantity
from core.evaluation.leaderboard import (
    REFERENCE_NAME,
    ExpertRecord,
    ExpertTable,
    Hit,
    Leaderboard,
    Ranking,
    Standings,
    as_data,
    is_ranked,
    leaderboard,
    leaderboard_of,
)
from core.forecast.baseline_forecast import BaselineForecast
from core.forecast.confidence import RunningBounds
from core.forecast.experts import EXPERTS, HAR, REVERSE, SEASONAL
from core.forecast.history import History
from core.forecast.sample_sizes import BLOCK
from core.forecast.score import pinball
from core.storage.evidence_blocks import COMBINATION, ExpertSums
from core.storage.records import ChallengerFigures
from core.storage.runs import RunStore
from core.training.online.evidence import LossSums, pooled
from tests.core.evaluation.rigs import MINUTE_MS, database
from tests.core.forecast.alone import ALONE
from tests.support.candles import MINUTE, random_walk
from tests.support.synthetic_run import SyntheticRun

NORMAL = np.array([NormalDist().inv_cdf(level) for level in LEVELS])
NAMES = tuple(name for name in (COMBINATION, *EXPERTS) if is_ranked(name, Ranking.BOTH))
IS_SOAK = "GHOSTCANDLE_SOAK" in os.environ


def walks_of_equals(count: int, minutes: int, memory: float, seed: int = 1) -> FloatArray:
    """Sums of losses of forecasters of which none is better: [name, walk, block, close or range].

    Returns are GARCH with fat tails. Each forecaster knows the volatility, but for its own error with this memory.
    """
    print(f"seed {seed}")
    generator = np.random.default_rng(seed)
    variance, errors = np.ones(count), np.zeros((len(NAMES), count, 2))
    sums = np.zeros((len(NAMES), count, minutes // BLOCK, 2))
    for minute in range(minutes // BLOCK * BLOCK):
        moves = generator.standard_t(5, (count, 2)) / np.sqrt(5.0 / 3.0) * np.sqrt(variance)[:, None]
        errors = memory * errors + generator.normal(0.0, 0.25 * np.sqrt(1.0 - memory**2), errors.shape)
        widths = np.sqrt(variance)[:, None] * np.exp(errors)
        sums[:, :, minute // BLOCK] += pinball(np.broadcast_to(moves, widths.shape), widths[..., None] * NORMAL)
        variance = np.minimum(0.02 + 0.1 * moves[:, 0] ** 2 + 0.88 * variance, 200.0)
    return sums


def blocks(losses: FloatArray, first: int = 0) -> ExpertSums:
    """losses: [B, 2]. 40 of 50 closes were inside the band, 26 of 48 directions were right."""
    sums = np.tile(np.array([[0.0, 0.0], [40.0, 50.0], [26.0, 48.0]]), (len(losses), 1, 1))
    sums[:, 0] = losses
    times = MINUTE_MS * (BLOCK * np.arange(first + 1, first + 1 + len(losses), dtype=np.int64) - 1)
    return ExpertSums(times, sums)


def table(losses: Mapping[str, FloatArray], markets: int = 1) -> ExpertTable:
    return ExpertTable([(MINUTE_MS, {name: blocks(each) for name, each in losses.items()})] * markets)


def is_ever_claimed(bounds: RunningBounds) -> bool:
    return bool((bounds.low > 0.0).any() or (bounds.high < 0.0).any())


def orders(standings: Standings) -> Iterator[bool]:
    """Whether one row is ever said to be better than another."""
    for one, other in combinations(standings.names, 2):
        yield from (is_ever_claimed(standings.order(one, other, ranking).bounds) for ranking in Ranking)


@pytest.mark.parametrize(
    ("count", "minutes", "memory"),
    [
        (30, 2_500, 0.9),
        *(pytest.param(200, 10_080, memory, marks=pytest.mark.slow) for memory in (0.0, 0.9, 0.98)),
    ],
)
def test_no_order_of_any_two_rows_is_wrongly_claimed_at_any_time(count: int, minutes: int, memory: float) -> None:
    """A look at each block of each walk, at all rows; intervals that ignore the other rows would not pass."""
    sums = walks_of_equals(count, minutes, memory)
    boards = [Standings(table(dict(zip(NAMES, sums[:, walk], strict=True)))) for walk in range(count)]
    wrong = sum(any(orders(each)) for each in boards)
    assert wrong <= 0.05 * count, wrong


def expected_losses(sample: FloatArray, quantiles: FloatArray) -> FloatArray:
    """The mean pinball loss over the levels of quantiles [..., level] if the outcome is drawn from a sorted sample."""
    below = np.searchsorted(sample, quantiles)
    under = np.concatenate([[0.0], sample.cumsum()])[below] - quantiles * below
    loss: FloatArray = (LEVELS * (sample.mean() - quantiles) - under / sample.size).mean(axis=-1)
    return loss


def baselines_on_a_walk(seed: int, candles: int) -> tuple[FloatArray, FloatArray]:
    """What each expert lost on a random walk, and what it had to expect to lose: [E, B, close or range] each."""
    generator = np.random.default_rng(0)
    moves, wicks = generator.normal(0.0, 1e-3, 400_000), np.abs(generator.normal(0.0, 5e-4, (2, 400_000)))
    samples = (np.sort(moves), np.sort(np.log(np.abs(moves) + wicks.sum(axis=0))))
    history = History.alone(MINUTE, 2048, 1)
    baselines = BaselineForecast(history.panel)
    lost, expected, quantiles = [], [], None
    for candle in random_walk(candles, seed):
        history.append(candle)
        if quantiles is not None:
            outcome, _, _ = history.targets(np.array([len(history) - 2]))
            close_and_range = outcome[0, 0, [Quantity.CLOSE, Quantity.RANGE]]
            lost.append(pinball(np.broadcast_to(close_and_range, quantiles.shape[:2]), quantiles))
            pairs = zip(samples, np.moveaxis(quantiles, 1, 0), strict=True)
            expected.append(np.stack([expected_losses(sample, each) for sample, each in pairs], axis=-1))
        baselines.observe(ALONE)
        factor, offset = (units[0, 0][:, None] for units in history.units(np.array([len(history) - 1])))
        natural = offset + factor * baselines.experts(ALONE)[0, 0]
        quantiles = natural[:, [Quantity.CLOSE, Quantity.RANGE]]
    whole = len(lost) // BLOCK * BLOCK
    sums = [np.array(each[:whole]).reshape(-1, BLOCK, len(EXPERTS), 2).sum(axis=1) for each in (lost, expected)]
    return np.moveaxis(sums[0], 1, 0), np.moveaxis(sums[1], 1, 0)


@pytest.mark.slow
def test_intervals_of_real_experts_hold_the_truth_on_random_walks() -> None:
    """On a walk whose distribution is known, so is what each forecast had to expect: a better width is a true edge."""
    walks, candles = (200, 3_000) if IS_SOAK else (1, 2_000)
    wrong = 0
    for seed in range(walks):
        lost, expected = baselines_on_a_walk(seed, candles)
        named, truth = (dict(zip(EXPERTS, each, strict=True)) for each in (lost, expected))
        wrong += any(misses(Standings(table(named)), table(truth)))
    assert wrong <= 0.05 * walks, wrong


def misses(standings: Standings, truth: ExpertTable) -> Iterator[bool]:
    """Whether the interval of a comparison ever leaves out what the difference so far had to be."""
    for one, other in combinations(standings.names, 2):
        for ranking in Ranking:
            bounds, true = standings.order(one, other, ranking).bounds, truth.gain(one, other, ranking)
            gain = true.parts.cumsum() / true.wholes.cumsum()
            yield bool((bounds.low > gain).any() or (bounds.high < gain).any())


def losses_with_an_edge(count: int = 60, seed: int = 3) -> dict[str, FloatArray]:
    """HAR loses 10 % less than the reference, all others as much."""
    generator = np.random.default_rng(seed)
    luck = generator.gamma(50.0, 1.0, (count, 2))
    losses = {name: luck * generator.normal(1.0, 0.02, luck.shape) for name in NAMES}
    losses["HAR"] *= 0.9
    return losses


def board(losses: Mapping[str, FloatArray], ranking: Ranking = Ranking.BOTH, markets: int = 1) -> Leaderboard:
    return ranked(table(losses, markets), losses, ranking, markets)


def ranked(
    of: ExpertTable, losses: Mapping[str, FloatArray], ranking: Ranking = Ranking.BOTH, markets: int = 1
) -> Leaderboard:
    own = pooled([(MINUTE_MS, own_losses(losses))] * markets)
    return leaderboard_of(of, own, ranking, lambda name: MINUTE_MS, {"model": ChallengerFigures(12.5, None)})


def own_losses(losses: Mapping[str, FloatArray]) -> LossSums:
    """Of a run that loses as much without the model."""
    reference = losses.get(REFERENCE_NAME, np.empty((0, 2)))
    combination = losses.get(COMBINATION, reference)
    sums = np.stack([combination, combination, reference], axis=1)
    return LossSums(len(sums) * BLOCK, blocks(reference).last_target_ms, sums, np.zeros((3, 2)))


def test_the_proven_best_leads_and_the_others_share_a_rank() -> None:
    found = board(losses_with_an_edge())
    leader, *others = found.rows
    assert leader.name == "HAR" == EXPERTS[HAR] and leader.rank == 1 and leader.behind_leader is None
    assert {row.rank for row in others} == {2} and not any(row.is_indistinguishable for row in others)
    assert EXPERTS[SEASONAL] not in [row.name for row in found.rows], "it forecasts the volume only"
    for row in found.rows:
        assert row.n == 60 * BLOCK and (row.cost_ms is None) == (row.name != "model")
        assert (row.range is None) == (row.name == EXPERTS[REVERSE])
        assert row.coverage_90 is not None and row.coverage_90.value == pytest.approx(0.8)
        assert row.direction is not None and row.direction.value == pytest.approx(26 / 48)
    assert leader.close is not None and leader.close.low is not None and leader.close.high is not None
    assert leader.close.low < leader.close.value < leader.close.high  # type: ignore[operator]
    (reference,) = (row for row in found.rows if row.name == REFERENCE_NAME)
    assert reference.close == Estimate(0.0, None, None, 60 * BLOCK)


def test_more_rows_make_each_comparison_wider_and_no_skill() -> None:
    """The comparisons share 5 %."""
    losses = losses_with_an_edge()
    few, many = ({name: losses[name] for name in names} for names in (NAMES[1:4], NAMES))
    narrow, wide = (Standings(table(of)).order("model", REFERENCE_NAME, Ranking.CLOSE).estimate for of in (few, many))
    assert narrow.value == wide.value
    assert narrow.low is not None and wide.low is not None and wide.low < narrow.low
    assert narrow.high is not None and wide.high is not None and wide.high > narrow.high
    alone, among = (next(row for row in board(of).rows if row.name == "model") for of in (few, many))
    assert alone.close == among.close and alone.close is not None and alone.close.low is not None


def test_the_combination_has_the_figures_of_the_run_and_not_those_of_the_blocks_of_experts() -> None:
    """Those lack corrected candles, and the candles that are in no full block yet."""
    losses = losses_with_an_edge()
    of_run = {**losses, COMBINATION: 0.8 * losses[COMBINATION]}
    (row,) = (row for row in ranked(table(losses), of_run, Ranking.CLOSE).rows if row.name == COMBINATION)
    assert (row.close, row.range) == own_losses(of_run).gains(against=2)[1:]
    assert row.close is not None and row.close.value == pytest.approx(0.2, abs=0.02)


def test_equals_are_indistinguishable_and_have_no_rank() -> None:
    losses = losses_with_an_edge()
    losses["HAR"] /= 0.9
    found = board(losses)
    assert {row.rank for row in found.rows} == {None}
    assert all(row.is_indistinguishable for row in found.rows[1:]) and found.rows[0].is_indistinguishable is None


def test_what_is_not_forecast_is_not_ranked() -> None:
    found = board(losses_with_an_edge(), Ranking.RANGE)
    assert found.rows[0].rank == 1
    assert [row.name for row in found.rows if row.rank is None] == [EXPERTS[REVERSE]] == [found.rows[-1].name]
    assert found.rows[-1].behind_leader is None


def test_with_few_blocks_there_are_values_and_no_proof() -> None:
    found = board({name: each[:5] for name, each in losses_with_an_edge().items()})
    assert all(row.rank is None and row.close is not None and row.close.low is None for row in found.rows)
    assert all(row.is_indistinguishable is None for row in found.rows), "too early to say"
    assert board({}).rows == ()


def test_a_market_with_nothing_to_forecast_ranks_nobody_by_rounding() -> None:
    losses = {name: each * 1e-17 for name, each in losses_with_an_edge().items()}
    found = board(losses)
    assert all(row.rank is None and row.close is not None and row.close.value is None for row in found.rows)


def test_a_late_row_is_compared_on_the_candles_that_both_have() -> None:
    losses = losses_with_an_edge()
    late = {name: blocks(each) for name, each in losses.items()} | {"new": blocks(0.5 * losses["HAR"][40:], first=40)}
    found = ranked(ExpertTable([(MINUTE_MS, late)]), losses)
    assert found.rows[0].name == "new" and found.rows[0].n == 20 * BLOCK
    second = next(row for row in found.rows if row.name == "HAR")
    assert second.rank in (None, 1) and second.n == 60 * BLOCK and second.behind_leader is not None
    both = table({name: losses[name][40:] for name in ("HAR", REFERENCE_NAME)})
    alone = both.gain("HAR", REFERENCE_NAME, Ranking.BOTH).estimate.value
    assert alone is not None and second.behind_leader.n == 20 * BLOCK
    assert second.behind_leader.value == pytest.approx((1.0 - alone) / 2.0, rel=0.02)


def test_markets_that_move_together_prove_no_more_than_one() -> None:
    losses = losses_with_an_edge()
    one, three = (board(losses, markets=markets) for markets in (1, 3))
    for alone, together in zip(one.rows, three.rows, strict=True):
        assert together.n == 3 * alone.n and together.rank == alone.rank
        assert together.close is not None and alone.close is not None
        assert (together.close.value, together.close.low) == pytest.approx((alone.close.value, alone.close.low))


def test_a_restless_market_counts_no_more_than_a_calm_one() -> None:
    calm, restless = losses_with_an_edge(seed=3), losses_with_an_edge(seed=4)
    restless = {name: 100.0 * each for name, each in restless.items()}
    markets = [(MINUTE_MS, {name: blocks(each) for name, each in of.items()}) for of in (calm, restless)]
    values = [skill_of_har([of]).value or 0.0 for of in markets]
    both = skill_of_har(markets).value
    assert both == pytest.approx(sum(values) / 2.0, rel=1e-2)


def skill_of_har(markets: Sequence[tuple[int, Mapping[str, ExpertSums]]]) -> Estimate:
    return ExpertTable(markets).gain("HAR", REFERENCE_NAME, Ranking.CLOSE).estimate


def read(record: ExpertRecord) -> ExpertRecord:
    for _ in record.read_more():
        pass
    return record


def test_blocks_read_in_pieces_give_the_board_of_all(tmp_path: Path) -> None:
    candles = random_walk(230, seed=5)
    run = SyntheticRun(tmp_path)
    run.write(candles[:120])
    with database(tmp_path) as db:
        stored = RunStore(db).get(run.run_id)
        record = read(ExpertRecord(db, [stored]))
        early = leaderboard(record)
        run.write(candles[120:])
        later, whole = leaderboard(read(record)), leaderboard(read(ExpertRecord(db, [stored])))
    run.close()
    assert {row.n for row in early.rows} == {100, 119} and {row.n for row in later.rows} == {200, 229}
    assert later == whole and {row.since_ms for row in later.rows} == {candles[1].open_time_ms}
    data = as_data(later)
    assert data["leader"] == later.rows[0].name and [row["rank"] for row in data["rows"]] == [None] * len(later.rows)
    assert data["rows"][0]["close"]["ci95"] is None and data["rows"][0]["indistinguishable"] is None


def test_hits_of_unknown_forecasts_are_left_out() -> None:
    losses = losses_with_an_edge()
    sums = {name: blocks(each) for name, each in losses.items()}
    known = sums["HAR"].sums.copy()
    known[:30, 1:] = 0.0
    found = ExpertTable([(MINUTE_MS, sums | {"HAR": replace(sums["HAR"], sums=known)})])
    coverage = found.share("HAR", Hit.COVERAGE_90).estimate
    assert (coverage.value, coverage.n) == (pytest.approx(0.8), 30 * BLOCK)

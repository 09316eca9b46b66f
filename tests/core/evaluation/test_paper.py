"""The paper score against a book kept trade by trade, and against markets whose break-even cost is known."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.domain.quantities import FloatArray
from core.evaluation.paper import paper_score, paper_score_of
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore
from tests.core.evaluation.rigs import database
from tests.core.training import rigs
from tests.core.training.conftest import one_thread as one_thread
from tests.support.candles import random_walk

returns = st.floats(-0.02, 0.02)
candles = st.lists(st.tuples(returns, returns, st.booleans()), min_size=30, max_size=60)
"""Forecast median, actual return, and whether the candle follows the one before."""


def book(rows: list[tuple[float, float, bool]], cost: float) -> tuple[list[float], list[float]]:
    """Net return and traded units of each candle, one trade after another."""
    nets, units = [], []
    held = 0.0
    for place, (median, moved, follows) in enumerate(rows):
        if not follows:
            held = 0.0  # sold with its candle
        wanted = 0.0 if abs(median) <= cost else math.copysign(1.0, median)
        traded = abs(wanted - held)
        held = wanted
        is_last = place + 1 == len(rows) or not rows[place + 1][2]
        traded += abs(held) if is_last else 0.0
        nets.append(held * moved - cost * traded)
        units.append(traded)
    return nets, units


@given(candles, st.sampled_from([0.0, 1e-3, 5e-3]))
def test_it_equals_a_book_kept_trade_by_trade(rows: list[tuple[float, float, bool]], cost: float) -> None:
    medians, moves, follows = (np.array(column) for column in zip(*rows, strict=True))
    score = paper_score(medians, moves, follows, cost)
    nets, units = book(rows, cost)
    assert score.net.value == pytest.approx(np.mean(nets), abs=1e-12)
    assert score.net_total == pytest.approx(sum(nets), abs=1e-12)
    assert score.turnover == pytest.approx(np.mean(units))
    total, highest, fell = 0.0, 0.0, 0.0
    for net in nets:
        total += net
        highest = max(highest, total)
        fell = max(fell, highest - total)
    assert score.drawdown == pytest.approx(fell, abs=1e-12)
    free, trades = book(rows, 0.0)
    if sum(trades):
        assert score.break_even.value == pytest.approx(sum(free) / sum(trades), abs=1e-12)
    else:
        assert score.break_even.value is None


def autoregressive(count: int, share: float, seed: int) -> FloatArray:
    generator = np.random.default_rng(seed)
    found = np.zeros(count)
    for place in range(1, count):
        found[place] = share * found[place - 1] + generator.normal(0.0, 1e-3)
    return found


def together(count: int) -> NDArray[np.bool_]:
    return np.arange(count) > 0


@pytest.mark.parametrize("share", [0.1, 0.3, -0.2])
def test_the_break_even_cost_of_a_known_market_is_found(share: float) -> None:
    """A Gaussian AR(1): the mean of |share x|, over 2 trades for each change of its sign, whose probability is
    acos(share) / pi."""
    count = 200_000
    moves = autoregressive(count, share, seed=5)
    spread = 1e-3 / math.sqrt(1.0 - share**2)
    known = abs(share) * spread * math.sqrt(2.0 / math.pi) / (2.0 * math.acos(share) / math.pi)
    found = paper_score(share * np.concatenate([[0.0], moves[:-1]]), moves, together(count), 0.0)
    assert found.break_even.value == pytest.approx(known, rel=0.1)
    assert found.break_even.low is not None and found.break_even.low > 0.0
    above = paper_score(share * np.concatenate([[0.0], moves[:-1]]), moves, together(count), 20.0 * known)
    assert above.turnover == 0.0 and above.net.value == 0.0, "it does not trade where a trade costs more than it brings"


def test_gains_on_random_walks_are_not_proven() -> None:
    proven_free, proven_net = 0, 0
    for seed in range(100):
        generator = np.random.default_rng(seed)
        moves = generator.normal(0.0, 1e-3, 2000)
        medians = 0.1 * np.concatenate([[0.0], moves[:-1]])  # as of a rule that believes in a trend
        free, charged = (paper_score(medians, moves, together(2000), cost) for cost in (0.0, 1e-4))
        assert free.break_even.low is not None and charged.net.low is not None
        proven_free += free.break_even.low > 0.0
        proven_net += charged.net.low > 0.0
    assert proven_free <= 5 and proven_net <= 5


def test_a_rule_that_hardly_trades_has_no_interval() -> None:
    moves = np.random.default_rng(3).normal(0.0, 1e-3, 500)
    score = paper_score(np.full(500, 1e-3), moves, together(500), 0.0)
    assert score.turnover == pytest.approx(2 / 500), "bought once, sold once"
    assert score.break_even.value == pytest.approx(moves.sum() / 2) and score.break_even.low is None
    assert score.net.low is not None


def test_too_few_candles_give_no_figures() -> None:
    score = paper_score(np.ones(29), np.ones(29), together(29), 0.0)
    assert (score.n, score.break_even.value, score.net.value, score.net_total, score.drawdown) == (29, *[None] * 4)
    nothing = paper_score(np.empty(0), np.empty(0), np.empty(0, dtype=np.bool_), 0.0)
    assert nothing.n == 0 and nothing.turnover is None


def test_candles_after_a_gap_are_not_counted_and_no_position_is_held_over_it(tmp_path: Path) -> None:
    candles = random_walk(60, seed=2)
    session = rigs.service(tmp_path)
    rigs.feed(session, [*candles[:25], *candles[28:]])
    run_id = session.status().run_id
    session.close()
    with database(tmp_path) as db:
        reader, run = RecordReader(db, run_id), RunStore(db).get(run_id)
        scores = reader.scores()
        score = paper_score_of(reader, run, 0, 0.0)
    assert sum(each.after_gap for each in scores) == 1
    assert score.n == len(scores) - 1 == 55

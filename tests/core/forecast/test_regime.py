"""The regime mixture on markets of known regime; later candles change no label."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.candle import Candle
from core.domain.regimes import Regime, RegimeProbabilities
from core.forecast.panel import shapes_of
from core.forecast.regime import RETURNS, RegimeMixture
from tests.core.forecast.alone import ALONE, one
from tests.core.forecast.markets import market, stretches
from tests.support.candles import random_walk

LENGTH = 300


def observe(mixture: RegimeMixture, candles: Iterable[Candle], gaps: frozenset[int] = frozenset()) -> list[Regime]:
    """The likeliest regime as of each candle."""
    return [each.likeliest for each in probabilities(mixture, candles, gaps)]


def probabilities(
    mixture: RegimeMixture, candles: Iterable[Candle], gaps: frozenset[int] = frozenset()
) -> list[RegimeProbabilities]:
    found = []
    for row, candle in enumerate(candles):
        shape = shapes_of([candle])
        mixture.observe(ALONE, shape["log_close"], shape["log_range"], np.array([row in gaps]))
        found.append(mixture.probabilities(0))
    return found


@pytest.mark.parametrize("seed", range(2))
def test_known_regimes_are_recognised_once_seen(seed: int) -> None:
    """Calm, trending, volatile, and the same again: the first round is what there is to learn from."""
    known = stretches(*Regime, *Regime, length=LENGTH)
    found = observe(RegimeMixture(1), market(known, seed))
    right = np.array([one is other for one, other in zip(known, found, strict=True)])
    seen = slice(3 * LENGTH, None)
    assert right[seen].mean() > 0.9
    for stretch in range(1, 6):
        after_switch = slice(stretch * LENGTH + RETURNS, (stretch + 1) * LENGTH)
        assert right[after_switch].mean() > 0.85, f"{known[stretch * LENGTH]} in stretch {stretch}"


@pytest.mark.parametrize("seed", range(2))
def test_a_switch_is_detected_within_a_few_candles(seed: int) -> None:
    found = observe(RegimeMixture(1), market(stretches(*Regime, length=LENGTH), seed))
    for stretch, regime in ((1, Regime.TRENDING), (2, Regime.VOLATILE)):
        assert found[stretch * LENGTH :].index(regime) <= RETURNS


def test_a_falling_market_is_a_trend_too() -> None:
    rising = market(stretches(Regime.CALM, Regime.TRENDING, length=LENGTH), 1)
    falling = [
        Candle(each.open_time_ms, *(1e4 / price for price in (each.open, each.low, each.high, each.close)), each.volume)
        for each in rising
    ]
    assert observe(RegimeMixture(1), falling) == observe(RegimeMixture(1), rising)


@settings(max_examples=8, deadline=None)
@given(
    moment=st.integers(1, 150),
    seed=st.integers(0, 10**6),
    factor=st.floats(0.5, 2.0),
    gaps=st.frozensets(st.integers(1, 199), max_size=5),
)
def test_later_candles_change_no_label(moment: int, seed: int, factor: float, gaps: frozenset[int]) -> None:
    candles = random_walk(200, seed)
    changed = [
        candle
        if row <= moment
        else Candle(
            candle.open_time_ms,
            *(price * factor for price in (candle.open, candle.high * 1.5, candle.low / 1.5, candle.close)),
            candle.volume,
        )
        for row, candle in enumerate(candles)
    ]
    whole, other = (probabilities(RegimeMixture(1), each, gaps) for each in (candles, changed))
    prefix = probabilities(RegimeMixture(1), candles[: moment + 1], gaps)
    assert whole[: moment + 1] == other[: moment + 1] == prefix


@settings(max_examples=30, deadline=None)
@given(
    closes=st.lists(st.floats(-20.0, 20.0), min_size=1, max_size=60),
    heights=st.lists(st.floats(-11.6, 3.0), min_size=60, max_size=60),
    cut=st.integers(0, 60),
)
def test_probabilities_sum_to_one_and_a_restored_state_continues(
    closes: list[float], heights: list[float], cut: int
) -> None:
    """For any jumps and candle heights."""
    mixture, resumed = RegimeMixture(1), RegimeMixture(1)
    for row, (close, height) in enumerate(zip(closes, heights, strict=False)):
        if row == cut:
            resumed.restore(mixture.state(0), 0)
        mixture.observe(ALONE, one(close), one(height), np.array([False]))
        if row >= cut:
            resumed.observe(ALONE, one(close), one(height), np.array([False]))
            assert resumed.probabilities(0) == mixture.probabilities(0)
        found = mixture.probabilities(0)
        assert all(0.0 <= found.of(regime) <= 1.0 for regime in Regime)
        assert sum(found.of(regime) for regime in Regime) == pytest.approx(1.0)


def test_a_single_crash_is_no_trend() -> None:
    """However large one candle is, the candles around it are flat."""
    calm = market(stretches(Regime.CALM, length=LENGTH), 5)
    share = 0.8
    crashed = [
        *calm[:200],
        Candle(
            calm[200].open_time_ms, calm[200].open, calm[200].high, calm[200].open * share, calm[200].open * share, 1.0
        ),
        *(
            Candle(each.open_time_ms, *(share * price for price in (each.open, each.high, each.low, each.close)), 1.0)
            for each in calm[201:]
        ),
    ]
    found = observe(RegimeMixture(1), crashed)
    before = observe(RegimeMixture(1), calm)
    assert found[200:230].count(Regime.TRENDING) <= before[200:230].count(Regime.TRENDING) + 3
    assert Regime.VOLATILE in found[200:203]


def test_a_move_across_a_gap_is_no_trend() -> None:
    """A jump over a hole, many times the usual move: the straightness is that of the candles around it."""
    calm = market(stretches(Regime.CALM, length=LENGTH), 2)
    jumped = [
        each
        if row < 200
        else Candle(each.open_time_ms, each.open * 2, each.high * 2, each.low * 2, each.close * 2, 1.0)
        for row, each in enumerate(calm)
    ]
    with_hole = observe(RegimeMixture(1), jumped, frozenset({200}))
    assert with_hole[200:] == pytest.approx(observe(RegimeMixture(1), calm)[200:]), "as if nothing had been jumped"
    without_hole = probabilities(RegimeMixture(1), jumped)[200]
    assert without_hole != probabilities(RegimeMixture(1), calm)[200], "without the hole it is a move as any other"


def test_a_flat_market_has_a_regime_too() -> None:
    flat = [Candle(row * 60_000, 5.0, 5.0, 5.0, 5.0, 0.0) for row in range(50)]
    assert observe(RegimeMixture(1), flat)[-1] is Regime.CALM

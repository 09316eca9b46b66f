"""The regime at each forecast: of past candles only, and the same after a restart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.candle import DAY_MS, Candle
from core.domain.regimes import Regime, RegimeProbabilities
from core.forecast.conditions import ConditionsWatch
from core.forecast.history import History, shape_of
from core.forecast.regime import RegimeMixture
from tests.core.forecast.markets import history, market, stretches
from tests.support.candles import random_walk

CALM = market(stretches(Regime.CALM, length=480), 3)


def conditions(candles: Sequence[Candle], past: History | None = None) -> list[RegimeProbabilities]:
    """As of each candle."""
    past = history() if past is None else past
    watch, found = ConditionsWatch(past), []
    for candle in candles:
        past.append(candle)
        watch.observe()
        found.append(watch.now)
    return found


@settings(max_examples=4, deadline=None)
@given(moment=st.integers(1, 420), seed=st.integers(0, 10**6))
def test_later_candles_do_not_change_earlier_results(moment: int, seed: int) -> None:
    candles = random_walk(430, seed)
    whole = conditions(candles)
    assert conditions(candles[: moment + 1]) == whole[: moment + 1]


@pytest.fixture(scope="module")
def crashed() -> tuple[list[Candle], list[RegimeProbabilities]]:
    candles = [*CALM[:450], *(replace(each, low=each.low * 0.8) for each in CALM[450:451]), *CALM[451:]]
    return candles, conditions(candles)


@pytest.mark.parametrize("cut", [1, 299, 451])
def test_a_restored_state_gives_the_same_results(
    crashed: tuple[list[Candle], list[RegimeProbabilities]], cut: int
) -> None:
    candles, expected = crashed
    past = history()
    watch = ConditionsWatch(past)
    for candle in candles[:cut]:
        past.append(candle)
        watch.observe()
    later_past = history()
    later_past.restore(past.state())
    later = ConditionsWatch(later_past)
    later.restore(watch.state())
    assert later.now == watch.now
    rest = []
    for candle in candles[cut:]:
        later_past.append(candle)
        later.observe()
        rest.append(later.now)
    assert rest == expected[cut:]


def test_without_a_state_it_is_rebuilt_from_the_stored_candles() -> None:
    """A checkpoint from before there were conditions."""
    past = history()
    found = conditions(CALM, past)
    watch = ConditionsWatch(past)
    watch.restore({})
    assert watch.now == found[-1]


def test_the_regime_is_that_of_candles_without_the_moves_across_holes() -> None:
    candles = [*CALM[:300], *(replace(each, open_time_ms=each.open_time_ms + DAY_MS) for each in CALM[300:])]
    mixture, expected = RegimeMixture(), []
    for row, candle in enumerate(candles):
        shape = shape_of(candle)
        mixture.observe(shape["log_close"], shape["log_range"], row == 300)
        expected.append(mixture.probabilities)
    assert conditions(candles) == expected

"""The regime at each forecast: of past candles only, and the same after a restart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, replace

import numpy as np
import pytest

from core.domain.candle import DAY_MS, Candle
from core.domain.regimes import Regime, RegimeProbabilities
from core.forecast.history import History
from core.forecast.panel import shapes_of
from core.forecast.regime import RegimeMixture, RegimeWatch
from tests.core.forecast.alone import ALONE
from tests.core.forecast.markets import history, market, stretches

CALM = market(stretches(Regime.CALM, length=480), 3)


def conditions(candles: Sequence[Candle], past: History | None = None) -> list[RegimeProbabilities]:
    """As of each candle."""
    past = history() if past is None else past
    watch, found = RegimeWatch(past.panel), []
    for candle in candles:
        past.append(candle)
        watch.observe(ALONE)
        found.append(watch.now(0))
    return found


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
    watch = RegimeWatch(past.panel)
    for candle in candles[:cut]:
        past.append(candle)
        watch.observe(ALONE)
    later_past = history()
    later_past.restore(past.state())
    later = RegimeWatch(later_past.panel)
    later.restore(watch.state(0), 0)
    assert later.now(0) == watch.now(0)
    rest = []
    for candle in candles[cut:]:
        later_past.append(candle)
        later.observe(ALONE)
        rest.append(later.now(0))
    assert rest == expected[cut:]


def test_the_regime_is_that_of_candles_without_the_moves_across_holes() -> None:
    candles = [*CALM[:300], *(replace(each, open_time_ms=each.open_time_ms + DAY_MS) for each in CALM[300:])]
    mixture, expected = RegimeMixture(1), []
    for row, candle in enumerate(candles):
        shape = shapes_of([candle])
        mixture.observe(ALONE, shape["log_close"], shape["log_range"], np.array([row == 300]))
        expected.append(mixture.probabilities(0))
    assert conditions(candles) == expected


def test_the_panel_has_the_regimes_of_each_candle_once_the_market_outweighs_the_initial_positions() -> None:
    past = history()
    found = conditions(CALM[:300], past)
    known = past.panel.regimes(np.zeros(300, dtype=np.int64), np.arange(300))
    first = int(known.any(axis=1).argmax())
    assert 150 <= first < 170 and not known[:first].any()
    assert known[first:].tolist() == np.array([astuple(each) for each in found[first:]], dtype=np.float32).tolist()

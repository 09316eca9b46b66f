"""An alert on ghosts fires once, when its condition begins to hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.alerts.ghost_conditions import (
    LINE_CONDITIONS,
    AlertState,
    ChanceCondition,
    after_check,
    coverage_after_check,
    is_judged,
)
from core.domain.events import ForecastMode
from core.forecast.chance import Chances
from core.forecast.score import NOMINAL_COVERAGE, newest_coverage
from tests.core.forecast.paths import HORIZONS, drawn
from tests.desktop import scenario

FORECAST = scenario.forecast(scenario.market())


@given(st.lists(st.booleans(), max_size=20))
def test_it_fires_once_when_the_condition_begins_to_hold(looks: list[bool]) -> None:
    state: AlertState | None = None
    fired = []
    for place, is_met in enumerate(looks):
        before, state = state, after_check(state, is_met=is_met)
        if state is AlertState.FIRED and before is not state:
            fired.append(place)
    began = [place for place in range(1, len(looks)) if looks[place] and False in looks[:place]]
    assert fired == began[:1]


@pytest.mark.parametrize(("name", "low", "high"), [("50", 2, 4), ("90", 0, 6)])
def test_a_band_reaches_a_price_that_it_includes_at_any_horizon(name: str, low: int, high: int) -> None:
    condition = next(each for each in LINE_CONDITIONS if each.name == name)
    lowest = min(ghost.close_quantiles[low] for ghost in FORECAST.ghosts)
    highest = max(ghost.close_quantiles[high] for ghost in FORECAST.ghosts)
    assert condition.is_met(FORECAST, lowest) and condition.is_met(FORECAST, highest)
    assert not condition.is_met(FORECAST, lowest * 0.9999) and not condition.is_met(FORECAST, highest * 1.0001)


@given(st.lists(st.integers(0, 100).map(lambda percent: percent / 100.0), max_size=30))
def test_a_chance_fires_above_its_level_once_until_it_was_below_half_of_it(looks: list[float]) -> None:
    condition, state, is_due = ChanceCondition(8, 60), None, False
    for chance in looks:
        before, state = state, condition.after_check(state, chance)
        fires = state is AlertState.FIRED and before is not state
        assert fires is (is_due and chance > 0.6)
        is_due = (is_due or before is None or chance < 0.3) and chance <= 0.6
        assert (state is AlertState.ARMED) is is_due


def test_the_chance_of_a_price_is_that_of_its_move_within_as_many_candles() -> None:
    chances = Chances(drawn())
    for within in (1, 3, HORIZONS):
        condition = ChanceCondition(within, 60)
        for share in (-0.002, 0.0, 0.001):
            wanted = chances.touched(np.array([share]), within)[0]
            assert condition.chance(chances, 100.0, 100.0 * np.exp(share)) == pytest.approx(wanted, abs=2e-3)
    assert ChanceCondition(HORIZONS + 1, 60).chance(chances, 100.0, 101.0) is None, "the forecast is of fewer candles"
    assert ChanceCondition(8, 60).chance(chances, 100.0, 0.0) is None, "no market has such a price"


@pytest.mark.parametrize("mode", list(ForecastMode))
def test_forecasts_of_candles_that_are_caught_up_on_fire_nothing(mode: ForecastMode) -> None:
    is_own = mode in (ForecastMode.LIVE, ForecastMode.REPLAY, ForecastMode.SIMULATED)
    assert is_judged(replace(FORECAST, mode=mode)) is is_own
    assert not is_judged(replace(FORECAST, mode=ForecastMode.LIVE, is_by_simple_rules=True))


def test_coverage_is_judged_on_the_newest_500_candles_with_a_wide_interval() -> None:
    assert newest_coverage([True] * 499).value is None
    lost, kept = (
        newest_coverage([True] * 100 + [False] * 84 + [True] * 416),
        newest_coverage([False] * 83 + [True] * 417),
    )
    assert (lost.value, kept.value, lost.n) == (pytest.approx(0.832), pytest.approx(0.834), 500)
    assert lost.high is not None and kept.high is not None
    assert lost.high < NOMINAL_COVERAGE < kept.high
    assert coverage_after_check(None, lost) is AlertState.FIRED and coverage_after_check(None, kept) is None


def test_lost_coverage_fires_again_after_the_band_held_enough_closes() -> None:
    lost, short, held = (newest_coverage([False] * (500 - hits) + [True] * hits) for hits in (400, 449, 450))
    assert coverage_after_check(AlertState.FIRED, lost) is coverage_after_check(None, lost) is AlertState.FIRED
    assert coverage_after_check(AlertState.FIRED, short) is AlertState.FIRED, "too few closes to arm it again"
    assert coverage_after_check(AlertState.FIRED, held) is None
    assert coverage_after_check(AlertState.FIRED, newest_coverage([True])) is AlertState.FIRED, "not known yet"


def test_a_calibrated_band_hardly_ever_loses_its_coverage() -> None:
    """The look at each candle of 20 runs of 20,000."""
    lowest = []
    for seed in range(20):
        inside = np.random.default_rng(seed).random(20_000) < NOMINAL_COVERAGE
        sums = np.concatenate([[0], np.cumsum(inside)])
        lowest.append(int((sums[500:] - sums[:-500]).min()))
    highs = [newest_coverage([False] * (500 - hits) + [True] * hits).high for hits in lowest]
    assert sum(high is not None and high < NOMINAL_COVERAGE for high in highs) <= 1

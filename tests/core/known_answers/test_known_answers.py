"""On markets whose best forecast is known: the share of the attainable skill that the session reaches.

`make soak` runs the real session over 5,000 candles of five seeds each; CI the baselines alone over fewer.
"""

from __future__ import annotations

import os
import statistics
from pathlib import Path

import pytest

from tests.core.known_answers.markets import FOR_THE_MODEL, MARKETS, autoregressive
from tests.core.known_answers.sessions import DEFAULTS, SMALLEST, of_baselines, of_session

IS_LONG = "GHOSTCANDLE_SOAK" in os.environ
CANDLES, JUDGED, SEEDS = 5000, 2000, 5
BAR = 0.85
BAR_OF_BASELINES = 0.7
"""For fewer candles."""
REACHED = {
    "AR(1)": 0.72,
    "GARCH with leverage": 0.74,
    "GARCH of the last fall": 0.9,
    "regime switch": 0.88,
    "seasonal volume": 0.72,
}
"""A little less than the baselines alone reached on candles 500 to 800."""

REACHED_WITH_MODEL = {"volume turns": 0.5, "wick warns": 0.4}
"""Of the markets that only the model can forecast, of candles 1,400 to 2,000."""
NOTHING = 0.1
"""What chance may give without knowledge."""


@pytest.mark.parametrize("name", MARKETS)
def test_baselines_alone_soon_reach_a_good_part_of_the_attainable_skill(name: str) -> None:
    assert of_baselines(MARKETS[name](800, 0)).newest(300).reached > REACHED[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", MARKETS)
def test_baselines_alone_reach_most_of_the_attainable_skill(name: str) -> None:
    assert of_baselines(MARKETS[name](2500, 0)).newest(1000).reached > BAR_OF_BASELINES


@pytest.mark.slow
def test_a_short_session_with_the_smallest_model_reaches_part_of_it(tmp_path: Path) -> None:
    lost = of_session(autoregressive(1300, 0), tmp_path, SMALLEST, 0).newest(600)
    assert lost.reached > 0.4 and lost.attainable > 0.05


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", FOR_THE_MODEL)
def test_the_model_reaches_skill_that_no_baseline_can(name: str, tmp_path: Path) -> None:
    """At the program's settings. Fails if the model is broken or off: nothing else can forecast this market."""
    lost = of_session(FOR_THE_MODEL[name](2000, 0), tmp_path, DEFAULTS, 0).newest(600)
    assert lost.attainable > 0.2
    assert lost.reached_without < NOTHING, "something other than the model forecasts this market"
    assert lost.reached > REACHED_WITH_MODEL[name]
    assert lost.skill.low is not None and lost.skill.low > 0.0


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
@pytest.mark.skipif(not IS_LONG, reason="make soak: hours of candles")
@pytest.mark.parametrize("name", FOR_THE_MODEL)
def test_the_model_reaches_skill_that_no_baseline_can_for_every_seed(name: str, tmp_path: Path) -> None:
    for seed in range(SEEDS):
        lost = of_session(FOR_THE_MODEL[name](CANDLES, seed), tmp_path / str(seed), DEFAULTS, seed).newest(JUDGED)
        print(f"{name}, seed {seed}: {lost.reached:.1%}, without the model {lost.reached_without:.1%}")
        assert lost.reached > REACHED_WITH_MODEL[name] and lost.reached_without < NOTHING


@pytest.mark.parametrize("name", FOR_THE_MODEL)
def test_baselines_alone_reach_nothing_of_the_models_skill(name: str) -> None:
    assert of_baselines(FOR_THE_MODEL[name](400, 0)).newest(250).reached < NOTHING


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
@pytest.mark.skipif(not IS_LONG, reason="make soak: hours of candles")
@pytest.mark.parametrize("name", MARKETS)
def test_the_session_reaches_the_attainable_skill(name: str, tmp_path: Path) -> None:
    reached = []
    for seed in range(SEEDS):
        lost = of_session(MARKETS[name](CANDLES, seed), tmp_path / str(seed), DEFAULTS, seed).newest(JUDGED)
        reached.append(lost.reached)
        print(f"{name}, seed {seed}: {lost.reached:.1%} of {lost.attainable:.2%}")
    assert statistics.mean(reached) >= BAR, [f"{each:.1%}" for each in reached]

"""The known markets have valid candles, and their forecasts cannot be improved."""

from __future__ import annotations

import numpy as np
import pytest

from core.domain.quantities import LEVELS, FloatArray
from core.forecast.history import History
from core.forecast.score import pinball
from tests.core.known_answers.markets import FOR_THE_MODEL, INTERVAL, MARKETS, random_walk
from tests.core.known_answers.sessions import attainable_of, of_baselines

ALL = {**MARKETS, **FOR_THE_MODEL, "random walk": random_walk}
COUNT = 5000


@pytest.mark.parametrize("name", ALL)
def test_candles_are_valid_and_match_the_outcomes(name: str) -> None:
    known = ALL[name](300, 3)
    history = History.alone(INTERVAL, 300, 1)
    for candle in known.candles:
        assert candle.low <= min(candle.open, candle.close) <= max(candle.open, candle.close) <= candle.high
        assert candle.volume > 0.0
        history.append(candle)
    opens = np.array([candle.open for candle in known.candles])
    closes = np.array([candle.close for candle in known.candles])
    np.testing.assert_allclose(opens[1:], closes[:-1], rtol=1e-12)
    natural = history.targets(np.arange(299))[0][:, 0, known.quantity]
    np.testing.assert_allclose(natural, known.outcome[1:], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ALL)
def test_each_quantile_has_its_nominal_coverage(name: str) -> None:
    known = ALL[name](COUNT, 1)
    met = (known.outcome[:, None] <= known.best).mean(axis=0)
    error = np.sqrt(LEVELS * (1.0 - LEVELS) / COUNT)
    assert (np.abs(met - LEVELS) < 4.0 * error).all(), met


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_the_known_quantiles_are_optimal(name: str) -> None:
    """Over 20,000 candles, in which luck does not cover a tenth of the width."""
    known = ALL[name](20_000, 2)
    middle, width = known.best[:, 3:4], known.best[:, 4:5] - known.best[:, 2:3]

    def lost(quantiles: FloatArray) -> float:
        return float(pinball(known.outcome, quantiles).mean())

    best = lost(known.best)
    for factor in (0.9, 1.1):
        assert lost(middle + factor * (known.best - middle)) > best
    for move in (-0.1, 0.1):
        assert lost(known.best + move * width) > best


@pytest.mark.slow
@pytest.mark.parametrize("name", [*MARKETS, *FOR_THE_MODEL])
def test_skill_is_attainable(name: str) -> None:
    """At least 5 % against the reference."""
    assert attainable_of(ALL[name](2000, 0), 1000) > 0.05


def test_attainable_skill_is_measured_against_the_session_s_reference() -> None:
    known = MARKETS["AR(1)"](300, 0)
    lost = of_baselines(known).newest(150)
    assert attainable_of(known, 150) == pytest.approx(lost.attainable, abs=1e-9)

"""What the inside is worth to HAR, held against the baselines themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.domain.candle import Candle, Inside
from core.domain.quantities import FloatArray, Quantity
from core.forecast.baseline_experts import BaselineExperts
from core.forecast.experts import HAR, REFERENCE
from core.forecast.inside_worth import InsideWorth
from core.forecast.outcomes import newest_outcomes
from core.forecast.panel import Panel
from core.forecast.score import pinball
from tests.core.forecast.alone import ALONE
from tests.support.candles import MINUTE, random_walk, without


def known(candles: list[Candle]) -> list[Candle]:
    """With random insides, each seventh without."""
    generator = np.random.default_rng(4)
    parts = generator.uniform(0.2, 1.0, (len(candles), 2)).astype(np.float32).tolist()
    insides = [Inside(5, 1e-6 * size, 5e-7 * size, 4e-7 * size, 2e-7 * size * end, 0.2, 0.6) for size, end in parts]
    pairs = zip(candles, insides, strict=True)
    return [replace(candle, inside=inside if row % 7 else None) for row, (candle, inside) in enumerate(pairs)]


def losses_of_baselines(candles: list[Candle], *, reads_inside: bool) -> list[FloatArray]:
    """Of HAR and of the reference on each candle's range, where a forecast was made for it."""
    panel = Panel(MINUTE, 1, 1_100, 3, reads_inside=reads_inside)
    baselines, found, quantiles = BaselineExperts(panel), list[FloatArray](), None
    for candle in candles:
        panel.append(ALONE, [candle])
        outcomes = newest_outcomes(panel, ALONE)
        if quantiles is not None and outcomes.is_known[0, 0]:
            log_range = outcomes.normalised[0, 0, Quantity.RANGE]
            found.append(pinball(np.broadcast_to(log_range, 2), quantiles))
        baselines.observe(ALONE, None)
        quantiles = baselines.quantiles(ALONE)[0, 0, [HAR, REFERENCE], Quantity.RANGE]
    return found


def test_both_forecasts_are_the_baselines_own() -> None:
    candles = known(without(random_walk(160), 70, 71))
    worth = InsideWorth(MINUTE)
    found = np.array([losses for candle in candles if (losses := worth.add(candle)) is not None])
    reading, plain = (np.array(losses_of_baselines(candles, reads_inside=reads)) for reads in (True, False))
    assert len(found) == len(candles) - 2
    np.testing.assert_allclose(found, np.column_stack([reading[:, 0], plain]), rtol=1e-9)
    assert (found[60:, 0] != found[60:, 1]).all()


def test_an_inside_that_says_what_comes_is_worth_something_and_noise_nothing() -> None:
    generator = np.random.default_rng(6)
    sizes = np.exp(0.5 * generator.normal(size=700))
    wild = [_as_wild(candle, size) for candle, size in zip(random_walk(700), sizes, strict=True)]
    gains = {}
    for name, said in (("next", np.roll(sizes, -1)), ("noise", generator.permutation(sizes))):
        worth = InsideWorth(MINUTE)
        rows = [worth.add(replace(each, inside=_inside(1e-6 * s**2))) for each, s in zip(wild, said, strict=True)]
        with_inside, plain, reference = np.array([row for row in rows[200:] if row is not None]).sum(axis=0)
        gains[name] = (plain - with_inside) / reference
    assert gains["next"] > 0.3
    assert gains["noise"] == pytest.approx(0.0, abs=0.03)


def _as_wild(candle: Candle, size: float) -> Candle:
    """A candle of this height, in thousandths."""
    middle, half = candle.close, 0.0005 * size * candle.close
    return replace(candle, open=middle, high=middle + half, low=middle - half)


def _inside(variance: float) -> Inside:
    return Inside(5, variance, variance / 2, variance / 2, variance / 5, 0.0, 0.8)

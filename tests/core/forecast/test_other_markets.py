from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle
from core.domain.quantities import FloatArray
from core.forecast.baseline_experts import BaselineExperts
from core.forecast.experts import LAGS
from core.forecast.history import History
from core.forecast.other_markets import MOST_LEADERS, Leaders, exchange_numbers
from core.forecast.panel import FEATURE_LIMIT, FEATURES, OTHERS, Panel
from tests.core.forecast.alone import ALONE, one
from tests.support.candles import MINUTE, random_walk


def filled(seeds: Sequence[int], count: int = 40) -> Panel:
    """A market for each seed."""
    panel = Panel(MINUTE, len(seeds), 64, 3)
    for candles in zip(*(random_walk(count, seed=seed) for seed in seeds), strict=True):
        panel.append(np.arange(len(seeds)), candles)
    return panel


def newest_features(panel: Panel) -> FloatArray:
    """Of each market, with those of others last."""
    places = np.arange(panel.markets)
    return panel.features(places, panel.newest(places)).astype(np.float64)


def numbers_of_others(panel: Panel) -> list[list[float]]:
    numbers: list[list[float]] = newest_features(panel)[:, FEATURES:].tolist()
    return numbers


@given(st.lists(st.integers(0, 50), min_size=2, max_size=6, unique=True))
def test_they_are_the_means_of_the_others_without_itself(seeds: list[int]) -> None:
    panel = filled(seeds)
    exchange_numbers(panel, np.arange(len(seeds)))
    newest = newest_features(panel)[:, [0, 4, 5]]
    for market, found in enumerate(numbers_of_others(panel)):
        means = np.delete(newest, market, axis=0).mean(axis=0)
        expected = np.clip([*means, newest[market, 0] - means[0]], -FEATURE_LIMIT, FEATURE_LIMIT)
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_only_the_newest_row_changes_and_a_checkpoint_keeps_all() -> None:
    panel, both = filled([1, 2]), np.arange(2)
    exchange_numbers(panel, both)
    first = numbers_of_others(panel)[0]
    panel.append(both, [random_walk(41, seed=seed)[-1] for seed in (1, 2)])
    assert numbers_of_others(panel)[0] == [0.0] * OTHERS, "none of an earlier close"
    exchange_numbers(panel, both)
    windows, _ = panel.windows(ALONE, np.array([40]), 3)
    assert windows[0, 1, FEATURES:] == pytest.approx(first)
    again = Panel(MINUTE, 2, 64, 3)
    again.restore(panel.state(0), 0)
    origin = ALONE, np.array([40]), 41
    assert np.array_equal(again.windows(*origin)[0], panel.windows(*origin)[0])


def test_a_market_that_learned_alone_continues_with_others() -> None:
    alone = filled([1])
    assert newest_features(alone).shape == (1, FEATURES)
    together = Panel(MINUTE, 2, 64, 3)
    together.restore(alone.state(0), 0)
    assert numbers_of_others(together)[0] == [0.0] * OTHERS


def test_each_market_gets_the_newest_return_of_each_other_and_zero_of_one_without_a_candle() -> None:
    panel, present = filled([1, 9, 2, 3]), np.array([0, 2, 3])
    returns = exchange_numbers(panel, present)
    first, _, second, third = newest_features(panel)[:, 0].tolist()
    expected = [0.0, second, third], [first, 0.0, third], [first, 0.0, second]
    np.testing.assert_allclose(returns, expected)


def test_a_market_that_is_alone_at_a_close_reads_nothing_of_an_earlier_one() -> None:
    panel = filled([1, 2])
    exchange_numbers(panel, np.arange(2))
    panel.append(ALONE, random_walk(41, seed=1)[-1:])
    assert not exchange_numbers(panel, ALONE).any()
    assert numbers_of_others(panel)[0] == [0.0] * OTHERS


def observe(leaders: Leaders, own_return: float, of_others: FloatArray) -> list[bool]:
    """Whether each of the first market's places has another market from now on."""
    replaced: list[bool] = leaders.observe(ALONE, one(own_return), of_others[None])[0].tolist()
    return replaced


def returns_of(leaders: Leaders, of_others: FloatArray) -> list[float]:
    returns: list[float] = leaders.returns(ALONE, of_others[None])[0].tolist()
    return returns


def test_the_leader_of_many_markets_is_found_and_kept() -> None:
    generator, leaders, last, found = np.random.default_rng(3), Leaders(41), 0.0, []
    for _ in range(600):
        of_others = generator.normal(size=40)
        observe(leaders, 0.5 * last + generator.normal(), of_others)
        last = float(of_others[33])
        found.append(last in returns_of(leaders, of_others))
    assert not found[0] and all(found[200:])
    again = Leaders(41)
    again.restore(leaders.state(0), 0)
    assert returns_of(again, of_others) == returns_of(leaders, of_others)


def test_another_number_of_markets_means_other_places() -> None:
    before, leaders = Leaders(41), Leaders(42)
    for place in range(60):
        observe(before, 1.0, np.ones(40))
        observe(leaders, 1.0, np.eye(41)[place % 41])
    leaders.restore(before.state(0), 0)
    assert all(observe(leaders, 1.0, np.arange(41.0)))
    assert returns_of(leaders, np.arange(41.0)) == np.arange(MOST_LEADERS).tolist()


def test_few_markets_keep_their_places() -> None:
    leaders = Leaders(6)
    of_others = np.arange(1.0, 6.0)
    assert all(observe(leaders, 1.0, of_others)), "all are new"
    assert not any(any(observe(leaders, 1.0, of_others)) for _ in range(20))
    assert returns_of(leaders, of_others) == [*of_others.tolist(), *[0.0] * (MOST_LEADERS - 5)]


class Pair:
    """Two markets and their baselines."""

    def __init__(self) -> None:
        self.panel = Panel(MINUTE, 2, 1200, 2)
        self.baselines = BaselineExperts(self.panel)

    def feed(self, candles: list[tuple[Candle, Candle]]) -> None:
        both = np.arange(2)
        for pair in candles:
            self.panel.append(both, pair)
            self.baselines.observe(both, exchange_numbers(self.panel, both))

    def quantiles(self) -> FloatArray:
        return self.baselines.quantiles(np.arange(2))


def pairs(count: int) -> list[tuple[Candle, Candle]]:
    return list(zip(random_walk(count, seed=1), random_walk(count, seed=2), strict=True))


def test_a_restored_state_gives_the_same_forecasts() -> None:
    candles, whole, first, second = pairs(120), Pair(), Pair(), Pair()
    whole.feed(candles)
    first.feed(candles[:80])
    for market in range(2):
        second.panel.restore(first.panel.state(market), market)
        second.baselines.restore(first.baselines.state(market), market)
    second.feed(candles[80:])
    assert np.array_equal(second.quantiles(), whole.quantiles())


def test_what_a_market_learned_alone_continues_among_others() -> None:
    alone = History.alone(MINUTE, 1200, 2)
    baselines, both = BaselineExperts(alone.panel), Pair()
    for candle, _ in pairs(120):
        alone.append(candle)
        baselines.observe(ALONE, None)
    both.panel.restore(alone.state(), 0)
    both.baselines.restore(baselines.state(0), 0)
    among_others, on_its_own = (each.quantiles(ALONE)[:, :, LAGS] for each in (both.baselines, baselines))
    assert np.array_equal(among_others, on_its_own)

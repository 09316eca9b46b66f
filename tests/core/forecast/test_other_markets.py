from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle
from core.domain.quantities import FloatArray
from core.forecast.baseline_experts import BaselineExperts
from core.forecast.experts import LAGS
from core.forecast.history import FEATURE_LIMIT, FEATURES, OTHERS, History
from core.forecast.other_markets import MOST_LEADERS, Leaders, exchange_numbers
from tests.support.candles import MINUTE, random_walk


def filled(seed: int, count: int = 40, *, has_others: bool = True) -> History:
    history = History(MINUTE, 64, 3, has_others=has_others)
    for candle in random_walk(count, seed=seed):
        history.append(candle)
    return history


def numbers_of_others(history: History) -> np.ndarray:
    return history.windows(np.array([-1 + len(history)]), 1)[0][0, -1, FEATURES:]


@given(st.lists(st.integers(0, 50), min_size=2, max_size=6, unique=True))
def test_they_are_the_means_of_the_others_without_itself(seeds: list[int]) -> None:
    markets = [filled(seed) for seed in seeds]
    exchange_numbers(markets)
    for market in markets:
        newest = [other.features[-1, [0, 4, 5]] for other in markets if other is not market]
        means = np.mean(newest, axis=0)
        own_return = market.features[-1, 0] - means[0]
        expected = np.clip([*means, own_return], -FEATURE_LIMIT, FEATURE_LIMIT)
        np.testing.assert_allclose(numbers_of_others(market), expected, atol=1e-5)


def test_a_market_without_others_has_zeros() -> None:
    market = filled(1)
    exchange_numbers([market])
    assert numbers_of_others(market).tolist() == [0.0] * OTHERS


def test_only_the_newest_row_changes_and_a_checkpoint_keeps_all() -> None:
    markets = [filled(seed) for seed in (1, 2)]
    exchange_numbers(markets)
    first = numbers_of_others(markets[0]).copy()
    for market, candle in zip(markets, (random_walk(41, seed=1)[-1], random_walk(41, seed=2)[-1]), strict=True):
        market.append(candle)
    assert numbers_of_others(markets[0]).tolist() == [0.0] * OTHERS, "none of an earlier close"
    exchange_numbers(markets)
    windows, _ = markets[0].windows(np.array([40]), 3)
    assert windows[0, 1, FEATURES:] == pytest.approx(first)
    again = History(MINUTE, 64, 3, has_others=True)
    again.restore(markets[0].state())
    assert np.array_equal(again.windows(np.array([40]), 41)[0], markets[0].windows(np.array([40]), 41)[0])


def test_a_market_that_learned_alone_continues_with_others() -> None:
    alone = filled(1, has_others=False)
    assert "others" not in alone.state() and alone.windows(np.array([39]), 2)[0].shape[-1] == FEATURES
    together = History(MINUTE, 64, 3, has_others=True)
    together.restore(alone.state())
    assert numbers_of_others(together).tolist() == [0.0] * OTHERS


def test_each_market_gets_the_newest_return_of_each_other_and_zero_of_one_without_a_candle() -> None:
    markets = [filled(seed) for seed in (1, 2, 3)]
    exchange_numbers([markets[0], None, *markets[1:]])
    first, second, third = (float(market.features[-1, 0]) for market in markets)
    expected = [0.0, second, third], [first, 0.0, third], [first, 0.0, second]
    for market, returns in zip(markets, expected, strict=True):
        assert market.returns_of_others == pytest.approx(returns)


def test_a_market_that_is_alone_at_a_close_reads_nothing_of_an_earlier_one() -> None:
    markets = [filled(seed) for seed in (1, 2)]
    exchange_numbers(markets)
    exchange_numbers([markets[0], None])
    assert numbers_of_others(markets[0]).tolist() == [0.0] * OTHERS
    assert markets[0].returns_of_others is not None and not markets[0].returns_of_others.any()


def test_the_leader_of_many_markets_is_found_and_kept() -> None:
    generator, leaders, last, found = np.random.default_rng(3), Leaders(), 0.0, []
    for _ in range(600):
        of_others = generator.normal(size=40)
        leaders.observe(0.5 * last + generator.normal(), of_others)
        last = float(of_others[33])
        found.append(last in leaders.returns(of_others))
    assert not found[0] and all(found[200:])
    again = Leaders()
    again.restore(leaders.state())
    assert np.array_equal(again.returns(of_others), leaders.returns(of_others))


def test_another_number_of_markets_means_other_places() -> None:
    leaders = Leaders()
    for _ in range(30):
        leaders.observe(1.0, np.ones(5))
    assert leaders.observe(1.0, np.arange(6.0)).tolist() == list(range(MOST_LEADERS))
    assert leaders.returns(np.arange(6.0))[:6].tolist() == np.arange(6.0).tolist()


def test_few_markets_keep_their_places() -> None:
    leaders = Leaders()
    of_others = np.arange(1.0, 6.0)
    assert leaders.observe(1.0, of_others).size == MOST_LEADERS, "all are new"
    assert not any(leaders.observe(1.0, of_others).size for _ in range(20))
    assert leaders.returns(of_others).tolist() == [*of_others.tolist(), *[0.0] * (MOST_LEADERS - 5)]


class Pair:
    """Two markets and their baselines; the second repeats a part of the first one's returns a candle later."""

    def __init__(self) -> None:
        self.histories = [History(MINUTE, 1200, 2, has_others=True) for _ in range(2)]
        self.baselines = [BaselineExperts(history) for history in self.histories]

    def feed(self, candles: list[tuple[Candle, Candle]]) -> None:
        for pair in candles:
            for history, candle in zip(self.histories, pair, strict=True):
                history.append(candle)
            exchange_numbers(self.histories)
            for baselines in self.baselines:
                baselines.observe()

    def quantiles(self) -> FloatArray:
        return np.stack([baselines.quantiles() for baselines in self.baselines])


def pairs(count: int) -> list[tuple[Candle, Candle]]:
    return list(zip(random_walk(count, seed=1), random_walk(count, seed=2), strict=True))


def test_a_restored_state_gives_the_same_forecasts() -> None:
    candles, whole, first, second = pairs(120), Pair(), Pair(), Pair()
    whole.feed(candles)
    first.feed(candles[:80])
    for old, new in zip(first.histories, second.histories, strict=True):
        new.restore(old.state())
    for before, after in zip(first.baselines, second.baselines, strict=True):
        after.restore(before.state())
    second.feed(candles[80:])
    assert np.array_equal(second.quantiles(), whole.quantiles())


def test_what_a_market_learned_alone_continues_among_others() -> None:
    alone = History(MINUTE, 1200, 2)
    baselines, both = BaselineExperts(alone), Pair()
    for candle, _ in pairs(120):
        alone.append(candle)
        baselines.observe()
    both.histories[0].restore(alone.state())
    both.baselines[0].restore(baselines.state())
    assert np.array_equal(both.baselines[0].quantiles()[LAGS], baselines.quantiles()[LAGS])

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.forecast.history import FEATURE_LIMIT, FEATURES, OTHERS, History
from core.forecast.other_markets import exchange_numbers
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

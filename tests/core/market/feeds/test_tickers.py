from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import DAY_MS, Candle
from core.market.feeds.tickers import DayOfPrices, Quote, day_of
from tests.support.loopback_tickers import QUARTER_MS

NOW_MS = 20_000 * DAY_MS


def candles(*prices: float, last_ms: int = NOW_MS, step_ms: int = QUARTER_MS) -> list[Candle]:
    first_ms = last_ms - (len(prices) - 1) * step_ms
    return [Candle(first_ms + i * step_ms, price, price, price, price, 1.0) for i, price in enumerate(prices)]


def test_the_change_is_against_the_price_a_day_before_the_newest_candle() -> None:
    rows = candles(*[100.0] * 5, *[200.0] * 96)
    day = day_of(rows, QUARTER_MS)
    assert day.day_ago == 100.0 and len(day.closes) == 96
    assert Quote(150.0, 0, day).change == pytest.approx(0.5)


@given(st.lists(st.floats(0.01, 1e6), min_size=98, max_size=110))
def test_a_day_has_all_closes_of_the_last_24_hours_and_no_older_one(prices: list[float]) -> None:
    day = day_of(candles(*prices), QUARTER_MS)
    assert day.closes == tuple(prices[-96:])
    assert day.day_ago == prices[-98]  # the last price that was known when the day began


def test_a_market_that_is_younger_than_a_day_has_no_change() -> None:
    day = day_of(candles(*[100.0] * 20), QUARTER_MS)
    assert day == DayOfPrices((100.0,) * 20, None)
    assert Quote(150.0, 0, day).change is None


def test_an_older_price_is_not_used_as_that_of_a_day_ago() -> None:
    old = candles(50.0, last_ms=NOW_MS - DAY_MS - 3 * 3_600_000)
    assert day_of([*old, *candles(*[100.0] * 20)], QUARTER_MS).day_ago is None


def test_invalid_prices_are_skipped() -> None:
    rows = candles(*[100.0] * 100)
    broken = [*rows[:-1], Candle(NOW_MS, math.nan, 1.0, 1.0, math.nan, 1.0)]
    day = day_of(broken, QUARTER_MS)
    assert all(math.isfinite(close) for close in day.closes) and day.day_ago == 100.0
    assert day_of([], QUARTER_MS) == DayOfPrices((), None)
    assert Quote(1.0, 0).change is None

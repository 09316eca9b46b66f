"""Aggregating trades into candles, against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle
from core.market.history.trades import TradeCandles, Trades, TradeTableAggregator
from tests.support.candles import MINUTE, START_MS

Trade = tuple[int, float, float]
trades = st.lists(
    st.tuples(st.integers(0, 400_000), st.floats(1.0, 2.0), st.integers(1, 64).map(lambda n: n / 8)), min_size=1
).map(lambda drawn: sorted(((START_MS + ms, price, amount) for ms, price, amount in drawn), key=lambda t: t[0]))


def _naive(trades: list[Trade]) -> list[Candle]:
    found: dict[int, Candle] = {}
    for time_ms, price, amount in trades:
        opened = MINUTE.open_time_ms(time_ms)
        old = found.get(opened)
        if old is None:
            found[opened] = Candle(opened, price, price, price, price, amount)
        else:
            high, low = max(old.high, price), min(old.low, price)
            found[opened] = Candle(opened, old.open, high, low, price, old.volume + amount)
    return [found[opened] for opened in sorted(found)]


def _aggregate(trades: list[Trade], part: int, ids: list[int] | None = None) -> TradeCandles:
    aggregator = TradeTableAggregator(MINUTE)
    for first in range(0, len(trades), part):
        times, prices, amounts = zip(*trades[first : first + part], strict=True)
        named = None if ids is None else np.array(ids[first : first + part])
        aggregator.add(Trades(np.array(times), np.array(prices), np.array(amounts), named))
    return aggregator.candles()


def _candles(made: TradeCandles) -> list[Candle]:
    columns = made.columns
    return [Candle(int(t), *v) for t, v in zip(columns.open_time_ms, columns.values.T.tolist(), strict=True)]


@given(trades, st.integers(1, 50))
def test_parts_and_whole_equal_a_plain_loop(drawn: list[Trade], part: int) -> None:
    made = _aggregate(drawn, part)
    expected = [candle for candle in _naive(drawn) if candle.open_time_ms not in made.cut_ms]
    assert _candles(made) == expected


@given(trades, st.integers(1, 50))
def test_newest_first_order_gives_the_same_candles(drawn: list[Trade], part: int) -> None:
    times = [trade[0] for trade in drawn]
    if times[0] == times[min(part, len(times)) - 1] or times[-1] == times[-min(part, len(times))]:
        return  # nothing tells which way round such a part is
    assert _candles(_aggregate(drawn[::-1], part)) == _candles(_aggregate(drawn, part))


def test_a_repeated_trade_counts_once() -> None:
    steady = [(START_MS + 500 * index, 1.0 + index / 1000, 1.0) for index in range(240)]
    again = steady + steady[60:120]
    made = _aggregate(again, 100, [*range(240), *range(60, 120)])
    assert _candles(made) == _naive(steady)
    assert made.repeated == 60


@pytest.mark.parametrize("offset_ms", [100, 30_000])
def test_an_incomplete_candle_at_a_file_edge_is_skipped(offset_ms: int) -> None:
    steady = [(START_MS + offset_ms + 500 * index, 1.0, 1.0) for index in range(360)]
    made = _aggregate(steady, 77)
    opens = [candle.open_time_ms for candle in _candles(made)]
    if offset_ms == 100:
        assert opens == [START_MS, START_MS + 60_000, START_MS + 120_000] and made.cut_ms == ()
    else:
        assert opens == [START_MS + 60_000, START_MS + 120_000] and made.cut_ms == (START_MS, START_MS + 180_000)

"""The cost of adding a trade to a candle, as a ratio that is robust against machine load."""

from __future__ import annotations

import time

import pytest

from core.domain.candle import Interval
from core.market.aggregate import Trade, TradeAggregator

pytestmark = pytest.mark.benchmark

MINUTE = Interval.parse("1m")
START_MS = 1_700_000_040_000
TRADES = 20_000
_REPEATS = 3
_ASKED_EVERY = 100
"""The chart takes the forming candle fifty times a second: at 5,000 trades a second, after this many."""


def seconds_per_trade(per_candle: int) -> float:
    """The best of a few runs over the same number of trades, spread over more candles or fewer."""
    spacing_ms = MINUTE.duration_ms / per_candle
    trades = [
        Trade(index, START_MS + int(index * spacing_ms), 100.0 + index % 13 / 8.0, 0.1 + index % 7)
        for index in range(TRADES)
    ]
    return min(_run(trades) for _ in range(_REPEATS)) / TRADES


def _run(trades: list[Trade]) -> float:
    aggregator = TradeAggregator(MINUTE, has_consecutive_ids=True)
    began_s = time.perf_counter()
    for index, trade in enumerate(trades):
        aggregator.add(trade)
        if index % _ASKED_EVERY == 0:
            open_times = aggregator.open_times()
            aggregator.candle(open_times[-1])
            if len(open_times) > 1:
                aggregator.close(open_times[-2])
    return time.perf_counter() - began_s


def test_a_trade_costs_the_same_in_a_full_candle_as_in_an_empty_one() -> None:
    few, many = seconds_per_trade(per_candle=200), seconds_per_trade(per_candle=TRADES)
    share = 5_000 * many
    print(f"\nfull over empty candle: {many / few:.2f}; 5,000 trades a second take {100 * share:.1f} % of one core")
    assert many / few < 5.0

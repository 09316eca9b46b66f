"""An indicator over a million candles, relative to sorting as many numbers on the same core; and the cost of a tick."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from core.indicators.series import IndicatorSeries
from core.indicators.spec import IndicatorSpec
from tests.core.indicators.support import START_MS, USUAL

pytestmark = pytest.mark.benchmark

MOST_SORTS = 12.0
"""Up to six were measured; a loop over candles takes hundreds."""
TICKS = 2_000
MOST_FOR_A_MILLION = 1.5
"""A tick after a million candles takes at most this many times that after a thousand; 0.9 to 1.1 were measured."""


def _candles(count: int, interval: str) -> CandleSeries:
    random, each = np.random.default_rng(11), Interval.parse(interval)
    close = 100.0 * np.exp(np.cumsum(random.normal(0.0, 1e-3, count)))
    times = START_MS + each.duration_ms * np.arange(count, dtype=np.int64)
    values = np.stack((close, close * 1.001, close * 0.999, close, random.gamma(2.0, 10.0, count)))
    return CandleSeries.from_columns(each, times, values)


@pytest.mark.parametrize("interval", ["1m", "1d"])
def test_computing_a_million_candles_costs_a_few_sorts(interval: str) -> None:
    candles = _candles(1_000_000, interval)
    sort_s = min(_core_s(lambda: np.sort(candles.close)) for _ in range(3))
    anchors = (IndicatorSpec.of("vwap", anchor=anchor) for anchor in ("week", "month"))
    best = {
        spec.label: min(_core_s(lambda spec=spec: IndicatorSeries(spec, candles)) for _ in range(3)) / sort_s
        for spec in (*USUAL, *anchors)
    }
    print(f"in sorts of as many prices: {best}")
    assert max(best.values()) < MOST_SORTS, best


@pytest.mark.parametrize("spec", USUAL, ids=str)
def test_tick_cost_does_not_depend_on_history_length(spec: IndicatorSpec) -> None:
    few, many = (IndicatorSeries(spec, _candles(count, "1m")) for count in (1_000, 1_000_000))
    rounds = [(_ticks_s(few), _ticks_s(many)) for _ in range(5)]
    after_few, after_many = (min(seconds) for seconds in zip(*rounds, strict=True))
    print(f"{spec.label}: {after_few / TICKS * 1e6:.1f} and {after_many / TICKS * 1e6:.1f} microseconds")
    assert after_many < MOST_FOR_A_MILLION * after_few


def _ticks_s(indicator: IndicatorSeries) -> float:
    newest = indicator._candles[-1]
    opens_ms = newest.open_time_ms + indicator._candles.interval.duration_ms
    moves = [
        Candle(
            opens_ms, newest.close, newest.close * 1.01, newest.close * 0.99, newest.close * (1.0 + 1e-6 * move), 9.0
        )
        for move in range(TICKS)
    ]
    return _core_s(lambda: [indicator.preview(move) for move in moves])


def _core_s(work: Callable[[], object]) -> float:
    """CPU time, because other work may run at the same time."""
    began = time.thread_time()
    work()
    return time.thread_time() - began

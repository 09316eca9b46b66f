"""The cost of resampling, storing and searching, as ratios that are robust against machine load."""

from __future__ import annotations

import itertools
import random
import string
import time
from collections.abc import Callable

import numpy as np
import pytest

from core.domain.candle import Candle, Interval
from core.market.resample import ResampledSeries
from core.market.symbols import SymbolIndex
from tests.core.market.edits import MINUTE, START_MS, walk

pytestmark = pytest.mark.benchmark

FIVE = Interval.parse("5m")
_REPEATS = 5


def best_s(work: Callable[[], object]) -> float:
    """The best of a few runs: disturbances only make a run longer."""
    spent = []
    for _ in range(_REPEATS):
        began_s = time.perf_counter()
        work()
        spent.append(time.perf_counter() - began_s)
    return min(spent)


def test_a_million_candles_are_resampled_by_columns() -> None:
    few, many = walk(20_000), walk(1_000_000)
    one_by_one_s = best_s(lambda: [Candle(*each) for each in zip(few.open_time_ms, *few.values, strict=True)])
    joined_s = best_s(lambda: ResampledSeries(many, FIVE))
    share = joined_s / (one_by_one_s * len(many) / len(few))
    print(f"\njoining a million candles takes {share:.3f} of making them one by one")
    assert share < 0.2


def test_resampling_one_candle_does_not_depend_on_history_length() -> None:
    """Ten times the levels' share, not a thousand times."""
    costs = {}
    for count in (1_000, 1_000_000):
        series = walk(count)
        series.build_pyramid()
        newest = START_MS + count * MINUTE.duration_ms
        spent = []
        for number in range(60):
            began_s = time.perf_counter()
            series.add(Candle(newest + number * MINUTE.duration_ms, 1.0, 2.0, 0.5, 1.5, 3.0))
            spent.append(time.perf_counter() - began_s)
        costs[count] = float(np.median(spent))
    assert costs[1_000_000] < 20 * costs[1_000], costs


def test_symbol_search_costs_little_more_than_a_scan() -> None:
    letters = random.Random(5)
    bases = ["".join(letters.choices(string.ascii_uppercase, k=letters.randint(2, 6))) for _ in range(1_000)]
    symbols = [f"{base}/{quote}" for base, quote in itertools.product(bases, ("USDT", "BTC", "EUR"))]
    index = SymbolIndex(symbols)
    look_s = best_s(lambda: ["BT" in symbol.replace("/", "") for symbol in symbols])
    search_s = max(best_s(lambda typed=typed: index.search(typed)) for typed in ("b", "bt", "usd", "usdt", "xq"))
    print(f"\na search takes {search_s / look_s:.1f} looks at every symbol")
    assert search_s < 60 * look_s

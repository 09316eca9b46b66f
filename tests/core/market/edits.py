"""Random edits of a series, for properties that hold after each of them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries

MINUTE = Interval.parse("1m")
START_MS = 1_606_780_800_000

Edit = list[Candle]
"""One candle is added by `add`, several by `extend`."""


@st.composite
def candles(draw: st.DrawFn, minutes: int = 70) -> Candle:
    """A candle at one of so many minutes; few of them, so that edits often meet."""
    prices = sorted(draw(st.lists(st.floats(1e-8, 1e9), min_size=4, max_size=4)))
    opened, closed = draw(st.permutations(prices[1:3]))
    minute = draw(st.integers(0, minutes - 1))
    volume = draw(st.floats(0, 1e6))
    return Candle(START_MS + minute * MINUTE.duration_ms, opened, prices[3], prices[0], closed, volume)


def edits(minutes: int = 70, at_most: int = 25) -> st.SearchStrategy[list[Edit]]:
    """Appends, replacements and insertions in any order, one by one and in batches."""
    one = candles(minutes).map(lambda candle: [candle])
    return st.lists(one | st.lists(candles(minutes), max_size=40), max_size=at_most)


def apply(series: CandleSeries, edit: Edit) -> None:
    if len(edit) == 1:
        series.add(edit[0])
    else:
        series.extend(edit)


def walk(count: int, seed: int = 3, interval: Interval = MINUTE) -> CandleSeries:
    """A random walk without a hole, made of columns."""
    random = np.random.default_rng(seed)
    close = 20_000 + np.cumsum(random.normal(0, 8, count))
    opened = np.concatenate((close[:1], close[:-1]))
    reach = random.uniform(0.5, 12, (2, count))
    values = np.stack(
        (
            opened,
            np.maximum(opened, close) + reach[0],
            np.minimum(opened, close) - reach[1],
            close,
            random.uniform(1, 300, count),
        )
    )
    times = START_MS + np.arange(count, dtype=np.int64) * interval.duration_ms
    return CandleSeries.from_columns(interval, times, values)

"""Validation of whole columns against the candle validator."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle
from core.domain.candle_faults import Validator
from core.market.history.column_checks import check_columns
from core.storage.candles import StoredColumns
from tests.support.candles import MINUTE, START_MS

prices = st.one_of(
    st.sampled_from([1.0, 1.5, 9.9, 10.0, 30.0, 120.0, 1500.0]),
    st.sampled_from([0.0, -1.0, math.nan, 1e-310, 1e-9, 1e19]),
)
volumes = st.sampled_from([0.0, 5.0, -1.0, math.inf, 1e25, 1e308])
moves = st.sampled_from([60_000, 60_000, 60_000, 120_000, 61_000])
rows = st.tuples(
    moves, prices, prices, st.sampled_from([1.0, 1.0, 0.5]), st.sampled_from([0.0, 5.0, -1.0, math.inf, 1e25, 1e308])
)
starts = st.sampled_from([START_MS, 1_600_000_020, 4_102_444_800_000 - 60_000, -60_000])


def _candle(time_ms: int, opened: float, close: float, stretch: float, volume: float) -> Candle:
    return Candle(time_ms, opened, max(opened, close) * stretch, min(opened, close), close, volume)


@given(starts, st.lists(rows, min_size=1, max_size=30))
def test_columns_are_validated_like_candles(start_ms: int, drawn: list[tuple[int, float, float, float, float]]) -> None:
    times = start_ms + np.cumsum([row[0] for row in drawn])
    candles = [_candle(int(time), *row[1:]) for time, row in zip(times, drawn, strict=True)]
    validator = Validator(MINUTE, 0)
    judged = [(candle, validator.check(candle)) for candle in candles]
    expected = [candle for candle, rejection in judged if rejection is None]
    values = np.array([(c.open, c.high, c.low, c.close, c.volume) for c in candles]).T
    checked = check_columns(StoredColumns(times.astype(np.int64), values), MINUTE, 0)
    kept = [Candle(int(t), *v) for t, v in zip(checked.columns.open_time_ms, checked.columns.values.T, strict=True)]
    assert kept == expected
    assert checked.rejected == Counter(rejection.reason for _, rejection in judged if rejection is not None)


def test_already_accepted_candles_may_jump() -> None:
    closes = np.array([1.0, 50.0, 1.0, 60.0])
    columns = StoredColumns(START_MS + 60_000 * np.arange(4), np.stack([closes] * 4 + [np.ones(4)]))
    assert len(check_columns(columns, MINUTE, 0).columns) == 2
    assert len(check_columns(columns, MINUTE, 0, trusts_jumps=True).columns) == 4

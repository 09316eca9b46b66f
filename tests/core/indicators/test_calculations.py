"""What the arithmetic costs: how far it looks back, how far a change reaches. How long it takes: tests/benchmarks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from core.indicators.calculations import Calculation, calculation_for
from core.indicators.columns import Columns
from core.indicators.recursion import BLOCK
from core.indicators.spec import IndicatorSpec
from core.market.candle import Candle
from tests.core.indicators.support import SHORT, START_MS, USUAL, same

_HOUR_MS = 3_600_000


def columns_of(count: int, interval_ms: int) -> Columns:
    generator = np.random.default_rng(11)
    close = 100.0 * np.exp(np.cumsum(generator.normal(0.0, 1e-3, count)))
    times = START_MS + interval_ms * np.arange(count, dtype=np.int64)
    return Columns(times, close, close * 1.001, close * 0.999, close, generator.gamma(2.0, 10.0, count), math.nan)


def table_of(calculation: Calculation, columns: Columns) -> NDArray[np.float64]:
    table = np.empty((calculation.rows, columns.close.size))
    calculation.load(columns, table)
    calculation.compute(table, 0, columns.close.size)
    return table


def _last(columns: Columns) -> Candle:
    prices = (float(column[-1]) for column in (columns.open, columns.high, columns.low, columns.close))
    return Candle(int(columns.open_time_ms[-1]), *prices, float(columns.volume[-1]))


@pytest.mark.parametrize("spec", [*USUAL, *SHORT], ids=str)
@pytest.mark.parametrize("count", [1_000, 1_017])
def test_one_candle_more_looks_back_on_few(spec: IndicatorSpec, count: int) -> None:
    """What lies further back than a block or a period is spoilt, and the newest values are as they should be."""
    calculation = calculation_for(spec)
    columns = columns_of(count, _HOUR_MS)
    whole = table_of(calculation, columns)
    spoilt = whole.copy()
    longest = max([BLOCK, *(int(value) for value in spec.values if not isinstance(value, str))])
    spoilt[:, : count - longest - 1] = np.nan
    calculation.load(Columns.of_candle(_last(columns), float(columns.close[-2])), spoilt[:, -1:])
    calculation.compute(spoilt, count - 1, count)
    assert same(spoilt[:, -1], whole[:, -1])


@pytest.mark.parametrize("spec", [*USUAL, *SHORT], ids=str)
def test_a_replaced_candle_changes_nothing_beyond_its_reach(spec: IndicatorSpec) -> None:
    calculation = calculation_for(spec)
    before = table_of(calculation, columns_of(1_000, _HOUR_MS))[-calculation.outputs :]
    for changed in (0, 1, 300, 511, 998, 999):
        columns = columns_of(1_000, _HOUR_MS)
        reach = calculation.reach(columns.open_time_ms, changed + 1)
        columns.high[changed] *= 1.5
        columns.close[changed] *= 1.2
        columns.volume[changed] *= 3.0
        after = table_of(calculation, columns)[-calculation.outputs :]
        assert reach > changed and same(after[:, reach:], before[:, reach:]), changed
        if calculation.first_defined < reach < 1_000:  # and not further than need be
            assert not same(after[:, reach - 1], before[:, reach - 1]), changed

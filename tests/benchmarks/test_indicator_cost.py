"""What an indicator over a million candles takes, in sorts of as many numbers on the same core."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from core.indicators.calculations import calculation_for
from core.indicators.spec import IndicatorKind, IndicatorSpec
from tests.core.indicators.support import USUAL
from tests.core.indicators.test_calculations import columns_of, table_of

pytestmark = pytest.mark.benchmark

MOST_SORTS = 12.0
"""Two to six were seen; a loop over candles takes hundreds."""


@pytest.mark.parametrize("interval_ms", [60_000, 86_400_000])
def test_a_million_candles_take_no_longer_than_sorting_them_a_few_times(interval_ms: int) -> None:
    columns = columns_of(1_000_000, interval_ms)
    sort_s = min(_core_s(lambda: np.sort(columns.close)) for _ in range(3))
    anchors = (IndicatorSpec.of(IndicatorKind.VWAP, anchor=anchor) for anchor in ("week", "month"))
    best = {
        spec: min(_core_s(lambda spec=spec: table_of(calculation_for(spec), columns)) for _ in range(3)) / sort_s
        for spec in (*USUAL, *anchors)
    }
    print(f"in sorts of as many prices: {best}")
    assert max(best.values()) < MOST_SORTS, best


def _core_s(work: Callable[[], object]) -> float:
    """Of a core's time, because other work may go on beside it."""
    began = time.thread_time()
    work()
    return time.thread_time() - began

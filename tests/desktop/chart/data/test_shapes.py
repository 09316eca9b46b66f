"""Averaged candles against a plain loop over the whole series."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle
from core.domain.candle_series import CandleSeries
from desktop.chart.data.columns import columns
from desktop.chart.data.shapes import shaped, shaped_forming
from desktop.chart.style import CandleStyle
from tests.desktop.chart.support import MINUTE_MS, random_series

ASHI = CandleStyle.HEIKIN_ASHI


def plain(candles: list[Candle]) -> list[tuple[float, float, float, float]]:
    found: list[tuple[float, float, float, float]] = []
    for each in candles:
        close = (each.open + each.high + each.low + each.close) / 4
        opened = (found[-1][0] + found[-1][3]) / 2 if found else (each.open + each.close) / 2
        found.append((opened, max(each.high, opened, close), min(each.low, opened, close), close))
    return found


@given(st.integers(0, 50), st.integers(1, 300), st.integers(0, 299))
def test_averaged_candles_equal_a_plain_loop_over_all(seed: int, count: int, first: int) -> None:
    series = random_series(count, seed)
    first = min(first, count - 1)
    drawn = shaped(series, first, count, 1, ASHI)
    wanted = plain(list(series))[first:]
    got = list(zip(drawn.open, drawn.high, drawn.low, drawn.close, strict=True))
    assert np.allclose(got, wanted, rtol=1e-12)
    assert list(drawn.index) == list(range(first, count))


@given(st.integers(0, 20), st.integers(0, 100))
def test_the_forming_candle_goes_on_from_the_closed_ones(seed: int, count: int) -> None:
    series = random_series(count, seed)
    before = series[-1].close if count else 100.0
    time = series[-1].open_time_ms + MINUTE_MS if count else 0
    forming = Candle(time, before, before + 3, before - 2, before + 1, 5.0)
    drawn = shaped_forming(series, forming, ASHI)
    wanted = plain([*series, forming])[-1]
    assert (drawn.open[0], drawn.high[0], drawn.low[0], drawn.close[0]) == pytest.approx(wanted)
    assert drawn.index[0] == count


@pytest.mark.parametrize("style", [style for style in CandleStyle if style is not ASHI])
def test_other_styles_draw_the_candles_as_they_are(style: CandleStyle) -> None:
    series = random_series(100)
    drawn, plain_columns = shaped(series, 10, 90, 4, style), columns(series, 10, 90, 4)
    assert np.array_equal(drawn.open, plain_columns.open) and np.array_equal(drawn.close, plain_columns.close)


def test_grouped_candles_are_averaged_as_groups_and_do_not_shimmer() -> None:
    series = random_series(4_000)
    one, other = shaped(series, 1_000, 3_000, 8, ASHI), shaped(series, 1_500, 3_000, 8, ASHI)
    shared = len(other.index)
    assert np.allclose(one.open[-shared:], other.open, rtol=1e-12)


def test_an_empty_series_has_a_forming_candle_still() -> None:
    forming = Candle(0, 10.0, 12.0, 9.0, 11.0, 1.0)
    empty = CandleSeries(random_series(1).interval)
    assert shaped_forming(empty, forming, CandleStyle.CANDLES).open[0] == 10.0
    assert shaped_forming(empty, forming, ASHI).open[0] == 10.5

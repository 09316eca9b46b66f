"""Ghosts at a coarser interval are merged like candles, and only if the whole candle is known or forecast."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle, Interval
from core.domain.events import QUANTILE_LEVELS, Ghost
from desktop.chart.data.ghosts import joined

MINUTE_MS = 60_000
PRICES = st.floats(1.0, 1000.0)


@st.composite
def forecasts(draw: st.DrawFn) -> list[Ghost]:
    """Consecutive minutes, starting anywhere in an hour."""
    first, count = draw(st.integers(0, 59)), draw(st.integers(1, 20))
    ghosts = []
    for number in range(first, first + count):
        low, opened, close, high = sorted(draw(st.tuples(PRICES, PRICES, PRICES, PRICES)))
        quantiles = tuple(sorted(draw(st.tuples(*[PRICES] * len(QUANTILE_LEVELS)))))
        ghosts.append(Ghost(number * MINUTE_MS, opened, high, low, close, draw(st.floats(0, 10)), quantiles))
    return ghosts


@given(forecasts(), st.sampled_from([2, 5, 15, 60]))
def test_each_is_the_candle_of_its_parts(ghosts: list[Ghost], factor: int) -> None:
    shown = Interval(factor * MINUTE_MS)
    for whole in joined(ghosts, MINUTE_MS, shown, None):
        parts = [each for each in ghosts if shown.open_time_ms(each.open_time_ms) == whole.open_time_ms]
        assert len(parts) == factor, "no candle of which a part is not forecast"
        assert (whole.open, whole.close) == (parts[0].open, parts[-1].close)
        assert (whole.high, whole.low) == (max(each.high for each in parts), min(each.low for each in parts))
        assert whole.close_quantiles == parts[-1].close_quantiles
        assert whole.volume == sum(each.volume for each in parts)


@given(forecasts(), st.sampled_from([5, 15]), PRICES)
def test_the_candle_that_has_begun_gives_what_lies_before_the_first(
    ghosts: list[Ghost], factor: int, price: float
) -> None:
    shown = Interval(factor * MINUTE_MS)
    opens = shown.open_time_ms(ghosts[0].open_time_ms)
    begun = Candle(opens, price, price + 1, price - 1, price, 5.0)
    found = {each.open_time_ms: each for each in joined(ghosts, MINUTE_MS, shown, begun)}
    without = {each.open_time_ms: each for each in joined(ghosts, MINUTE_MS, shown, None)}
    assert {when: each for when, each in found.items() if when != opens or opens in without} == without
    parts = [each for each in ghosts if shown.open_time_ms(each.open_time_ms) == opens]
    reaches_end = parts[-1].open_time_ms + MINUTE_MS == shown.close_time_ms(opens)
    assert (opens in found) == reaches_end
    if reaches_end and opens not in without:
        assert found[opens].open == price and found[opens].volume == 0.0
        assert found[opens].high == max(price + 1, *(each.high for each in parts))
    other = replace(begun, open_time_ms=opens - shown.duration_ms)
    assert joined(ghosts, MINUTE_MS, shown, other) == joined(ghosts, MINUTE_MS, shown, None)

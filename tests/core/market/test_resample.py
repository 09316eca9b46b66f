"""Resampling against pandas after any edits, and forming candles."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from core.market.resample import ResampledSeries
from tests.core.market.edits import MINUTE, START_MS, Edit, apply, candles, edits, walk

COARSER = [Interval.parse(text) for text in ("2m", "5m", "15m", "1h", "4h", "1d")]
FIVE = Interval.parse("5m")


def by_pandas(source: CandleSeries, interval: Interval) -> list[Candle]:
    """Every bucket that holds a candle, whether over or not."""
    frame = pd.DataFrame(
        {name: getattr(source, name) for name in ("open", "high", "low", "close", "volume")},
        index=pd.to_datetime(source.open_time_ms, unit="ms", utc=True),
    )
    rules = {"open": "first", "high": "max", "low": "min", "close": "last", "volume": "sum"}
    joined = frame.resample(f"{interval.duration_ms}ms", origin="epoch").agg(rules).dropna()
    times = joined.index.as_unit("ms").asi8
    return [Candle(int(time_ms), *map(float, row)) for time_ms, row in zip(times, joined.to_numpy(), strict=True)]


def assert_same(found: list[Candle], expected: list[Candle]) -> None:
    """The same but for the last bits of the volume, which pandas sums up in another order."""
    assert [replace(candle, volume=0.0) for candle in found] == [replace(candle, volume=0.0) for candle in expected]
    assert [candle.volume for candle in found] == pytest.approx([candle.volume for candle in expected])


def whole(resampled: ResampledSeries) -> list[Candle]:
    pending = resampled.forming(None)
    return [*resampled.series, *([] if pending is None else [pending])]


def minute(number: int, close: float = 1.5, volume: float = 3.0) -> Candle:
    return Candle(START_MS + number * MINUTE.duration_ms, 1.0, max(2.0, close), 0.5, close, volume)


@given(edits(minutes=200), st.sampled_from(COARSER), st.data())
@settings(max_examples=40)
def test_resampling_equals_pandas_after_any_edits(changes: list[Edit], interval: Interval, data: st.DataObject) -> None:
    source = CandleSeries(MINUTE)
    resampled = ResampledSeries(source, interval)
    for change in changes:
        apply(source, change)
        if data.draw(st.booleans()):
            resampled.sync()
            assert_same(whole(resampled), by_pandas(source, interval))
    resampled.sync()
    assert_same(whole(resampled), by_pandas(source, interval))
    afresh = ResampledSeries(source, interval)
    assert whole(resampled) == whole(afresh), "to the last bit, whatever the order was"
    assert len(resampled.series) == len(afresh.series)


@given(edits(minutes=60), candles(minutes=70), st.sampled_from(COARSER[:4]))
@settings(max_examples=50)
def test_the_forming_candle_is_joined_as_if_it_had_closed(
    changes: list[Edit], fine_forming: Candle, interval: Interval
) -> None:
    source = CandleSeries(MINUTE)
    for change in changes:
        apply(source, change)
    resampled = ResampledSeries(source, interval)
    forming = resampled.forming(fine_forming)
    if len(source) and fine_forming.open_time_ms <= source[-1].open_time_ms:
        assert forming == resampled.forming(None), "it has closed: it is no news"
        return
    source.add(fine_forming)
    expected = by_pandas(source, interval)
    assert forming is not None
    assert_same([*resampled.series, forming], expected)


def test_the_forming_candle_may_have_the_highest_and_the_lowest_price() -> None:
    source = CandleSeries(MINUTE)
    source.add(minute(0))
    newest = Candle(START_MS + MINUTE.duration_ms, 1.5, 4.0, 0.25, 1.0, 2.0)
    assert ResampledSeries(source, FIVE).forming(newest) == Candle(START_MS, 1.0, 4.0, 0.25, 1.0, 5.0)


@given(edits(minutes=60), st.integers(0, 70), st.sampled_from(COARSER[:4]))
@settings(max_examples=50)
def test_a_past_forming_candle_uses_only_candles_closed_by_then(
    changes: list[Edit], minutes: int, interval: Interval
) -> None:
    source = CandleSeries(MINUTE)
    for change in changes:
        apply(source, change)
    time_ms = START_MS + minutes * MINUTE.duration_ms
    closed, open_at = CandleSeries(MINUTE), ResampledSeries(source, interval).open_at(time_ms)
    closed.extend(each for each in source if each.open_time_ms + MINUTE.duration_ms <= time_ms)
    expected = [each for each in by_pandas(closed, interval) if interval.close_time_ms(each.open_time_ms) > time_ms]
    assert_same([] if open_at is None else [open_at], expected)
    assert ResampledSeries(source, MINUTE).open_at(time_ms) is None


def test_the_newest_bucket_closes_with_its_last_fine_candle() -> None:
    source = CandleSeries(MINUTE)
    resampled = ResampledSeries(source, FIVE)
    for number in range(4):
        source.add(minute(number))
        resampled.sync()
        assert len(resampled.series) == 0
        assert resampled.forming(None) == replace(minute(0), volume=3.0 * (number + 1))
    source.add(minute(4, close=9.0))
    resampled.sync()
    assert list(resampled.series) == [Candle(START_MS, 1.0, 9.0, 0.5, 9.0, 15.0)]
    assert resampled.forming(None) is None


def test_a_bucket_without_its_last_candle_closes_with_a_later_one() -> None:
    for is_closed in (True, False):
        source = CandleSeries(MINUTE)
        resampled = ResampledSeries(source, FIVE)
        source.add(minute(2))
        resampled.sync()
        if is_closed:
            source.add(minute(6))
            resampled.sync()
        forming = resampled.forming(None if is_closed else minute(6))
        assert list(resampled.series) == [replace(minute(2), open_time_ms=START_MS)]
        assert forming == replace(minute(6), open_time_ms=START_MS + FIVE.duration_ms)


def test_a_bucket_closed_by_a_forming_candle_accepts_late_candles() -> None:
    source = CandleSeries(MINUTE)
    resampled = ResampledSeries(source, FIVE)
    source.extend([minute(0), minute(1)])
    resampled.sync()
    resampled.forming(minute(5))
    assert resampled.series[-1].volume == 6.0
    source.add(minute(4, close=1.25))
    resampled.sync()
    assert resampled.series[-1] == Candle(START_MS, 1.0, 2.0, 0.5, 1.25, 9.0)
    assert resampled.forming(minute(5)) == minute(5)
    assert len(resampled.series) == 1


def test_a_bucket_without_candles_is_missing() -> None:
    source = CandleSeries(MINUTE)
    source.extend([minute(0), minute(11), minute(14)])
    resampled = ResampledSeries(source, FIVE)
    assert [candle.open_time_ms - START_MS for candle in resampled.series] == [0, 2 * FIVE.duration_ms]


def test_a_change_updates_only_its_bucket() -> None:
    source = walk(3_000)
    resampled = ResampledSeries(source, FIVE)
    version = resampled.series.version
    source.add(replace(source[1_001], close=7.0, low=7.0))
    resampled.sync()
    bucket = FIVE.open_time_ms(source[1_001].open_time_ms)
    assert resampled.series.changes_since(version) == [(bucket, bucket)]
    assert resampled.series[200].low == 7.0


def test_an_empty_update_changes_nothing() -> None:
    resampled = ResampledSeries(walk(3_000), FIVE)
    version = resampled.series.version
    resampled.sync()
    assert resampled.series.version == version


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_forming_candle_without_numbers_is_skipped(bad: float) -> None:
    source = CandleSeries(MINUTE)
    source.add(minute(0))
    resampled = ResampledSeries(source, FIVE)
    assert resampled.forming(replace(minute(1), high=bad)) == minute(0)


def test_at_the_same_interval_the_result_is_the_source() -> None:
    source = walk(10)
    same = ResampledSeries(source, MINUTE)
    source.add(minute(20))
    same.sync()
    assert same.series is source and same.forming(minute(21)) == minute(21)


@pytest.mark.parametrize("text", ["30s", "90s"])
def test_an_interval_that_is_no_multiple_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"candles of 1m cannot be joined to candles of {text}"):
        ResampledSeries(CandleSeries(MINUTE), Interval.parse(text))


def test_coarse_candles_can_be_resampled_again() -> None:
    source = walk(10_000)
    once = ResampledSeries(source, Interval.parse("4h"))
    twice = ResampledSeries(ResampledSeries(source, FIVE).series, Interval.parse("4h"))
    assert_same(list(twice.series), list(once.series))

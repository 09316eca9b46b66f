"""The regime track against a plain table: the view, in groups, from record and events."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.events import ForecastMade, ForecastMode
from core.domain.regimes import Regime, RegimeProbabilities
from core.storage.records import ConditionRows
from desktop.chart.data.regimes import RegimeTrack
from tests.desktop.chart.past_support import conditions_at, open_recorded
from tests.desktop.chart.support import MINUTE_MS, random_series

SERIES = random_series(300, skip=frozenset({40, 41, 120}))


def made_at(time_ms: int) -> ForecastMade:
    conditions, forecast = conditions_at(time_ms), forecast_at(time_ms)
    made = None if np.isnan(forecast[0]) else RegimeProbabilities(*forecast)
    return ForecastMade("run", time_ms, time_ms, time_ms, ForecastMode.LIVE, 1, None, 1.0, (), conditions, made)


def known_at(time_ms: int) -> list[float]:
    regime = conditions_at(time_ms)
    return [regime.of(each) for each in Regime]


def forecast_at(time_ms: int) -> list[float]:
    """What the model forecast at this candle: for each third one nothing."""
    return [np.nan] * 3 if time_ms // MINUTE_MS % 3 == 0 else known_at(time_ms + MINUTE_MS)


class Table:
    """A record without a database, of the candles first..stop - 1."""

    def __init__(self, first: int, stop: int) -> None:
        self.times = SERIES.open_time_ms[first:stop].copy()

    def conditions(self, before_ms: int, most: int) -> ConditionRows:
        times = self.times[self.times < before_ms][-most:]
        both = ([of(int(time)) for time in times] for of in (known_at, forecast_at))
        return ConditionRows(times, *(np.array(each).reshape(-1, 3) for each in both))


def read_all(track: RegimeTrack) -> None:
    while track.load_next():
        pass


@settings(max_examples=60, deadline=None)
@given(
    recorded=st.tuples(st.integers(0, 297), st.integers(0, 297)).map(sorted),
    received=st.integers(0, 297),
    view=st.tuples(st.integers(0, 297), st.integers(0, 297)).map(sorted),
    group=st.sampled_from([1, 2, 8, 64]),
)
def test_groups_in_view_have_the_means_of_what_is_known(
    recorded: list[int], received: int, view: list[int], group: int
) -> None:
    """Recorded: these; received as events: those after them up to `received`."""
    (low, high), (first, stop) = recorded, view
    track = RegimeTrack(block=16)
    track.begin(Table(low, high))
    for index in range(high, max(received, high)):
        track.add(made_at(int(SERIES.open_time_ms[index])))
    track.view(SERIES, first, stop, group)
    read_all(track)
    found = track.view(SERIES, first, stop, group)
    known = range(low, max(received, high))
    expected, forecasts = {}, []
    for start in range(first // group * group, stop, group):
        own = [index for index in range(start, min(start + group, len(SERIES))) if index in known]
        if own:
            times = [int(SERIES.open_time_ms[index]) for index in own]
            expected[start] = np.mean([known_at(time) for time in times], axis=0)
            given = [each for time in times if not np.isnan((each := forecast_at(time))[0])]
            forecasts.append(np.mean(given, axis=0) if given else [np.nan] * 3)
    assert found.first.tolist() == list(expected)
    assert np.allclose(found.means, list(expected.values()) or np.empty((0, 3)))
    assert np.allclose(found.forecasts, forecasts or np.empty((0, 3)), equal_nan=True)


def test_no_more_is_read_than_is_in_view() -> None:
    series = random_series(5_000)

    class Counted:
        reads = 0

        def conditions(self, before_ms: int, most: int) -> ConditionRows:
            self.reads += 1
            times = series.open_time_ms[series.open_time_ms < before_ms][-most:]
            return ConditionRows(times, *np.full((2, len(times), 3), 1 / 3))

    reader, track, calls = Counted(), RegimeTrack(), []
    track.begin(reader)
    track.on_wanted = lambda: calls.append(1)
    track.view(series, 4_900, 5_000, 1)
    assert calls == [1] and reader.reads == 0 and track.is_waiting, "asking reads nothing"
    read_all(track)
    assert reader.reads == 1 and not track.is_waiting
    track.view(series, 4_800, 4_900, 1)
    assert calls == [1], "it came with the first block"
    track.view(series, 0, 100, 1)
    read_all(track)
    assert len(track.view(series, 0, 5_000, 1)) == 5_000
    reads = reader.reads
    track.view(series, 0, 100, 1)
    assert reader.reads == reads and not track.is_waiting


def test_what_the_real_record_holds(tmp_path: Path) -> None:
    with open_recorded(tmp_path, SERIES, 200) as (_, record):
        track = RegimeTrack()
        track.begin(record.reader)
        assert track.at(int(SERIES.open_time_ms[150])) is None and track.is_waiting
        read_all(track)
        for index in (0, 150, 199):
            found = track.at(int(SERIES.open_time_ms[index]))
            assert found is not None
            known = known_at(int(SERIES.open_time_ms[index]))
            assert [found.of(each) for each in Regime] == pytest.approx(known)
        assert track.at(int(SERIES.open_time_ms[200])) is None and track.at(17) is None


def test_an_event_that_comes_again_changes_nothing() -> None:
    track = RegimeTrack()
    for index in (3, 4, 5, 4, 3):
        track.add(made_at(int(SERIES.open_time_ms[index])))
    version = track.version
    track.add(made_at(int(SERIES.open_time_ms[5])))
    assert track.version == version
    assert track.view(SERIES, 0, 10, 1).first.tolist() == [3, 4, 5]


def test_the_model_forecast_is_found_by_the_candle_that_it_was_made_at() -> None:
    track = RegimeTrack()
    assert not track.has_forecasts
    made = [made_at(int(time_ms)) for time_ms in SERIES.open_time_ms[:3]]
    for each in made:
        track.add(each)
    for each in made:
        found = track.next_after(each.origin_open_time_ms)
        assert (found is None) == (each.next_regime is None)
        if found is not None and each.next_regime is not None:
            assert [found.of(regime) for regime in Regime] == pytest.approx([each.next_regime.of(of) for of in Regime])
    assert track.has_forecasts and track.next_after(17) is None


def test_a_forecast_of_before_there_were_regimes_is_passed_over() -> None:
    track = RegimeTrack()
    track.add(ForecastMade("run", 60_000, 0, 0, ForecastMode.LIVE, 1, None, 1.0, ()))
    assert track.at(60_000) is None


def test_another_run_has_its_own() -> None:
    track = RegimeTrack()
    track.add(made_at(int(SERIES.open_time_ms[3])))
    track.begin(None)
    assert len(track.view(SERIES, 0, 10, 1)) == 0 and not track.is_waiting


def test_many_events_are_all_kept() -> None:
    track, long = RegimeTrack(), random_series(5_000)
    for time_ms in long.open_time_ms:
        track.add(made_at(int(time_ms)))
    found = track.view(long, 0, len(long), 1)
    assert len(found) == 5_000
    assert found.means[4_321].tolist() == pytest.approx(known_at(int(long.open_time_ms[4_321])))

"""When candles open: ends by their phase, clocks with summer time, and days at their date."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import DAY_MS, Interval
from core.market.history.opening_times import Times, days_at_date, ends_short_ms, is_on, is_usual, phases_of

DAY, HOUR_MS = Interval.parse("1d"), 3_600_000
NAMES = ["1m", "5m", "15m", "1h", "2h", "4h", "12h", "1d"]
MONDAY_MS = 1_672_617_600_000
"""2023-01-02."""
ZONES = ["America/New_York", "Europe/Berlin", "Europe/Athens", "America/Santiago", "Australia/Sydney", "Asia/Tokyo"]


def opens(interval: Interval, count: int = 40) -> Times:
    return MONDAY_MS + interval.duration_ms * np.arange(count)


def walls(hours: int, zone: str, first_hour: int = 0, days: int = 730) -> Times:
    """Each `hours` of the zone's clock for two years, each moment once."""
    first, tz = datetime(2023, 1, 2, first_hour), ZoneInfo(zone)  # noqa: DTZ001 - wall times
    times = [first + timedelta(hours=hours * step) for step in range(24 * days // hours)]
    return np.unique(np.array([round(time.replace(tzinfo=tz).timestamp() * 1000) for time in times]))


@pytest.mark.parametrize("short_ms", [1, 1_000])
@pytest.mark.parametrize("name", NAMES)
def test_a_moment_before_the_next_candle_is_an_end(name: str, short_ms: int) -> None:
    interval = Interval.parse(name)
    assert ends_short_ms(opens(interval) - short_ms, interval) == short_ms


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("later_ms", [0, 1, 500, 1_001, 30_000])
def test_other_phases_are_beginnings(name: str, later_ms: int) -> None:
    interval = Interval.parse(name)
    assert ends_short_ms(opens(interval) + later_ms, interval) is None


def test_a_few_ends_among_beginnings_move_nothing() -> None:
    minute = Interval.parse("1m")
    assert ends_short_ms(opens(minute) - np.where(np.arange(40) % 5 == 0, 1, 0), minute) is None


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("hours", [2, 4, 6, 12, 24])
@given(first_hour=st.integers(0, 1))
def test_candles_of_a_clock_with_summer_time_all_lie_on_the_grid(zone: str, hours: int, first_hour: int) -> None:
    times, interval = walls(hours, zone, first_hour), Interval(hours * HOUR_MS)
    phases = phases_of(times, interval)
    assert is_on(times, interval, phases).all()
    assert len(phases) == (1 if zone == "Asia/Tokyo" else 2)


@pytest.mark.parametrize("shift_ms", [-HOUR_MS, HOUR_MS, 1_800_000])
@given(place=st.integers(1, 350), length=st.integers(1, 2))
def test_a_stray_row_is_no_season(shift_ms: int, place: int, length: int) -> None:
    interval = Interval(4 * HOUR_MS)
    times = opens(interval, 360)
    times[place : place + length] += shift_ms
    found = is_on(times, interval, phases_of(times, interval))
    assert np.flatnonzero(~found).tolist() == list(range(place, place + length))


def test_the_clock_changes_at_most_twice_a_year() -> None:
    interval = Interval(4 * HOUR_MS)
    times = opens(interval, 360)
    for first in range(10, 350, 40):
        times[first : first + 20] += HOUR_MS
    assert len(phases_of(times, interval)) == 1


@pytest.mark.parametrize("name", ["1m", "15m", "1h"])
def test_short_candles_have_one_phase(name: str) -> None:
    interval = Interval.parse(name)
    times = np.concatenate([opens(interval, 300), opens(interval, 300) + 10**9 + interval.duration_ms // 2])
    assert len(phases_of(times, interval)) == 1


@pytest.mark.parametrize("zone", ZONES)
def test_midnights_with_an_offset_are_put_at_their_date(zone: str) -> None:
    times = walls(24, zone)
    dates = MONDAY_MS + DAY_MS * np.arange(times.size)
    assert days_at_date(times, dates - times, DAY, are_days=False, has_zone=True).tolist() == dates.tolist()


@pytest.mark.parametrize("zone", [zone for zone in ZONES if zone not in ("Asia/Tokyo", "Australia/Sydney")])
def test_midnights_as_moments_are_put_at_their_date_where_the_seasons_show_it(zone: str) -> None:
    times = walls(24, zone)
    found = days_at_date(times, np.zeros_like(times), DAY, are_days=False, has_zone=True)
    assert found.tolist() == (MONDAY_MS + DAY_MS * np.arange(times.size)).tolist()


@pytest.mark.parametrize(
    ("zone", "hour"), [("America/New_York", 17), ("America/Chicago", 17), ("Australia/Sydney", 10)]
)
def test_a_trading_day_that_opens_in_the_evening_before_is_put_at_its_date(zone: str, hour: int) -> None:
    times = walls(24, zone, hour)
    first = date(2023, 1, 2) if zone == "Australia/Sydney" else date(2023, 1, 3)
    found = days_at_date(times, np.zeros_like(times), DAY, are_days=False, has_zone=True)
    assert datetime.fromtimestamp(int(found[0]) / 1000, UTC).date() == first
    assert (np.diff(found) == DAY_MS).all()


def test_moments_of_days_with_one_phase_stay() -> None:
    times = opens(DAY) + 8 * HOUR_MS
    assert days_at_date(times, np.zeros_like(times), DAY, are_days=False, has_zone=True).tolist() == times.tolist()


def test_sessions_without_a_zone_are_put_at_their_date_but_days_with_weekends_stay() -> None:
    times = opens(DAY) + 16 * HOUR_MS
    sessions = times[np.arange(40) % 7 < 5]
    none = np.zeros_like(times)
    assert (days_at_date(sessions, none[: sessions.size], DAY, are_days=False, has_zone=False) % DAY_MS == 0).all()
    assert days_at_date(times, none, DAY, are_days=False, has_zone=False).tolist() == times.tolist()


@given(st.integers(1, 10**6))
def test_usual_intervals_divide_a_day_or_are_days(seconds: int) -> None:
    day = 86_400
    assert is_usual(Interval(1000 * seconds)) == (day % seconds == 0 or seconds % day == 0)


@pytest.mark.parametrize("short_ms", [1, 1_000])
@pytest.mark.parametrize("name", ["3d", "1w"])
def test_whole_days_end_by_their_phase_too(name: str, short_ms: int) -> None:
    """Their grid does not begin at the epoch, but at some midnight."""
    assert ends_short_ms(opens(Interval.parse(name)) - short_ms, Interval.parse(name)) == short_ms


@pytest.mark.parametrize("zone", ["America/New_York", "Europe/Berlin"])
@pytest.mark.parametrize("has_offsets", [True, False])
@pytest.mark.parametrize("hour", [8, 9, 10])
def test_sessions_that_open_in_the_morning_are_put_at_their_date(zone: str, has_offsets: bool, hour: int) -> None:
    times = walls(24, zone, hour)
    dates = MONDAY_MS + DAY_MS * np.arange(times.size)
    offsets = dates + hour * 3_600_000 - times if has_offsets else np.zeros_like(times)
    assert days_at_date(times, offsets, DAY, are_days=False, has_zone=True).tolist() == dates.tolist()

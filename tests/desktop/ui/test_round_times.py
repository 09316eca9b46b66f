from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.ui import round_times

ZONES = [UTC, ZoneInfo("America/New_York"), ZoneInfo("Asia/Kolkata"), ZoneInfo("Africa/Casablanca")]


def ms(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> int:
    return int(datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp() * 1000)


@given(
    st.integers(0, 4 * 10**12),
    st.integers(60_000, 10**12),
    st.integers(1, 30),
    st.sampled_from(ZONES),
)
def test_round_times_are_few_and_in_range(start: int, span: int, most: int, zone: ZoneInfo) -> None:
    found = round_times.round_times(start, start + span, most, zone)
    times = [moment.time_ms for moment in found]
    assert times == sorted(set(times))
    assert all(start <= time <= start + span for time in times)
    # A step over a change of the clocks may be an hour short, one over a month's end a few days.
    assert len(times) <= most * 1.3 + 2


@given(st.integers(0, 4 * 10**12), st.integers(60_000, 10**11), st.sampled_from(ZONES))
def test_ranks_follow_calendar_changes_of_the_zone(start: int, span: int, zone: ZoneInfo) -> None:
    for moment in round_times.round_times(start, start + span, 12, zone):
        local = datetime.fromtimestamp(moment.time_ms / 1000, tz=zone)
        is_midnight = local.hour == 0 and local.minute == 0 and local.second == 0
        if moment.rank >= round_times.DAY and is_midnight:
            assert (local.day == 1) == (moment.rank >= round_times.MONTH)
            assert (local.day == 1 and local.month == 1) == (moment.rank == round_times.YEAR)


@pytest.mark.parametrize("zone", ZONES)
def test_midnight_is_that_of_the_zone(zone: ZoneInfo) -> None:
    start = ms(2020, 12, 1)
    found = round_times.round_times(start, start + 4 * 86_400_000, 4, zone)
    local = [datetime.fromtimestamp(moment.time_ms / 1000, tz=zone) for moment in found]
    assert len(local) >= 3 and all((each.hour, each.minute) == (0, 0) for each in local)


@pytest.mark.parametrize(
    ("hours", "most", "step"),
    [
        (1, 6, timedelta(minutes=10)),
        (12, 6, timedelta(hours=2)),
        (72, 6, timedelta(hours=12)),
        (240, 10, timedelta(days=1)),
    ],
)
def test_steps_are_sensible(hours: int, most: int, step: timedelta) -> None:
    found = round_times.round_times(ms(2020, 12, 1), ms(2020, 12, 1) + hours * 3_600_000, most, UTC)
    gaps = {timedelta(milliseconds=b.time_ms - a.time_ms) for a, b in pairwise(found)}
    assert gaps == {step}


def test_labels_name_what_changes() -> None:
    zone = ZoneInfo("Europe/Berlin")
    new_year = ms(2020, 12, 31, 23)
    assert round_times.label(new_year, round_times.YEAR, zone, seconds=False) == "2021"
    assert round_times.label(new_year, round_times.MONTH, zone, seconds=False) == "Jan"
    assert round_times.label(new_year, round_times.DAY, zone, seconds=False) == "1 Jan"
    assert round_times.label(new_year + 60_000, round_times.CLOCK, zone, seconds=True) == "00:01:00"


@pytest.mark.parametrize(
    ("zone", "name"), [(UTC, "UTC"), (ZoneInfo("Europe/Berlin"), "UTC+1"), (ZoneInfo("Asia/Kolkata"), "UTC+5:30")]
)
def test_the_zone_is_named_by_its_offset(zone: ZoneInfo, name: str) -> None:
    assert round_times.zone_name(ms(2020, 12, 1), zone) == name

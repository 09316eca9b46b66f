"""Times as files write them: parsed exactly, or refused; never guessed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.market.history.sniff_times import TimeColumnError, TimeStyle, day_first, read_times

MOMENT = datetime(2020, 2, 13, 22, 5, 7, tzinfo=UTC)
MOMENT_MS = round(MOMENT.timestamp() * 1000)


def read(*cells: object) -> list[int | None]:
    """UTC milliseconds, None where there is no time."""
    column = pd.Series(list(cells))
    found = read_times(column, TimeStyle(day_first(column)))
    return [None if bad else int(ms) for ms, bad in zip(found.ms, found.is_bad, strict=True)]


def utc_ms(*parts: int) -> int:
    return round(datetime(*parts, tzinfo=UTC).timestamp() * 1000)  # type: ignore[misc,arg-type]  # a date's own parts


@pytest.mark.parametrize("minutes", [-14 * 60, -570, -60, -15, 0, 30, 345, 14 * 60])
def test_every_spelling_of_an_offset_is_read(minutes: int) -> None:
    offset = timedelta(minutes=minutes)
    shown = MOMENT.astimezone(timezone(offset))
    plain, wall = shown.strftime("%z"), shown.strftime("%d.%m.%Y %H:%M:%S.000")
    forms = (f"{wall} {plain}", f"{wall} GMT{plain}", f"{wall} UTC{plain}", shown.strftime("%Y%m%dT%H%M%S%z"))
    for text in (shown.isoformat(" "), *forms):
        assert read(text) == [MOMENT_MS], text


@pytest.mark.parametrize("zone", ["UTC+1", "GMT+1", "UTC +01", "GMT+01:00", "+01"])
def test_an_offset_of_one_hour_is_applied(zone: str) -> None:
    assert read(f"2020-02-13 23:05:07 {zone}") == [MOMENT_MS]


@pytest.mark.parametrize("layout", ["%Y%m%d%H%M%S", "%Y%m%d %H%M%S", "%Y%m%dT%H%M%SZ"])
def test_compact_dates_are_dates(layout: str) -> None:
    later = MOMENT + timedelta(minutes=1)
    assert read(MOMENT.strftime(layout), later.strftime(layout)) == [MOMENT_MS, MOMENT_MS + 60_000]
    assert read(202002132205, 202002132206) == [utc_ms(2020, 2, 13, 22, 5), utc_ms(2020, 2, 13, 22, 6)]


@pytest.mark.parametrize("cells", [("10:00", "10:01"), ("10:00:00 PM",), ("now", "today"), ("Mon", "Tue"), ("13 Jan",)])
def test_times_without_a_date_are_not_completed(cells: tuple[str, ...]) -> None:
    assert read(*cells) == [None] * len(cells)


@pytest.mark.parametrize("number", [43_831.5, 2020, 0, 17])
def test_numbers_outside_the_calendar_are_refused(number: float) -> None:
    with pytest.raises(TimeColumnError, match="is not a time"):
        read(number, number + 1)
    assert read(MOMENT_MS, number, MOMENT_MS) == [MOMENT_MS, None, MOMENT_MS]


@pytest.mark.parametrize(
    "shown",
    [
        "Thu Feb 13 2020 22:05:07 GMT+0000 (Coordinated Universal Time)",
        "2020-02-13T23:05:07+01:00[Europe/Berlin]",
        "2020-02-13 17:05:07 America/New_York",
        "2020-02-13D22:05:07.000000000",
        "2020-02-13 22:05:07,000",
        "20200213220507000",
    ],
)
def test_spellings_of_programs_are_read(shown: str) -> None:
    assert read(shown, shown) == [MOMENT_MS, MOMENT_MS]


@pytest.mark.parametrize("separator", [".", "/", "-"])
def test_a_two_digit_year_is_the_part_that_changes_least(separator: str) -> None:
    dates = [datetime(2020, 2, day, tzinfo=UTC) for day in (1, 2, 29)]
    shown = [date.strftime(f"%d{separator}%m{separator}%y") for date in dates]
    assert read(*shown) == [utc_ms(2020, 2, day) for day in (1, 2, 29)]


def test_slashes_with_the_month_first_and_two_digits() -> None:
    assert read("02/01/20", "02/13/20") == [utc_ms(2020, 2, 1), utc_ms(2020, 2, 13)]


@pytest.mark.parametrize(
    "cells", [("20-02-01", "20-02-13"), ("01/02/20", "01/02/20"), ("20.02.01", "20.02.29"), ("01/02/20", "02/02/20")]
)
def test_ambiguous_two_digit_dates_are_refused(cells: tuple[str, ...]) -> None:
    assert day_first(pd.Series(cells)) is None


@given(st.integers(631_152_000, 4_070_908_800), st.sampled_from([1, 1_000, 1_000_000]))
def test_epoch_times_in_every_unit(seconds: int, parts_of_ms: int) -> None:
    assert read(seconds) == read(1000 * seconds * parts_of_ms) == [1000 * seconds]


@pytest.mark.parametrize("shown", [str, datetime.isoformat, datetime.ctime])
def test_python_time_formats_are_read(shown: Callable[[datetime], str]) -> None:
    assert read(shown(MOMENT.replace(tzinfo=None))) == [MOMENT_MS]


@pytest.mark.parametrize("clock", ["12:30", "12:30:05", "12:30:05.123", "12:30:05.1234567", "9:30 PM"])
def test_a_time_of_day_gets_no_date(clock: str) -> None:
    assert read_times(pd.Series([clock] * 3)).is_bad.all()

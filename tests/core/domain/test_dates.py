"""Dates as text, on both sides of the end of Python's calendar."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.domain.dates import calendar_moment, local_text, read_utc, utc_text

YEAR_9999_MS = 253_370_764_800_000
CYCLE_MS = 146_097 * 86_400_000
FORM = "%Y-%m-%dT%H:%M:%S"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("at_ms", [0, 1_764_417_600_123, YEAR_9999_MS - 1, YEAR_9999_MS, YEAR_9999_MS + 31_535_999_999])
def test_within_the_calendar_dates_equal_datetime(at_ms: int) -> None:
    assert utc_text(at_ms, FORM) == (EPOCH + timedelta(milliseconds=at_ms)).strftime(FORM)


@pytest.mark.parametrize(
    ("at_ms", "text"),
    [
        (YEAR_9999_MS + 365 * 86_400_000, "10000-01-01T00:00:00"),
        (YEAR_9999_MS + 365 * 86_400_000 + 59 * 86_400_000, "10000-02-29T00:00:00"),
        (1_764_417_600_000 + 45 * CYCLE_MS, "20025-11-29T12:00:00"),
        (1_764_417_600_000 + 2_500 * CYCLE_MS, "1002025-11-29T12:00:00"),
    ],
)
def test_dates_after_the_year_9999_are_formatted(at_ms: int, text: str) -> None:
    assert utc_text(at_ms, FORM) == text
    assert local_text(at_ms, "%Y").isdecimal()


@pytest.mark.parametrize("at_ms", [0, 1_764_417_600_123, YEAR_9999_MS - 1, YEAR_9999_MS, 10**16 + 7])
def test_formatted_dates_are_parsed_back(at_ms: int) -> None:
    assert read_utc(f"{utc_text(at_ms, FORM)}.{at_ms % 1000:03d}") == at_ms


@pytest.mark.parametrize("text", ["", "2026", "2026-13-01T00:00:00", "x-01-01T00:00:00"])
def test_an_invalid_date_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_utc(text)


def test_clamped_times_stay_within_the_calendar_in_every_zone() -> None:
    assert calendar_moment(1_764_417_600_000) == EPOCH + timedelta(milliseconds=1_764_417_600_000)
    for hours in (-23, 0, 23):
        assert (calendar_moment(10**16) + timedelta(hours=hours)).year in (9998, 9999)

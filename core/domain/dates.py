"""Formats times as text, also after the year 9999, the end of Python's calendar, which a wrong clock may pass."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

YEAR_1990_MS = 631_152_000_000
"""Files date earlier candles by day only, so a number that would be an earlier moment is a day, or no time."""
YEAR_2010_MS = 1_262_304_000_000
"""A time before the first exchange: an earlier time in its answer is in another unit, or the answer is broken."""
_CYCLE_YEARS, _CYCLE_MS = 400, 146_097 * 86_400_000
"""The Gregorian calendar repeats after 400 years, days of the week included."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""Added to, as Windows has no `fromtimestamp` before it."""
_LAST_MS = 253_370_764_800_000
"""The start of the year 9999: a year before the end, as zones differ from UTC by some hours."""


def utc_text(at_ms: int, form: str) -> str:
    """Like `datetime.strftime`, for any year. `form` must not use %c, %x, %G or %y."""
    moment, cycles = _within(at_ms)
    return _written(moment, cycles, form)


def local_text(at_ms: int, form: str) -> str:
    """`utc_text` in the machine's time zone."""
    moment, cycles = _within(at_ms)
    return _written(moment.astimezone(), cycles, form)


def read_utc(text: str) -> int:
    """Parse a text such as ``2026-11-21T15:00:00.123`` into milliseconds. Raises ValueError."""
    year, rest = text.split("-", 1)
    cycles = max(0, -(-(int(year) - 9998) // _CYCLE_YEARS))
    moment = datetime.fromisoformat(f"{int(year) - cycles * _CYCLE_YEARS:04d}-{rest}").replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000) + cycles * _CYCLE_MS


def calendar_moment(at_ms: int) -> datetime:
    """The time in UTC; the end of the year 9998 for any later one."""
    return _EPOCH + timedelta(milliseconds=min(at_ms, _LAST_MS - 1))


def _within(at_ms: int) -> tuple[datetime, int]:
    cycles = max(0, -(-(at_ms - _LAST_MS + 1) // _CYCLE_MS))
    return _EPOCH + timedelta(milliseconds=at_ms - cycles * _CYCLE_MS), cycles


def _written(moment: datetime, cycles: int, form: str) -> str:
    return moment.strftime(form.replace("%Y", f"{moment.year + cycles * _CYCLE_YEARS:04d}"))

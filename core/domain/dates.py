"""Moments as text, whatever a clock is set to: Python's calendar ends with the year 9999, and a clock need not."""

from __future__ import annotations

from datetime import UTC, datetime

_CYCLE_YEARS, _CYCLE_MS = 400, 146_097 * 86_400_000
"""After so many years the calendar is the same again, day of the week and all."""
_LAST_MS = 253_370_764_800_000
"""The year 9999 begins: a zone's time may be some hours behind or ahead of UTC's."""


def utc_text(at_ms: int, form: str) -> str:
    """As `datetime.strftime` writes it, with the year as it is. `form` has no %c, %x, %G or %y."""
    moment, cycles = _within(at_ms)
    return _written(moment, cycles, form)


def local_text(at_ms: int, form: str) -> str:
    """The same in the machine's zone."""
    moment, cycles = _within(at_ms)
    return _written(moment.astimezone(), cycles, form)


def read_utc(text: str) -> int:
    """Milliseconds of what `utc_text` wrote as ``2026-11-21T15:00:00.123``. Raises ValueError."""
    year, rest = text.split("-", 1)
    cycles = max(0, -(-(int(year) - 9998) // _CYCLE_YEARS))
    moment = datetime.fromisoformat(f"{int(year) - cycles * _CYCLE_YEARS:04d}-{rest}").replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000) + cycles * _CYCLE_MS


def calendar_moment(at_ms: int) -> datetime:
    """In UTC; the last moment of the year 9998 for one behind it."""
    return datetime.fromtimestamp(min(at_ms, _LAST_MS - 1) / 1000.0, tz=UTC)


def _within(at_ms: int) -> tuple[datetime, int]:
    cycles = max(0, -(-(at_ms - _LAST_MS + 1) // _CYCLE_MS))
    return datetime.fromtimestamp((at_ms - cycles * _CYCLE_MS) / 1000.0, tz=UTC), cycles


def _written(moment: datetime, cycles: int, form: str) -> str:
    return moment.strftime(form.replace("%Y", f"{moment.year + cycles * _CYCLE_YEARS:04d}"))

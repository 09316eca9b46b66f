"""Round moments of local time, at which axes of time have their labels, and their texts on the chart."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from desktop.ui import formatting

_SECOND, _MINUTE, _HOUR, _DAY = 1_000, 60_000, 3_600_000, 86_400_000
_STEPS_MS = (
    *(count * _SECOND for count in (1, 2, 5, 10, 15, 30)),
    *(count * _MINUTE for count in (1, 2, 5, 10, 15, 30)),
    *(count * _HOUR for count in (1, 2, 3, 4, 6, 12)),
)
_STEPS_DAYS = (1, 2, 5, 10)
_STEPS_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240)
_MONTH_MS = 30.44 * _DAY

CLOCK, DAY, MONTH, YEAR = range(4)


@dataclass(frozen=True, slots=True)
class RoundTime:
    """A round moment. `rank` is CLOCK, DAY, MONTH or YEAR: the largest unit that changes there."""

    time_ms: int
    rank: int


def round_times(start_ms: int, end_ms: int, most: int, time_zone: tzinfo | None = None) -> list[RoundTime]:
    """Ascending round moments in start..end, about `most` of them, in the given zone (None: the machine's)."""
    if end_ms <= start_ms or most < 1:
        return []
    first = formatting.local_datetime(start_ms, time_zone)
    last = formatting.local_datetime(end_ms, time_zone)
    if first is None or last is None:
        return []
    rough = (end_ms - start_ms) / most
    walls = _wall_times(first.replace(tzinfo=None), last.replace(tzinfo=None), rough)
    ranks = {_utc_ms(wall, time_zone): _rank(wall) for wall in walls}
    return [RoundTime(time, rank) for time, rank in sorted(ranks.items()) if start_ms <= time <= end_ms]


def _wall_times(first: datetime, last: datetime, rough_ms: float) -> list[datetime]:
    """Round wall-clock times from `first` to `last`, at least `rough_ms` apart."""
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0)
    index = bisect_left(_STEPS_MS, rough_ms)
    if index < len(_STEPS_MS):
        step = timedelta(milliseconds=_STEPS_MS[index])
        start = midnight + step * ((first - midnight) // step)
        return [start + step * count for count in range((last - start) // step + 1)]
    days = next((days for days in _STEPS_DAYS if days * _DAY >= rough_ms), None)
    if days is not None:  # of a month, counted from its first; the step over a month's end is never a short one
        walls = (midnight + timedelta(count) for count in range((last - midnight).days + 1))
        return [wall for wall in walls if (wall.day - 1) % days == 0 and (wall.day == 1 or wall.day + days <= 32)]
    months = next((months for months in _STEPS_MONTHS if months * _MONTH_MS >= rough_ms), _STEPS_MONTHS[-1])
    numbers = range((first.year * 12 + first.month - 1) // months * months, min(last.year, 9998) * 12 + 12, months)
    # Wall times; the zone is added later.
    return [datetime(number // 12, number % 12 + 1, 1) for number in numbers if number >= 12]  # noqa: DTZ001


def _rank(wall: datetime) -> int:
    if wall.hour or wall.minute or wall.second:
        return CLOCK
    if wall.day > 1:
        return DAY
    return MONTH if wall.month > 1 else YEAR


def _utc_ms(wall: datetime, time_zone: tzinfo | None) -> int:
    """UTC milliseconds of a wall time. One that daylight saving skips becomes the moment after the skip."""
    moment = wall.replace(tzinfo=time_zone) if time_zone is not None else wall.astimezone()
    return round((moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))


def label(time_ms: int, rank: int, time_zone: tzinfo | None, *, seconds: bool) -> str:
    """The axis text of a candle that opens at `time_ms`, a round moment of `rank`."""
    moment = formatting.local_datetime(time_ms, time_zone)
    if moment is None:
        return formatting.MISSING
    if rank == YEAR:
        return str(moment.year)
    if rank == MONTH:
        return formatting.month_name(moment.month)
    if rank == DAY:
        return f"{moment.day} {formatting.month_name(moment.month)}"
    return formatting.format_clock(time_ms, time_zone, seconds=seconds)


def zone_name(time_ms: int, time_zone: tzinfo | None) -> str:
    """``UTC``, ``UTC+1``, ``UTC+5:30``: the offset in force at this moment."""
    moment = formatting.local_datetime(time_ms, time_zone)
    offset = None if moment is None else moment.utcoffset()
    if not offset:
        return "UTC"
    minutes = round(offset.total_seconds() / 60)
    hours, rest = divmod(abs(minutes), 60)
    sign = "+" if minutes > 0 else formatting.MINUS
    return f"UTC{sign}{hours}:{rest:02d}" if rest else f"UTC{sign}{hours}"

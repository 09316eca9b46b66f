"""Finds when the candles of a file open: their interval, ends instead of beginnings, summer time, and days at their
date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import DAY_MS, Interval

Times = NDArray[np.int64]
_HOUR_MS = 3_600_000
_ENDS_SHORT_MS = (1, 1_000)
"""A candle that is stamped 59.999 or 23:59:59 is stamped with its end."""
_LOCAL_FROM_MS = 2 * _HOUR_MS
"""Candles of this length and longer may follow a local clock with summer time: shorter ones stay on the grid."""
_SHORTEST_SEASON = 3
_LAST_HOURS_MS = (6 * _HOUR_MS, 12 * _HOUR_MS)
"""A day that opens this late belongs to the next date: at 17:00 in New York, or at midnight in Berlin; or, for markets
further east, in Tokyo or Sydney. The weekends, when the market is closed, decide."""
_FROM_FIVE_MS = 7 * _HOUR_MS
"""The bound on a local clock: trading days begin at 17:00, sessions before."""
_DAY_END_MS = DAY_MS - 600_000
"""A day that is stamped ten minutes before midnight or later is stamped with its end."""
_WEEKEND = (5, 6)
_EPOCH_WEEKDAY = 3
_FEWEST_DAYS = 10


def most_frequent(numbers: Times) -> int:
    """The most frequent number; the smallest of equals."""
    found, counts = np.unique(numbers, return_counts=True)
    return int(found[counts.argmax()])


def is_of_days(interval: Interval) -> bool:
    """Whether it is whole days: one, weeks, any number."""
    return interval.duration_ms % DAY_MS == 0


def is_usual(interval: Interval) -> bool:
    """Whether it divides a day, or is whole days."""
    return DAY_MS % interval.duration_ms == 0 or is_of_days(interval)


def ends_short_ms(times: Times, interval: Interval) -> int | None:
    """How much later the candles end than their times say, if these are a moment before the end; else None."""
    if not times.size:
        return None
    unit_ms = min(interval.duration_ms, DAY_MS)  # weeks end on Sundays, and the epoch began on a Thursday
    short_ms = unit_ms - most_frequent(times % unit_ms)
    return short_ms if short_ms in _ENDS_SHORT_MS else None


def phases_of(times: Times, interval: Interval) -> tuple[int, ...]:
    """How far most of ascending opening times lie off the epoch's grid; two, if summer time moves them by an hour."""
    phases = times % interval.duration_ms
    main_ms = most_frequent(phases) if phases.size else 0
    if interval.duration_ms < _LOCAL_FROM_MS:
        return (main_ms,)
    others = [(main_ms + shift_ms) % interval.duration_ms for shift_ms in (-_HOUR_MS, _HOUR_MS)]
    seasons = [other for other in others if _has_seasons(times, phases, main_ms, other)]
    return (main_ms, *seasons[:1])


def _has_seasons(times: Times, phases: Times, main_ms: int, other_ms: int) -> bool:
    """Whether the phases alternate at most twice a year, in runs of rows."""
    both = phases[(phases == main_ms) | (phases == other_ms)]
    if not (both == other_ms).any():
        return False
    changes = np.flatnonzero(np.diff(both) != 0)
    years = (int(times[-1]) - int(times[0])) / (365 * DAY_MS)
    lengths = np.diff(changes)
    return changes.size <= 2 * int(years + 1) + 1 and (not lengths.size or int(lengths.min()) >= _SHORTEST_SEASON)


@dataclass(frozen=True, slots=True, eq=False)
class OpeningTimes:
    """short_ms: how much later the candles end than their times said, if those were just before the end.
    were_ends: whether the times were moved back by an interval."""

    times: Times
    interval: Interval
    short_ms: int | None
    were_ends: bool


def opening_times(
    times: Times,
    offsets_ms: Times,
    interval: Interval,
    *,
    are_ends: bool,
    are_starts: bool,
    are_days: bool,
    has_zone: bool,
) -> OpeningTimes:
    """The opening times of candles. offsets_ms, are_days, has_zone: as for `days_at_date`.

    are_ends: the times are said to be ends; for days only if they are moments. are_starts: the user says that they are
    starts.
    """
    has_days = is_of_days(interval)
    short_ms = None if are_starts else ends_short_ms(times + offsets_ms if has_days else times, interval)
    were_ends = short_ms is None and are_ends and (not has_days or has_zone)
    if short_ms is not None or were_ends:
        times = times + (short_ms or 0) - interval.duration_ms
    if has_days:
        times = days_at_date(times, offsets_ms, interval, are_days=are_days, has_zone=has_zone)
    return OpeningTimes(times, interval, short_ms, were_ends)


def days_at_date(times: Times, offsets_ms: Times, interval: Interval, *, are_days: bool, has_zone: bool) -> Times:
    """Opening times of days, or of whole days, at midnight UTC of their date, if the file shows that date.

    offsets_ms: how far the clock that the times were written by is ahead of UTC. are_days: each is the day of its date
    whatever the time of day. has_zone: the times are moments, or name their zone.
    """
    walls = times + offsets_ms
    dates = walls - walls % DAY_MS
    if are_days or (dates == walls).all() or (walls - dates >= _DAY_END_MS).all():
        return dates
    if not has_zone:
        is_of_sessions = np.unique(dates).size == dates.size and _are_weekdays(dates)
        return dates if is_of_sessions else times
    hours = _LAST_HOURS_MS if not offsets_ms.any() else (_FROM_FIVE_MS,)
    for rest_ms in hours:
        dates = (walls + rest_ms) - (walls + rest_ms) % DAY_MS
        if _are_weekdays(dates):
            return dates
    if len(phases_of(times, interval)) > 1:
        later = walls + hours[0]
        return later - later % DAY_MS
    return times  # of a market without weekends, such as an exchange whose days begin at 16:00 UTC


def _are_weekdays(dates: Times) -> bool:
    return dates.size >= _FEWEST_DAYS and not np.isin((dates // DAY_MS + _EPOCH_WEEKDAY) % 7, _WEEKEND).any()


def is_on(times: Times, interval: Interval, phases_ms: Sequence[int]) -> NDArray[np.bool_]:
    found = times % interval.duration_ms
    on = [found == phase_ms % interval.duration_ms for phase_ms in phases_ms]
    return np.asarray(np.logical_or.reduce(on))

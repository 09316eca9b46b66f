"""Validates whole columns of candles, with the rules and the order of `core.domain.candle_faults.Validator`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Interval
from core.domain.candle_faults import LARGEST_JUMP, RejectionReason, is_near, number_faults, time_is_in_another_unit
from core.market.history.opening_times import is_on
from core.storage.candles import StoredColumns

_REASONS = tuple(RejectionReason)
_NUMBER = {reason: number for number, reason in enumerate(_REASONS, 1)}


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """The accepted candles, and how many were rejected for which reason, with the opening time of the first."""

    columns: StoredColumns
    rejected: Counter[RejectionReason]
    first_ms: dict[RejectionReason, int]


def check_columns(
    columns: StoredColumns,
    interval: Interval,
    *phases_ms: int,
    trusts_jumps: bool = False,
    trusts_numbers: bool = False,
) -> Checked:
    """Check candles in their order. phases_ms: how far opening times lie off the epoch's grid; two with summer time.
    trusts_jumps: they were accepted once already, so a tenfold jump is theirs. trusts_numbers: they were checked."""
    times = columns.open_time_ms
    faults = [
        (RejectionReason.TIME_UNIT, time_is_in_another_unit(times, interval)),
        (RejectionReason.GRID, ~is_on(times, interval, phases_ms)),
    ]
    if not trusts_numbers:
        faults = [*number_faults(columns.values), *faults]
    reasons = np.zeros(times.size, np.int64)
    for reason, is_at_fault in faults:
        reasons[is_at_fault & (reasons == 0)] = _NUMBER[reason]
    if not trusts_jumps:
        _mark_jumps(columns.values[3], reasons)
    accepted = reasons == 0
    counts = np.bincount(reasons, minlength=len(_REASONS) + 1)
    rejected = Counter({reason: int(counts[number]) for number, reason in enumerate(_REASONS, 1) if counts[number]})
    first_ms = {reason: int(columns.open_time_ms[(reasons == _NUMBER[reason]).argmax()]) for reason in rejected}
    return Checked(selected(columns, accepted), rejected, first_ms)


def selected(columns: StoredColumns, mask: NDArray[np.bool_]) -> StoredColumns:
    """The candles for which the mask, shape (n,), is set."""
    if mask.all():
        return columns
    return StoredColumns(columns.open_time_ms[mask], columns.values[:, mask])


def _mark_jumps(closes: NDArray[np.float64], reasons: NDArray[np.int64]) -> None:
    """Mark tenfold jumps. Usually no two neighbours are tenfold apart, and there is nothing to go through."""
    good = closes[reasons == 0]
    ratios = good[1:] / good[:-1]
    if ((ratios > 1.0 / LARGEST_JUMP) & (ratios < LARGEST_JUMP)).all():
        return
    last: float | None = None
    suspect: float | None = None
    for place, close in enumerate(closes.tolist()):
        if reasons[place]:
            suspect = None
        elif last is None or is_near(close, last) or (suspect is not None and is_near(close, suspect)):
            last, suspect = close, None
        else:
            reasons[place], suspect = _NUMBER[RejectionReason.JUMP], close


def in_order(
    times: NDArray[np.int64], values: NDArray[np.float64], offsets: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64] | None, int, int]:
    """Candles in ascending order, of equal times the last; the number of repeated rows, and of differing ones."""
    if times.size < 2 or (np.diff(times) > 0).all():
        return times, values, offsets, 0, 0
    order = np.argsort(times, kind="stable")
    times, values = times[order], values[:, order]
    again = times[1:] == times[:-1]
    differs = again & (values[:, 1:] != values[:, :-1]).any(0)
    is_last = np.append(~again, True)
    if offsets is not None:
        offsets = offsets[order][is_last]
    return times[is_last], values[:, is_last], offsets, int(again.sum()), int(differs.sum())

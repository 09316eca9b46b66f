"""Sessions of a market that never closes, in UTC, and running sums within them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.indicators.parameters import Anchor

FloatArray = NDArray[np.float64]

_DAY_MS = 86_400_000
_WEEK_MS = 7 * _DAY_MS
_FIRST_MONDAY_MS = 4 * _DAY_MS  # 1 January 1970 was a Thursday


def session_numbers(open_time_ms: NDArray[np.int64], anchor: Anchor) -> NDArray[np.int64]:
    """The number of the day, week or month since 1970 that each candle opens in."""
    if anchor is Anchor.DAY:
        return open_time_ms // _DAY_MS
    if anchor is Anchor.WEEK:
        return (open_time_ms - _FIRST_MONDAY_MS) // _WEEK_MS
    return open_time_ms.astype("datetime64[ms]").astype("datetime64[M]").astype(np.int64)


def sums_within_sessions(rows: FloatArray, sessions: FloatArray) -> None:
    """Turn each of `rows` [row, n] into its running sums within each session, in place.

    Sessions of equal length are summed together, as the rows of a table: there are at most sqrt(2n) lengths, while
    there may be as many sessions as candles. Each sum is built in the order of time, so that it can be continued.
    """
    starts = np.flatnonzero(np.diff(sessions, prepend=np.nan) != 0.0)
    lengths = np.diff(starts, append=sessions.size)
    order = np.argsort(lengths, kind="stable")
    cuts = np.flatnonzero(np.diff(lengths[order])) + 1
    for group in np.split(order, cuts):
        places = starts[group][:, np.newaxis] + np.arange(lengths[group[0]])
        for row in rows:
            row[places] = np.cumsum(row[places], axis=1)

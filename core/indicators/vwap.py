"""The volume-weighted average price per session, in UTC; TA-Lib's has no sessions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import DAY_MS, Candle
from core.domain.candle_series import CandleSeries, FloatArray
from core.indicators.columns import Columns
from core.indicators.parameters import Anchor
from core.indicators.spec import IndicatorSpec


class VolumeWeightedPrice:
    """VWAP of (high + low + close) / 3 since the start of the session, from the first candle on. Without any
    volume in a session it is the candle's own price.

    Rows of the table: the session's number, the traded value and volume since its start, and the average.
    """

    rows, outputs = 4, 1
    first_defined = 0

    def __init__(self, spec: IndicatorSpec) -> None:
        self._anchor = Anchor(str(spec.parameters()["anchor"]))

    def resume(self, first: int) -> int:
        return first

    def fill(self, candles: Columns, table: FloatArray, first: int) -> None:
        stop = len(candles)
        self._fill(candles.part(first, stop), table, first, stop)

    def preview(self, candles: CandleSeries, table: FloatArray, forming: Candle) -> tuple[float, ...]:
        size = len(candles)
        # The column after the last one is free: its content is never shown, and the next candle writes over it.
        self._fill(Columns.of_candle(forming), table, size, size + 1)
        return (float(table[-1, size]),)

    def _fill(self, columns: Columns, table: FloatArray, first: int, stop: int) -> None:
        session, traded, volume, price = table[:, first:stop]
        session[:] = session_numbers(columns.open_time_ms, self._anchor)
        price[:] = columns.column("hlc3")
        volume[:] = columns.column("volume")
        np.multiply(price, volume, out=traded)
        sums = table[1:3, first:stop]
        if 0 < first < stop and session[0] == table[0, first - 1]:
            sums[:, 0] += table[1:3, first - 1]
        sums_within_sessions(sums, session)
        np.divide(sums[0], sums[1], out=price, where=sums[1] > 0.0)


_WEEK_MS = 7 * DAY_MS
_FIRST_MONDAY_MS = 4 * DAY_MS  # 1 January 1970 was a Thursday


def session_numbers(open_time_ms: NDArray[np.int64], anchor: Anchor) -> NDArray[np.int64]:
    """The number of the day, week or month since 1970 that each candle opens in."""
    if anchor is Anchor.DAY:
        return open_time_ms // DAY_MS
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

"""Candles as CSV, in the form that `core.market.history.candle_file` reads back without loss."""

from __future__ import annotations

from collections.abc import Iterator

from core.domain.candle_series import FloatArray, TimeArray

COLUMNS = ("open_time_ms", "open", "high", "low", "close", "volume")
_ROWS = 256
"""Rows of a piece: about a millisecond, so that a writing thread does not block the interpreter for others."""


def csv_pieces(open_time_ms: TimeArray, values: FloatArray) -> Iterator[str]:
    """A header, then some lines at a time, one per candle. Numbers have every digit that they need.

    open_time_ms: UTC milliseconds, shape (n,). values: open, high, low, close, volume, shape (5, n).
    """
    yield ",".join(COLUMNS) + "\n"
    for first in range(0, open_time_ms.size, _ROWS):
        part = slice(first, first + _ROWS)
        rows = zip(open_time_ms[part].tolist(), values[:, part].T.tolist(), strict=True)
        yield "".join(f"{time},{o!r},{h!r},{low!r},{c!r},{volume!r}\n" for time, (o, h, low, c, volume) in rows)

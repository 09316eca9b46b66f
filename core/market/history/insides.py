"""Candle files with what is inside their candles: from a file of finer candles of the same market, or from their own
rows, joined to coarser candles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.domain.candle import Interval
from core.domain.candle_series import CandleSeries
from core.market.history.candle_file import CandleFile, CandleRows
from core.market.history.errors import CandleFileError
from core.market.inside import LEAST_PER_CANDLE, can_be_inside, insides
from core.market.resample import ResampledSeries
from core.storage.candles import StoredColumns

LARGEST_DIFFERENCE = 0.3
"""Of the closes of candles and of the finer ones joined: more is another market, or another time zone, whose insides
might come from the future."""
_LEAST_RANGE = 0.001
"""Of the usual log ranges that differences are compared with: two sources of a quiet market round its prices."""


def joined(file: CandleFile, interval: Interval) -> CandleFile:
    """The file's candles joined to coarser ones, whose inside they are. The last one may lack some of its part, and is
    left out then. Raises CandleFileError."""
    if file.interval == interval:
        return file
    _require_finer(file.interval, interval, "The file's candles cannot be joined")
    finer = file.candles.columns
    columns = join_columns(finer, file.interval, interval)
    if not len(columns):
        raise CandleFileError(f"The file holds less than one candle of {interval}.")
    found = insides(finer.open_time_ms, finer.values, file.interval, interval)
    return replace(file, candles=CandleRows(columns, found), interval=interval)


def add_insides(file: CandleFile, finer: CandleFile, name: str) -> CandleFile:
    """The file's candles with the insides that `finer`, a file of this name, gives them. Raises CandleFileError."""
    _require_finer(finer.interval, file.interval, f"{name} cannot be the inside")
    columns, join = file.candles.columns, join_columns(finer.candles.columns, finer.interval, file.interval)
    difference = difference_of(columns, join)
    if difference is None:
        raise CandleFileError(f"{name} shares no time with the candles whose inside it is to be.")
    of = finer.candles.columns
    found = insides(of.open_time_ms, of.values, finer.interval, file.interval)
    if found.keys().isdisjoint(columns.open_time_ms.tolist()):
        raise CandleFileError(f"{name} has less than half of what is inside each of the candles of {file.interval}.")
    if difference > LARGEST_DIFFERENCE:
        raise CandleFileError(
            f"{name} seems to be of another market or in another time zone: its closes are far from those of the "
            "candles whose inside it is to be."
        )
    return replace(file, candles=CandleRows(columns, found))


def _require_finer(finer: Interval, coarser: Interval, what: str) -> None:
    """what: the beginning of the sentence. Raises CandleFileError."""
    if not can_be_inside(finer, coarser):
        raise CandleFileError(
            f"{what}: candles of {finer} are no parts of {coarser}, or too few of them. There must be at least "
            f"{LEAST_PER_CANDLE} in each."
        )


def join_columns(columns: StoredColumns, finer: Interval, interval: Interval) -> StoredColumns:
    """Candles of the interval `finer` joined to coarser ones."""
    source = CandleSeries.from_columns(finer, columns.open_time_ms, columns.values)
    series = ResampledSeries(source, interval).series
    return StoredColumns(series.open_time_ms.copy(), series.values.copy())


def difference_of(candles: StoredColumns, joined: StoredColumns) -> float | None:
    """How far the closes at the same times are apart: the median of the absolute log ratios, relative to that of the
    candles' log ranges; None without any."""
    _, own, other = np.intersect1d(candles.open_time_ms, joined.open_time_ms, return_indices=True)
    if not own.size:
        return None
    usual = np.median(np.log(candles.values[1, own] / candles.values[2, own]))
    apart = np.median(np.abs(np.log(candles.values[3, own] / joined.values[3, other])))
    return float(apart / max(usual, _LEAST_RANGE))

"""Candles from the trades of a file, part by part, in any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import DAY_MS, Interval
from core.market.history.errors import CandleFileError
from core.storage.candles import StoredColumns

if TYPE_CHECKING:
    import pandas as pd

Times = NDArray[np.int64]
Numbers = NDArray[np.float64]

_LARGEST_ID = 2**62
_MOST_SPACINGS = 20.0
_LEAST_DOUBT_MS = 1_000.0
_COUNTED_UP = 0.99
"""Share of id steps by one from which ids count as consecutive, so that a jump means lost trades."""


@dataclass(frozen=True, slots=True, eq=False)
class Trades:
    """n trades in the file's order: times in ms, prices, amounts, and ids if the file has them."""

    time_ms: Times
    price: Numbers
    amount: Numbers
    ids: Times | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TradeCandles:
    """The candles of the trades. `cut_ms`: candles skipped because the file begins or ends inside them. `repeated`:
    trades that came before, with the same number, time, price and amount. `spoilt_ms`: candles skipped because of an
    unreadable trade. `torn_ms`: candles skipped because trades are missing, by their ids."""

    columns: StoredColumns
    cut_ms: tuple[int, ...]
    repeated: int
    spoilt_ms: tuple[int, ...] = ()
    torn_ms: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Buckets:
    """Candles of one part: opening times, first and last moments as (time, place in the file), and the numbers."""

    open_ms: Times
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    values: Numbers


def require_interval(interval: Interval | None, file_name: str) -> Interval:
    """The requested one. Raises CandleFileError unless it divides a day."""
    if interval is None:
        raise CandleFileError(
            f"{file_name} holds trades, not candles. Name with --interval how long the candles made of them "
            "last, such as 1m."
        )
    if DAY_MS % interval.duration_ms:
        raise CandleFileError(
            f"Trades are not made into candles of {interval}: where those begin is not the same everywhere. "
            "Name one that divides a day, such as --interval 1d; the chart joins them to longer ones."
        )
    return interval


@dataclass(slots=True)
class TradeTableAggregator:
    """Add the parts in the file's order, then get the candles. Trades of the same time keep the file's order, reversed
    for a file with the newest first."""

    interval: Interval
    _parts: list[_Buckets] = field(default_factory=list)
    _ids: list[Times] = field(default_factory=list)
    _keys: list[NDArray[np.uint64]] = field(default_factory=list)
    _times: list[Times] = field(default_factory=list)
    _seen: int = 0
    _repeated: int = 0
    _direction: int = 0
    _spoilt: set[int] = field(default_factory=set)

    def add(self, trades: Trades) -> None:
        """Add a part; prices and amounts must be finite and above zero."""
        trades = self._without_repeated(trades)
        count = trades.time_ms.size
        if count == 0:
            return
        if self._direction == 0:
            self._direction = -1 if trades.time_ms[0] > trades.time_ms[-1] else 1
        places = self._direction * np.arange(self._seen, self._seen + count)
        self._seen += count
        self._parts.append(self._buckets(trades, places))

    def spoil(self, times_ms: Times) -> None:
        """Mark the candles of unreadable trades at these times, as they would be wrong."""
        self._spoilt.update(np.unique(times_ms - times_ms % self.interval.duration_ms).tolist())

    def candles(self) -> TradeCandles:
        """The candles of all intervals with trades; others are holes."""
        if not self._parts:
            return TradeCandles(StoredColumns(np.empty(0, np.int64), np.empty((5, 0))), (), self._repeated)
        merged = _merged(self._parts)
        began_ms, ended_ms = int(merged.first[0, 0]), int(merged.last[0, -1])
        doubt_ms = max(_LEAST_DOUBT_MS, _MOST_SPACINGS * (ended_ms - began_ms) / max(1, self._seen - 1))
        is_cut = np.zeros(merged.open_ms.size, np.bool_)
        # In a gap this long, trades were to be expected.
        is_cut[0] = began_ms - merged.open_ms[0] > doubt_ms
        is_cut[-1] |= merged.open_ms[-1] + self.interval.duration_ms - 1 - ended_ms > doubt_ms
        is_spoilt = np.isin(merged.open_ms, sorted(self._spoilt)) & ~is_cut
        is_torn = np.isin(merged.open_ms, self._torn()) & ~is_cut & ~is_spoilt
        is_left = ~(is_cut | is_spoilt | is_torn)
        columns = StoredColumns(merged.open_ms[is_left], merged.values[:, is_left])
        cut_ms, spoilt_ms, torn_ms = (tuple(merged.open_ms[is_out].tolist()) for is_out in (is_cut, is_spoilt, is_torn))
        return TradeCandles(columns, cut_ms, self._repeated, spoilt_ms, torn_ms)

    def _torn(self) -> Times:
        """Opening times of the candles on both sides of a jump in the ids."""
        if not self._ids:
            return np.empty(0, np.int64)
        ids, times = np.concatenate(self._ids), np.concatenate(self._times)
        order = np.argsort(ids, kind="stable")
        steps = np.diff(ids[order])
        if not steps.size or (steps == 1).mean() < _COUNTED_UP:
            return np.empty(0, np.int64)
        jumps = np.flatnonzero(steps > 1)
        beside = times[order][np.concatenate([jumps, jumps + 1])]
        return np.unique(beside - beside % self.interval.duration_ms)

    def _without_repeated(self, trades: Trades) -> Trades:
        """The trades without exact repetitions. Some exchanges begin their numbers again every day, so the number alone
        proves nothing."""
        if trades.ids is None or trades.ids.size == 0:
            return trades
        keys = _keys(trades, trades.ids)
        _, firsts = np.unique(keys, return_index=True)
        is_new = np.zeros(keys.size, np.bool_)
        is_new[firsts] = True
        low, high = int(trades.ids.min()), int(trades.ids.max())
        for known_ids, known_keys in zip(self._ids, self._keys, strict=True):
            if int(known_ids[0]) <= high and int(known_ids[-1]) >= low:
                is_new &= ~np.isin(keys, known_keys)
        self._repeated += int((~is_new).sum())
        ids = trades.ids[is_new]
        if ids.size:
            order = np.argsort(ids, kind="stable")
            self._ids.append(ids[order])
            self._keys.append(keys[is_new])
            self._times.append(trades.time_ms[is_new][order])
        return Trades(trades.time_ms[is_new], trades.price[is_new], trades.amount[is_new], ids)

    def _buckets(self, trades: Trades, places: Times) -> _Buckets:
        order = np.lexsort((places, trades.time_ms))
        times, price, amount = trades.time_ms[order], trades.price[order], trades.amount[order]
        opens = times - times % self.interval.duration_ms
        starts = np.flatnonzero(np.append(True, opens[1:] != opens[:-1]))
        ends = np.append(starts[1:], times.size) - 1
        moments = np.stack([times, places[order]])
        values = [price[starts], np.maximum.reduceat(price, starts), np.minimum.reduceat(price, starts), price[ends]]
        values.append(np.add.reduceat(amount, starts))
        return _Buckets(opens[starts], moments[:, starts], moments[:, ends], np.stack(values))


def _merged(parts: list[_Buckets]) -> _Buckets:
    opens = np.concatenate([part.open_ms for part in parts])
    first = np.concatenate([part.first for part in parts], axis=1)
    last = np.concatenate([part.last for part in parts], axis=1)
    values = np.concatenate([part.values for part in parts], axis=1)
    order = np.lexsort((first[1], first[0], opens))
    starts = np.flatnonzero(np.append(True, np.diff(opens[order]) != 0))
    by_last = np.lexsort((last[1], last[0], opens))
    ends = np.append(starts[1:], opens.size) - 1
    joined = [
        values[0, order][starts],
        np.maximum.reduceat(values[1, order], starts),
        np.minimum.reduceat(values[2, order], starts),
        values[3, by_last][ends],
        np.add.reduceat(values[4, order], starts),
    ]
    return _Buckets(opens[order][starts], first[:, order][:, starts], last[:, by_last][:, ends], np.stack(joined))


def _keys(trades: Trades, ids: Times) -> NDArray[np.uint64]:
    """A number for all fields of each trade. Two of fifty million trades share one by chance once in 10,000 files."""
    import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

    fields = pd.DataFrame({"id": ids, "time": trades.time_ms, "price": trades.price, "amount": trades.amount})
    return np.asarray(pd.util.hash_pandas_object(fields, index=False).to_numpy(), dtype=np.uint64)


def integer_ids(column: pd.Series) -> Times | None:
    """Integer trade ids, or None for other ids."""
    import pandas as pd  # noqa: PLC0415 - as above

    if not pd.api.types.is_integer_dtype(column) or int(column.abs().max()) > _LARGEST_ID:
        return None
    return column.to_numpy().astype(np.int64)

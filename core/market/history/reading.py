"""Reads a file of candles or trades in parts into columns: validated, in order, each opening time once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import DAY_MS, Interval
from core.domain.validation import RejectionReason
from core.market.history.candle_csv import COLUMNS
from core.market.history.checks import check_columns
from core.market.history.errors import CandleFileError
from core.market.history.roles import Roles, number_columns, roles_of, time_column
from core.market.history.table import TableFile
from core.market.history.times import TimeColumnError, TimeStyle, ambiguous, day_first, read_times
from core.market.history.trades import Trades, TradeTableAggregator
from core.storage.candles import StoredColumns

if TYPE_CHECKING:
    import pandas as pd

_LARGEST_TRADE_ID = 2**62

UNREADABLE_TIME = "time cannot be read"
TOO_MANY_CELLS = "too many cells in the line"
TRADE_NUMBER = "price or amount is no number above zero"
CUT = "candle cut by the file's beginning or end"
SPOILT = "candle with a trade that cannot be read"
TORN = "candle that lacks trades, by their numbers"
_MOST_CONTRADICTING = 0.25
"""Share of the rows. With more, the times are rounded, or the rows are of several markets."""


Watch = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """zone: of times without one. interval: of the candles; None: from the rows.

    is_strict: a line without a time invalidates the whole file, and trades are not read.
    """

    interval: Interval | None = None
    zone: tzinfo = UTC
    is_strict: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class CandleTable:
    """The content of a file.

    columns: the accepted candles, ascending. rows: lines of the table. rejected: counts by reason. repeated: rows
    with the opening time (or trade id) of another row; contradicting: those of them with other numbers, of which the
    last in the file is kept. symbol: that of the symbol column.
    """

    path: Path
    columns: StoredColumns
    interval: Interval
    rows: int
    are_trades: bool
    rejected: Counter[str]
    repeated: int
    contradicting: int
    symbol: str | None


def read_candle_table(
    path: Path, options: ReadOptions | None = None, watch: Watch = lambda done, total: None
) -> CandleTable:
    """Read CSV (also in .gz or .zip), Feather or Parquet. Raises CandleFileError.

    watch: called now and then on this thread with the bytes read and to be read, 0 if unknown; its exceptions end the
    reading.
    """
    options = options or ReadOptions()
    table = TableFile(path, passes_over_long_lines=not options.is_strict)
    reader = _Reader(table, options)
    for chunk in table.chunks():
        watch(table.bytes_read, path.stat().st_size)
        reader.take(chunk)
    return reader.finish()


def require_table(path: Path) -> None:
    """Raises CandleFileError unless its first part has the columns of candles or trades."""
    for chunk in islice(TableFile(path, passes_over_long_lines=True).chunks(), 1):
        roles_of(path, chunk, allows_trades=True)


def interval_of(path: Path) -> Interval:
    """How long the candles of a file last, from its first part alone. Raises CandleFileError."""
    table = TableFile(path)
    reader = _Reader(table, ReadOptions(is_strict=True))
    for chunk in islice(table.chunks(), 1):
        reader.take(chunk)
    return reader.finish().interval


@dataclass(slots=True)
class _Reader:
    table: TableFile
    options: ReadOptions
    roles: Roles | None = None
    style: TimeStyle = field(default_factory=TimeStyle)
    rows: int = 0
    is_exported: bool = False
    has_numbers: bool = False
    times: list[NDArray[np.int64]] = field(default_factory=list)
    values: list[NDArray[np.float64]] = field(default_factory=list)
    symbols: set[str] = field(default_factory=set)
    rejected: Counter[str] = field(default_factory=Counter)
    first_unreadable: str = ""
    aggregator: TradeTableAggregator | None = None

    @property
    def path(self) -> Path:
        return self.table.path

    def take(self, chunk: pd.DataFrame) -> None:
        if self.roles is None:
            self._begin(chunk)
        assert self.roles is not None, "set by _begin"
        if not len(chunk):
            return
        self.rows += len(chunk)
        if self.roles.symbol is not None:
            self.symbols.update(str(name).strip() for name in chunk[self.roles.symbol].dropna().unique())
            self._refuse_several_markets()
        numbers = number_columns(chunk, self.roles)
        self.has_numbers = self.has_numbers or not np.isnan(numbers[:4]).all()
        times, is_good = self._times(time_column(chunk, self.roles))
        if self.aggregator is None:
            self.times.append(times[is_good])
            self.values.append(numbers[:, is_good])
        else:
            self._take_trades(chunk, self.aggregator, times, numbers, is_good)

    def finish(self) -> CandleTable:
        if self.roles is None or not self.has_numbers:
            raise CandleFileError(f"{self.path.name} has no number in its columns open, high, low and close.")
        if self.table.long_lines:
            self.rejected[TOO_MANY_CELLS] += self.table.long_lines
        if 2 * self.rejected[UNREADABLE_TIME] > self.rows:
            raise CandleFileError(f"{self.path.name} has few rows with a time; {self.first_unreadable}.")
        self.rejected = +self.rejected
        return self._finish_candles() if self.aggregator is None else self._finish_trades(self.aggregator)

    def _refuse_several_markets(self) -> None:
        """Their candles would be one market's, with a jump at each change."""
        if len(self.symbols) > 1:
            shown = ", ".join(sorted(self.symbols)[:3]) + (", …" if len(self.symbols) > 3 else "")
            raise CandleFileError(f"{self.path.name} holds several markets ({shown}). Split it into a file for each.")

    def _begin(self, chunk: pd.DataFrame) -> None:
        self.roles = roles_of(self.path, chunk, allows_trades=not self.options.is_strict)
        self.is_exported = tuple(chunk.columns) == COLUMNS
        self.style = TimeStyle(self._day_first(chunk, self.roles), self.options.zone)
        if self.roles.are_trades:
            self.aggregator = TradeTableAggregator(self._interval_of_trades())

    def _interval_of_trades(self) -> Interval:
        interval = self.options.interval
        if interval is None:
            raise CandleFileError(
                f"{self.path.name} holds trades, not candles. Name with --interval how long the candles made of them "
                "last, such as 1m."
            )
        if DAY_MS % interval.duration_ms:
            raise CandleFileError(
                f"Trades are not made into candles of {interval}: where those begin is not the same everywhere. "
                "Name one that divides a day, such as --interval 1d; the chart joins them to longer ones."
            )
        return interval

    def _day_first(self, chunk: pd.DataFrame, roles: Roles) -> bool:
        """Whether days come first; if the first rows are ambiguous, the file is read until one is not."""
        try:
            first = time_column(chunk, roles)
            found = day_first(first) if len(first) else False
            if found is not None:
                return found
            for later in TableFile(self.path, passes_over_long_lines=True).chunks():
                found = day_first(time_column(later, roles))
                if found is not None:
                    return found
            raise ambiguous(first)
        except TimeColumnError as error:
            raise CandleFileError(f"{self.path.name}: {error}.") from error

    def _times(self, column: pd.Series) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Times, and where there is one."""
        try:
            read = read_times(column, self.style)
        except TimeColumnError as error:
            raise CandleFileError(f"{self.path.name}: {error}.") from error
        if read.is_bad.any():
            self._note_unreadable(column, int(read.is_bad.argmax()))
            self.rejected[UNREADABLE_TIME] += int(read.is_bad.sum())
        return read.ms, ~read.is_bad

    def _note_unreadable(self, column: pd.Series, place: int) -> None:
        first_line = self.table.first_line
        where = self.path.name
        if first_line is not None:
            where = f"{where}, line {int(column.index[place]) + first_line}"
        problem = f"'{column.iloc[place]}' is not a time"
        if self.options.is_strict:
            raise CandleFileError(f"{where}: {problem}.")
        self.first_unreadable = self.first_unreadable or f"{where}: {problem}"

    def _take_trades(
        self,
        chunk: pd.DataFrame,
        aggregator: TradeTableAggregator,
        times: NDArray[np.int64],
        numbers: NDArray[np.float64],
        is_good: NDArray[np.bool_],
    ) -> None:
        assert self.roles is not None, "set by _begin"
        numbers[1] = np.abs(numbers[1])  # some files write sold amounts as negative numbers
        is_priced = np.isfinite(numbers).all(axis=0) & (numbers > 0.0).all(axis=0)
        self.rejected[TRADE_NUMBER] += int((is_good & ~is_priced).sum())
        aggregator.spoil(times[is_good & ~is_priced & (numbers[1] != 0.0)])
        kept = is_good & is_priced
        ids = None if self.roles.trade_id is None else _trade_ids(chunk[self.roles.trade_id])
        kept_ids = None if ids is None else ids[kept]
        aggregator.add(Trades(times[kept], numbers[0, kept], numbers[1, kept], kept_ids))

    def _finish_trades(self, aggregator: TradeTableAggregator) -> CandleTable:
        made = aggregator.candles()
        for reason, left_out in ((CUT, made.cut_ms), (SPOILT, made.spoilt_ms), (TORN, made.torn_ms)):
            self.rejected[reason] += len(left_out)
        self.rejected = +self.rejected
        return self._checked(made.columns, aggregator.interval, made.repeated, 0)

    def _finish_candles(self) -> CandleTable:
        times, values = np.concatenate(self.times), np.concatenate(self.values, axis=1)
        if np.isnan(values[4]).all():
            values[4] = 0.0
        columns, repeated, contradicting = _in_order(times, values)
        if contradicting > _MOST_CONTRADICTING * self.rows:
            raise CandleFileError(
                f"{self.path.name}: {contradicting:,} of {self.rows:,} rows have the time of another row, and other "
                "numbers. Either its times are rounded, or it holds several markets; split it into a file for each."
            )
        interval = self._interval(columns.open_time_ms)
        return self._checked(columns, interval, repeated, contradicting)

    def _checked(self, columns: StoredColumns, interval: Interval, repeated: int, contradicting: int) -> CandleTable:
        phases = columns.open_time_ms % interval.duration_ms
        phase_ms = int(_most_frequent(phases)) if phases.size else 0
        checked = check_columns(columns, interval, phase_ms, trusts_jumps=self.is_exported)
        rejected: Counter[str] = self.rejected + Counter({why.value: n for why, n in checked.rejected.items()})
        self._refuse_unusable(len(columns), checked.columns, checked.rejected, interval)
        return CandleTable(
            self.path,
            checked.columns,
            interval,
            self.rows,
            self.aggregator is not None,
            rejected,
            repeated,
            contradicting,
            next(iter(self.symbols), None),
        )

    def _interval(self, times: NDArray[np.int64]) -> Interval:
        """The most frequent step between candles, or the requested interval if the rows allow it."""
        named, steps = self.options.interval, np.diff(times)
        if not steps.size:
            if named is not None and times.size:
                return named
            raise CandleFileError(f"{self.path.name} has fewer than two candles at different times.")
        found = Interval(int(_most_frequent(steps)))
        if named is None or found == named:
            return found
        if (steps % named.duration_ms == 0).all():
            return named  # finer than any step: a quiet market leaves holes
        raise CandleFileError(
            f"{self.path.name} holds candles of {found}, not of {named} as requested. "
            f"Import it with --interval {found}; the chart aggregates them to {named}."
        )

    def _refuse_unusable(
        self, rows: int, columns: StoredColumns, rejected: Counter[RejectionReason], interval: Interval
    ) -> None:
        off_grid, fewest = rejected[RejectionReason.GRID], 2 if self.options.interval is None else 1
        if len(columns) < fewest:
            named = "two valid candles" if fewest > 1 else "one valid candle"
            counts = [*self.rejected.items(), *rejected.items()]
            why = ", ".join(f"{count} ({reason})" for reason, count in counts)
            raise CandleFileError(f"{self.path.name} has fewer than {named}{'; rejected: ' + why if why else ''}.")
        if 2 * off_grid > rows:
            raise CandleFileError(
                f"{self.path.name} has no regular interval: {off_grid} of {rows} times do not lie on steps of "
                f"{interval}, its most frequent one. Candles of calendar months cannot be used; resample them."
            )


def _in_order(times: NDArray[np.int64], values: NDArray[np.float64]) -> tuple[StoredColumns, int, int]:
    """Ascending candles, the last one of equal times; the number of repeated rows, and of those that differ."""
    if times.size < 2 or (np.diff(times) > 0).all():
        return StoredColumns(times, values), 0, 0
    order = np.argsort(times, kind="stable")
    times, values = times[order], values[:, order]
    again = times[1:] == times[:-1]
    differs = again & ((values[:, 1:] != values[:, :-1]) & ~(np.isnan(values[:, 1:]) & np.isnan(values[:, :-1]))).any(0)
    is_last = np.append(~again, True)
    return StoredColumns(times[is_last], values[:, is_last]), int(again.sum()), int(differs.sum())


def _most_frequent(numbers: NDArray[np.int64]) -> int:
    """The most frequent number; the smallest of equals."""
    found, counts = np.unique(numbers, return_counts=True)
    return int(found[counts.argmax()])


def _trade_ids(column: pd.Series) -> NDArray[np.int64] | None:
    """Integer trade ids, or None for other ids."""
    import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

    if not pd.api.types.is_integer_dtype(column) or int(column.abs().max()) > _LARGEST_TRADE_ID:
        return None
    return column.to_numpy().astype(np.int64)

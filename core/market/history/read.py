"""Reads a file of candles or trades in parts into columns: validated, in order, each opening time once."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import DAY_MS, Interval
from core.domain.candle_faults import RejectionReason, number_faults
from core.domain.dates import YEAR_1990_MS, utc_text
from core.domain.time_zones import find
from core.market.history.candle_csv import COLUMNS
from core.market.history.candle_table import CandleTable, ReadOptions, Watch
from core.market.history.cells import is_number
from core.market.history.column_checks import check_columns, in_order
from core.market.history.errors import CandleFileError
from core.market.history.forms.form import Form, Stamp
from core.market.history.forms.recognise import refuse_unclear
from core.market.history.opening_times import is_of_days, opening_times, phases_of
from core.market.history.report import (
    HowRead,
    form_sentence,
    numbers_sentence,
    stamp_of,
    stamp_sentence,
    volume_sentence,
    zone_sentence,
)
from core.market.history.skipped_rows import (
    CUT,
    NO_PRICES,
    SPOILT,
    TOO_MANY_CELLS,
    TORN,
    TRADE_NUMBER,
    UNFINISHED,
    UNREADABLE_TIME,
    RowsLeftOut,
)
from core.market.history.sniff_columns import Roles, is_named_utc, number_columns, roles_of, time_column
from core.market.history.sniff_interval import sniff_interval
from core.market.history.sniff_times import (
    TimeColumnError,
    TimeStyle,
    Zone,
    ambiguous,
    day_first,
    moments_of_day,
    offsets_of,
    read_times,
)
from core.market.history.table_file import TableFile
from core.market.history.trades import Trades, TradeTableAggregator, integer_ids, require_interval
from core.storage.candles import StoredColumns

if TYPE_CHECKING:
    import pandas as pd

_MOST_CONTRADICTING = 0.25
"""Share of the rows. With more, the times are rounded, or the rows are of several markets."""
_MOST_OF_A_TIME, _FEWEST_TO_REPEAT = 100, 10_000
"""How often each time may be in a chunk of so many rows: equal rows take no space in a packed file."""


def read_candle_table(
    path: Path, options: ReadOptions | None = None, watch: Watch = lambda done, total: None
) -> CandleTable:
    """Read CSV or JSON (also in .gz, .zip or .zst), Feather or Parquet. Raises CandleFileError.

    watch: called now and then on this thread with the bytes read and to be read, 0 if unknown; its exceptions end the
    reading.
    """
    options = options or ReadOptions()
    table = TableFile(path, passes_over_long_lines=not options.is_strict)
    reader = _Reader(table, options, RowsLeftOut(table))
    for chunk in table.chunks():
        watch(table.bytes_read, path.stat().st_size)
        reader.add(chunk)
    return reader.finish()


def require_table(path: Path) -> None:
    """Raises CandleFileError unless its first part has the columns of candles or trades."""
    table = TableFile(path, passes_over_long_lines=True)
    for chunk in islice(table.chunks(), 1):
        roles_of(table.name, chunk, allows_trades=True, path_name=path.name, delimiter=table.delimiter)


def interval_of(path: Path) -> Interval:
    """How long the candles of a file last, from its first part alone. Raises CandleFileError."""
    table = TableFile(path)
    reader = _Reader(table, ReadOptions(is_strict=True), RowsLeftOut(table))
    for chunk in islice(table.chunks(), 1):
        reader.add(chunk)
    return reader.finish().interval


@dataclass(slots=True)
class _Reader:
    table: TableFile
    options: ReadOptions
    left_out: RowsLeftOut
    roles: Roles | None = None
    style: TimeStyle = field(default_factory=TimeStyle)
    rows: int = 0
    names: list[object] = field(default_factory=list)
    is_exported: bool = False
    has_numbers: bool = False
    times: list[NDArray[np.int64]] = field(default_factory=list)
    offsets: list[NDArray[np.int64]] = field(default_factory=list)
    clocks: set[int] = field(default_factory=set)
    values: list[NDArray[np.float64]] = field(default_factory=list)
    zone: Zone = Zone.MOMENT
    without_volume: int = 0
    is_at_dates: bool = False
    symbols: set[str] = field(default_factory=set)
    first_unreadable: str = ""
    aggregator: TradeTableAggregator | None = None

    @property
    def path(self) -> Path:
        return self.table.path

    @property
    def form(self) -> Form | None:
        return None if self.roles is None else self.roles.form

    def add(self, chunk: pd.DataFrame) -> None:
        if self.roles is None:
            self._begin(chunk)
        assert self.roles is not None, "set by _begin"
        if not len(chunk):
            return
        if list(chunk.columns) != self.names:  # JSON may leave out what a row does not have
            chunk = chunk.reindex(columns=self.names)
        self.rows += len(chunk)
        if self.roles.symbol is not None:
            self.symbols.update(str(name).strip() for name in chunk[self.roles.symbol].dropna().unique())
            if len(self.symbols) > 1:  # their candles would be one market's, with a jump at each change
                shown = ", ".join(sorted(self.symbols)[:3]) + (", …" if len(self.symbols) > 3 else "")
                raise CandleFileError(
                    f"{self.path.name} holds several markets ({shown}). Split it into a file for each."
                )
        chunk = self._without_unfinished(chunk, self.roles)
        numbers = number_columns(chunk, self.roles)
        self.has_numbers = self.has_numbers or bool(np.isfinite(numbers[:4]).any())
        times, is_good, offsets = self._times(chunk, self.roles)
        if self.aggregator is not None:
            self._add_trades(chunk, self.aggregator, times, numbers, is_good)
            return
        if times.size >= _FEWEST_TO_REPEAT and times.size > _MOST_OF_A_TIME * np.unique(times).size:
            raise CandleFileError(f"{self.path.name} repeats its times hundreds of times, so it has no candles.")
        is_good = self._without_faults(chunk, numbers, is_good)
        self.times.append(times[is_good])
        kept = offsets[is_good]
        self.offsets.append(kept if kept.any() else np.broadcast_to(np.int64(0), kept.shape))
        self.values.append(numbers[:, is_good])

    def finish(self) -> CandleTable:
        if self.roles is None or not self.has_numbers:
            raise CandleFileError(f"{self.path.name} has no number in its columns open, high, low and close.")
        self.left_out.counts[TOO_MANY_CELLS] += self.table.long_lines
        if 2 * self.left_out.counts[UNREADABLE_TIME] > self.rows:
            raise CandleFileError(f"{self.path.name} has few rows with a time; {self.first_unreadable}.")
        return self._finish_candles() if self.aggregator is None else self._finish_trades(self.aggregator)

    def _begin(self, chunk: pd.DataFrame) -> None:
        options = self.options
        self.roles = roles_of(
            self.table.name,
            chunk,
            allows_trades=not options.is_strict,
            form_name=options.form,
            path_name=self.path.name,
            delimiter=self.table.delimiter,
        )
        self.symbols.update(self.table.symbols)
        self.names = list(chunk.columns)
        self.is_exported = tuple(chunk.columns) == COLUMNS
        form = self.roles.form
        usual_zone = find(form.zone) if form is not None and form.zone else None
        zone = options.zone or usual_zone or UTC
        self.style = TimeStyle(self._day_first(chunk, self.roles), zone, options.zone is not None)
        if self.roles.are_trades:
            self.aggregator = TradeTableAggregator(require_interval(options.interval, self.path.name))

    def _day_first(self, chunk: pd.DataFrame, roles: Roles) -> bool:
        """Whether days come first; if the first rows are ambiguous, the file is read until one is not."""
        if roles.form is not None and roles.form.day_first is not None:
            return roles.form.day_first
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

    def _times(
        self, chunk: pd.DataFrame, roles: Roles
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
        """Times, a mask of the readable ones, and how far their clock is ahead of UTC."""
        column = time_column(chunk, roles)
        date = self._date_in_name()
        try:
            if date is not None:
                column = moments_of_day(column, date)
            read = read_times(column, self.style)
        except TimeColumnError as error:
            raise CandleFileError(f"{self.path.name}: {error}.") from error
        self.zone = Zone.NONE if date is not None else read.zone
        if self.zone is Zone.FILE:
            self.clocks.update(np.unique(read.offset_ms[~read.is_bad]).tolist())
        if read.is_bad.any():
            self._note_unreadable(column, int(read.is_bad.argmax()))
            self.left_out.add(UNREADABLE_TIME, chunk, read.is_bad)
        return read.ms, ~read.is_bad, read.offset_ms

    def _date_in_name(self) -> str | None:
        """The date in the file's name, for a form with milliseconds since midnight."""
        form = self.form
        if form is None or not form.layout.startswith("ms "):
            return None
        found = re.search(form.file_name, self.table.name)
        if found is None:
            raise CandleFileError(
                f"{self.path.name} has times since midnight; the day must come from a name such as "
                "YYYYMMDD_symbol_minute_trade.csv. Restore that name."
            )
        return found[1]

    def _note_unreadable(self, column: pd.Series, place: int) -> None:
        row = int(column.index[place])
        cell = str(column.iloc[place])
        hint = ", but perhaps a time of day, a spreadsheet's date or the number of a line" if is_number(cell) else ""
        problem = f"{self.path.name}, {self.table.place(row)}: '{cell}' is not a time{hint}"
        if self.options.is_strict:
            raise CandleFileError(f"{problem}.")
        self.first_unreadable = self.first_unreadable or problem

    def _without_unfinished(self, chunk: pd.DataFrame, roles: Roles) -> pd.DataFrame:
        if roles.final is None:
            return chunk
        is_open = chunk[roles.final].astype(str).str.lower().isin(("false", "0", "0.0")).to_numpy()
        self.left_out.add(UNFINISHED, chunk, is_open)
        return chunk[~is_open] if is_open.any() else chunk

    def _without_faults(
        self, chunk: pd.DataFrame, numbers: NDArray[np.float64], is_good: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Which rows with a time have sound numbers. A missing volume becomes 0, and is counted."""
        has_no_prices = is_good & np.isnan(numbers[:4]).all(axis=0)
        self.left_out.add(NO_PRICES, chunk, has_no_prices)
        is_good = is_good & ~has_no_prices
        has_no_volume = is_good & np.isnan(numbers[4])
        self.without_volume += int(has_no_volume.sum())
        numbers[4, has_no_volume] = 0.0
        for reason, is_at_fault in number_faults(numbers):
            self.left_out.add(reason.value, chunk, is_good & is_at_fault)
            is_good = is_good & ~is_at_fault
        return is_good

    def _add_trades(
        self,
        chunk: pd.DataFrame,
        aggregator: TradeTableAggregator,
        times: NDArray[np.int64],
        numbers: NDArray[np.float64],
        is_good: NDArray[np.bool_],
    ) -> None:
        assert self.roles is not None, "set by _begin"
        numbers[1] = np.abs(numbers[1])  # some files write sold amounts as negative numbers
        if self._is_in_quote():
            numbers[1] /= numbers[0]
        is_priced = np.isfinite(numbers).all(axis=0) & (numbers > 0.0).all(axis=0)
        self.left_out.add(TRADE_NUMBER, chunk, is_good & ~is_priced)
        aggregator.spoil(times[is_good & ~is_priced & (numbers[1] != 0.0)])
        kept = is_good & is_priced
        ids = None if self.roles.trade_id is None else integer_ids(chunk[self.roles.trade_id])
        kept_ids = None if ids is None else ids[kept]
        aggregator.add(Trades(times[kept], numbers[0, kept], numbers[1, kept], kept_ids))

    def _is_in_quote(self) -> bool:
        """Whether amounts of trades are in the quote currency, as in this form for such a symbol."""
        pattern = "" if self.form is None else self.form.quote_amounts
        return bool(pattern) and any(re.search(pattern, each) for each in self.symbols)

    def _finish_trades(self, aggregator: TradeTableAggregator) -> CandleTable:
        made = aggregator.candles()
        for reason, left_out in ((CUT, made.cut_ms), (SPOILT, made.spoilt_ms), (TORN, made.torn_ms)):
            self.left_out.counts[reason] += len(left_out)
        self._refuse_broken()
        return self._checked(made.columns, aggregator.interval, made.repeated, 0, "")

    def _finish_candles(self) -> CandleTable:
        times, values = np.concatenate(self.times), np.concatenate(self.values, axis=1)
        # How far the clock of each time is ahead of UTC; None for moments.
        offsets = np.concatenate(self.offsets) if any(each.any() for each in self.offsets) else None
        self.times, self.values = [], []
        self._refuse_broken()
        times, values, offsets, repeated, contradicting = in_order(times, values, offsets)
        if contradicting > _MOST_CONTRADICTING * self.rows:
            raise CandleFileError(
                f"{self.path.name}: {contradicting:,} of {self.rows:,} rows have the time of another row, and other "
                "numbers. Either its times are rounded, or it holds several markets; split it into a file for each."
            )
        interval = sniff_interval(times, self.options.interval, self.path.name, self.left_out)
        if self.zone is Zone.MOMENT and interval.duration_ms < DAY_MS and (times < YEAR_1990_MS).any():
            raise CandleFileError(
                f"{self.path.name}: its times, such as {utc_text(int(times[0]), '%Y-%m-%d %H:%M:%S')}, would be "
                "moments before 1990, when there were no such candles. Perhaps they are times of day; add the date."
            )
        if self.form is not None and interval.duration_ms < DAY_MS:
            has_zone = self.options.zone is not None or self.zone is not Zone.NONE
            refuse_unclear(self.path.name, self.form, has_zone=has_zone, has_stamp=self.options.stamp is not None)
        opens, stamped = self._opening_times(times, offsets, interval)
        return self._checked(StoredColumns(opens, values), interval, repeated, contradicting, stamped)

    def _opening_times(
        self, times: NDArray[np.int64], offsets: NDArray[np.int64] | None, interval: Interval
    ) -> tuple[NDArray[np.int64], str]:
        """The opening times of the candles, and a sentence on what the file's times stamp."""
        form, options = self.form, self.options
        if is_of_days(interval) and self.zone is Zone.MOMENT and options.zone is not None:
            offsets = offsets_of(times, options.zone)
        assert self.roles is not None, "set by _begin"
        stamp, stated_by = stamp_of(form, options.stamp, self.roles.stamp)
        found = opening_times(
            times,
            np.zeros_like(times) if offsets is None else offsets,
            interval,
            are_ends=stamp is Stamp.END,
            are_starts=options.stamp is Stamp.START,
            are_days=form is not None and form.are_days,
            has_zone=self.zone is not Zone.NONE or options.zone is not None,
        )
        self.is_at_dates = is_of_days(interval) and bool((found.times % DAY_MS == 0).all())
        return found.times, stamp_sentence(found, stamp, stated_by, are_dates=self.is_at_dates)

    def _refuse_broken(self) -> None:
        assert self.roles is not None, "set by _begin"
        if not self.options.skips_invalid:
            read_as = "" if self.form is None else f"read as {self.form.title}, "
            self.left_out.refuse_broken(self.rows, read_as, is_by_name=self.roles.is_by_name)

    def _checked(
        self, columns: StoredColumns, interval: Interval, repeated: int, contradicting: int, stamped: str
    ) -> CandleTable:
        phases = phases_of(columns.open_time_ms, interval)
        checked = check_columns(columns, interval, *phases, trusts_jumps=self.is_exported, trusts_numbers=True)
        self._refuse_unusable(len(columns), checked.columns, checked.rejected, interval)
        for reason, count in checked.rejected.items():
            self.left_out.counts[reason.value] += count
            moment = utc_text(checked.first_ms[reason], "%Y-%m-%d %H:%M:%S")
            self.left_out.examples.setdefault(reason.value, f"the candle of {moment} UTC")
        self._refuse_broken()
        return CandleTable(
            self.path,
            checked.columns,
            interval,
            self.rows,
            self.aggregator is not None,
            +self.left_out.counts,
            repeated,
            contradicting,
            next(iter(self.symbols), None),
            self._how(stamped),
            self.left_out.examples,
        )

    def _how(self, stamped: str) -> HowRead:
        roles, options = self.roles, self.options
        assert roles is not None, "set by _begin"
        how, named = self.zone, None if options.zone is None else options.zone_name or str(options.zone)
        is_utc = any(map(is_named_utc, roles.time))
        zone, is_assumed = zone_sentence(
            roles.form, how, named, self.clocks, is_named_utc=is_utc, are_dates=self.is_at_dates
        )
        shown = form_sentence(roles.form, is_by_name=roles.is_by_name, is_requested=options.form is not None)
        volume = volume_sentence(
            roles.numbers[-1], roles.form, roles.volume, is_in_quote=self._is_in_quote(), missing=self.without_volume
        )
        numbers = numbers_sentence(roles.form, has_decimal_comma=self.table.has_decimal_comma)
        return HowRead(roles.form, shown, zone, stamped, volume, numbers, is_assumed)

    def _refuse_unusable(
        self, rows: int, columns: StoredColumns, rejected: Counter[RejectionReason], interval: Interval
    ) -> None:
        off_grid, fewest = rejected[RejectionReason.GRID], 2 if self.options.interval is None else 1
        if len(columns) < fewest:
            raise self.left_out.too_few(rejected, "two" if fewest > 1 else "one")
        if 2 * off_grid > rows:
            raise CandleFileError(
                f"{self.path.name} has no regular interval: {off_grid} of {rows} times do not lie on steps of "
                f"{interval}, its most frequent one. Candles of calendar months cannot be used; import days instead."
            )

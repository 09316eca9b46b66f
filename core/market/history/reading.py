"""Reads a file of candles or trades in parts into columns: validated, in order, each opening time once."""

from __future__ import annotations

import re
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
from core.domain.dates import utc_text
from core.domain.time_zones import find
from core.domain.validation import RejectionReason, number_faults
from core.market.history.candle_csv import COLUMNS
from core.market.history.cells import is_number
from core.market.history.checks import check_columns
from core.market.history.errors import CandleFileError
from core.market.history.forms.form import Form, Stamp
from core.market.history.grids import are_ends, days_at_date, grid_of, is_usual, most_frequent
from core.market.history.report import (
    HowRead,
    LeftOut,
    end_by,
    form_sentence,
    stamp_sentence,
    volume_sentence,
    zone_sentence,
)
from core.market.history.roles import Roles, number_columns, roles_of, time_column
from core.market.history.table import TableFile
from core.market.history.times import TimeColumnError, TimeStyle, Zone, ambiguous, day_first, read_times
from core.market.history.trades import Trades, TradeTableAggregator
from core.storage.candles import StoredColumns

if TYPE_CHECKING:
    import pandas as pd

_LARGEST_TRADE_ID = 2**62
_EARLY_MS = 631_152_000_000
"""1990. Numbers that would be moments before it are of days, or they are no moments."""

UNREADABLE_TIME = "time cannot be read"
TOO_MANY_CELLS = "too many cells in the line"
TRADE_NUMBER = "price or amount is no number above zero"
NO_PRICES = "no prices, as no trade was made"
UNFINISHED = "not finished when the file was made"
CUT = "candle cut by the file's beginning or end"
SPOILT = "candle with a trade that cannot be read"
TORN = "candle that lacks trades, by their numbers"
_HARMLESS = frozenset((NO_PRICES, UNFINISHED, CUT, SPOILT, TORN, RejectionReason.JUMP.value))
"""Reasons that do not speak against the file."""
_MOST_CONTRADICTING = 0.25
"""Share of the rows. With more, the times are rounded, or the rows are of several markets."""
_MOST_BROKEN = 0.1
"""Share of the rows. With more, the file is not what it was taken for."""

Watch = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the user says of a file.

    interval: of the candles; None: from the rows. zone: of times without one; None: of the file's form, or UTC.
    zone_name: its name, for the report. form: the name of a known form. stamp: which moment of a candle its time is.
    skips_invalid: keep the good rows of a file that has many bad ones.
    is_strict: a line without a time invalidates the whole file, and trades are not read.
    """

    interval: Interval | None = None
    zone: tzinfo | None = None
    zone_name: str | None = None
    form: str | None = None
    stamp: Stamp | None = None
    skips_invalid: bool = False
    is_strict: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class CandleTable:
    """The content of a file.

    columns: the accepted candles, ascending. rows: lines of the table. rejected: counts by reason; left_out: the same
    with an example each. repeated: rows with the opening time of another row, or trades that are in the file twice;
    contradicting: those of them with other numbers, of which the last in the file is kept. symbol: that of the symbol
    column.
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
    how: HowRead
    left_out: tuple[LeftOut, ...] = ()


def read_candle_table(
    path: Path, options: ReadOptions | None = None, watch: Watch = lambda done, total: None
) -> CandleTable:
    """Read CSV or JSON (also in .gz, .zip or .zst), Feather or Parquet. Raises CandleFileError.

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
    table = TableFile(path, passes_over_long_lines=True)
    for chunk in islice(table.chunks(), 1):
        roles_of(table.name, chunk, allows_trades=True, path_name=path.name, delimiter=table.delimiter)


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
    names: list[object] = field(default_factory=list)
    is_exported: bool = False
    has_numbers: bool = False
    times: list[NDArray[np.int64]] = field(default_factory=list)
    offsets: list[NDArray[np.int64]] = field(default_factory=list)
    values: list[NDArray[np.float64]] = field(default_factory=list)
    zone: Zone = Zone.MOMENT
    without_volume: int = 0
    is_at_dates: bool = False
    symbols: set[str] = field(default_factory=set)
    rejected: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    first_unreadable: str = ""
    aggregator: TradeTableAggregator | None = None

    @property
    def path(self) -> Path:
        return self.table.path

    @property
    def form(self) -> Form | None:
        return None if self.roles is None else self.roles.form

    def take(self, chunk: pd.DataFrame) -> None:
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
            self._refuse_several_markets()
        chunk = self._without_unfinished(chunk, self.roles)
        numbers = number_columns(chunk, self.roles)
        self.has_numbers = self.has_numbers or bool(np.isfinite(numbers[:4]).any())
        times, is_good, offsets = self._times(chunk, self.roles)
        if self.aggregator is not None:
            self._take_trades(chunk, self.aggregator, times, numbers, is_good)
            return
        is_good = self._without_faults(chunk, numbers, is_good)
        self.times.append(times[is_good])
        kept = offsets[is_good]
        self.offsets.append(kept if kept.any() else np.broadcast_to(np.int64(0), kept.shape))
        self.values.append(numbers[:, is_good])

    def finish(self) -> CandleTable:
        if self.roles is None or not self.has_numbers:
            raise CandleFileError(f"{self.path.name} has no number in its columns open, high, low and close.")
        self.rejected[TOO_MANY_CELLS] += self.table.long_lines
        if 2 * self.rejected[UNREADABLE_TIME] > self.rows:
            raise CandleFileError(f"{self.path.name} has few rows with a time; {self.first_unreadable}.")
        return self._finish_candles() if self.aggregator is None else self._finish_trades(self.aggregator)

    def _refuse_several_markets(self) -> None:
        """Their candles would be one market's, with a jump at each change."""
        if len(self.symbols) > 1:
            shown = ", ".join(sorted(self.symbols)[:3]) + (", …" if len(self.symbols) > 3 else "")
            raise CandleFileError(f"{self.path.name} holds several markets ({shown}). Split it into a file for each.")

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
        zone = self._zone(self.roles.form)
        self.style = TimeStyle(self._day_first(chunk, self.roles), zone, options.zone is not None)
        if self.roles.are_trades:
            self.aggregator = TradeTableAggregator(self._interval_of_trades())

    def _zone(self, form: Form | None) -> tzinfo:
        """Of times that name none."""
        if self.options.zone is not None:
            return self.options.zone
        known = form is not None and form.zone and not form.zone.startswith("?")
        return (find(form.zone) if known and form is not None else None) or UTC

    def _refuse_unclear(self, interval: Interval) -> None:
        """Raises CandleFileError for a form that leaves open what only the user knows."""
        form, options = self.form, self.options
        if form is None or interval.duration_ms >= DAY_MS:
            return
        if form.zone.startswith("?") and options.zone is None and self.zone is Zone.NONE:
            raise CandleFileError(
                f"{self.path.name} is of {form.title}, which has the times of {form.zone[1:]}; the file does not name "
                "that zone. Name it with --time-zone."
            )
        if form.asks_stamp and options.stamp is None:
            raise CandleFileError(
                f"{self.path.name} is of {form.title}, which some programs stamp with the beginning of a candle and "
                "others with its end. Say which: --stamp start or --stamp end."
            )

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
        """Times, where there is one, and how far their clock is ahead of UTC."""
        column = time_column(chunk, roles)
        midnight = self._midnight_ms()
        try:
            if midnight is not None:
                column = _as_moments(column, midnight)
            read = read_times(column, self.style)
        except TimeColumnError as error:
            raise CandleFileError(f"{self.path.name}: {error}.") from error
        self.zone = Zone.NONE if midnight is not None else read.zone
        if read.is_bad.any():
            self._note_unreadable(column, int(read.is_bad.argmax()))
            self.rejected[UNREADABLE_TIME] += int(read.is_bad.sum())
        return read.ms, ~read.is_bad, read.offset_ms

    def _midnight_ms(self) -> str | None:
        """The date in the file's name, for a form that has milliseconds since midnight."""
        form = self.form
        if form is None or not form.layout.startswith("ms "):
            return None
        found = re.search(form.file_name, self.table.name)
        if found is None:
            raise CandleFileError(
                f"{self.path.name} has times since midnight, and the day only in its name, which is not of the form "
                "YYYYMMDD_symbol_minute_trade.csv. Give it its name again."
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
        self._add_example(UNREADABLE_TIME, row)

    def _add_example(self, reason: str, row: int) -> None:
        if reason not in self.examples:
            self.examples[reason] = self.table.example(row)

    def _leave_out(self, reason: str, chunk: pd.DataFrame, is_left_out: NDArray[np.bool_]) -> None:
        if is_left_out.any():
            self.rejected[reason] += int(is_left_out.sum())
            self._add_example(reason, int(chunk.index[int(is_left_out.argmax())]))

    def _without_unfinished(self, chunk: pd.DataFrame, roles: Roles) -> pd.DataFrame:
        if roles.final is None:
            return chunk
        is_open = chunk[roles.final].astype(str).str.lower().isin(("false", "0", "0.0")).to_numpy()
        self._leave_out(UNFINISHED, chunk, is_open)
        return chunk[~is_open] if is_open.any() else chunk

    def _without_faults(
        self, chunk: pd.DataFrame, numbers: NDArray[np.float64], is_good: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Which rows with a time have sound numbers. A missing volume becomes 0, and is counted."""
        has_no_prices = is_good & np.isnan(numbers[:4]).all(axis=0)
        self._leave_out(NO_PRICES, chunk, has_no_prices)
        is_good = is_good & ~has_no_prices
        has_no_volume = is_good & np.isnan(numbers[4])
        self.without_volume += int(has_no_volume.sum())
        numbers[4, has_no_volume] = 0.0
        for reason, is_at_fault in number_faults(numbers):
            self._leave_out(reason.value, chunk, is_good & is_at_fault)
            is_good = is_good & ~is_at_fault
        return is_good

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
        form = self.roles.form
        if (
            form is not None
            and form.quote_amounts
            and any(re.search(form.quote_amounts, each) for each in self.symbols)
        ):
            numbers[1] /= numbers[0]
        is_priced = np.isfinite(numbers).all(axis=0) & (numbers > 0.0).all(axis=0)
        self._leave_out(TRADE_NUMBER, chunk, is_good & ~is_priced)
        aggregator.spoil(times[is_good & ~is_priced & (numbers[1] != 0.0)])
        kept = is_good & is_priced
        ids = None if self.roles.trade_id is None else _trade_ids(chunk[self.roles.trade_id])
        kept_ids = None if ids is None else ids[kept]
        aggregator.add(Trades(times[kept], numbers[0, kept], numbers[1, kept], kept_ids))

    def _finish_trades(self, aggregator: TradeTableAggregator) -> CandleTable:
        made = aggregator.candles()
        for reason, left_out in ((CUT, made.cut_ms), (SPOILT, made.spoilt_ms), (TORN, made.torn_ms)):
            self.rejected[reason] += len(left_out)
        self._refuse_broken()
        return self._checked(made.columns, aggregator.interval, made.repeated, 0, "")

    def _finish_candles(self) -> CandleTable:
        times, values, offsets = np.concatenate(self.times), np.concatenate(self.values, axis=1), self._offsets()
        self.times, self.values = [], []
        self._refuse_broken()
        times, values, offsets, repeated, contradicting = _in_order(times, values, offsets)
        if contradicting > _MOST_CONTRADICTING * self.rows:
            raise CandleFileError(
                f"{self.path.name}: {contradicting:,} of {self.rows:,} rows have the time of another row, and other "
                "numbers. Either its times are rounded, or it holds several markets; split it into a file for each."
            )
        interval = self._interval(times)
        if self.zone is Zone.MOMENT and interval.duration_ms < DAY_MS and (times < _EARLY_MS).any():
            raise CandleFileError(
                f"The times of {self.path.name}, such as {utc_text(int(times[0]), '%Y-%m-%d %H:%M:%S')}, would be "
                "moments before 1990, when there were no such candles. Perhaps they are times of day; add the date."
            )
        self._refuse_unclear(interval)
        opens, stamped = self._opening_times(times, offsets, interval)
        self.is_at_dates = interval.duration_ms % DAY_MS == 0 and bool((opens % DAY_MS == 0).all())
        return self._checked(StoredColumns(opens, values), interval, repeated, contradicting, stamped)

    def _offsets(self) -> NDArray[np.int64] | None:
        """How far the clock of each time is ahead of UTC; None for moments."""
        return np.concatenate(self.offsets) if any(each.any() for each in self.offsets) else None

    def _opening_times(
        self, times: NDArray[np.int64], offsets: NDArray[np.int64] | None, interval: Interval
    ) -> tuple[NDArray[np.int64], str]:
        """Where the candles open, and a sentence on what their times stamp."""
        form, wanted = self.form, self.options.stamp
        is_of_days = interval.duration_ms % DAY_MS == 0
        if is_of_days and offsets is None and self.zone is Zone.MOMENT and self.options.zone is not None:
            offsets = _offsets_of(times, self.options.zone)
        walls = times if offsets is None else times + offsets
        short_ms = None if wanted is Stamp.START else are_ends(walls if is_of_days else times, interval)
        said_by = end_by(form, wanted, is_named=self.roles is not None and self.roles.is_end)
        if short_ms is not None:
            times = times + short_ms - interval.duration_ms
        elif said_by and (not is_of_days or wanted is Stamp.END or self.zone is not Zone.NONE):
            times = times - interval.duration_ms
        else:
            said_by = ""
        if is_of_days:
            times = days_at_date(
                times,
                np.zeros_like(times) if offsets is None else offsets,
                interval,
                are_days=form is not None and form.are_days,
                has_zone=self.zone is not Zone.NONE or self.options.zone is not None,
            )
        return times, stamp_sentence(interval, ends_short_ms=short_ms, end_by=said_by)

    def _refuse_broken(self) -> None:
        """Raises CandleFileError if more rows are bad than a good file has."""
        self.rejected = +self.rejected
        broken = {reason: count for reason, count in self.rejected.items() if reason not in _HARMLESS}
        if self.options.skips_invalid or sum(broken.values()) <= _MOST_BROKEN * self.rows:
            return
        reason = max(broken, key=broken.__getitem__)
        example = f" (such as {self.examples[reason]})" if reason in self.examples else ""
        form = "" if self.form is None else f" as {self.form.title}"
        raise CandleFileError(
            f"{self.path.name}: read{form}, {sum(broken.values()):,} of {self.rows:,} rows make no sense: {reason}"
            f"{example}. {self._advice(sum(broken.values()))}"
        )

    def _advice(self, broken: int) -> str:
        if 2 * broken < self.rows:
            return "To leave such rows out, add --skip-invalid."
        return "Its columns may be in an order that is not known: add a first line with the name of each."

    def _checked(
        self, columns: StoredColumns, interval: Interval, repeated: int, contradicting: int, stamped: str
    ) -> CandleTable:
        phases = grid_of(columns.open_time_ms, interval).phases_ms
        checked = check_columns(columns, interval, *phases, trusts_jumps=self.is_exported, trusts_numbers=True)
        self._refuse_unusable(len(columns), checked.columns, checked.rejected, interval)
        for reason, count in checked.rejected.items():
            self.rejected[reason.value] += count
            moment = utc_text(checked.first_ms[reason], "%Y-%m-%d %H:%M:%S")
            self.examples.setdefault(reason.value, f"the candle of {moment} UTC")
        self._refuse_broken()
        left_out = tuple(
            LeftOut(reason, count, self.examples.get(reason, "")) for reason, count in self.rejected.items()
        )
        return CandleTable(
            self.path,
            checked.columns,
            interval,
            self.rows,
            self.aggregator is not None,
            self.rejected,
            repeated,
            contradicting,
            next(iter(self.symbols), None),
            self._how(stamped),
            left_out,
        )

    def _how(self, stamped: str) -> HowRead:
        roles, options = self.roles, self.options
        assert roles is not None, "set by _begin"
        how, named = self.zone, None if options.zone is None else options.zone_name or str(options.zone)
        zone, is_assumed = zone_sentence(roles.form, how, named, are_dates=self.is_at_dates)
        shown = form_sentence(roles.form, is_by_name=roles.is_by_name, is_requested=options.form is not None)
        volume = volume_sentence(
            roles.numbers[-1], roles.form, is_turnover=roles.is_turnover, missing=self.without_volume
        )
        decimal = "a comma is the decimal sign" if self.table.has_decimal_comma else ""
        return HowRead(roles.form, shown, zone, stamped, volume, decimal, is_assumed)

    def _interval(self, times: NDArray[np.int64]) -> Interval:
        """The most frequent step between candles, or the requested interval if the rows allow it."""
        named, steps = self.options.interval, np.diff(times)
        if not steps.size:
            if named is not None and times.size:
                return named
            raise self._too_few(Counter())
        found = Interval(most_frequent(steps))
        if named is not None and (found == named or (steps % named.duration_ms == 0).all()):
            return named  # finer than any step: a quiet market leaves holes
        if not is_usual(found):
            raise CandleFileError(
                f"The times of {self.path.name} are mostly {found} apart, which is no length of candles. Perhaps its "
                "times are of another unit, or another column has them; name that one time."
            )
        if named is None:
            return found
        raise CandleFileError(
            f"{self.path.name} holds candles of {found}, not of {named} as requested. "
            f"Import it with --interval {found}; the chart aggregates them to {named}."
        )

    def _too_few(self, rejected: Counter[RejectionReason]) -> CandleFileError:
        named = "two valid candles" if self.options.interval is None else "one valid candle"
        counts = {**+self.rejected, **{reason.value: count for reason, count in rejected.items()}}
        why = ", ".join(f"{count} ({reason})" for reason, count in counts.items())
        return CandleFileError(f"{self.path.name} has fewer than {named}{'; rejected: ' + why if why else ''}.")

    def _refuse_unusable(
        self, rows: int, columns: StoredColumns, rejected: Counter[RejectionReason], interval: Interval
    ) -> None:
        off_grid, fewest = rejected[RejectionReason.GRID], 2 if self.options.interval is None else 1
        if len(columns) < fewest:
            raise self._too_few(rejected)
        if 2 * off_grid > rows:
            raise CandleFileError(
                f"{self.path.name} has no regular interval: {off_grid} of {rows} times do not lie on steps of "
                f"{interval}, its most frequent one. Candles of calendar months cannot be used; import days instead."
            )


def _in_order(
    times: NDArray[np.int64], values: NDArray[np.float64], offsets: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64] | None, int, int]:
    """Ascending candles, the last one of equal times; the number of repeated rows, and of those that differ."""
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


def _offsets_of(times: NDArray[np.int64], zone: tzinfo) -> NDArray[np.int64]:
    """How far a zone's clock is ahead of UTC at these moments."""
    import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

    moments = pd.Series(pd.to_datetime(times, unit="ms"))
    walls = moments.dt.tz_localize("UTC").dt.tz_convert(zone).dt.tz_localize(None)
    return np.asarray((walls - moments).dt.total_seconds().to_numpy() * 1000, dtype=np.int64)


def _as_moments(column: pd.Series, date: str) -> pd.Series:
    """Milliseconds since the midnight of a date, YYYYMMDD, as times of that day."""
    import pandas as pd  # noqa: PLC0415 - as above

    moments: pd.Series = pd.Timestamp(date) + pd.to_timedelta(column.astype("int64"), unit="ms")
    return moments


def _trade_ids(column: pd.Series) -> NDArray[np.int64] | None:
    """Integer trade ids, or None for other ids."""
    import pandas as pd  # noqa: PLC0415 - as above

    if not pd.api.types.is_integer_dtype(column) or int(column.abs().max()) > _LARGEST_TRADE_ID:
        return None
    return column.to_numpy().astype(np.int64)

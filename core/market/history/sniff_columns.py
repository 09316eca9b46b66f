"""The roles of a table's columns: candles or trades, by a known form, by name, or by position without a header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.domain.plain_text import plain
from core.market.history.cells import is_number, numbers_of
from core.market.history.errors import CandleFileError
from core.market.history.forms.form import QUOTES, Form, Stamp
from core.market.history.forms.layouts import FLAGS, PRICES, places_of
from core.market.history.forms.recognise import STANDARD, form_of
from core.market.history.sniff_volume import NO_VOLUME, VolumeChoice, base_volume

if TYPE_CHECKING:
    import pandas as pd

START_NAMES = (
    *("open_time_ms", "open_time", "opentime", "time_period_start", "interval_begin", "start_time", "starttime"),
    *("start", "started_at", "startedat", "startsat", "starts_at", "window_start", "begin", "periodstartunix"),
    *("candle_begin_time", "time_open", "time_left"),
)
TIME_NAMES = (
    *START_NAMES,
    *("timestamp", "timestamps", "datetime", "date-time", "date", "time", "date/time", "day", "trade_date"),
    *("gmt_time", "utc_time", "etc/utc", "time_(utc)", "datetime_utc", "time_utc", "timestamp_utc", "local_time"),
    *("unix", "unix_timestamp", "unix_time", "unixtime", "epoch", "ts", "mts", "ts_event", "created_at", "period"),
    *("transact_time", "trade_time", "created_time", "participant_timestamp", "time_exchange", "t", "index"),
)
"""Names of the beginning come before names that may be of any moment."""
END_NAMES = (
    *("close_time", "closetime", "time_close", "timeclose", "time_period_end", "time_end", "end_time", "end", "stop"),
)
DATE_NAMES = ("date", "dtyyyymmdd", "date_ymd", "date_mdy", "date_dmy", "trade_date", "day")
PRICE_NAMES = {
    "open": ("open", "o", "open_price", "price_open", "openprice", "px_open"),
    "high": ("high", "h", "high_price", "price_high", "highprice", "max", "px_high"),
    "low": ("low", "l", "low_price", "price_low", "lowprice", "min", "px_low"),
    "close": ("close", "c", "close_price", "price_close", "closeprice", "close/last", "px_last", "price", "last"),
}
VOLUME_NAMES = (
    *("volume", "vol", "base_volume", "volumefrom", "volume_traded", "basetokenvolume", "tickvol", "tick_volume"),
    *("amount", "quantity", "v"),
)
_MAY_BE_VOLUME = re.compile(r"vol|shares|amount|turnover|quantity|qty|money|value|cost|notional|quote")
SURELY_VOLUME = re.compile(r"^vol|volume|^shares|shares$|^no\.of_shares|traded_quantity|traded_qty")
_IS_NO_VOLUME = re.compile(r"taker|buy|sell|bid|ask|average|avg|\bma\b|_ma\b|price|cap|count|trades|change|interest")
TRADE_PRICE_NAMES = ("price", "p", "px", "rate")
AMOUNT_NAMES = ("base_qty", "base_amount", "amount", "qty", "quantity", "size", "volume", "q", "v", "sz")
OTHER_NAMES = {
    "symbol": (
        *("symbol", "pair", "ticker", "tic", "instrument", "instrument_name", "market", "coin", "instid"),
        *("product_id", "symbol_id"),
    ),
    "final": ("confirm", "confirmed", "complete", "closed", "is_closed", "is_final", "isfinal"),
    "trade_id": ("trade_id", "tradeid", "agg_trade_id", "agg_id", "id", "tid"),
}
"""Columns' names by role, as in `Roles`."""
_MOST_NAMES = 20


def plain_name(name: object) -> str:
    """``<TICKVOL>``, ``Gmt time``, ``1. open`` and ``size/数量`` as ``tickvol``, ``gmt_time``, ``open``, ``size``."""
    bare = re.sub(r"^\d+\. |/[^\x00-\x7f]+.*$", "", str(name).strip().strip("<># "))
    return bare.strip().rstrip(".*").lower().replace(" ", "_")


def by_plain_name(table: pd.DataFrame) -> dict[str, object]:
    """Columns by plain name. Of two that differ by case alone, the lower-case one, as ``t`` beside ``T``."""
    by_name: dict[str, object] = {}
    for name in reversed(table.columns):
        bare = plain_name(name)
        if bare not in by_name or str(name) == bare or str(by_name[bare]) != bare:
            by_name[bare] = name
    prefixes = {re.sub(r"\.(open|high|low|close|volume)$", "", bare) for bare in by_name if bare.endswith(".close")}
    if len(prefixes) == 1:  # as R's quantmod has it: BTC.Open
        prefix = f"{next(iter(prefixes))}."
        by_name |= {bare.removeprefix(prefix): name for bare, name in by_name.items() if bare.startswith(prefix)}
    return by_name


def is_named_utc(name: object) -> bool:
    """``Gmt time``, ``Date (UTC)``, but not ``Time (GMT+1)``."""
    return bool(re.search(r"(?<![a-z])(utc|gmt)(?![a-z+-])", str(name).lower()))


def may_be_volume(name: str) -> bool:
    """name: a plain one."""
    return name in VOLUME_NAMES or bool(_MAY_BE_VOLUME.search(name) and not _IS_NO_VOLUME.search(name))


def first_of(by_name: Mapping[str, object], names: Iterable[str]) -> object | None:
    return next((by_name[name] for name in names if name in by_name), None)


def column_for(what: str, names: Iterable[str], by_name: Mapping[str, object], file_name: str) -> object:
    """The first column that has one of these names. Raises CandleFileError, with the expected and the existing
    names."""
    found = first_of(by_name, names)
    if found is not None:
        return found
    there = ", ".join(str(name) for name in reversed(tuple(by_name.values())) if not str(name).startswith("Unnamed:"))
    raise CandleFileError(
        f"{file_name} has no column for {what}, and is of no known form. Its columns are named: {plain(there)}. "
        f"Looked for {', '.join(tuple(names)[:_MOST_NAMES])} and the like. Rename its column, or choose another file."
    )


_TRADE_LAYOUT = ("time", "price", "amount")
_LONGEST_NAME = 60
_SAMPLE_ROWS = 5_000
"""Rows read to distinguish volumes."""
_LAST_OF_HOUR_MINUTE = 2359


@dataclass(frozen=True, slots=True)
class Roles:
    """Names of a table's columns.

    numbers: open, high, low, close, volume of candles, price and amount of trades; each of one column, of none for a
    missing volume, or of several to be added. time: one column, or a date and a time of day. final: whether a candle
    has closed. clock_digits: digits of times of day without colons. stamp: by the time's name.
    """

    are_trades: bool
    time: tuple[object, ...]
    numbers: tuple[tuple[object, ...], ...]
    trade_id: object | None = None
    symbol: object | None = None
    final: object | None = None
    form: Form | None = None
    clock_digits: int = 0
    volume: VolumeChoice = NO_VOLUME
    stamp: Stamp | None = None
    is_by_name: bool = True


def roles_of(
    name: str,
    table: pd.DataFrame,
    *,
    allows_trades: bool,
    form_name: str | None = None,
    path_name: str = "",
    delimiter: str = "",
) -> Roles:
    """Recognise the columns in a table's first part. name: the file's, or the packed file's. delimiter: between
    its cells.

    Raises CandleFileError with the expected and the existing names.
    """
    shown = path_name or name
    _refuse_odd_columns(shown, table)
    form = form_of(name, table, form_name, delimiter) if len(table) else None
    symbol = None
    if form is None and len(table) and isinstance(table.columns[0], int):
        cells = table.iloc[:, 0]
        has_symbol = cells.nunique() == 1 and re.fullmatch(r"[A-Za-z][\w./-]*", str(cells.iloc[0]).strip())
        symbol = table.columns[0] if has_symbol else None
        if symbol is not None or _counts_lines(table.iloc[:, 0]):
            table = table.iloc[:, 1:]
            form = form_of(name, table, form_name, delimiter)
    if all(isinstance(column, int) for column in table.columns):
        roles = replace(_by_place(shown, table, form), symbol=symbol)
    else:
        roles = _by_name(shown, table, form)
    if roles.are_trades and not allows_trades:
        raise CandleFileError(f"{shown} holds trades, not candles. Import it to aggregate them to candles.")
    return roles


def _refuse_odd_columns(name: str, table: pd.DataFrame) -> None:
    """Arrow files may have no usable column, or several with one name."""
    if not len(table.columns):
        raise CandleFileError(f"{name} has no column of numbers, texts or times, so it holds no candles.")
    again = table.columns[table.columns.duplicated()]
    if len(again):
        raise CandleFileError(
            f"{name} has several columns named '{plain(str(again[0]), _LONGEST_NAME)}', so it is ambiguous. "
            "Rename or remove all but one."
        )


def _counts_lines(column: pd.Series) -> bool:
    """Whether this is a saved index: 0, 1, 2 and so on."""
    import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

    if len(column) < 2 or not pd.api.types.is_integer_dtype(column):
        return False
    return int(column.iloc[0]) in (0, 1) and bool((column.diff().iloc[1:] == 1).all())


def time_column(table: pd.DataFrame, roles: Roles) -> pd.Series:
    """The time cells; a date and a time of day are joined."""
    if len(roles.time) == 1:
        return table[roles.time[0]]
    date, clock = (table[name].astype(str).str.strip() for name in roles.time)
    if roles.clock_digits:
        digits = clock.str.removesuffix(".0").str.zfill(roles.clock_digits)
        clock = digits.str.replace(r"(\d\d)(?=\d)", r"\1:", regex=True)
    joined: pd.Series = date.str.removesuffix(".0") + " " + clock
    return joined


def number_columns(table: pd.DataFrame, roles: Roles) -> NDArray[np.float64]:
    """Shape (columns, rows), with the factors of the form. NaN for cells without a number, 0 for a missing column."""
    found = np.zeros((len(roles.numbers), len(table)))
    for place, names in enumerate(roles.numbers):
        for name in names:
            found[place] += numbers_of(table[name])
    form = roles.form
    if form is None:
        return found
    found[-1] *= form.volume_factor
    prices = found[:-1]
    known = prices[np.isfinite(prices)]
    if form.integer_price_factor != 1.0 and ((known == np.floor(known)) & (known >= form.least_integer_price)).all():
        prices /= round(1.0 / form.integer_price_factor)
    return found


def _by_place(name: str, table: pd.DataFrame, form: Form | None) -> Roles:
    columns = list(table.columns)
    if form is not None:
        places = {part: columns[place] for part, place in (places_of(form, len(columns)) or {}).items()}
        time = tuple(places[part] for part in ("time", "moment", "date", "clock", "ms") if part in places)
        digits = (_clock_digits(table[places["clock"]]) or 0) if "clock" in places else 0
        if "price" in places:
            numbers = ((places["price"],), (places["amount"],))
            return Roles(True, time, numbers, places.get("id"), form=form, is_by_name=False)
        return replace(_candles_by_place(table, form, time, places), clock_digits=digits)
    if len(columns) == len(_TRADE_LAYOUT):
        return Roles(True, tuple(columns[:1]), ((columns[1],), (columns[2],)), is_by_name=False)
    if len(columns) <= len(PRICES):
        raise CandleFileError(
            f"{name} has no header and {len(columns)} columns: no column for open, high, low and close. A candle file "
            "has a time, open, high, low and close a line, and a file of trades a time, a price and an amount."
        )
    # Rows that break the order are counted: with a tenth of them the file is refused.
    return _candles_by_place(table, STANDARD, (columns[0],), dict(zip(("time", *PRICES), columns, strict=False)))


def _candles_by_place(table: pd.DataFrame, form: Form, time: tuple[object, ...], places: Mapping[str, object]) -> Roles:
    prices = tuple(places[part] for part in PRICES)
    used = {*time, *prices}
    table = table[:_SAMPLE_ROWS]
    others = {column: numbers_of(table[column]) for column in table.columns if column not in used}
    others = {column: each for column, each in others.items() if np.isfinite(each).any()}
    low, high = (numbers_of(table[places[part]]) for part in ("low", "high"))
    preferred = places.get("volume", next(iter(others), None))
    choice = VolumeChoice(preferred)
    if preferred is not None and "volume" not in places:
        choice = base_volume(preferred, others, low, high)
    numbers = (*((each,) for each in prices), _as_tuple(choice.column))
    named = None if form is STANDARD else form
    return Roles(False, time, numbers, None, None, places.get("flag"), named, volume=choice, is_by_name=False)


def _by_name(shown: str, table: pd.DataFrame, form: Form | None) -> Roles:
    by_name = by_plain_name(table)
    reads = {} if form is None else {part: _column_of(table, names) for part, names in form.reads.items()}
    symbol, final, trade_id = (
        next(iter(reads.get(part) or ()), None) or first_of(by_name, names) for part, names in OTHER_NAMES.items()
    )
    if final is not None and not table[final].astype(str).str.lower().isin(FLAGS).all():
        final = None
    is_of_prices = any(reads.get(part) or first_of(by_name, PRICE_NAMES[part]) is not None for part in PRICES[:3])
    price = reads.get("price") or _as_tuple(first_of(by_name, TRADE_PRICE_NAMES))
    amount = reads.get("amount") or _as_tuple(first_of(by_name, AMOUNT_NAMES))
    if not is_of_prices and not price and all(any(side in bare for bare in by_name) for side in ("bid", "ask")):
        raise CandleFileError(f"{shown} {QUOTES}")
    if (reads.get("price") or not is_of_prices) and price and amount:
        time, digits = _time(shown, table, by_name, reads)
        return Roles(True, time, (price, amount), trade_id, symbol, None, form, digits)
    prices = tuple(reads.get(part) or (column_for(part, PRICE_NAMES[part], by_name, shown),) for part in PRICES)
    time, digits = _time(shown, table, by_name, reads)
    volume, choice = reads.get("volume") or (), NO_VOLUME
    if not volume:
        used = {*time, *(each for names in prices for each in names)}
        choice = _volume(table, by_name, used, prices)
        volume = _as_tuple(choice.column)
    named = plain_name(time[0])
    stamp = Stamp.END if named in END_NAMES else Stamp.START if named in START_NAMES else None
    return Roles(False, time, (*prices, volume), None, symbol, final, form, digits, choice, stamp)


def _as_tuple(name: object | None) -> tuple[object, ...]:
    return () if name is None else (name,)


def _column_of(table: pd.DataFrame, names: str | tuple[str, ...]) -> tuple[object, ...]:
    """The column with the first of these names that the table has; both of ``Up+Down``."""
    known = {str(column).strip(): column for column in table.columns}
    if isinstance(names, str) and "+" in names:
        return tuple(known[name] for name in names.split("+"))
    found = [known[name] for name in ((names,) if isinstance(names, str) else names) if name in known]
    used = [name for name in found if numbers_of(table[name][:1000]).any()] if len(found) > 1 else found
    return tuple((used or found)[:1])


def _volume(
    table: pd.DataFrame, by_name: Mapping[str, object], used: set[object], prices: tuple[tuple[object, ...], ...]
) -> VolumeChoice:
    may_be = {bare: name for bare, name in reversed(list(by_name.items())) if name not in used and may_be_volume(bare)}
    table = table[:_SAMPLE_ROWS]
    columns = {name: numbers_of(table[name]) for name in may_be.values()}
    sure = [bare for bare in may_be if SURELY_VOLUME.search(bare)]
    named = [may_be[bare] for bare in dict.fromkeys((*VOLUME_NAMES, *sure)) if bare in may_be]
    filled = [name for name in named if np.nan_to_num(columns[name]).any()]
    if not named:
        return NO_VOLUME
    preferred = (filled or named)[0]
    low, high = numbers_of(table[prices[2][0]]), numbers_of(table[prices[1][0]])
    return base_volume(preferred, columns, low, high)


def _time(
    shown: str, table: pd.DataFrame, by_name: Mapping[str, object], reads: Mapping[str, tuple[object, ...]]
) -> tuple[tuple[object, ...], int]:
    """The time column by name, or a date and a time of day in two columns; last, an unnamed saved index. And the digits
    of times of day without colons."""
    if time := reads.get("time"):
        return time, 0
    date = (reads.get("date") or _as_tuple(first_of(by_name, DATE_NAMES)))[:1]
    clocks = (reads.get("clock") or _as_tuple(by_name.get("time"))) or tuple(_clocks(table, date))
    if date and clocks and (digits := _clock_digits(table[clocks[0]])) is not None:
        return (*date, clocks[0]), digits
    unnamed = table.columns[0]
    if (
        first_of(by_name, TIME_NAMES) is None
        and str(unnamed).startswith("Unnamed:")
        and not is_number(str(table[unnamed].iloc[:1].squeeze()))
    ):
        return (unnamed,), 0
    found = [by_name[name] for name in TIME_NAMES if name in by_name]
    if not found and (end := first_of(by_name, END_NAMES)) is not None:
        return (end,), 0
    # A moment is sure, and a local text beside it may be of any zone.
    moments = [column for column in found if _is_of_moments(table[column])]
    return tuple((moments or [column_for("the time", TIME_NAMES, by_name, shown)])[:1]), 0


def _is_of_moments(column: pd.Series) -> bool:
    """Whether these are numbers of moments at whole minutes."""
    import pandas as pd  # noqa: PLC0415 - as above

    if not pd.api.types.is_numeric_dtype(column) or not len(column):
        return False
    numbers = numbers_of(column[:_SAMPLE_ROWS])
    if not np.isfinite(numbers).all():
        return False
    unit = next((each for each in (1.0, 1e3, 1e6, 1e9) if (numbers / each < 5e9).all()), 1e9)
    return bool(((numbers >= 6.3e8 * unit) & (numbers % (60.0 * unit) == 0)).all())


def _clocks(table: pd.DataFrame, date: tuple[object, ...]) -> Iterator[object]:
    """Columns of times of day next to dates that repeat."""
    if date and table[date[0]].duplicated().any():
        texts = table.select_dtypes("object")
        yield from (name for name in texts.columns if name != date[0] and _clock_digits(table[name]) == 0)


def _clock_digits(column: pd.Series) -> int | None:
    """0 for times of day with colons, 4 or 6 for HHMM or HHMMSS; None for other cells."""
    text = column.astype(str).str.strip()
    if text.str.fullmatch(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*([AaPp][Mm])?").all():
        return 0
    digits = text.str.removesuffix(".0")
    if not digits.str.fullmatch(r"\d{1,6}").all():
        return None
    return 6 if bool((digits.astype(int) > _LAST_OF_HOUR_MINUTE).any()) or bool((digits.str.len() == 6).all()) else 4

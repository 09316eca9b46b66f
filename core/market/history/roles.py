"""The roles of a table's columns: candles or trades, by name, or by position without a header."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.domain.plain_text import plain
from core.market.history.errors import CandleFileError
from core.market.history.table import is_number

if TYPE_CHECKING:
    import pandas as pd

PRICE_NAMES = ("open", "high", "low", "close")
_TIME_NAMES = (
    *("open_time_ms", "open_time", "timestamp", "timestamps", "datetime", "date", "time"),
    *("gmt_time", "utc_time", "unix", "ts"),
    *("opentime", "start_time", "starttime", "start", "time_period_start", "begin", "datetime_utc", "time_utc"),
    *("unix_timestamp", "unix_time", "unixtime", "epoch", "local_time", "transact_time", "trade_time", "t"),
)
_OTHER_NAMES = {"close": ("price", "last")}
"""Accepted only together with the other three prices."""
_VOLUME_NAMES = ("volume", "vol", "base_volume", "tickvol", "v")
_TRADE_PRICE_NAMES = ("price", "p", "rate")
_AMOUNT_NAMES = ("amount", "qty", "quantity", "size", "volume", "base_qty", "base_amount", "q", "v")
_TRADE_ID_NAMES = ("trade_id", "tradeid", "agg_trade_id", "agg_id", "id", "tid")
_SYMBOL_NAMES = ("symbol", "pair", "ticker", "tic", "instrument", "market")
_FEWEST_CANDLE_COLUMNS, _CANDLE_COLUMNS = 5, 6
_TRADE_COLUMNS = 3
_BINANCE_TRADE_TIMES = {7: 4, 8: 5}
"""Binance's files of trades and of aggregated trades have no header; their last columns are booleans."""
_GROUPED_DIGITS = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d*)?")
_SHORTENED = re.compile(r"(-?\d+(?:\.\d*)?)([KMB])")
_TIMES = {"K": 1e3, "M": 1e6, "B": 1e9}
_KRAKENS_COLUMNS = 8
"""Time, open, high, low, close, average, volume, count: as in Kraken's REST responses."""
_AVERAGE = 5
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Roles:
    """Names of a table's columns. `numbers`: open, high, low, close, volume of candles, price and amount of trades;
    None without a volume. `time`: one column, or a date and a time of day."""

    are_trades: bool
    time: tuple[object, ...]
    numbers: tuple[object | None, ...]
    trade_id: object | None = None
    symbol: object | None = None


def roles_of(path: Path, table: pd.DataFrame, *, allows_trades: bool) -> Roles:
    """Recognise the columns in a table's first part. Raises CandleFileError with the expected and the existing
    names."""
    _refuse_odd_columns(path, table)
    if all(isinstance(name, int) for name in table.columns):
        return _by_place(path, table, allows_trades)
    by_name = {_plain(name): name for name in reversed(table.columns)}
    symbol = next((by_name[name] for name in _SYMBOL_NAMES if name in by_name), None)
    if not any(_first_of(by_name, _spellings(name)) for name in PRICE_NAMES):
        price, amount = _first_of(by_name, _TRADE_PRICE_NAMES), _first_of(by_name, _AMOUNT_NAMES)
        if price and amount:
            if not allows_trades:
                raise CandleFileError(f"{path.name} holds trades, not candles. Import it to aggregate them to candles.")
            trade_id = _first_of(by_name, _TRADE_ID_NAMES)
            ids = by_name[trade_id] if trade_id else None
            time = _time(path, table, by_name)
            return Roles(True, time, (by_name[price], by_name[amount]), ids, symbol)
    prices = [_find(path, by_name, (*_spellings(name), *_OTHER_NAMES.get(name, ())), name) for name in PRICE_NAMES]
    return Roles(False, _time(path, table, by_name), (*prices, _volume(table, by_name)), None, symbol)


def _refuse_odd_columns(path: Path, table: pd.DataFrame) -> None:
    """Arrow files may have no usable column, or several with one name."""
    if not len(table.columns):
        raise CandleFileError(f"{path.name} has no column of numbers, texts or times, so it holds no candles.")
    again = table.columns[table.columns.duplicated()]
    if len(again):
        raise CandleFileError(
            f"{path.name} has several columns named '{plain(str(again[0]), _LONGEST_NAME)}', so it is ambiguous. "
            "Rename or remove all but one."
        )


def time_column(table: pd.DataFrame, roles: Roles) -> pd.Series:
    """The time cells; a date and a time of day are joined."""
    if len(roles.time) == 1:
        return table[roles.time[0]]
    date, time = (table[name].astype(str) for name in roles.time)
    joined: pd.Series = date + " " + time
    return joined


def number_columns(table: pd.DataFrame, roles: Roles) -> NDArray[np.float64]:
    """Shape (columns, rows). NaN for cells without a number, 0 for a missing column."""
    absent = np.zeros(len(table))
    return np.stack([absent if name is None else _numbers(table[name]) for name in roles.numbers])


def _by_place(path: Path, table: pd.DataFrame, allows_trades: bool) -> Roles:
    count = len(table.columns)
    if allows_trades and count in _BINANCE_TRADE_TIMES and _is_yes_or_no(table[count - 1]):
        return Roles(True, (_BINANCE_TRADE_TIMES[count],), (1, 2), 0)
    time = 1 if _counts_lines(table[0]) else 0
    count -= time
    if allows_trades and count == _TRADE_COLUMNS:
        return Roles(True, (time,), (time + 1, time + 2))
    if count < _FEWEST_CANDLE_COLUMNS:
        raise CandleFileError(
            f"{path.name} has no header and {count} columns: no column for open, high, low and close. A candle file "
            "has a time, open, high, low and close a line, and a file of trades a time, a price and an amount."
        )
    prices = tuple(time + place for place in (1, 2, 3, 4))
    volume = _AVERAGE + 1 if count == _KRAKENS_COLUMNS and _is_average(table, time) else _AVERAGE
    return Roles(False, (time,), (*prices, time + volume if count >= _CANDLE_COLUMNS else None))


def _counts_lines(column: pd.Series) -> bool:
    """Whether this is a saved index: 0, 1, 2 and so on."""
    import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

    if not pd.api.types.is_integer_dtype(column) or len(column) < 2:
        return False
    return int(column.iloc[0]) in (0, 1) and bool((column.diff().iloc[1:] == 1).all())


def _is_average(table: pd.DataFrame, time: int) -> bool:
    """Whether the column after the prices is always between high and low, or 0 without trades."""
    high, low, shown = (_numbers(table[time + place]) for place in (2, 3, _AVERAGE))
    return bool(((shown == 0.0) | ((low <= shown) & (shown <= high))).all() and (shown != 0.0).any())


def _is_yes_or_no(column: pd.Series) -> bool:
    return bool(column.astype(str).str.lower().isin(("true", "false")).all())


def _plain(name: object) -> str:
    """``<TICKVOL>``, ``Gmt time`` and ``1. open`` as ``tickvol``, ``gmt_time`` and ``open``."""
    bare = re.sub(r"^\d+\. ", "", str(name).strip().strip("<>"))
    return bare.rstrip(".").lower().replace(" ", "_")


def _spellings(name: str) -> tuple[str, ...]:
    return name, name[0], f"{name}_price", f"price_{name}", f"{name}price"


def _volume(table: pd.DataFrame, by_name: Mapping[str, object]) -> object | None:
    """The first volume column that is not all 0, as a terminal's <VOL> is if it only has <TICKVOL>."""
    named = dict.fromkeys(name for name in (*_VOLUME_NAMES, *reversed(tuple(by_name))) if name in by_name)
    found = [by_name[name] for name in named if name in _VOLUME_NAMES or name.startswith("volume_")]
    return next((name for name in found if np.nan_to_num(_numbers(table[name])).any()), found[0] if found else None)


def _time(path: Path, table: pd.DataFrame, by_name: Mapping[str, object]) -> tuple[object, ...]:
    """The time column by name; a date and a time of day in two columns; last, an unnamed saved index."""
    if "date" in by_name and "time" in by_name and _is_time_of_day(table[by_name["time"]]):
        return by_name["date"], by_name["time"]
    has_none = not any(name in by_name for name in _TIME_NAMES)
    unnamed = table.columns[0]
    if has_none and str(unnamed).startswith("Unnamed:") and not is_number(str(table[unnamed].iloc[:1].squeeze())):
        return (unnamed,)
    return (_find(path, by_name, _TIME_NAMES, "the time"),)


def _is_time_of_day(column: pd.Series) -> bool:
    text = column.astype(str)
    return bool(text.str.fullmatch(r"\s*\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*([AaPp][Mm])?\s*").all())


def _first_of(by_name: Mapping[str, object], wanted: tuple[str, ...]) -> str | None:
    return next((name for name in wanted if name in by_name), None)


def _find(path: Path, by_name: Mapping[str, object], wanted: tuple[str, ...], what: str) -> object:
    found = _first_of(by_name, wanted)
    if found is not None:
        return by_name[found]
    names = (str(name) for name in reversed(tuple(by_name.values())))
    there = ", ".join(name for name in names if not name.startswith("Unnamed:"))
    raise CandleFileError(
        f"{path.name} has no column for {what}. Its columns are named: {plain(there)}. Looked for {', '.join(wanted)}. "
        "Rename its column, or choose another file."
    )


def _numbers(column: pd.Series) -> NDArray[np.float64]:
    """The numbers of a column; text cells one by one, as `to_numeric` rounds less exactly."""
    import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

    if pd.api.types.is_numeric_dtype(column):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=math.nan), dtype=np.float64)
    return np.fromiter((_number(str(cell)) for cell in column), np.float64, len(column))


def _number(cell: str) -> float:
    if is_number(cell):
        return float(cell.strip().strip('"'))
    bare = cell.strip()
    shortened = _SHORTENED.fullmatch(bare)
    if shortened is not None:
        return float(shortened[1]) * _TIMES[shortened[2]]
    return float(bare.replace(",", "")) if _GROUPED_DIGITS.fullmatch(bare) else math.nan

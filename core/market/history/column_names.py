"""General names of columns, by what they hold: for tables of no known form, and for what a form does not name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from core.domain.plain_text import plain
from core.market.history.errors import CandleFileError

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
"""By the role of the column, as `Roles` has it."""
_MOST_NAMES = 20


def plain_name(name: object) -> str:
    """``<TICKVOL>``, ``Gmt time``, ``1. open`` and ``size/数量`` as ``tickvol``, ``gmt_time``, ``open``, ``size``."""
    bare = re.sub(r"^\d+\. |/[^\x00-\x7f]+.*$", "", str(name).strip().strip("<># "))
    return bare.strip().rstrip(".*").lower().replace(" ", "_")


def by_plain_name(table: pd.DataFrame) -> dict[str, object]:
    """Columns by plain name. Of two that differ by case alone, the one in lower case, as ``t`` beside ``T``."""
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
    """The first column with one of the names. Raises CandleFileError, with the expected and the existing names."""
    found = first_of(by_name, names)
    if found is not None:
        return found
    there = ", ".join(str(name) for name in reversed(tuple(by_name.values())) if not str(name).startswith("Unnamed:"))
    raise CandleFileError(
        f"{file_name} has no column for {what}, and is of no known form. Its columns are named: {plain(there)}. "
        f"Looked for {', '.join(tuple(names)[:_MOST_NAMES])} and the like. Rename its column, or choose another file."
    )

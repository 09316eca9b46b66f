"""Candle files as people have them, read into candles: names, order, and the unit of time are recognised."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.market.candle import Candle, Interval
from core.market.times import TimeColumnError, times_ms
from core.market.validate import RejectionReason, Validator

if TYPE_CHECKING:
    import pandas as pd

_TIME_NAMES = (
    *("open_time_ms", "open_time", "timestamp", "timestamps", "datetime", "date", "time"),
    *("gmt_time", "utc_time", "unix", "ts"),
)
_PRICE_NAMES = ("open", "high", "low", "close")
_VOLUME_NAMES = ("volume", "vol", "base_volume", "tickvol")
_PREAMBLE_LINES = 10
_FEWEST_RAW_COLUMNS = 6
_ARROW_SUFFIXES = {".feather": "feather", ".parquet": "parquet", ".pq": "parquet"}
_LARGEST_BYTES = 2 * 1024**3


class CandleFileError(Exception):
    """A candle file cannot be used. The message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class CandleFile:
    """A file's candles, ascending, each opening time once. `fingerprint` is the sha256 of its bytes."""

    candles: tuple[Candle, ...]
    interval: Interval
    rejected: dict[RejectionReason, int]
    fingerprint: str


def read_candle_file(path: Path) -> CandleFile:
    """Read CSV, Feather or Parquet. Raises CandleFileError with what was wrong and what was looked for."""
    data = _read(path)
    table = _arrow_table(path, data) if path.suffix.lower() in _ARROW_SUFFIXES else _csv_table(path, data)
    frame = _chosen_columns(path, table.frame)
    return _to_candles(path, _Table(frame, table.first_line), hashlib.sha256(data).hexdigest())


def _read(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise CandleFileError(f"{path} is a folder; name a candle file in it.")
        if path.stat().st_size > _LARGEST_BYTES:
            raise CandleFileError(f"{path.name} is larger than 2 GiB; split it.")
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise CandleFileError(f"There is no file {path}.") from error
    except OSError as error:
        raise CandleFileError(f"{path} cannot be read ({error.strerror or error}).") from error
    if not data.strip():
        raise CandleFileError(f"{path.name} is empty. A candle file has a time, open, high, low and close a line.")
    return data


@dataclass(frozen=True, slots=True)
class _Table:
    """What a file holds, and the number of the line that its first row stands on, where it has lines."""

    frame: pd.DataFrame
    first_line: int | None = None


def _csv_table(path: Path, data: bytes) -> _Table:
    import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CandleFileError(f"{path.name} is not text (byte {error.start}); a candle file is CSV.") from error
    skipped, delimiter = _first_row(text)
    lines = text.splitlines()[skipped : skipped + 2]
    header = None if _is_row_of_numbers(lines[0].split(delimiter)) else 0
    decimal = "," if delimiter != "," and re.search(r"\d,\d", lines[-1]) else "."
    try:
        with warnings.catch_warnings():
            # A trailing delimiter is common; without index_col=False pandas would shift every column for it.
            warnings.simplefilter("ignore", pd.errors.ParserWarning)
            frame = pd.read_csv(
                io.StringIO(text),
                sep=delimiter,
                header=header,
                skiprows=skipped,
                index_col=False,
                decimal=decimal,
                float_precision="round_trip",  # the default is off by one bit in the last place
                skipinitialspace=True,
                skip_blank_lines=False,
                low_memory=False,
            )
    except (pd.errors.ParserError, ValueError) as error:
        raise CandleFileError(f"{path.name} is not a table: {error}.") from error
    first_line = skipped + (1 if header is None else 2)
    return _Table(frame.dropna(how="all"), first_line)


def _first_row(text: str) -> tuple[int, str]:
    """How many lines stand before the table (a title, an address, blank ones), and what divides its cells."""
    lines = text.splitlines()
    for index, line in enumerate(lines[:_PREAMBLE_LINES]):
        delimiter = _delimiter(line)
        if len(line.split(delimiter)) >= _FEWEST_RAW_COLUMNS - 1:
            return index, delimiter
    first = next(index for index, line in enumerate(lines) if line.strip())
    return first, _delimiter(lines[first])


def _delimiter(line: str) -> str:
    try:
        return csv.Sniffer().sniff(line, delimiters=",;\t|").delimiter
    except csv.Error:
        return ","


def _is_row_of_numbers(cells: list[str]) -> bool:
    """Whether the first line is data: its prices are numbers (its time may be text)."""
    return len(cells) >= _FEWEST_RAW_COLUMNS - 1 and all(_is_number(cell) for cell in cells[1:5])


def _is_number(cell: str) -> bool:
    try:
        float(cell.strip().strip('"'))
    except ValueError:
        return False
    return True


def _arrow_table(path: Path, data: bytes) -> _Table:
    import pandas as pd  # noqa: PLC0415

    kind = _ARROW_SUFFIXES[path.suffix.lower()]
    read = pd.read_feather if kind == "feather" else pd.read_parquet
    try:
        frame = read(io.BytesIO(data))
    except ImportError as error:
        raise CandleFileError(
            f"{path.name} is {kind.title()}, which needs pyarrow. Install it with: pip install 'ghostcandle[arrow]'"
        ) from error
    except (ValueError, OSError) as error:
        raise CandleFileError(f"{path.name} is not a whole {kind.title()} file ({error}).") from error
    return _Table(frame.reset_index() if isinstance(frame.index, pd.DatetimeIndex) else frame)


def _chosen_columns(path: Path, table: pd.DataFrame) -> pd.DataFrame:
    """Time, open, high, low, close, volume, by name; by place where there is no header."""
    import pandas as pd  # noqa: PLC0415

    if all(isinstance(name, int) for name in table.columns):
        chosen = table.iloc[:, : min(len(table.columns), _FEWEST_RAW_COLUMNS)]
        if len(chosen.columns) < _FEWEST_RAW_COLUMNS:
            chosen = chosen.assign(volume=0.0)
        chosen.columns = pd.Index(["time", *_PRICE_NAMES, "volume"])
        return chosen
    by_name = {_plain(name): name for name in reversed(table.columns)}
    prices = {name: table[_find(path, by_name, (name, name[0]), name)] for name in _PRICE_NAMES}
    frame = pd.DataFrame({"time": _time_column(path, table, by_name), **prices})
    volume = next((name for name in (*_VOLUME_NAMES, *reversed(by_name)) if name in by_name and _is_volume(name)), None)
    frame["volume"] = 0.0 if volume is None else table[by_name[volume]]
    return frame


def _plain(name: object) -> str:
    """``<TICKVOL>`` and ``Gmt time`` as ``tickvol`` and ``gmt_time``."""
    return str(name).strip().strip("<>").lower().replace(" ", "_")


def _is_volume(name: str) -> bool:
    return name in _VOLUME_NAMES or name.startswith("volume_")


def _time_column(path: Path, table: pd.DataFrame, by_name: dict[str, str]) -> pd.Series:
    """By name; a date and a time of day in two columns are put together; last, an index that was saved unnamed."""
    if "date" in by_name and "time" in by_name and _is_time_of_day(table[by_name["time"]]):
        joined: pd.Series = table[by_name["date"]].astype(str) + " " + table[by_name["time"]].astype(str)
        return joined
    has_none = not any(name in by_name for name in _TIME_NAMES)
    unnamed = str(table.columns[0])
    if has_none and unnamed.startswith("Unnamed:") and not _is_number(str(table[unnamed].iloc[:1].squeeze())):
        return table[unnamed]
    return table[_find(path, by_name, _TIME_NAMES, "the time")]


def _is_time_of_day(column: pd.Series) -> bool:
    return bool(column.astype(str).str.fullmatch(r"\s*\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*").all())


def _find(path: Path, by_name: dict[str, str], wanted: tuple[str, ...], what: str) -> str:
    for name in wanted:
        if name in by_name:
            return by_name[name]
    there = ", ".join(reversed(by_name))
    raise CandleFileError(
        f"{path.name} has no column for {what}. Looked for {', '.join(wanted)} in its header; it has {there}."
    )


def _to_candles(path: Path, table: _Table, fingerprint: str) -> CandleFile:
    import pandas as pd  # noqa: PLC0415

    frame = table.frame
    numbers = {name: _numbers(frame[name]) for name in (*_PRICE_NAMES, "volume")}
    if pd.DataFrame(numbers)[list(_PRICE_NAMES)].isna().all(axis=None):
        raise CandleFileError(f"{path.name} has no number in its columns open, high, low and close.")
    if frame["volume"].isna().all():
        numbers["volume"] = numbers["volume"].fillna(0.0)
    cleaned = pd.DataFrame({"time": _times(path, table), **numbers})
    cleaned = cleaned.sort_values("time", kind="stable").drop_duplicates("time", keep="last")
    interval = _interval(path, cleaned["time"])
    phase_ms = int((cleaned["time"] % interval.duration_ms).mode().iloc[0])
    validator = Validator(interval, phase_ms)
    rows = (Candle(int(row[0]), *(float(value) for value in row[1:])) for row in cleaned.itertuples(index=False))
    candles = tuple(candle for candle in rows if validator.check(candle) is None)
    _refuse_unusable(path, len(cleaned), len(candles), validator.rejected, interval)
    return CandleFile(candles, interval, dict(validator.rejected), fingerprint)


def _numbers(column: pd.Series) -> pd.Series:
    """Floats, NaN where a cell holds none. One by one where a cell is text: `to_numeric` rounds less exactly."""
    import pandas as pd  # noqa: PLC0415

    if pd.api.types.is_numeric_dtype(column):
        return column.astype("float64")
    values: pd.Series = column.map(lambda cell: float(cell) if _is_number(str(cell)) else math.nan).astype("float64")
    return values


def _refuse_unusable(
    path: Path, rows: int, candles: int, rejected: Counter[RejectionReason], interval: Interval
) -> None:
    if candles < 2:
        raise CandleFileError(f"{path.name} has fewer than two valid candles{rejections_in_words(rejected)}.")
    if 2 * rejected[RejectionReason.GRID] > rows:
        raise CandleFileError(
            f"{path.name} keeps no steady interval: {rejected[RejectionReason.GRID]} of {rows} times do not lie on "
            f"steps of {interval}, its most frequent one. Candles of calendar months cannot be used; resample them."
        )


def rejections_in_words(rejected: Mapping[RejectionReason, int]) -> str:
    """ "; rejected: 2 (reason), 1 (reason)", or nothing where there were none."""
    if not rejected:
        return ""
    return "; rejected: " + ", ".join(f"{count} ({reason.value})" for reason, count in rejected.items())


def _times(path: Path, table: _Table) -> pd.Series:
    try:
        return times_ms(table.frame["time"])
    except TimeColumnError as error:
        where = path.name
        if error.row is not None and table.first_line is not None:
            where = f"{path.name}, line {int(table.frame.index[error.row]) + table.first_line}"
        raise CandleFileError(f"{where}: {error}.") from error


def _interval(path: Path, times: pd.Series) -> Interval:
    """The most frequent step between candles."""
    steps = times.diff().dropna()
    steps = steps[steps > 0]
    if steps.empty:
        raise CandleFileError(f"{path.name} has fewer than two candles at different times.")
    return Interval(int(steps.mode().iloc[0]))

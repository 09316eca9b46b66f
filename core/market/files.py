"""Candle files as people have them, read into candles: names, order, and the unit of time are recognised."""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.market.candle import Candle, Interval
from core.market.validate import RejectionReason, Validator

if TYPE_CHECKING:
    import pandas as pd

_TIME_NAMES = ("open_time_ms", "open_time", "timestamp", "timestamps", "datetime", "date", "time", "ts")
_PRICE_NAMES = ("open", "high", "low", "close")
_VOLUME_NAMES = ("volume", "vol", "base_volume")
_BINANCE_COLUMNS = 12
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
    frame = _chosen_columns(path, table)
    return _to_candles(path, frame, hashlib.sha256(data).hexdigest())


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


def _csv_table(path: Path, data: bytes) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CandleFileError(f"{path.name} is not text (byte {error.start}); a candle file is CSV.") from error
    first = next(line for line in text.splitlines() if line.strip())
    delimiter = _delimiter(first)
    header = None if _is_row_of_numbers(first.split(delimiter)) else 0
    try:
        return pd.read_csv(io.StringIO(text), sep=delimiter, header=header, skipinitialspace=True, low_memory=False)
    except (pd.errors.ParserError, ValueError) as error:
        raise CandleFileError(f"{path.name} is not a table: {error}.") from error


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


def _arrow_table(path: Path, data: bytes) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415

    kind = _ARROW_SUFFIXES[path.suffix.lower()]
    read = pd.read_feather if kind == "feather" else pd.read_parquet
    try:
        return read(io.BytesIO(data))
    except ImportError as error:
        raise CandleFileError(
            f"{path.name} is {kind.title()}, which needs pyarrow. Install it with: pip install 'ghostcandle[arrow]'"
        ) from error
    except (ValueError, OSError) as error:
        raise CandleFileError(f"{path.name} is not a whole {kind.title()} file ({error}).") from error


def _chosen_columns(path: Path, table: pd.DataFrame) -> pd.DataFrame:
    """Time, open, high, low, close, volume, by name; by place where there is no header."""
    import pandas as pd  # noqa: PLC0415

    if all(isinstance(name, int) for name in table.columns):
        chosen = table.iloc[:, : min(len(table.columns), _FEWEST_RAW_COLUMNS)]
        if len(chosen.columns) < _FEWEST_RAW_COLUMNS:
            chosen = chosen.assign(volume=0.0)
        chosen.columns = pd.Index(["time", *_PRICE_NAMES, "volume"])
        return chosen
    by_name = {str(name).strip().lower().replace(" ", "_"): name for name in table.columns}
    columns = {"time": _find(path, by_name, _TIME_NAMES, "the time")}
    columns.update({name: _find(path, by_name, (name, name[0]), name) for name in _PRICE_NAMES})
    volume = next((by_name[name] for name in _VOLUME_NAMES if name in by_name), None)
    frame = pd.DataFrame({name: table[column] for name, column in columns.items()})
    frame["volume"] = 0.0 if volume is None else table[volume]
    return frame


def _find(path: Path, by_name: dict[str, str], wanted: tuple[str, ...], what: str) -> str:
    for name in wanted:
        if name in by_name:
            return by_name[name]
    raise CandleFileError(
        f"{path.name} has no column for {what}. Looked for {', '.join(wanted)}; it has {', '.join(by_name)}."
    )


def _to_candles(path: Path, frame: pd.DataFrame, fingerprint: str) -> CandleFile:
    import pandas as pd  # noqa: PLC0415

    numbers = {name: pd.to_numeric(frame[name], errors="coerce") for name in (*_PRICE_NAMES, "volume")}
    bad = pd.DataFrame(numbers)[list(_PRICE_NAMES)].isna().all(axis=1)
    if bad.all():
        raise CandleFileError(f"{path.name} has no number in its columns open, high, low and close.")
    cleaned = pd.DataFrame({"time": _times_ms(path, frame["time"]), **numbers})
    cleaned = cleaned.sort_values("time", kind="stable").drop_duplicates("time", keep="last")
    interval = _interval(path, cleaned["time"])
    phase_ms = int((cleaned["time"] % interval.duration_ms).mode().iloc[0])
    validator = Validator(interval, phase_ms)
    rows = (Candle(int(row[0]), *(float(value) for value in row[1:])) for row in cleaned.itertuples(index=False))
    candles = tuple(candle for candle in rows if validator.check(candle) is None)
    if len(candles) < 2:
        reasons = _in_words(validator.rejected)
        raise CandleFileError(f"{path.name} has fewer than two valid candles{reasons}.")
    return CandleFile(candles, interval, dict(validator.rejected), fingerprint)


def _in_words(rejected: Counter[RejectionReason]) -> str:
    if not rejected:
        return ""
    return "; rejected: " + ", ".join(f"{count} ({reason.value})" for reason, count in rejected.items())


def _times_ms(path: Path, column: pd.Series) -> pd.Series:
    """UTC milliseconds. Numbers may be s, ms, us or ns since the epoch; text is a date, UTC where it names no zone."""
    import pandas as pd  # noqa: PLC0415

    if pd.api.types.is_datetime64_any_dtype(column):
        return _epoch_ms(pd.to_datetime(column, utc=True))
    numeric = pd.to_numeric(column, errors="coerce")
    if numeric.notna().all():
        return (numeric * _to_ms(float(numeric.median()))).round().astype("int64")
    text = column.astype(str).str.strip()
    day_first = bool(text.str.match(r"\d{1,2}\.\d{1,2}\.\d{4}").all())
    parsed = pd.to_datetime(text, utc=True, errors="coerce", dayfirst=day_first, format="mixed")
    if parsed.isna().any():
        line = int(parsed.isna().to_numpy().argmax()) + 2
        raise CandleFileError(f"{path.name}, line {line}: '{text.iloc[line - 2]}' is not a time.")
    return _epoch_ms(parsed)


def _epoch_ms(times: pd.Series) -> pd.Series:
    epoch: pd.Series = times.dt.tz_localize(None).astype("datetime64[ms]").astype("int64")
    return epoch


def _to_ms(median: float) -> float:
    """The factor from the unit that this moment must be in, between the years 1990 and 2100."""
    for limit, factor in ((5e9, 1e3), (5e12, 1.0), (5e15, 1e-3)):
        if median < limit:
            return factor
    return 1e-6


def _interval(path: Path, times: pd.Series) -> Interval:
    """The most frequent step between candles."""
    steps = times.diff().dropna()
    steps = steps[steps > 0]
    if steps.empty:
        raise CandleFileError(f"{path.name} has fewer than two candles at different times.")
    return Interval(int(steps.mode().iloc[0]))

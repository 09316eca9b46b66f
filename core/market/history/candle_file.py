"""Reads candle files: column names, order, and the unit of time are recognised."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import overload

from core.domain.candle import Candle, Inside, Interval
from core.files.durable import sha256_of
from core.market.history.candle_table import ReadOptions, Watch
from core.market.history.errors import CandleFileError
from core.market.history.read import read_candle_table
from core.storage.candles import StoredColumns

MOST_CANDLES = 10_000_000
"""19 years of one minute."""
_MADE_AT_ONCE = 1_000
_OF_IMPORT = re.compile(r"--(form|stamp|time-zone|skip-invalid)\b")
_IMPORT_FIRST = "That is an option of import: import the file with it, then use an export of the imported candles."


NO_INSIDES: Mapping[int, Inside] = {}


class CandleRows(Sequence[Candle]):
    """Candles created on access: a million objects at once would stop every thread for seconds, because of the garbage
    collector."""

    def __init__(self, columns: StoredColumns, insides: Mapping[int, Inside] = NO_INSIDES) -> None:
        """insides: what is known of the inside of candles, by their opening times."""
        self.columns, self.insides = columns, insides

    def __len__(self) -> int:
        return len(self.columns)

    @overload
    def __getitem__(self, index: int) -> Candle: ...

    @overload
    def __getitem__(self, index: slice) -> CandleRows: ...

    def __getitem__(self, index: int | slice) -> Candle | CandleRows:
        times, values = self.columns.open_time_ms, self.columns.values
        if isinstance(index, slice):
            return CandleRows(StoredColumns(times[index], values[:, index]), self.insides)
        opened = int(times[index])
        return Candle(opened, *values[:, index].tolist(), inside=self.insides.get(opened))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(operator.eq, self, other))

    __hash__ = None  # type: ignore[assignment]  # as a list's

    def __iter__(self) -> Iterator[Candle]:
        for first in range(0, len(self), _MADE_AT_ONCE):
            part = slice(first, first + _MADE_AT_ONCE)
            opened = self.columns.open_time_ms[part].tolist()
            numbers = (column[part].tolist() for column in self.columns.values)
            for time_ms, *row in zip(opened, *numbers, strict=True):
                yield Candle(time_ms, *row, inside=self.insides.get(time_ms))


@dataclass(frozen=True, slots=True)
class CandleFile:
    """A file's candles, ascending, each opening time once. `rejected` counts the rows that are none, by reason;
    `fingerprint` is the sha256 of its bytes."""

    candles: CandleRows
    interval: Interval
    rejected: dict[str, int]
    fingerprint: str
    is_zone_assumed: bool = False
    """Whether its times were read as UTC because neither the file nor its form names a zone."""


def read_candle_file(path: Path, watch: Watch = lambda done, total: None) -> CandleFile:
    """Read CSV, JSON, Feather or Parquet. Raises CandleFileError with the fault and the expected content.

    watch: as in `read_candle_table`.
    """
    try:
        table = read_candle_table(path, ReadOptions(is_strict=True), watch)
    except CandleFileError as error:
        if _OF_IMPORT.search(str(error)):
            raise CandleFileError(f"{error} {_IMPORT_FIRST}") from error
        raise
    if len(table.columns) > MOST_CANDLES:
        raise CandleFileError(f"{path.name} holds more than {MOST_CANDLES:,} candles; split it, or import it instead.")
    return CandleFile(
        CandleRows(table.columns),
        table.interval,
        dict(+table.rejected),
        sha256_of(path),
        table.how.is_zone_assumed,
    )


def sample_file() -> CandleFile:
    """The included sample: hourly EUR/USD candles of 2017."""
    with resources.as_file(resources.files("resources") / "sample_eurusd_1h.csv") as path:
        return read_candle_file(path)

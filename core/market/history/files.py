"""Reads candle files: column names, order, and the unit of time are recognised."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import overload

from core.domain.candle import Candle, Interval
from core.domain.validation import RejectionReason
from core.files.durable import sha256_of
from core.market.history.errors import CandleFileError as CandleFileError
from core.market.history.reading import ReadOptions, Watch, read_candle_table
from core.storage.candles import StoredColumns

MOST_CANDLES = 10_000_000
"""19 years of one minute."""
_MADE_AT_ONCE = 1_000


class CandleRows(Sequence[Candle]):
    """Candles created on access: a million objects at once would stop every thread for seconds, because of the garbage
    collector."""

    def __init__(self, columns: StoredColumns) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns)

    @overload
    def __getitem__(self, index: int) -> Candle: ...

    @overload
    def __getitem__(self, index: slice) -> CandleRows: ...

    def __getitem__(self, index: int | slice) -> Candle | CandleRows:
        times, values = self._columns.open_time_ms, self._columns.values
        if isinstance(index, slice):
            return CandleRows(StoredColumns(times[index], values[:, index]))
        return Candle(int(times[index]), *values[:, index].tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(operator.eq, self, other))

    __hash__ = None  # type: ignore[assignment]  # as a list's

    def __iter__(self) -> Iterator[Candle]:
        for first in range(0, len(self), _MADE_AT_ONCE):
            part = slice(first, first + _MADE_AT_ONCE)
            numbers = (column[part].tolist() for column in self._columns.values)
            yield from map(Candle, self._columns.open_time_ms[part].tolist(), *numbers)


@dataclass(frozen=True, slots=True)
class CandleFile:
    """A file's candles, ascending, each opening time once. `fingerprint` is the sha256 of its bytes."""

    candles: Sequence[Candle]
    interval: Interval
    rejected: dict[RejectionReason, int]
    fingerprint: str


def read_candle_file(path: Path, watch: Watch = lambda done, total: None) -> CandleFile:
    """Read CSV, Feather or Parquet. Raises CandleFileError with the fault and the expected content.

    watch: as that of `read_candle_table`.
    """
    table = read_candle_table(path, ReadOptions(is_strict=True), watch)
    if len(table.columns) > MOST_CANDLES:
        raise CandleFileError(f"{path.name} holds more than {MOST_CANDLES:,} candles; split it, or import it instead.")
    rejected = {RejectionReason(why): count for why, count in table.rejected.items()}
    return CandleFile(CandleRows(table.columns), table.interval, rejected, sha256_of(path))


def sample_file() -> CandleFile:
    """The included sample: hourly EUR/USD candles of 2017."""
    with resources.as_file(resources.files("resources") / "sample_eurusd_1h.csv") as path:
        return read_candle_file(path)


def rejections_in_words(rejected: Mapping[RejectionReason, int]) -> str:
    """ "; rejected: 2 (reason), 1 (reason)", or an empty text if there are none."""
    if not rejected:
        return ""
    return "; rejected: " + ", ".join(f"{count} ({reason.value})" for reason, count in rejected.items())

"""Candle files as people have them, read into candles: names, order, and the unit of time are recognised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.market.candle import Candle, Interval
from core.market.history.errors import CandleFileError as CandleFileError
from core.market.history.reading import ReadOptions, Watch, read_candle_table
from core.market.history.source import sha256_of
from core.market.validate import RejectionReason

MOST_CANDLES = 10_000_000
"""19 years of one minute: each is an object here."""


@dataclass(frozen=True, slots=True)
class CandleFile:
    """A file's candles, ascending, each opening time once. `fingerprint` is the sha256 of its bytes."""

    candles: tuple[Candle, ...]
    interval: Interval
    rejected: dict[RejectionReason, int]
    fingerprint: str


def read_candle_file(path: Path, watch: Watch = lambda done, total: None) -> CandleFile:
    """Read CSV, Feather or Parquet. Raises CandleFileError with what was wrong and what was looked for.

    watch: as that of `read_candle_table`.
    """
    table = read_candle_table(path, ReadOptions(is_strict=True), watch)
    if len(table.columns) > MOST_CANDLES:
        raise CandleFileError(f"{path.name} holds more than {MOST_CANDLES:,} candles; split it, or import it instead.")
    numbers = (column.tolist() for column in table.columns.values)
    candles = tuple(map(Candle, table.columns.open_time_ms.tolist(), *numbers))
    rejected = {RejectionReason(why): count for why, count in table.rejected.items()}
    return CandleFile(candles, table.interval, rejected, sha256_of(path))


def rejections_in_words(rejected: Mapping[RejectionReason, int]) -> str:
    """ "; rejected: 2 (reason), 1 (reason)", or nothing where there were none."""
    if not rejected:
        return ""
    return "; rejected: " + ", ".join(f"{count} ({reason.value})" for reason, count in rejected.items())

"""The user's options for reading a file, and the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from core.domain.candle import Interval
from core.market.history.forms.form import Stamp
from core.market.history.report import HowRead
from core.storage.candles import StoredColumns

Watch = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The user's description of a file.

    interval: the candles' length; None: from the rows. zone: for times without one; None: the form's zone, or UTC.
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

    columns: the accepted candles, ascending. rows: lines of the table. rejected: counts by reason. examples: a row for
    most of these reasons, with its place in the file. repeated: rows with the opening time of another row, or trades
    that are in the file twice; contradicting: repeated rows with other numbers, of which the file's last is used.
    symbol: from the symbol column.
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
    examples: Mapping[str, str]

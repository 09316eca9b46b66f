"""Speed of importing, reading and exporting history, in a separate folder."""

from __future__ import annotations

import sqlite3
import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from core.domain.candle import FILE_VENUE, Interval, Market
from core.domain.clock import Clock
from core.domain.spans import TimeSpan
from core.market.history.export import export_candles
from core.market.history.import_plan import HistoryWriter, plan_import
from core.market.history.read import read_candle_table
from core.market.history.table_file import exact_floats
from core.storage.candles import CandleStore, StoredColumns
from core.storage.database import open_database

WINDOW_ROWS = 2_000
_WINDOWS = 101
_START_MS = 1_500_000_000_000
_MARKET = Market(FILE_VENUE, "BENCH", Interval(60_000))


def measure_history(folder: Path, rows: int, clock: Clock) -> dict[str, Any]:
    """Import `rows` candles from a CSV, read windows of them, export them. Wall time in seconds and milliseconds.

    ratio_to_bare: the import over a lower bound measured in the same run: pandas reading the file and sqlite3
    inserting rows. json_ratio_to_csv: reading the first six columns as arrays of JSON over reading the CSV.
    """
    source = folder / "source.csv"
    _write_source(source, rows)
    bare_s = _timed(clock, lambda: _bare(source, folder / "bare.sqlite3"))
    with open_database(folder / "history.sqlite3") as db:
        store = CandleStore(db)
        import_s = _timed(clock, lambda: _import(source, db, store, clock))
        read_s, read_json_s = (_timed(clock, partial(read_candle_table, path)) for path in (source, _as_json(source)))
        windows_ms = [1000.0 * _timed(clock, partial(_window, store, end)) for end in _ends(rows)]
        every = TimeSpan(0, 2**62)
        export_s = _timed(clock, lambda: export_candles(store, _MARKET, every, folder / "export.csv"))
    return {
        "rows": rows,
        "import_s": round(import_s, 3),
        "bare_s": round(bare_s, 3),
        "ratio_to_bare": round(import_s / bare_s, 3),
        "read_csv_s": round(read_s, 3),
        "read_json_s": round(read_json_s, 3),
        "json_ratio_to_csv": round(read_json_s / read_s, 3),
        "export_s": round(export_s, 3),
        "window_rows": WINDOW_ROWS,
        "window_ms": {"median": round(statistics.median(windows_ms), 3), "worst": round(max(windows_ms), 3)},
    }


def _timed(clock: Clock, work: Callable[[], object]) -> float:
    began_s = clock.monotonic_s()
    work()
    return clock.monotonic_s() - began_s


def _write_source(path: Path, rows: int) -> None:
    """Binance's raw columns, from a seeded random walk."""
    generator = np.random.default_rng(0)
    closes = 100.0 * np.exp(np.cumsum(generator.normal(0.0, 1e-4, rows)))
    opens = np.concatenate([[100.0], closes[:-1]])
    times = _START_MS + 60_000 * np.arange(rows)
    with path.open("w", encoding="utf-8") as file:
        for time_ms, opened, close in zip(times.tolist(), opens.tolist(), closes.tolist(), strict=True):
            high, low = 1.001 * max(opened, close), 0.999 * min(opened, close)
            file.write(f"{time_ms},{opened:.8f},{high:.8f},{low:.8f},{close:.8f},7.5,{time_ms + 59_999},1,2,3,4,0\n")


def _as_json(source: Path) -> Path:
    path = source.with_suffix(".json")
    with source.open(encoding="utf-8") as lines, path.open("w", encoding="utf-8") as file:
        rows = (line.split(",")[:6] for line in lines)
        file.write("[" + ",\n".join(f"[{', '.join(row)}]" for row in rows) + "]")
    return path


def _bare(source: Path, path: Path) -> None:
    import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(
            "CREATE TABLE candles (t INTEGER PRIMARY KEY, o REAL, h REAL, l REAL, c REAL, v REAL) STRICT, WITHOUT ROWID"
        )
        connection.execute("BEGIN")
        for chunk in pd.read_csv(source, header=None, chunksize=100_000, **exact_floats()):
            rows = zip(*(chunk[column].tolist() for column in range(6)), strict=True)
            connection.executemany("INSERT INTO candles VALUES (?, ?, ?, ?, ?, ?)", rows)
        connection.execute("COMMIT")
    finally:
        connection.close()


def _import(source: Path, db: Any, store: CandleStore, clock: Clock) -> None:
    plan = plan_import(read_candle_table(source), _MARKET, store, clock.now_ms(), replaces=False)
    HistoryWriter(db).put(_MARKET, plan.to_store, replaces=False)


def _window(store: CandleStore, end_ms: int) -> StoredColumns:
    return store.columns_before(_MARKET, end_ms, WINDOW_ROWS)


def _ends(rows: int) -> list[int]:
    """Times over the whole history, in random order, so that pages are not read sequentially."""
    places = np.random.default_rng(1).integers(min(rows, WINDOW_ROWS), rows + 1, _WINDOWS)
    return [_START_MS + 60_000 * int(place) for place in places]

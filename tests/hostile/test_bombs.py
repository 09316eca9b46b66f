"""Small files that expand to many gigabytes: refused by their declared sizes before decompression."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.market.history.errors import CandleFileError
from core.market.history.read import read_candle_table
from core.market.history.table_file import CHUNK_ROWS, TableFile
from tests.hostile.reader_process import MOST_MB, read_in_a_process
from tests.support.candles import START_MS

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.hostile

NAMES = ("time", "open", "high", "low", "close", "volume")


def one_value(rows: int) -> pa.RecordBatch:
    column = pa.array(np.zeros(rows))
    return pa.record_batch([column] * len(NAMES), names=list(NAMES))


def zeros_in_parquet(path: Path) -> None:
    batch = one_value(4_000_000)
    with pq.ParquetWriter(path, batch.schema, compression="zstd") as writer:
        for _ in range(12):
            writer.write_batch(batch)


def many_columns(path: Path) -> None:
    pq.write_table(pa.table({f"column {number}": [1.0] for number in range(5_000)}), path)


def equal_rows(path: Path) -> None:
    columns = [pa.array(np.full(4_000_000, 1_704_067_200_000)), *[pa.array(np.ones(4_000_000))] * 5]
    feather.write_feather(pa.table(columns, names=list(NAMES)), str(path), compression="zstd")


def blank_lines(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"time,open,high,low,close,volume\n" + b"\n" * 3_000_000)


def one_line(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"time,open,high,low,close,volume\n")
        for _ in range(1_000):
            file.write(b"1" * 1_000_000)


BOMBS: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "zeros in Parquet": ("a.parquet", zeros_in_parquet, "unpacks to more than 2 GiB"),
    "columns": ("a.parquet", many_columns, "5,000 columns"),
    "equal rows": ("a.feather", equal_rows, "repeats its times"),
    "a line without end": ("a.csv.gz", one_line, "a line of more than a megabyte"),
    "blank lines": ("a.csv.gz", blank_lines, "mostly blank lines"),
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no getrusage")
@pytest.mark.parametrize("kind", BOMBS)
def test_a_decompression_bomb_is_refused_before_it_expands(tmp_path: Path, kind: str) -> None:
    name, write, words = BOMBS[kind]
    write(tmp_path / name)
    ((said, grown_mb),) = read_in_a_process(tmp_path / name)
    assert words in said and said.endswith(".")
    assert grown_mb < MOST_MB


@pytest.mark.parametrize("index", ["column", "index", "time index"])
@pytest.mark.parametrize("form", ["feather", "parquet"])
def test_reading_in_parts_equals_reading_whole(tmp_path: Path, form: str, index: str) -> None:
    rows = 2 * CHUNK_ROWS + 7
    times = START_MS + 60_000 * np.arange(rows)
    prices = 100.0 + np.random.default_rng(3).normal(size=rows) * 0.01
    frame = pd.DataFrame({"time": times, "open": prices, "high": prices + 1, "low": prices - 1, "close": prices})
    frame["volume"], frame["symbol"] = 5.0, "BTC/USDT"
    frame["more"] = [[1, 2]] * rows
    if index == "index" and form == "parquet":
        frame = frame.set_index("time")
    elif index == "time index" and form == "parquet":
        frame.index = pd.DatetimeIndex(pd.to_datetime(frame.pop("time"), unit="ms", utc=True), name=None)
    path = tmp_path / f"a.{form}"
    frame.to_feather(path) if form == "feather" else frame.to_parquet(path, row_group_size=70_000)
    table = read_candle_table(path)
    assert table.columns.open_time_ms.tolist() == times.tolist() and table.rows == rows
    assert np.array_equal(table.columns.values[0], prices) and table.symbol == "BTC/USDT"
    numbers = np.concatenate([chunk.index.to_numpy() for chunk in TableFile(path).chunks()])
    assert numbers.tolist() == list(range(rows))


@pytest.mark.parametrize("cut", [9, 60, 400, -1, -10, -300])
@pytest.mark.parametrize("form", ["feather", "parquet"])
def test_a_truncated_file_is_refused_with_an_explanation(tmp_path: Path, form: str, cut: int) -> None:
    path = tmp_path / f"a.{form}"
    table = pa.Table.from_batches([one_value(500)])
    feather.write_feather(table, str(path)) if form == "feather" else pq.write_table(table, path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(CandleFileError, match="not a complete"):
        read_candle_table(path)

"""Feather and Parquet with any kind of column in any place: read, or refused with an explanation."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.domain.candle import Interval
from core.market.history.candle_file import read_candle_file
from core.market.history.candle_table import ReadOptions
from core.market.history.errors import CandleFileError
from core.market.history.read import read_candle_table
from tests.support.candles import START_MS

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")
pytestmark = [pytest.mark.hostile, pytest.mark.slow]

ROWS = 20
TIMES = [START_MS + 60_000 * row for row in range(ROWS)]
PRICES = [100.0 + row for row in range(ROWS)]
LONGEST_SENTENCE = 700
KINDS: dict[str, Callable[[], Any]] = {
    "whole numbers": lambda: pa.array(TIMES),
    "numbers": lambda: pa.array(PRICES),
    "lists": lambda: pa.array([[1.0]] * ROWS),
    "structs": lambda: pa.array([{"a": 1}] * ROWS),
    "maps": lambda: pa.array([[("a", 1)]] * ROWS, pa.map_(pa.string(), pa.int64())),
    "bytes": lambda: pa.array([b"1"] * ROWS),
    "bytes of one length": lambda: pa.array([b"abcd"] * ROWS, pa.binary(4)),
    "nothing": lambda: pa.nulls(ROWS),
    "yes and no": lambda: pa.array([True] * ROWS),
    "decimals": lambda: pa.array([Decimal("100.5")] * ROWS),
    "long decimals": lambda: pa.array([Decimal("100.5")] * ROWS, pa.decimal256(60, 20)),
    "texts": lambda: pa.array(["<img src='/dev/zero'>"] * ROWS),
    "texts of numbers": lambda: pa.array(["100"] * ROWS, pa.large_string()),
    "categories": lambda: pa.array(["100"] * ROWS).dictionary_encode(),
    "categories of numbers": lambda: pa.array([100] * ROWS).dictionary_encode(),
    "moments": lambda: pa.array(TIMES, pa.timestamp("ms", "Europe/Berlin")),
    "moments beyond the calendar": lambda: pa.array([2**62] * ROWS, pa.timestamp("s")),
    "moments before the calendar": lambda: pa.array([-(2**62)] * ROWS, pa.timestamp("us")),
    "days": lambda: pa.array([20_000 + row for row in range(ROWS)], pa.int32()).cast(pa.date32()),
    "days beyond the calendar": lambda: pa.array([2**31 - 1] * ROWS, pa.int32()).cast(pa.date32()),
    "times of day": lambda: pa.array(list(range(ROWS)), pa.time64("ns")),
    "durations": lambda: pa.array(list(range(ROWS)), pa.duration("ms")),
    "months and days": lambda: pa.array([(1, 2, 3)] * ROWS, pa.month_day_nano_interval()),
    "largest numbers": lambda: pa.array([2**63 + row for row in range(ROWS)], pa.uint64()),
    "least numbers": lambda: pa.array([-(2**63)] * ROWS),
    "small numbers": lambda: pa.array([1] * ROWS, pa.int8()),
    "half numbers": lambda: pa.array(np.ones(ROWS, np.float16)),
    "gaps": lambda: pa.array([None, 1] * (ROWS // 2), pa.int64()),
    "infinity": lambda: pa.array([float("inf")] * ROWS),
    "no numbers": lambda: pa.array([float("nan")] * ROWS),
    "runs": lambda: pa.RunEndEncodedArray.from_arrays(pa.array([ROWS], pa.int32()), pa.array([1.0])),
    "a union": lambda: pa.UnionArray.from_sparse(pa.array([0] * ROWS, pa.int8()), [pa.array(PRICES)]),
}
CANDLES = ("time", "open", "high", "low", "close", "volume")


def candles() -> dict[str, Any]:
    return {name: pa.array(TIMES if name == "time" else PRICES) for name in CANDLES}


def trades() -> dict[str, Any]:
    return {"time": pa.array(TIMES), "price": pa.array(PRICES), "amount": pa.array(PRICES), "id": pa.array(TIMES)}


def look(table: Any, folder: Path) -> list[str]:
    """Read it in both forms, as an import and as a replay do. Returns the refusals."""
    said: list[str] = []
    for path, write in ((folder / "a.feather", feather.write_feather), (folder / "a.parquet", parquet.write_table)):
        try:
            write(table, path)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # the form has no such column
            continue
        options = ReadOptions(interval=Interval.parse("1m"))
        for read in (
            read_candle_file,
            read_candle_table,
            lambda path, options=options: read_candle_table(path, options),
        ):
            try:
                read(path)
            except CandleFileError as error:
                said.append(str(error))
    assert all(len(sentence) < LONGEST_SENTENCE and sentence.endswith((".", "1m")) for sentence in said), said
    return said


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_of_any_kind_is_read_or_refused(tmp_path: Path, kind: str) -> None:
    column = KINDS[kind]()
    for make in (candles, trades):
        for name in make():
            look(pa.table({**make(), name: column}), tmp_path)
    look(pa.table({**candles(), "symbol": column}), tmp_path)
    look(pa.table({"date": column, **candles()}), tmp_path)
    assert look(pa.table({"x": column}), tmp_path) or kind in ("runs", "a union", "months and days")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("time", "open", "open", "high", "low", "close"), "several columns named 'open'"),
        (("time", "time", "open", "high", "low", "close"), "several columns named 'time'"),
        ((" " * 9, "b", "c", "d", "e", "f"), "no column for open"),
        (("x" * 100_000, "b", "c", "d", "e", "f"), "no column for open"),
    ],
)
def test_odd_names_are_refused(tmp_path: Path, names: tuple[str, ...], words: str) -> None:
    columns = [pa.array(TIMES), *[pa.array(PRICES)] * 5]
    said = look(pa.Table.from_arrays(columns, names=list(names)), tmp_path)
    assert said and all(words in sentence for sentence in said)


def test_a_table_of_no_rows_or_no_columns_is_refused(tmp_path: Path) -> None:
    for table in (pa.table(candles()).slice(0, 0), pa.table({}), pa.table({"x": pa.array([[1.0]] * ROWS)})):
        assert look(table, tmp_path)


@pytest.mark.parametrize(
    "metadata",
    [
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"index_columns": 5}',
        b'{"index_columns": ["nope"], "columns": [], "column_indexes": []}',
        b'{"index_columns": [{"kind": "range", "name": null, "start": 0, "stop": 1e999, "step": 0}], "columns": []}',
        b'{"index_columns": [{"kind": "range", "name": "t", "start": 0, "stop": 20, "step": 1}], "columns": []}',
        b'{"index_columns": [{"kind": "range", "name": "t", "start": 1%s, "stop": 1%s, "step": 1}], "columns": []}'
        % (b"0" * 30, b"0" * 28 + b"20"),
        b'{"index_columns": [{"kind": "range"}], "columns": []}',
        b"[" * 100_000,
    ],
)
def test_pandas_metadata_in_the_file_is_not_trusted(tmp_path: Path, metadata: bytes) -> None:
    look(pa.table(candles()).replace_schema_metadata({b"pandas": metadata}), tmp_path)


@pytest.mark.parametrize("is_category", [False, True])
def test_invalid_text_is_refused(tmp_path: Path, is_category: bool) -> None:
    """The bytes of a Parquet file that one changed byte leads to."""
    bytes_of_texts = pa.array([b"\xff"] * ROWS, pa.binary())
    texts = pa.Array.from_buffers(pa.string(), ROWS, bytes_of_texts.buffers())
    table = pa.table(candles() | {"symbol": texts.dictionary_encode() if is_category else texts})
    said = look(table, tmp_path)
    assert len(said) == 6 and all("UTF8" in sentence for sentence in said)

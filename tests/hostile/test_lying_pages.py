"""Parquet files whose pages hold more than the footer declares: refused within 200 MB."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from core.market.history import parquet_pages
from core.market.history.errors import CandleFileError
from core.market.history.reading import read_candle_table
from tests.hostile.reader_process import MOST_MB, read_in_a_process
from tests.support.candles import START_MS
from tests.support.parquet_writing import (
    DELTA_TEXTS,
    INDEXES,
    NO_CODEC,
    TEXT,
    Page,
    varint,
    write_empty_columns,
    write_lying,
    write_unknown_fields,
)

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.hostile

NAMES = ("time", "open", "high", "low", "close", "volume")
ROWS = 1_000
MANY = 2_000_000_000


def zeros(size: int) -> bytes:
    """Frame behind frame, which zstd unpacks as one."""
    frame = 16 * 1024**2
    packed = pa.compress(bytes(frame), codec="zstd", asbytes=True)
    return bytes(packed * (size // frame))


def one_large_page(path: Path) -> None:
    large = Page(zeros(MANY), MANY // 2**24 * 2**24, ROWS)
    small = Page(zeros(2**24), 2**24, ROWS)
    write_lying(path, {name: [large if name == "close" else small] for name in NAMES}, ROWS)


def large_pages_of_every_column(path: Path) -> None:
    """Each of them would be small enough."""
    page = Page(zeros(7 * 2**24), 7 * 2**24, ROWS)
    write_lying(path, {name: [page] for name in NAMES}, ROWS)


def many_pages(path: Path) -> None:
    page = Page(zeros(2**24), 2**24, 10)
    write_lying(path, {name: [page] * 30 for name in NAMES}, 300)


def large_dictionary(path: Path) -> None:
    entries = Page(zeros(7 * 2**24), 7 * 2**24, 7 * 2**22, is_dictionary=True)
    indexes = Page(pa.compress(b"\x01" + varint(ROWS << 1) + b"\0", codec="zstd", asbytes=True), 4, ROWS, INDEXES)
    write_lying(path, {name: [entries, indexes] for name in NAMES}, ROWS, TEXT)


def lengths_of_texts(path: Path) -> None:
    """2,000,000,000 bytes of lengths, in 20 bytes: a block of half a thousand million lengths of no bit each."""
    count = MANY // 4
    data = varint(2**29) + varint(1) + varint(count) + varint(0) + varint(0) + b"\0"
    write_lying(path, {name: [Page(data, len(data), ROWS, DELTA_TEXTS)] for name in NAMES}, ROWS, TEXT, codec=NO_CODEC)


def footer_of_columns(path: Path) -> None:
    write_empty_columns(path, 300_000, 4)


def footer_of_unknown_fields(path: Path) -> None:
    """Which pyarrow passes over."""
    write_unknown_fields(path, 2_000_000)


def footer_of_row_groups(path: Path) -> None:
    write_empty_columns(path, 1, 900_000)


LIES: dict[str, tuple[Callable[[Path], None], str]] = {
    "one large page": (one_large_page, "pages that unpack to 1,968 MiB"),
    "large pages of every column": (large_pages_of_every_column, "pages that unpack to"),
    "many pages": (many_pages, "unpacks to more than 2 GiB"),
    "large dictionary": (large_dictionary, "a dictionary of more than 16 MiB"),
    "lengths of texts": (lengths_of_texts, "DELTA_BYTE_ARRAY"),
    "footer of columns": (footer_of_columns, "described in more than 300,000 parts"),
    "footer of unknown fields": (footer_of_unknown_fields, "not a complete Parquet file"),
    "footer of row groups": (footer_of_row_groups, "described in more than 300,000 parts"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no getrusage")
def test_a_false_footer_is_refused_before_decompression(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.parquet" for number in range(len(LIES))]
    for path, (write, _words) in zip(paths, LIES.values(), strict=True):
        write(path)
    for kind, result in zip(LIES, read_in_a_process(*paths), strict=True):
        said, grown_mb = result
        assert LIES[kind][1] in said and said.endswith("."), kind
        assert grown_mb < MOST_MB, f"{kind}, or one before it"


@pytest.mark.parametrize("packing", ["none", "snappy", "gzip", "zstd"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("has_dictionary", [True, False])
def test_files_of_other_programs_are_read_completely(
    tmp_path: Path, packing: str, version: str, has_dictionary: bool
) -> None:
    rows = 6_000
    times = START_MS + 60_000 * np.arange(rows)
    prices = 100.0 + np.random.default_rng(3).normal(size=rows) * 0.01
    table = pa.table(
        {"time": times, "open": prices, "high": prices + 1, "low": prices - 1, "close": prices, "volume": prices}
        | {"symbol": ["BTC/USDT"] * rows, "tags": [["a", "b"]] * rows}
    )
    path = tmp_path / "a.parquet"
    coded = None if has_dictionary else {"time": "DELTA_BINARY_PACKED", "close": "BYTE_STREAM_SPLIT"}
    pq.write_table(
        table,
        path,
        row_group_size=1_400,
        data_page_size=1_000,
        compression=packing,
        data_page_version=version,
        use_dictionary=has_dictionary,
        column_encoding=coded,
    )
    found = read_candle_table(path)
    assert found.columns.open_time_ms.tolist() == times.tolist() and found.symbol == "BTC/USDT"
    assert np.array_equal(found.columns.values[3], prices)


def test_a_large_uncompressed_page_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some programs write a column of a row group as one page."""
    monkeypatch.setattr(parquet_pages, "_HELD_BYTES", 2**20)  # of 128 MiB the test would take half a gigabyte
    rows = 30_000
    prices = 100.0 + np.random.default_rng(3).random(rows) * 1e-6
    path = tmp_path / "a.parquet"
    columns = dict.fromkeys(NAMES[1:], prices) | {"time": START_MS + 60_000 * np.arange(rows)}
    pq.write_table(pa.table(columns), path, use_dictionary=False, data_page_size=2**30, max_rows_per_page=rows)
    assert read_candle_table(path).rows == rows


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_any_changed_parquet_byte_is_explained_or_read(tmp_path: Path, every: int) -> None:
    """Where pyarrow was asked for its columns, 12 of 7,835 such files aborted the process."""
    path = tmp_path / "a.parquet"
    times = START_MS + 60_000.0 * np.arange(5)
    pq.write_table(pa.table(dict.fromkeys(NAMES[:2], times)), path, compression="none", store_schema=False)
    whole = path.read_bytes()
    for place in range(len(whole)):
        for byte in (0, 0xFF, whole[place] ^ 1)[place % every :: every]:
            path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
            with suppress(CandleFileError):
                read_candle_table(path)


def test_a_parquet_footer_longer_than_the_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({name: [1.0, 2.0] for name in NAMES}), path)
    path.write_bytes(path.read_bytes()[:-8] + struct.pack("<I", 2**32 - 1) + b"PAR1")
    with pytest.raises(CandleFileError, match="not a complete"):
        read_candle_table(path)

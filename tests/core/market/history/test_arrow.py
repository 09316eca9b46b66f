"""Feather and Parquet: files of other programs, and files that are too large."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.market.history import arrow
from core.market.history.errors import CandleFileError
from core.market.history.read import read_candle_table
from tests.support.candles import START_MS

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
pq = pytest.importorskip("pyarrow.parquet")

NAMES = ("open", "high", "low", "close", "volume")


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


@pytest.mark.parametrize("name", ["a.parquet", "a.feather"])
def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(arrow, "LARGEST_BYTES", 100_000)
    table = pa.table(dict.fromkeys(("time", *NAMES), np.zeros(20_000)))
    pq.write_table(table, tmp_path / name) if name == "a.parquet" else feather.write_feather(
        table, str(tmp_path / name)
    )
    with pytest.raises(CandleFileError, match="unpacks to more than 2 GiB"):
        read_candle_table(tmp_path / name)


def test_prices_as_bytes_are_explained(tmp_path: Path) -> None:
    packed = pa.array([bytes(8)] * 3, pa.binary(8))
    pq.write_table(pa.table({"ts_event": [1, 2, 3], "open": packed, "close": packed}), tmp_path / "bars.parquet")
    with pytest.raises(CandleFileError, match=r"prices as bytes \(open, close\)"):
        read_candle_table(tmp_path / "bars.parquet")

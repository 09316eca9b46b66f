"""One table, in every kind of file: the same candles, bit for bit."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.candle import Candle
from core.market.history.read import read_candle_table
from tests.core.market.history.forms.layouts import candles_of
from tests.support.candles import random_walk

pytest.importorskip("pyarrow", reason="the extra [arrow] is not installed")
NAMES = ["time", "open", "high", "low", "close", "volume"]
Table = list[list[float]]


def _frame(table: Table) -> pd.DataFrame:
    return pd.DataFrame(table, columns=NAMES).astype({"time": "int64"})


def _csv(table: Table, path: Path, delimiter: str = ",") -> None:
    lines = [NAMES, *([f"{row[0]}", *map(repr, row[1:])] for row in table)]
    path.write_text("\n".join(map(delimiter.join, lines)) + "\n")


def _json(made: Callable[[Table], object]) -> Callable[[Table, Path], None]:
    return lambda table, path: _written(path, json.dumps(made(table)))


def _written(path: Path, text: str) -> None:
    path.write_text(text)


WRITERS: dict[str, tuple[str, Callable[[Table, Path], None]]] = {
    "csv": ("table.csv", _csv),
    "semicolons": ("table.txt", lambda table, path: _csv(table, path, ";")),
    "tabs": ("table.tsv", lambda table, path: _csv(table, path, "\t")),
    "arrays": ("arrays.json", _json(lambda table: table)),
    "objects": ("objects.json", _json(lambda table: [dict(zip(NAMES, row, strict=True)) for row in table])),
    "columns": (
        "columns.json",
        _json(lambda table: {name: list(cells) for name, cells in zip(NAMES, zip(*table, strict=True), strict=True)}),
    ),
    "lines": ("lines.jsonl", lambda table, path: _written(path, "\n".join(map(json.dumps, table)))),
    "feather": ("table.feather", lambda table, path: _frame(table).to_feather(path)),
    "parquet": ("table.parquet", lambda table, path: _frame(table).to_parquet(path)),
}


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(1, 50))
def test_all_kinds_of_files_hold_the_same_candles(
    tmp_path_factory: pytest.TempPathFactory, seed: int, count: int, part: int
) -> None:
    candles = random_walk(count, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.market.history.table_file.CHUNK_ROWS", part)
        for name, found in _read_all(tmp_path_factory.getbasetemp(), candles):
            assert found == candles, name


def _read_all(folder: Path, candles: Sequence[Candle]) -> list[tuple[str, list[Candle]]]:
    table: Table = [[c.open_time_ms, c.open, c.high, c.low, c.close, c.volume] for c in candles]
    found = []
    for name, (file, write) in WRITERS.items():
        write(table, folder / file)
        found.append((name, candles_of(read_candle_table(folder / file))))
    return found

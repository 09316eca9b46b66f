"""Large files of JSON: pages one after another, cells that a part lacks, lines to the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.market.history.reading import read_candle_table
from tests.core.market.history.forms.layouts import candle, candles_of, rows
from tests.core.market.history.test_json_rows import an_object, array

MANY = rows(6_001)


@pytest.mark.parametrize("last", [1, 2, 3_000])
@pytest.mark.parametrize("is_below", [True, False])
def test_pages_put_behind_one_another_are_all_read(tmp_path: Path, last: int, is_below: bool) -> None:
    pages = [[array(row) for row in MANY[:-last]], [array(row) for row in MANY[-last:]]]
    shown = [json.dumps({"code": 0, "result": {"list": page}} if is_below else page) for page in pages]
    path = tmp_path / "pages.json"
    path.write_text("\n".join(shown))
    assert candles_of(read_candle_table(path)) == [candle(row) for row in MANY]


@pytest.mark.parametrize("is_null", [True, False])
@pytest.mark.parametrize("part", [2_000, 100_000])
@pytest.mark.parametrize("quiet", [range(2_000), range(2_000, 4_000)])
def test_volumes_that_a_part_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_null: bool, part: int, quiet: range
) -> None:
    if not is_null and part == quiet.stop:
        pytest.skip("what no row of the first part has is no column")
    monkeypatch.setattr("core.market.history.table.CHUNK_ROWS", part)
    table = [an_object(row) for row in MANY]
    for number in quiet:
        if is_null:
            table[number]["volume"] = None
        else:
            del table[number]["volume"]
    path = tmp_path / "quiet.json"
    path.write_text(json.dumps(table))
    expected = [candle(row, volume=0.0 if row.number in quiet else None) for row in MANY]
    assert candles_of(read_candle_table(path)) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n", ""])
def test_a_large_file_of_lines_may_end_with_a_line_break(tmp_path: Path, end: str) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text("\n".join(json.dumps(array(row)) for row in MANY) + end, newline="")
    assert candles_of(read_candle_table(path)) == [candle(row) for row in MANY]

"""JSON as exchanges answer, as programs save it and as streams are recorded: the same candles, in bounded memory."""

from __future__ import annotations

import gzip
import io
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.market.history import json_rows as json_pieces
from core.market.history.candle_table import ReadOptions
from core.market.history.errors import CandleFileError
from core.market.history.json_rows import json_frames
from core.market.history.read import read_candle_table
from tests.core.market.history.forms.layouts import MINUTE, Row, candle, candles_of, rows, trades_of

ROWS = rows()
CANDLES = [candle(row) for row in ROWS]
WITHOUT_VOLUME = [candle(row, volume=0.0) for row in ROWS]
NAMES = ("time", "open", "high", "low", "close", "volume")
Cell = Callable[[float], object]


def array(row: Row, cell: Cell = float) -> list[Any]:
    return [row.ms, *map(cell, (row.open, row.high, row.low, row.close, row.volume))]


def an_object(row: Row, cell: Cell = float) -> dict[str, Any]:
    return dict(zip(NAMES, array(row, cell), strict=True))


def columns(cell: Cell = float) -> dict[str, Any]:
    return {name: [an_object(row, cell)[name] for row in ROWS] for name in NAMES}


def kline(row: Row, *, is_final: bool) -> dict[str, Any]:
    """A message of Binance's stream."""
    cells = {"t": row.ms, "T": row.end_ms - 1, "s": "BTCUSDT", "i": "1m", "f": 1, "L": 2, "o": str(row.open)}
    cells |= {"c": str(row.close), "h": str(row.high), "l": str(row.low), "v": str(row.volume), "n": 9, "x": is_final}
    return {"e": "kline", "E": row.end_ms, "s": "BTCUSDT", "k": cells}


def lines(*several: object) -> str:
    return "\n".join(map(json.dumps, several)) + "\n"


SHAPES = {
    "arrays": json.dumps([array(row) for row in ROWS]),
    "arrays of texts": json.dumps([array(row, str) for row in ROWS]),
    "arrays, newest first": json.dumps([array(row) for row in ROWS[::-1]]),
    "objects": json.dumps([an_object(row) for row in ROWS]),
    "objects of texts": json.dumps([an_object(row, str) for row in ROWS]),
    "columns": json.dumps(columns()),
    "columns of texts": json.dumps(columns(str)),
    "columns beside others": json.dumps({"s": "ok", "nextTime": None, **columns()}),
    "entries by time": json.dumps(
        {str(row.ms): {k: v for k, v in an_object(row).items() if k != "time"} for row in ROWS}
    ),
    "entries by date": json.dumps(
        {
            "Meta Data": {"1. Information": "of a market", "6. Time Zone": "UTC"},
            "Time Series": {
                row.text("%Y-%m-%d %H:%M:%S"): {k: v for k, v in an_object(row, str).items() if k != "time"}
                for row in ROWS
            },
        }
    ),
    "a row a line, as an array": lines(*map(array, ROWS)),
    "a row a line, as an object": lines(*map(an_object, ROWS)),
    "a message a line": lines(*(kline(row, is_final=is_final) for row in ROWS for is_final in (False, True))),
    "a message a line, with a list": lines(
        *({"topic": "kline.1.BTCUSDT", "ts": row.end_ms, "data": [an_object(row)]} for row in ROWS)
    ),
    "a message a line, with an array": lines(
        *({"arg": {"channel": "candle1m", "instId": "BTC-USDT"}, "data": [array(row, str)]} for row in ROWS)
    ),
    "indented": json.dumps([an_object(row) for row in ROWS], indent=2),
    **{
        f"below {key}": json.dumps({"code": 0, "message": "", key: [an_object(row) for row in ROWS], "next": None})
        for key in ("data", "result", "candles", "bars")
    },
    "far below": json.dumps(
        {"ok": True, "result": {"data": {"meta": {"symbol": "X"}, "list": [array(r) for r in ROWS]}}}
    ),
    "columns below, as Yahoo has them": json.dumps(
        {
            "chart": {
                "result": [
                    {
                        "meta": {"currency": "USD", "symbol": "ABC", "validRanges": ["1d", "5d", "1mo", "max"]},
                        "timestamp": [row.s for row in ROWS],
                        "indicators": {"quote": [{name: columns()[name] for name in NAMES[1:]}]},
                    }
                ],
                "error": None,
            }
        }
    ),
    "columns below": json.dumps({"jsonrpc": "2.0", "result": {"status": "ok", **columns()}}),
}


def read(tmp_path: Path, content: str | bytes, name: str = "candles.json") -> list[object]:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(candles_of(read_candle_table(path)))


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same_candles(tmp_path: Path, shape: str) -> None:
    assert read(tmp_path, SHAPES[shape]) == CANDLES


@pytest.mark.parametrize("shape", ["arrays", "columns", "a message a line"])
def test_a_mark_of_utf_8_changes_nothing(tmp_path: Path, shape: str) -> None:
    assert read(tmp_path, b"\xef\xbb\xbf" + SHAPES[shape].encode()) == CANDLES


@pytest.mark.parametrize("shape", SHAPES)
def test_parts_give_the_same_candles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str) -> None:
    monkeypatch.setattr("core.market.history.table_file.CHUNK_ROWS", 7)
    assert read(tmp_path, SHAPES[shape]) == CANDLES


@given(st.sampled_from(["arrays", "objects", "columns", "entries by time", "far below"]), st.data())
def test_what_was_cut_is_refused(tmp_path_factory: pytest.TempPathFactory, shape: str, data: st.DataObject) -> None:
    """Wherever it was cut: nothing is read of half a file."""
    whole = SHAPES[shape].rstrip()
    cut = whole[: data.draw(st.integers(1, len(whole) - 1))]
    with pytest.raises(CandleFileError, match=r"^candles\.json "):
        read(tmp_path_factory.getbasetemp(), cut)


@pytest.mark.parametrize(
    "text", ["[]", "[[]]", "{}", "[{}]", '{"data": []}', "[1, 2, 3]", '["a", "b"]', "[[1, 2]]", "[null]"]
)
def test_json_without_rows_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(CandleFileError, match=r"^candles\.json "):
        read(tmp_path, text)


def test_columns_of_different_lengths_are_refused(tmp_path: Path) -> None:
    short = columns() | {"close": columns()["close"][:-1]}
    with pytest.raises(CandleFileError, match="29, 30 cells"):
        read(tmp_path, json.dumps(short))


@pytest.mark.parametrize("shape", ["arrays", "objects", "columns"])
def test_nothing_in_place_of_a_number(tmp_path: Path, shape: str) -> None:
    """Prices that are null are of a quiet minute, and a volume that is null is a missing volume."""
    table = [array(row) for row in ROWS]
    table[4][1:5], table[9][5] = [None] * 4, None
    shapes = {
        "arrays": table,
        "objects": [dict(zip(NAMES, row, strict=True)) for row in table],
        "columns": {name: [row[place] for row in table] for place, name in enumerate(NAMES)},
    }
    found = read(tmp_path, json.dumps(shapes[shape]))
    assert found == [*CANDLES[:4], *CANDLES[5:9], candle(ROWS[9], volume=0.0), *CANDLES[10:]]


def test_trades_a_message_a_line(tmp_path: Path) -> None:
    text = lines(
        *(
            {
                "e": "trade",
                "E": t.ms + 5,
                "s": "X",
                "t": t.number,
                "p": str(t.price),
                "q": str(t.amount),
                "T": t.ms,
                "m": True,
            }
            for t in trades_of(ROWS)
        )
    )
    path = tmp_path / "trades.jsonl"
    path.write_text(text)
    file = read_candle_table(path, ReadOptions(interval=MINUTE))
    assert file.are_trades and candles_of(file) == CANDLES


@pytest.mark.parametrize("shape", ["arrays", "objects", "lines", "below"])
def test_a_large_file_is_read_part_by_part(tmp_path: Path, shape: str) -> None:
    """After each part of 4,000 rows no more was read than its rows and a buffer."""
    one = json.dumps(an_object(ROWS[0]) if shape != "arrays" else array(ROWS[0]))
    count, buffer_bytes = 60_000, 1 << 18
    inside = ("\n" if shape == "lines" else ",").join([one] * count)
    text = {"lines": inside, "below": f'{{"result": {{"list": [{inside}]}}}}'}.get(shape, f"[{inside}]")
    path = tmp_path / "large.json"
    path.write_text(text)
    opened: list[IO[bytes]] = []
    seen = 0
    for part in json_frames(path, 4_000, opened.append):
        assert len(part) <= 4_000
        seen += len(part)
        assert opened[-1].closed or opened[-1].tell() <= seen * (len(one) + 2) + 4 * buffer_bytes
    assert seen == count and path.stat().st_size > 10 * buffer_bytes


if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def zipped(text: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("candles.json", text)
    return packed.getvalue()


@pytest.mark.parametrize("shape", ["arrays", "columns", "a message a line"])
@pytest.mark.parametrize("packed", [gzip.compress, zipped, zstd.compress])
def test_packed(tmp_path: Path, shape: str, packed: Callable[[bytes], bytes]) -> None:
    assert read(tmp_path, packed(SHAPES[shape].encode()), "candles.json.bin") == CANDLES


@pytest.mark.parametrize("word", ["NaN", "Infinity"])
def test_what_pythons_json_writes_for_no_number(tmp_path: Path, word: str) -> None:
    """Getting the file again would not help."""
    text = json.dumps([array(row) for row in ROWS]).replace("1.2]", f"{word}]")
    with pytest.raises(CandleFileError, match="holds NaN or Infinity"):
        read(tmp_path, text)


def test_utf_16(tmp_path: Path) -> None:
    """As PowerShell redirects it."""
    with pytest.raises(CandleFileError, match="Save it again in UTF-8"):
        read(tmp_path, SHAPES["arrays"].encode("utf-16"))


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
    monkeypatch.setattr("core.market.history.table_file.CHUNK_ROWS", part)
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


ODD = ["},{", "],[", '"', "\\", "\n", "[", "é", "\U0001f600", "]}", ""]
cells = st.one_of(
    st.booleans(),
    st.integers(-(2**40), 2**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(ODD),
)
"""Objects and arrays in rows come in all rows or in none, so they are tested with the forms that have them."""
arrays = st.lists(cells, min_size=3, max_size=6)
objects = st.dictionaries(st.sampled_from(["t", "o", "h", "l", "c"]), cells, min_size=3)
tables = st.one_of(*(st.lists(rows, min_size=1, max_size=30) for rows in (arrays, objects)))


def found(path: Path) -> list[dict[Any, Any]] | str:
    """Each row without its missing cells."""
    try:
        records = [row for frame in json_frames(path, 100_000, lambda file: None) for row in frame.to_dict("records")]
    except CandleFileError as error:
        return str(error)
    return [{name: cell for name, cell in row.items() if cell is not None and cell == cell} for row in records]


def written(table: list[Any], kind: str) -> str:
    match kind:
        case "lines":
            return "\n".join(map(json.dumps, table))
        case "indented":
            return json.dumps(table, indent=1)
        case "below":
            return json.dumps({"ok": True, "data": table, "next": [1, {"a": 2}]})
    return json.dumps(table, separators=(",", ":"))


@given(
    tables,
    st.sampled_from(["plain", "indented", "below", "lines"]),
    st.integers(8, 200),
    st.integers(0, 40),
    st.booleans(),
)
@example([{"t": 1, "o": 2, "h": 3}] * 2, "below", 60, 1, True)
@example([[1, 2, 3]] * 3, "plain", 11, 8, True)
def test_pieces_of_any_size_give_what_the_reader_gives_row_by_row(
    tmp_path_factory: pytest.TempPathFactory, table: list[Any], kind: str, piece: int, cut: int, is_cut: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "pieces.json"
    text = written(table, kind)
    path.write_text(text[: max(1, len(text) - cut)] if is_cut else text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_pieces, "_PIECE_BYTES", piece)
        in_pieces = found(path)
        patch.setattr(json_pieces, "_PIECE_BYTES", 1 << 30)
        assert in_pieces == found(path)

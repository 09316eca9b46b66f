"""JSON as exchanges answer, as programs save it and as streams are recorded: the same candles, in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.market.history.errors import CandleFileError
from core.market.history.json_rows import json_frames
from core.market.history.reading import ReadOptions, read_candle_table
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
    monkeypatch.setattr("core.market.history.table.CHUNK_ROWS", 7)
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

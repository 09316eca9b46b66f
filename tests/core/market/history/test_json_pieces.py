"""Rows parsed in pieces are the rows read one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.market.history import json_pieces
from core.market.history.errors import CandleFileError
from core.market.history.json_rows import json_frames

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

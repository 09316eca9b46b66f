"""A first row with a bad cell is a row, and no header."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.market.history.reading import ReadOptions, read_candle_table
from tests.core.market.history.forms.layouts import candles_of
from tests.core.market.history.test_text_form import CANDLES, PLAIN


@pytest.mark.parametrize("first_bad", [1, 2, 5])
def test_a_bad_first_row_is_a_row_and_no_header(tmp_path: Path, first_bad: int) -> None:
    lines = PLAIN.splitlines()[1:]
    cells = lines[0].split(",")
    cells[first_bad] = "unknown"
    path = tmp_path / "headerless.csv"
    path.write_text("\n".join([",".join(cells), *lines[1:]]) + "\n")
    file = read_candle_table(path, ReadOptions(skips_invalid=True))
    assert candles_of(file)[-19:] == CANDLES[1:]
    assert file.rows == len(CANDLES)

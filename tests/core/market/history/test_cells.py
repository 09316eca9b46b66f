"""Numbers whose thousands are apart by blanks or apostrophes."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.domain.candle import Candle
from core.market.history.errors import CandleFileError
from core.market.history.reading import read_candle_table
from tests.core.market.history.forms.layouts import candles_of
from tests.core.market.history.test_text_form import CANDLES, table, with_point

LARGE = [Candle(c.open_time_ms, 18500.25, 18700.5, 18400.75, 18600.25, 1234567.0 + n) for n, c in enumerate(CANDLES)]


@pytest.mark.parametrize("group", [" ", "\u00a0", "\u202f", "'", "\u2019"])
@pytest.mark.parametrize("decimal", [",", "."])
@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_thousands_apart(tmp_path: Path, group: str, decimal: str, delimiter: str) -> None:
    signs = str.maketrans({",": group, ".": decimal})
    path = tmp_path / "apart.csv"
    path.write_text(
        table(LARGE, lambda number: with_point(number, 2, is_grouped=True).translate(signs), delimiter), "utf-8"
    )
    assert candles_of(read_candle_table(path)) == LARGE


def test_thirty_seconds_of_bonds_are_no_groups_of_digits(tmp_path: Path) -> None:
    path = tmp_path / "bonds.csv"
    path.write_text(
        "Date,Open,High,Low,Close,Volume\n"
        + "".join(f"2024-03-{n:02},119'16,120'02,119'01,119'24,5\n" for n in range(1, 15))
    )
    with pytest.raises(CandleFileError, match=r"bonds\.csv"):
        read_candle_table(path)

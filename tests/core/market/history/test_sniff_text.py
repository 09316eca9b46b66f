"""The layout of a text file: its decimal sign, header and delimiter, decided by all of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import DAY_MS, Candle
from core.market.history.candle_table import ReadOptions
from core.market.history.errors import CandleFileError
from core.market.history.read import read_candle_table
from tests.core.market.history.forms.layouts import START_MS, candles_of, text_of

NAMES = ["Open", "High", "Low", "Close", "Volume"]


def with_point(number: float, decimals: int, *, is_grouped: bool) -> str:
    return f"{number:{',' if is_grouped else ''}.{decimals}f}"


def with_comma(number: float, decimals: int, *, is_grouped: bool) -> str:
    return with_point(number, decimals, is_grouped=is_grouped).translate(str.maketrans(",.", ".,"))


def table(
    candles: Sequence[Candle], number: Callable[[float], str], delimiter: str = ";", dates: str = "%Y-%m-%d"
) -> str:
    quote = '"' if delimiter == "," else ""
    lines = [delimiter.join(["Date", *NAMES])]
    for each in candles:
        cells = [each.open, each.high, each.low, each.close, each.volume]
        shown = delimiter.join(f"{quote}{number(cell)}{quote}" for cell in cells)
        lines.append(f"{text_of(each.open_time_ms, dates)}{delimiter}{shown}")
    return "\n".join(lines) + "\n"


@st.composite
def days(draw: st.DrawFn, decimals: int) -> list[Candle]:
    """Prices with so many decimals, of four to seven digits, all of one size."""
    scale = 10**decimals
    low = draw(st.integers(1_000, 100_000))
    whole = st.integers(low * scale, 2 * low * scale).map(lambda number: number / scale)
    drawn = draw(st.lists(st.tuples(whole, whole, whole, whole, whole), min_size=2, max_size=12))
    return [
        Candle(START_MS + number * DAY_MS, first, max(first, last, most), min(first, last, least), last, volume)
        for number, (first, most, least, last, volume) in enumerate(drawn)
    ]


@given(
    written=st.sampled_from([with_point, with_comma]),
    is_grouped=st.booleans(),
    decimals=st.sampled_from([1, 2, 4, 5, 8]),
    delimiter=st.sampled_from([";", "\t", ","]),
    data=st.data(),
)
def test_numbers_mean_what_python_wrote(
    tmp_path_factory: pytest.TempPathFactory,
    written: Callable[..., str],
    is_grouped: bool,
    decimals: int,
    delimiter: str,
    data: st.DataObject,
) -> None:
    candles = data.draw(days(decimals))
    path = tmp_path_factory.getbasetemp() / "numbers.csv"
    path.write_text(table(candles, lambda number: written(number, decimals, is_grouped=is_grouped), delimiter))
    assert candles_of(read_candle_table(path)) == candles


def tables_of_three_decimals(sign: str, proof: str) -> str:
    """A thousand days, of which each number may mean two things but the last."""
    lines = [
        f"{text_of(START_MS + number * DAY_MS, '%Y-%m-%d')};1{sign}500;1{sign}500;1{sign}500;1{sign}500;7"
        for number in range(3000)
    ]
    return "\n".join([";".join(["Date", *NAMES]), *lines[:-1], lines[-1].replace(f"1{sign}500", proof)]) + "\n"


@pytest.mark.parametrize(
    ("sign", "proof", "price"),
    [(",", "1,50", 1.5), (",", "1,500.0", 1500.0), (".", "1.50", 1.5), (".", "1.500,0", 1500.0)],
)
def test_the_last_line_of_a_long_file_proves_the_decimal_sign(
    tmp_path: Path, sign: str, proof: str, price: float
) -> None:
    path = tmp_path / "long.csv"
    path.write_text(tables_of_three_decimals(sign, proof))
    assert path.stat().st_size > 65_536, "longer than what is read for the layout"
    file = read_candle_table(path)
    assert set(file.columns.values[:4].ravel().tolist()) == {price}
    assert bool(file.how.numbers_sentence) == (proof in ("1,50", "1.500,0"))


def test_numbers_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    path.write_text(PLAIN.replace("100.25", '"100,25"', 1))
    with pytest.raises(CandleFileError, match=r"both\.csv: its decimal sign is not clear"):
        read_candle_table(path)


MARK = "\ufeff"
CANDLES = [Candle(START_MS + number * DAY_MS, 100.5, 101.25, 99.75, 100.25, 7.5 + number) for number in range(20)]
PLAIN = table(CANDLES, repr, ",").replace('"', "")


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("\n", "\r\n"),
        MARK + PLAIN,
        "# Source: an exchange, v1, and so on, of 2024\n# by us\n" + PLAIN,
        "A title\n\n" + PLAIN,
        PLAIN.replace("\n", "\nUTC,USD,USD,USD,USD,BTC\n", 1),
        PLAIN.replace("Date", "DATE ").replace("Close", " close "),
        PLAIN.replace("\n", ",\n"),
        PLAIN + "\n\n\n",
        PLAIN.replace(",", ", "),
        "sep=;\n" + PLAIN.replace(",", ";"),
    ],
    ids=["CRLF", "mark", "comments", "title", "units", "names", "trailing commas", "blank lines", "blanks", "sep"],
)
def test_what_is_around_the_numbers_changes_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "around.csv"
    path.write_bytes(text.encode())
    assert candles_of(read_candle_table(path)) == CANDLES


@pytest.mark.parametrize("behind", ["Total,,,,,150\n", '"Downloaded from a vendor as of 03-01-2024"\n'])
def test_a_line_behind_the_table_is_left_out_and_shown(tmp_path: Path, behind: str) -> None:
    path = tmp_path / "behind.csv"
    path.write_text(PLAIN + behind)
    file = read_candle_table(path)
    assert candles_of(file) == CANDLES
    assert list(file.rejected.values()) == [1]
    assert behind.split(",")[0].strip('"\n') in next(iter(file.examples.values()))


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

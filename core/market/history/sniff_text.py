"""Sniffs the layout of a text file: encoding, delimiter, header and decimal sign, from its first 64 KB, or all of
it."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.domain.plain_text import plain
from core.market.history.errors import CandleFileError
from core.market.history.open_file import empty, opened, opened_text

BLANKS = r"\s+"
_HEAD_BYTES = 65_536
_PREAMBLE_LINES = 30
_SAMPLE_LINES = 300
"""Looked at for the header and the width."""
_MOST_HEADER_LINES = 3
_FEWEST_CANDLE_CELLS, _FEWEST_TRADE_CELLS = 5, 3
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CHINESE_HEADER = re.compile("数量|价格|开盘|收盘|日期|时间")
_DOTTED_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.\d{2,4}\b.*")
_COMMA_DECIMAL = re.compile(
    r"-?(0|\d+|\d{1,3}(\.\d{3})+),(\d{1,2}|\d{4,})\D?|-?0,\d+\D?|-?\d{1,3}(\.\d{3})+(,\d+|\.\d{3})\D?"
)
_POINT_DECIMAL = re.compile(
    r"-?(\d+|\d{1,3}(,\d{3})+)\.(\d{1,2}|\d{4,})\D?|-?0\.\d+\D?|-?\d{1,3}(,\d{3})+(\.\d+|,\d{3})\D?"
)
_UNCLEAR = re.compile(r"-?\d{1,3}[.,]\d{3}\D?")
_DATE_NAMES = ("date", "datetime", "time", "timestamp")


@dataclass(frozen=True, slots=True)
class TextForm:
    """skipped: lines before the first row of data. names: the columns'; None without a header. width: cells of a row.
    decimal: the sign, a comma or a point. symbols: from lines of the header."""

    encoding: str
    skipped: int
    delimiter: str
    names: tuple[str, ...] | None
    width: int
    decimal: str = "."
    symbols: tuple[str, ...] = ()


def text_form_of(path: Path) -> TextForm:
    """Raises CandleFileError, also for a table whose rows have more cells than its header has names."""
    with opened(path) as data:
        head = data.read(_HEAD_BYTES)
    encoding, text = _decoded(path, head)
    if not text.strip():
        raise empty(path)
    lines = text.splitlines()
    if len(head) == _HEAD_BYTES and len(lines) > 1:
        lines.pop()  # it may be cut
    first, delimiter = _first_row(lines)
    rows = [row for row in _cells(lines[first : first + _SAMPLE_LINES], delimiter) if any(row)]
    if not rows:
        raise empty(path)
    # The usual number of cells, without blank ones at the end.
    trailing = (next((n for n, cell in enumerate(reversed(row)) if cell.strip()), 0) for row in rows[1:])
    counts = Counter(len(row) - blank for row, blank in zip(rows[1:], trailing, strict=True))
    width = counts.most_common(1)[0][0] if counts else len(rows[0])
    form = _with_header(path, rows, first, TextForm(encoding, first, delimiter, None, width))
    return replace(form, decimal=_decimal_sign(path, form, rows[form.skipped - first :]))


def _decoded(path: Path, head: bytes) -> tuple[str, str]:
    encoding = "utf-16" if head.startswith(_UTF16) else "utf-8-sig"
    try:
        return encoding, codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError as error:
        chinese = codecs.getincrementaldecoder("gb18030")("replace").decode(head)
        if _CHINESE_HEADER.search(chinese):
            return "gb18030", chinese
        raise CandleFileError(
            f"{path.name} is not text in UTF-8 or UTF-16 (see its byte {error.start}), nor Feather or Parquet, so no "
            "candles can be read from it. Choose another file, or save it as CSV in UTF-8."
        ) from error


def _cells(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    if delimiter == BLANKS:
        return csv.reader((re.sub(r"\s+", " ", line.strip()) for line in lines), delimiter=" ")
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def _first_row(lines: Sequence[str]) -> tuple[int, str]:
    """The number of lines before the table (a title, an address, blank ones), and the delimiter."""
    for fewest in (_FEWEST_CANDLE_CELLS, _FEWEST_TRADE_CELLS):
        for index, line in enumerate(lines[:_PREAMBLE_LINES]):
            delimiter = _delimiter(line)
            if len(next(_cells([line], delimiter), ())) >= fewest:
                return index, delimiter
    first = next(index for index, line in enumerate(lines) if line.strip())
    return first, _delimiter(lines[first])


def _delimiter(line: str) -> str:
    try:
        return csv.Sniffer().sniff(line, delimiters=",;\t|").delimiter
    except csv.Error:
        has_blanks = len(line.split()) >= _FEWEST_CANDLE_CELLS and not any(sign in line for sign in ",;\t|")
        return BLANKS if has_blanks else ","


def _with_header(path: Path, rows: list[list[str]], first: int, form: TextForm) -> TextForm:
    names = [cell.strip() for cell in rows[0]]
    if names[not names[0] :] == [str(number) for number in range(len(names) - (not names[0]))]:
        return replace(form, skipped=first + 1, width=len(names))  # pandas numbers columns without names
    count = _header_lines(rows)
    if not count:
        return replace(form, width=max(form.width, 1))
    names, symbols = _names(rows[:count])
    if len(set(symbols)) > 1:
        raise CandleFileError(
            f"{path.name} holds several markets ({', '.join(sorted(set(symbols))[:3])}). Save each of them on its own."
        )
    if form.width > len(names):
        names = _with_row_names(path, names, rows[count:], first + count + 1)
    unique = tuple(_unlike(names))
    return replace(form, skipped=first + count, names=unique, width=len(unique), symbols=tuple(set(symbols)))


def _header_lines(rows: Sequence[Sequence[str]]) -> int:
    """The number of header lines at the top of the table: lines with a word in a column of values."""
    values = Counter(place for row in rows[1:] for place, cell in enumerate(row) if _is_value(cell))
    words = Counter(place for row in rows[1:] for place, cell in enumerate(row) if cell.strip() and not _is_value(cell))

    def is_header(row: Sequence[str]) -> bool:
        where = [place for place, cell in enumerate(row) if cell.strip() and not _is_value(cell)]
        if sum(map(_is_value, row)) >= _FEWEST_TRADE_CELLS:  # a row of data with a bad cell
            return False
        if len(rows) <= _MOST_HEADER_LINES:
            return bool(where) and not all(map(_is_value, row[1:_FEWEST_CANDLE_CELLS]))
        return any(values[place] > words[place] for place in where)

    count = 0
    for row in rows[:_MOST_HEADER_LINES]:
        # A later line of names has no value at all: a row of data with one bad cell has others.
        if not is_header(row) or (count and any(cell.strip() and _is_value(cell) for cell in row)):
            break
        count += 1
    return count


def _is_value(cell: str) -> bool:
    """Whether a cell is a number, a time, or yes or no."""
    bare = cell.strip()
    is_numeral = re.match(r"[-+$€£¥]?[.,]?\d(?!\d*\. ?[A-Za-z])", bare)  # not as in `1. open`
    return bool(is_numeral) or bare.lower() in ("true", "false", "nan", "n/a", "null", "-")


def _names(rows: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
    """The names and symbols of the columns, from one header line; or from several as yfinance writes them: names,
    symbols, and a line with the time's name alone."""
    if len(rows) == 1:
        return [name.strip() for name in rows[0]], []
    prices = ("open", "high", "low", "close")
    best = max(rows, key=lambda row: sum(cell.strip().lower() in prices for cell in row))
    names, symbols = [name.strip() for name in best], []
    for row in rows:
        if row[0].strip().lower() == "ticker":
            symbols = [cell.strip() for cell in row[1:] if cell.strip()]
        elif row[0].strip().lower() in _DATE_NAMES and not any(cell.strip() for cell in row[1:]):
            names[0] = row[0].strip()
    return names, symbols


def _with_row_names(path: Path, names: list[str], rows: Sequence[Sequence[str]], line: int) -> list[str]:
    """The names with one for a counted first column, as R leaves it out. Raises CandleFileError for other rows."""
    long = next(row for row in rows if len(row) > len(names))
    counted = [row[0] for row in rows[: len(names)] if row]
    if len(long) == len(names) + 1 and counted in ([str(n + k) for n in range(len(counted))] for k in (0, 1)):
        return ["", *names]
    raise CandleFileError(
        f"{path.name} has {len(names)} names in its header and {len(long)} cells in a row (see line {line}: "
        f"{plain(','.join(long), 80)}), so it is not known which number is which. Give each column a name."
    )


def _unlike(names: Sequence[str]) -> Iterator[str]:
    used: set[str] = set()
    for place, name in enumerate(names):
        known = name or f"Unnamed: {place}"
        unlike = next(each for each in (known, *(f"{known}.{n}" for n in range(1, len(names) + 1))) if each not in used)
        used.add(unlike)
        yield unlike


def _decimal_sign(path: Path, form: TextForm, rows: Sequence[Sequence[str]]) -> str:
    """The decimal sign that the cells prove, of the whole file if the first do not. Raises CandleFileError if the
    numbers contradict each other or are ambiguous."""
    sign, unclear = _proven(path, form, rows)
    if sign is not None or not unclear:
        return sign or "."
    with opened_text(path, form.encoding, "replace") as text:
        sign, unclear = _proven(path, form, _cells(text, form.delimiter))
    if sign is not None:
        return sign
    has_dotted_dates = any(_DOTTED_DATE.match(cell.strip()) for row in rows[:2] for cell in row)
    if any("," in cell for cell in unclear):
        # A delimiter other than a comma, and dates with points, come from where a comma is the decimal sign.
        return "," if form.delimiter != "," or has_dotted_dates else "."
    if form.delimiter == ";" and has_dotted_dates:
        shown = min(unclear)
        raise CandleFileError(
            f"{path.name}: {shown} may mean {shown.replace('.', '')}, or {shown} with a decimal point, and no "
            "other number shows which. Write numbers without points between thousands, or with more or fewer decimals."
        )
    return "."


def without_blanks(cell: str) -> str:
    """A number without blanks and apostrophes between its thousands."""
    return re.sub(r"(?<=\d)[\s'’](?=\d{3}(?!\d))", "", cell.strip())


def _proven(path: Path, form: TextForm, rows: Iterable[Sequence[str]]) -> tuple[str | None, set[str]]:
    """The decimal sign, None if no number proves it; and some numbers that may mean two things."""
    commas: dict[int, str] = {}
    points: dict[int, str] = {}
    unclear: set[str] = set()
    for row in rows:
        for place, cell in enumerate(row):
            bare = without_blanks(cell).lstrip("$€£¥")
            if "," not in bare and "." not in bare:
                continue
            if _COMMA_DECIMAL.fullmatch(bare):
                commas.setdefault(place, bare)
            elif _POINT_DECIMAL.fullmatch(bare):
                points.setdefault(place, bare)
            elif len(unclear) < 100 and _UNCLEAR.fullmatch(bare):
                unclear.add(bare)
    # Between commas a column may have lists, such as the conditions of a trade: "12,37".
    if points and commas and (form.delimiter != "," or commas.keys() & points.keys()):
        both = f"{next(iter(commas.values()))} and {next(iter(points.values()))}"
        raise CandleFileError(
            f"{path.name}: its decimal sign is not clear, as it has {both}. Write all of its numbers in one way."
        )
    return "." if points else "," if commas else None, unclear

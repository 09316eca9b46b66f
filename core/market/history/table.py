"""A file as a table, read in parts: recognises its start, delimiter and header."""

from __future__ import annotations

import codecs
import csv
import io
import re
import struct
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from core.market.history.errors import CandleFileError
from core.market.history.source import MOST_ROWS, empty, opened, require_readable

if TYPE_CHECKING:
    import pandas as pd

CHUNK_ROWS = 100_000
_HEAD_BYTES = 65_536
_PREAMBLE_LINES = 10
_FEWEST_CANDLE_CELLS, _FEWEST_TRADE_CELLS = 5, 3
_ARROW_SUFFIXES = {".feather": "feather", ".parquet": "parquet", ".pq": "parquet"}
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ARROW_ERRORS = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    NotImplementedError,
    OSError,
    MemoryError,
    struct.error,
)
"""Exceptions of pyarrow and pandas for broken files, and for tables of unexpected shape."""
_MOST_BLANK_LINES = 1_000_000
_PASSED_OVER = re.compile(r"Skipping line \d+")  # pandas counts skipped lines only in the text of its warning


@dataclass(frozen=True, slots=True)
class _TextForm:
    """The format of a text file. `skipped`: lines before the table."""

    encoding: str
    skipped: int
    delimiter: str
    has_header: bool
    decimal: str


class TableFile:
    """Rows in parts of at most CHUNK_ROWS, as data frames whose index is the row's number in the file, from 0.

    Columns have the header's names, or numbers without a header. A file may be read repeatedly.
    """

    def __init__(self, path: Path, *, passes_over_long_lines: bool = False) -> None:
        """passes_over_long_lines: count lines with too many cells, instead of refusing the file.

        Raises CandleFileError, as `chunks` does.
        """
        require_readable(path)
        self.path = path
        self._arrow_kind = _ARROW_SUFFIXES.get(path.suffix.lower())
        self._passes_over = passes_over_long_lines
        self._form = None if self._arrow_kind is not None else _form_of(path)
        self.long_lines = 0
        """Lines skipped so far."""
        self._file: IO[bytes] | None = None

    @property
    def bytes_read(self) -> int:
        """The position in a text file on disk; 0 for other files."""
        return 0 if self._file is None or self._file.closed else self._file.tell()

    @property
    def first_line(self) -> int | None:
        """The line number of row 0, for a text file."""
        if self._form is None:
            return None
        return self._form.skipped + (2 if self._form.has_header else 1)

    def chunks(self) -> Iterator[pd.DataFrame]:
        """The rows in the file's order, without blank lines."""
        self.long_lines = 0
        if self._form is None:
            yield from self._numbered(_arrow_chunks(self.path, str(self._arrow_kind)))
            return
        seen, blank = 0, 0
        for chunk in self._text_chunks(self._form):
            kept = chunk.dropna(how="all")
            seen, blank = seen + len(chunk), blank + len(chunk) - len(kept)
            self._refuse_endless(seen, blank)
            yield kept

    def _numbered(self, chunks: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        seen = 0
        for chunk in chunks:
            chunk.index += seen
            seen += len(chunk)
            self._refuse_endless(seen, 0)
            yield chunk

    def _refuse_endless(self, rows: int, blank: int) -> None:
        if rows - blank > MOST_ROWS:
            raise CandleFileError(f"{self.path.name} holds more than {MOST_ROWS:,} rows; split it.")
        if blank > max(_MOST_BLANK_LINES, rows - blank):
            raise CandleFileError(f"{self.path.name} is mostly blank lines. Remove them, or download it again.")

    def _text_chunks(self, form: _TextForm) -> Iterator[pd.DataFrame]:
        import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

        name = self.path.name
        try:
            with opened(self.path, self._take_file) as data, io.TextIOWrapper(data, form.encoding, newline="") as text:
                yield from self._parsed(text, form)
        except UnicodeDecodeError as error:
            raise CandleFileError(
                f"{name} is not text in UTF-8 or UTF-16 from some line on. Save it again as CSV in UTF-8."
            ) from error
        except pd.errors.EmptyDataError as error:
            raise empty(self.path) from error
        except (pd.errors.ParserError, ValueError) as error:
            raise CandleFileError(f"{name} is not a table: {error}.") from error

    def _take_file(self, file: IO[bytes]) -> None:
        self._file = file

    def _parsed(self, text: io.TextIOWrapper, form: _TextForm) -> Iterator[pd.DataFrame]:
        import pandas as pd  # noqa: PLC0415

        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always", pd.errors.ParserWarning)
            parts = pd.read_csv(
                text,
                sep=form.delimiter,
                header=0 if form.has_header else None,
                skiprows=form.skipped,
                index_col=False,  # a trailing delimiter is common, and pandas would shift every column for it
                decimal=form.decimal,
                float_precision="round_trip",  # the default is off by one bit in the last place
                skipinitialspace=True,
                skip_blank_lines=False,
                low_memory=False,
                chunksize=CHUNK_ROWS,
                on_bad_lines="warn" if self._passes_over else "error",
            )
        with parts:
            while (part := self._next(parts, raised)) is not None:
                yield part

    def _next(self, parts: Iterator[pd.DataFrame], raised: list[warnings.WarningMessage]) -> pd.DataFrame | None:
        import pandas as pd  # noqa: PLC0415

        with warnings.catch_warnings(record=True) as raised_now:
            warnings.simplefilter("always", pd.errors.ParserWarning)
            part = next(parts, None)
        for warning in (*raised, *raised_now):
            self.long_lines += len(_PASSED_OVER.findall(str(warning.message)))
        raised.clear()
        return part


def _form_of(path: Path) -> _TextForm:
    with opened(path) as data:
        head = data.read(_HEAD_BYTES)
    encoding = "utf-16" if head.startswith(_UTF16) else "utf-8-sig"
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError as error:
        raise CandleFileError(
            f"{path.name} is not text in UTF-8 or UTF-16 (see its byte {error.start}), nor Feather or Parquet, so no "
            "candles can be read from it. Choose another file, or save it as CSV in UTF-8."
        ) from error
    if not text.strip():
        raise empty(path)
    skipped, delimiter = _first_row(text)
    lines = text.splitlines()[skipped : skipped + 2]
    cells = lines[0].split(delimiter)
    # Of a row of data the prices are numbers; its time may be text.
    is_data = len(cells) >= _FEWEST_TRADE_CELLS and all(map(is_number, cells[1:_FEWEST_CANDLE_CELLS]))
    return _TextForm(encoding, skipped, delimiter, not is_data, _decimal(lines[-1], delimiter))


def _decimal(line: str, delimiter: str) -> str:
    """The decimal separator in this line, whose first cell is a time."""
    numbers = line.split(delimiter)[1:]
    has_comma = delimiter != "," and any(re.search(r"\d,\d", cell) for cell in numbers)
    return "," if has_comma and not any(re.search(r"\d\.\d", cell) for cell in numbers) else "."


def _first_row(text: str) -> tuple[int, str]:
    """The number of lines before the table (a title, an address, blank ones), and the delimiter."""
    lines = text.splitlines()
    for fewest in (_FEWEST_CANDLE_CELLS, _FEWEST_TRADE_CELLS):
        for index, line in enumerate(lines[:_PREAMBLE_LINES]):
            delimiter = _delimiter(line)
            if len(line.split(delimiter)) >= fewest:
                return index, delimiter
    first = next(index for index, line in enumerate(lines) if line.strip())
    return first, _delimiter(lines[first])


def _delimiter(line: str) -> str:
    try:
        return csv.Sniffer().sniff(line, delimiters=",;\t|").delimiter
    except csv.Error:
        return ","


def is_number(cell: str) -> bool:
    """Whether Python parses it as a number; NaN and infinity count."""
    try:
        float(cell.strip().strip('"'))
    except ValueError:
        return False
    return True


def _arrow_chunks(path: Path, kind: str) -> Iterator[pd.DataFrame]:
    from core.market.history.arrow import arrow_frames  # noqa: PLC0415 - for such files only

    try:
        yield from arrow_frames(path, kind, CHUNK_ROWS)
    except ImportError as error:
        raise CandleFileError(f"{path.name} is {kind.title()}. {arrow_is_missing()}") from error
    except _ARROW_ERRORS as error:
        raise CandleFileError(f"{path.name} is not a complete {kind.title()} file ({error}).") from error


def arrow_is_missing() -> str:
    """What to do where pyarrow is not there; into the packaged program nothing can be installed."""
    if getattr(sys, "frozen", False):
        return "The packaged Ghostcandle does not read or write that; use CSV."
    return "That needs pyarrow. Install it with: pip install 'ghostcandle[arrow]'"

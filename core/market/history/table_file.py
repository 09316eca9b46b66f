"""A file as a table, read in parts: text, JSON, Feather or Parquet."""

from __future__ import annotations

import io
import re
import sys
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from core.domain.plain_text import plain
from core.market.history.errors import CandleFileError
from core.market.history.json_rows import is_json, json_frames
from core.market.history.open_file import MOST_ROWS, empty, opened_text, require_readable, table_name
from core.market.history.sniff_text import TextForm, text_form_of, without_blanks

if TYPE_CHECKING:
    import pandas as pd

CHUNK_ROWS = 100_000
_ARROW_SUFFIXES = {".feather": "feather", ".parquet": "parquet", ".pq": "parquet"}
_ARROW_ERRORS = (
    *(ValueError, TypeError, LookupError, ArithmeticError, OSError, MemoryError),
    *(NotImplementedError, RecursionError),
)
"""Exceptions of pyarrow and pandas for broken files, and for tables of unexpected shape."""
_MOST_BLANK_LINES = 1_000_000
_PASSED_OVER = re.compile(r"Skipping line \d+")  # pandas counts skipped lines only in the text of its warning
_MORE = "\0"
"""The name of a column for cells beyond the last one, which pandas would cut off."""
_DECIMAL_COMMA = re.compile(r"(-?\d{1,3}(?:\.\d{3})+|-?\d+)(?:,(\d*))?([KMB%]?)")
_LONGEST_EXAMPLE = 100


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
        self.name = table_name(path)
        """The name of the file, or of the packed file."""
        self._passes_over = passes_over_long_lines
        self._arrow_kind = _ARROW_SUFFIXES.get(path.suffix.lower())
        self.is_text = self._arrow_kind is None and not is_json(path)
        self._form = text_form_of(path) if self.is_text else None
        self.symbols = self._form.symbols if self._form is not None else ()
        self.delimiter = self._form.delimiter if self._form is not None else ""
        self.has_decimal_comma = self._form is not None and self._form.decimal == ","
        self.long_lines = 0
        """Lines skipped so far."""
        self._file: IO[bytes] | None = None

    @property
    def bytes_read(self) -> int:
        """The position in a text file on disk; 0 for other files."""
        return 0 if self._file is None or self._file.closed else self._file.tell()

    def place(self, row: int) -> str:
        """The position of a row, for people: its line in a text file, else its number from 1."""
        return f"row {row + 1:,}" if self._form is None else f"line {row + self._form.skipped + 1}"

    def example(self, row: int) -> str:
        """A row as the file has it, with its place."""
        if self._form is None:
            return self.place(row)
        with opened_text(self.path, self._form.encoding, "replace") as text:
            line = next(islice(text, row + self._form.skipped, None), "")
        return f"{self.place(row)}: {plain(line.strip(), _LONGEST_EXAMPLE)}"

    def chunks(self) -> Iterator[pd.DataFrame]:
        """The rows in the file's order, without blank lines."""
        self.long_lines = 0
        if self._form is None:
            if self._arrow_kind is not None:
                yield from self._numbered(_arrow_chunks(self.path, self._arrow_kind))
            else:
                yield from self._numbered(json_frames(self.path, CHUNK_ROWS, self._set_file))
            return
        seen, blank = 0, 0
        for chunk in self._text_chunks(self._form):
            kept = chunk.dropna(how="all")
            seen, blank = seen + len(chunk), blank + len(chunk) - len(kept)
            self._refuse_endless(seen, blank)
            yield self._without_more(kept)

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

    def _without_more(self, chunk: pd.DataFrame) -> pd.DataFrame:
        more = chunk.pop(_MORE)
        is_long = more.notna()
        if not is_long.any():
            return chunk
        if not self._passes_over:
            where = self.example(int(chunk.index[int(is_long.argmax())]))
            raise CandleFileError(f"{self.path.name} is not a table: too many cells in {where}.")
        self.long_lines += int(is_long.sum())
        return chunk[~is_long]

    def _text_chunks(self, form: TextForm) -> Iterator[pd.DataFrame]:
        import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

        name = self.path.name
        try:
            with opened_text(self.path, form.encoding, on_file=self._set_file) as text:
                yield from self._parsed(text, form)
        except UnicodeDecodeError as error:
            raise CandleFileError(
                f"{name} is not text in UTF-8 or UTF-16 from some line on. Save it again as CSV in UTF-8."
            ) from error
        except pd.errors.EmptyDataError as error:
            raise empty(self.path) from error
        except (pd.errors.ParserError, ValueError) as error:
            raise CandleFileError(f"{name} is not a table: {error}.") from error

    def _set_file(self, file: IO[bytes]) -> None:
        self._file = file

    def _parsed(self, text: io.TextIOWrapper, form: TextForm) -> Iterator[pd.DataFrame]:
        import pandas as pd  # noqa: PLC0415

        names: list[Any] = [*(range(form.width) if form.names is None else form.names), _MORE]
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always", pd.errors.ParserWarning)
            parts = pd.read_csv(
                text,
                sep=form.delimiter,
                header=None,
                names=names,
                skiprows=form.skipped,
                index_col=False,
                dtype=str if form.decimal == "," else None,
                **exact_floats(),
                skipinitialspace=True,
                skip_blank_lines=False,
                low_memory=False,
                chunksize=CHUNK_ROWS,
                on_bad_lines="warn" if self._passes_over else "error",
            )
        with parts:
            while (part := self._next(parts, raised)) is not None:
                yield _with_points(part) if form.decimal == "," else part

    def _next(self, parts: Iterator[pd.DataFrame], raised: list[warnings.WarningMessage]) -> pd.DataFrame | None:
        import pandas as pd  # noqa: PLC0415

        with warnings.catch_warnings(record=True) as raised_now:
            warnings.simplefilter("always", pd.errors.ParserWarning)
            part = next(parts, None)
        for warning in (*raised, *raised_now):
            self.long_lines += len(_PASSED_OVER.findall(str(warning.message)))
        raised.clear()
        return part


def exact_floats() -> dict[str, Any]:
    """Options with which read_csv returns the nearest double: by default it is off by a bit in one number of three,
    until pandas 3.1, which deprecates the option."""
    import pandas as pd  # noqa: PLC0415

    is_default = tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)
    return {} if is_default else {"float_precision": "round_trip"}


def _with_points(part: pd.DataFrame) -> pd.DataFrame:
    """Numbers such as ``16.751,64`` as ``16751.64``; other cells, dates with points among them, stay."""
    for name in part.columns:
        part[name] = part[name].map(_with_point, na_action="ignore")
    return part


def _with_point(cell: str) -> str:
    found = _DECIMAL_COMMA.fullmatch(without_blanks(cell))
    if found is None or ("," not in cell and "." not in cell):
        return cell
    return f"{found[1].replace('.', '')}.{found[2] or '0'}{found[3]}"


def _arrow_chunks(path: Path, kind: str) -> Iterator[pd.DataFrame]:
    from core.market.history.arrow import arrow_frames  # noqa: PLC0415 - for such files only

    try:
        yield from arrow_frames(path, kind, CHUNK_ROWS)
    except ImportError as error:
        raise CandleFileError(f"{path.name} is {kind.title()}. {arrow_is_missing()}") from error
    except _ARROW_ERRORS as error:
        raise CandleFileError(f"{path.name} is not a complete {kind.title()} file ({error}).") from error


def arrow_is_missing() -> str:
    """Advice for a missing pyarrow; nothing can be installed into the packaged program."""
    if getattr(sys, "frozen", False):
        return "The packaged Ghostcandle does not read or write that; use CSV."
    return "That needs pyarrow. Install it with: pip install 'ghostcandle[arrow]'"

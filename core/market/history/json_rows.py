"""Rows of a JSON file, read as a stream: memory holds one part of them, or one column.

Where the rows are is found at the file's beginning: in an array of arrays or of objects, however deep below other keys;
in an object that has each column as an array; in an object with a time as the key of each row; or in a message a line.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import BufferedReader, BytesIO
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from core.market.history.cells import is_number
from core.market.history.errors import CandleFileError
from core.market.history.open_file import opened

if TYPE_CHECKING:
    import pandas as pd

_BUFFER_BYTES = 1 << 18
_OPTIONS: dict[str, Any] = {"use_float": True, "multiple_values": True, "buf_size": _BUFFER_BYTES}
_HEAD_BYTES = 64
_ROWS_AT_ONCE = 2_000
_MOST_EVENTS = 50_000
"""Read to find the rows."""
_FEWEST_CELLS, _FEWEST_COLUMNS = 3, 4
_COLUMN_CELLS = 50
"""An array in an object with more cells is a column; a row has fewer."""
_TIME_KEY = re.compile(r"\d{4}-\d\d-\d\d|\d{10,}")
OnFile = Callable[[IO[bytes]], None]


@dataclass(frozen=True, slots=True)
class _Place:
    """prefix: ijson's path to the rows. kind: items of an array, columns of an object, or entries by time.
    names: the cells' names, if the file has them beside rows that are arrays.
    """

    prefix: str
    kind: str
    names: tuple[str, ...] = ()


def is_json(path: Path) -> bool:
    """Whether it begins as an array or an object."""
    with _opened(path) as data:
        head = data.read(_HEAD_BYTES)
    marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    if head.startswith(marks) and head[2:].strip(b"\0 \r\n")[:1] in (b"[", b"{"):
        raise CandleFileError(f"{path.name} is JSON in UTF-16, and JSON is read in UTF-8. Save it again in UTF-8.")
    return head.lstrip()[:1] in (b"[", b"{")


def json_frames(path: Path, most_rows: int, on_file: OnFile) -> Iterator[pd.DataFrame]:
    """The rows as data frames of at most `most_rows`, each numbered from 0. Columns have the objects' names, or numbers
    for arrays. Raises CandleFileError."""
    import ijson  # noqa: PLC0415 - for such files only
    import pandas as pd  # noqa: PLC0415 - 0.7 s, and only for files

    try:
        with _opened(path) as data:
            place = _place_of(path, data)
        if place.kind == "columns":
            with _opened(path, on_file) as data:
                yield from _of_columns(ijson.kvitems(data, place.prefix, **_OPTIONS), most_rows)
            return
        frames = (_with_numbers(_frame(rows, place.names)) for rows in _some_rows(path, place, on_file))
        while parts := list(islice(frames, -(-most_rows // _ROWS_AT_ONCE))):
            yield pd.concat(parts, ignore_index=True)
    except ijson.JSONError as error:
        if any(word in str(error) for word in ("NaN", "Infinity")):
            raise CandleFileError(
                f"{path.name} holds NaN or Infinity, which JSON does not have. Write null instead, or save it as CSV."
            ) from error
        raise CandleFileError(
            f"{path.name} is not complete JSON ({str(error).splitlines()[0]}). Get it again, or convert it to CSV."
        ) from error
    except (pd.errors.ParserError, ValueError, OverflowError, RecursionError) as error:
        raise CandleFileError(f"{path.name} holds JSON whose rows are no table ({error}).") from error


@contextmanager
def _opened(path: Path, on_file: OnFile = lambda file: None) -> Iterator[IO[bytes]]:
    """The text in UTF-8, without its mark, which JSON does not have."""
    with opened(path, on_file) as data:
        head = cast(BufferedReader, data).peek(len(codecs.BOM_UTF8))
        if head.startswith(codecs.BOM_UTF8):
            data.read(len(codecs.BOM_UTF8))
        yield data


def _some_rows(path: Path, place: _Place, on_file: OnFile) -> Iterator[list[Any]]:
    """A few rows at a time: with more, Python's garbage collector would look at each of them again and again."""
    done, is_over = 0, False
    if place.kind == "items":
        with _opened(path) as data:
            first = next(_rows(data, place))
        with _opened(path, on_file) as data:
            for rows, is_last in row_pieces(data, first, place.prefix):
                done, is_over = done + len(rows), is_last
                yield from (rows[start : start + _ROWS_AT_ONCE] for start in range(0, len(rows), _ROWS_AT_ONCE))
    if is_over:
        return
    with _opened(path, on_file) as data:
        left = islice(_rows(data, place), done, None)
        while part := list(islice(left, _ROWS_AT_ONCE)):
            yield part


def _rows(data: IO[bytes], place: _Place) -> Iterator[Any]:
    import ijson  # noqa: PLC0415 - as above

    if place.kind == "items":
        return iter(ijson.items(data, place.prefix, **_OPTIONS))
    entries = ijson.kvitems(data, place.prefix, **_OPTIONS)
    return ({"time": time, **row} for time, row in entries if isinstance(row, dict))


@dataclass(slots=True)
class _Node:
    """An array or an object around the place that is being read."""

    prefix: str
    is_array: bool
    key: str = ""
    cells: int = 0
    columns: int = 0
    texts: list[str] = field(default_factory=list)
    names: tuple[str, ...] = ()


def _place_of(path: Path, data: IO[bytes]) -> _Place:
    """The place given by the file's first row, or its first columns."""
    import ijson  # noqa: PLC0415 - as above

    around: list[_Node] = []
    events = ijson.basic_parse(data, multiple_values=True, buf_size=_BUFFER_BYTES)
    for event, value in islice(events, _MOST_EVENTS):
        if event == "map_key":
            around[-1].key = value
        elif event in ("start_array", "start_map"):
            around.append(_Node(_below(around), event == "start_array"))
        elif event in ("end_array", "end_map"):
            node = around.pop()
            if around and around[-1].key == "columns" and len(node.texts) == node.cells:
                around[-1].names = tuple(node.texts)
            place = _of_row(node, around[-1] if around else None)
            if place is not None:
                names = around[-2].names if len(around) > 1 and node.is_array else ()
                beside = (each for each in around if place.kind == "columns" and each.columns and not each.is_array)
                return replace(place, prefix=next(beside, place).prefix, names=names)
        elif around:
            node = around[-1]
            node.cells += 1
            if event == "string" and node.cells <= _COLUMN_CELLS:
                node.texts.append(value)
            if node.cells > _COLUMN_CELLS and _is_column(around):
                return _Place(around[-2].prefix, "columns")
    raise CandleFileError(
        f"{path.name} is JSON without a list of candles or trades. Expected are arrays such as [time, open, high, low, "
        "close, volume], objects with those names, or an object with each of them as an array."
    )


def _is_column(around: list[_Node]) -> bool:
    """Whether the innermost node is an array in an object, or an object with numbers for names, as pandas writes."""
    if len(around) < 2 or around[-2].is_array or around[-2].names:
        return False
    return around[-1].is_array or around[-1].key.isdecimal()


def _below(around: list[_Node]) -> str:
    if not around:
        return ""
    last = around[-1]
    part = "item" if last.is_array else last.key
    return f"{last.prefix}.{part}" if last.prefix else part


def _of_row(node: _Node, parent: _Node | None) -> _Place | None:
    """The place of the rows, if a node that has ended is a row, or has the columns."""
    if not node.is_array and node.columns >= _FEWEST_COLUMNS:
        return _Place(node.prefix, "columns")
    if parent is None:
        return _Place("", "items") if node.cells >= _FEWEST_CELLS else None
    if not parent.is_array and node.cells and (node.is_array or node.key.isdecimal()):
        parent.columns += 1
    if node.cells < _FEWEST_CELLS:
        return None
    if not node.is_array and not parent.is_array:
        parent.cells += node.cells  # an object of prices beside a time
    if parent.is_array:
        return _Place(node.prefix, "items")
    return None if node.is_array or not _TIME_KEY.match(parent.key) else _Place(parent.prefix, "entries")


def _frame(rows: list[Any], names_beside: tuple[str, ...]) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 - as above

    if isinstance(rows[0], list):
        try:
            return _table(names_beside or range(len(rows[0])), zip(*rows, strict=True))
        except (ValueError, TypeError):  # of unequal lengths, or no arrays
            lists = [row for row in rows if isinstance(row, list)]
            width = max(map(len, lists))
            return pd.DataFrame.from_records([[*row, *[None] * (width - len(row))] for row in lists])
    if any(isinstance(value, dict | list) for value in rows[0].values()):
        rows = [flat for row in rows for flat in _flattened(row)]
    names = list(rows[0])
    if len(names) < _FEWEST_CELLS or sum(map(len, rows)) != len(names) * len(rows):
        return pd.DataFrame(rows)
    try:
        return _table(names, zip(*map(itemgetter(*names), rows), strict=True))
    except (KeyError, ValueError):  # not all have the same names, or a cell for each
        return pd.DataFrame(rows)


def _with_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with columns of nulls as numbers: pandas warns when objects are joined to others."""
    empty = [name for name in frame.columns if frame[name].dtype == object and frame[name].isna().all()]
    return frame.astype(dict.fromkeys(empty, "float64")) if empty else frame


def _table(names: Iterable[Any], columns: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """Columns of numbers as arrays, which is several times as fast as to let pandas look at each cell."""
    import pandas as pd  # noqa: PLC0415 - as above

    found: dict[Any, Any] = {}
    for name, cells in zip(names, columns, strict=True):
        array = np.asarray(cells)
        found[name] = array if array.dtype.kind in "iuf" else pd.Series(cells, dtype=object).infer_objects()
    return pd.DataFrame(found)


def _flattened(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A message's rows: nested objects add cells, an array of objects a row each."""
    plain = {name: value for name, value in row.items() if not isinstance(value, dict | list)}
    below = {name: next(_flattened(value)) for name, value in row.items() if isinstance(value, dict)}
    has_same = len(set().union(*below.values())) < sum(map(len, below.values()))  # such as bid and ask
    for name, cells in below.items():
        plain |= {f"{name} {each}": cell for each, cell in cells.items()} if has_same else cells
    lists = [value for value in row.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
    if not lists:
        yield plain
    for several in lists:
        for each in several:
            yield plain | each


def _columns_in(name: str, value: Any) -> Iterator[tuple[str, list[Any]]]:
    """The columns that an entry is, or has in objects below it, as Yahoo's answers have."""
    if isinstance(value, dict) and not any(isinstance(below, dict | list) for below in value.values()):
        if next(iter(value), "").isdecimal():  # as pandas writes a column, with the index for names
            yield name, list(value.values())
            if _TIME_KEY.match(next(iter(value))):
                yield "time", list(value)
    elif isinstance(value, dict):
        for key, below in value.items():
            yield from _columns_in(key, below)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for below in value:
            yield from _columns_in(name, below)
    elif isinstance(value, list):
        yield name, value


def _of_columns(entries: Iterable[tuple[str, Any]], most_rows: int) -> Iterator[pd.DataFrame]:
    import pandas as pd  # noqa: PLC0415 - as above

    columns = {name: pd.Series(cells) for entry in entries for name, cells in _columns_in(*entry)}
    longest = max(map(len, columns.values()), default=0)
    # Shorter columns of texts that are no numbers are no cells of rows, such as the ranges that Yahoo offers.
    columns = {
        name: cells
        for name, cells in columns.items()
        if len(cells) == longest or not all(isinstance(cell, str) and not is_number(cell) for cell in cells)
    }
    lengths = {len(cells) for cells in columns.values()}
    if len(lengths) > 1:
        raise ValueError(f"its columns have {', '.join(map(str, sorted(lengths)))} cells")
    table = pd.DataFrame(columns)
    for first in range(0, len(table), most_rows):
        yield table.iloc[first : first + most_rows].reset_index(drop=True)


_PIECE_BYTES = 1 << 18
_FIRST_ROW = re.compile(rb"\[\s*(?=[\[{])")
_NEXT_LIST = re.compile(rb'[\]}]\s*\]\s*,\s*"[^"]*"\s*:\s*\[\s*[\[{]')
"""The end of one list of rows, and the beginning of another."""


def row_pieces(data: IO[bytes], first: Any, prefix: str) -> Iterator[tuple[list[Any], bool]]:
    """Lists of rows from the beginning of the file, and whether the last row was reached.

    first: the first row, by which their place is verified. prefix: ijson's path to the rows; empty for a row a line.
    """
    try:
        import orjson  # noqa: PLC0415 - comes with ccxt, though not on every system
    except ImportError:
        return
    rest = data.read(_PIECE_BYTES)
    found = _FIRST_ROW.search(rest) if prefix else None
    before, rest = (b"", rest) if found is None else (rest[: found.end()], rest[found.end() :])
    end = b"\n" if not prefix else b"]," if isinstance(first, list) else b"},"
    is_verified = False
    while more := data.read(_PIECE_BYTES):
        rest += more
        place = rest.rfind(end)
        cut = place + len(end) - 1
        text = rest[:cut].rstrip().replace(b"\n", b",") if not prefix else rest[:cut]
        try:
            rows = orjson.loads(b"[" + text + b"]")
        except orjson.JSONDecodeError:
            _refuse_several(rest)
            return
        if place < 0 or (not is_verified and rows[:1] != [first]):
            return
        is_verified = True
        yield rows, False
        rest = rest[cut + 1 :]
    _refuse_several(rest)
    if is_verified and not _FIRST_ROW.search(rest):  # else another value follows
        yield _last_rows(before, rest, prefix), True


def _refuse_several(text: bytes) -> None:
    """Raises ValueError if another list of rows follows."""
    if _NEXT_LIST.search(text):
        raise ValueError("it has several lists, perhaps of several markets; save each on its own")


def _last_rows(before: bytes, rest: bytes, prefix: str) -> list[Any]:
    """The remaining rows. Raises ijson.JSONError if the text breaks off, also behind the rows."""
    import ijson  # noqa: PLC0415 - for such files only

    if not prefix and not rest.strip():
        return []
    return list(ijson.items(BytesIO(before + rest), prefix, use_float=True, multiple_values=True))

"""Plain rows of a JSON file in pieces of text, parsed at once: several times as fast as row by row.

A piece is cut where a row seems to end. If it then is no list of rows (a bracket in a text, a row in a row), or where
orjson is missing, the pieces end early, and the reader continues row by row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from typing import IO, Any

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
    """Raises ValueError where another list of rows follows."""
    if _NEXT_LIST.search(text):
        raise ValueError("it has several lists, perhaps of several markets; save each on its own")


def _last_rows(before: bytes, rest: bytes, prefix: str) -> list[Any]:
    """The rows that are left. Raises ijson.JSONError where the text breaks off, also behind the rows."""
    import ijson  # noqa: PLC0415 - for such files only

    if not prefix and not rest.strip():
        return []
    return list(ijson.items(BytesIO(before + rest), prefix, use_float=True, multiple_values=True))

"""The parts of a Parquet file, read before pyarrow allocates memory for them.

pyarrow creates an object of 650 bytes per three bytes of a footer, and allocates the size in a page's own header, which
may differ from the footer's. The forms are those of the compact protocol
(https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md) and of
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift. Irregularities (a field twice, a
number of another type) raise struct.error, so that nothing is interpreted differently here than by pyarrow.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.market.history.errors import CandleFileError
from core.market.history.source import LARGEST_BYTES

_MAGIC = b"PAR1"
_END_BYTES = 8
_MOST_PARTS = 300_000
"""Of a footer: structs, and entries of lists. About 3,000 row groups of six columns have as many."""
_MOST_PAGES = 100_000
"""Of a row group."""
_LARGEST_FOOTER = 64 * 1024**2
_HELD_BYTES = 128 * 1024**2
_PACKED_TIMES = 4
"""A page of each column is held at once. They may unpack to _HELD_BYTES, and _PACKED_TIMES of what the file spends."""
_LARGEST_DICTIONARY = 16 * 1024**2
"""pyarrow makes 20 bytes of each of its entries, which may be 4. Writers end a dictionary at 1 MB."""
_DELTA_TEXTS = (6, 7)
"""DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY: 20 bytes of them may be 2,000,000,000 lengths."""
_MEBIBYTE = 1024**2


@dataclass(frozen=True, slots=True)
class ColumnPlace:
    """The position of one column's pages in a row group, in bytes. name: dotted below a column of structs."""

    name: str
    start: int
    size: int


def row_groups(path: Path) -> list[list[ColumnPlace]]:
    """The columns of each row group, from the footer.

    Raises CandleFileError if pyarrow would need hundreds of megabytes for it, struct.error if it is broken.
    """
    with _bytes_of(path) as data:
        end = len(data) - _END_BYTES
        if end < 0 or data[-len(_MAGIC) :] != _MAGIC:
            raise struct.error("no Parquet file")
        start = end - int.from_bytes(data[end : end + 4], "little")
        if start < 0 or end - start > _LARGEST_FOOTER:
            raise struct.error("a footer longer than the file, or than 64 MiB")
        footer = _Cursor(data, start, path).fields()
    return [[_place(column) for column in _list(group, 1)] for group in _list(footer, 4)]


def _place(column: _Value) -> ColumnPlace:
    described = column.get((3, _STRUCT)) if isinstance(column, dict) else None
    if not isinstance(described, dict):
        raise struct.error("a column without a description")
    start, size = _number(described, 9, _LONG), _number(described, 7, _LONG)
    dictionary = described.get((11, _LONG))
    if isinstance(dictionary, int) and 0 < dictionary < start:
        start = dictionary
    name = b".".join(part for part in _list(described, 3) if isinstance(part, bytes))
    return ColumnPlace(name.decode("utf-8", "replace"), start, size)


@dataclass(slots=True)
class PageSizes:
    """The total unpacked size of the pages of a file's row groups, from their headers."""

    path: Path
    _unpacked: int = 0

    def refuse_too_much(self, columns: Sequence[ColumnPlace], names: Sequence[str]) -> None:
        """Raises CandleFileError if reading these columns of a row group would take too much memory.

        Raises struct.error for broken data.
        """
        read = [column for column in columns if any(_is_of(column.name, name) for name in names)]
        packed = sum(column.size for column in read)
        pages, held = 0, 0
        with _bytes_of(self.path) as data:
            if packed > len(data):
                raise struct.error("columns larger than the file")
            for column in read:
                largest = 0
                for size in self._pages(data, column):
                    pages, largest, self._unpacked = pages + 1, max(largest, size), self._unpacked + size
                    if pages > _MOST_PAGES:
                        raise CandleFileError(f"{self.path.name} has more than {_MOST_PAGES:,} pages in a row group.")
                held += largest
                self._refuse(held, packed)

    def _refuse(self, held: int, packed: int) -> None:
        if self._unpacked > LARGEST_BYTES:
            raise CandleFileError(f"{self.path.name} unpacks to more than 2 GiB; split it.")
        if held > _HELD_BYTES + _PACKED_TIMES * packed:
            raise CandleFileError(
                f"{self.path.name} has pages that unpack to {held // _MEBIBYTE:,} MiB. Write it again with smaller "
                "pages."
            )

    def _pages(self, data: mmap.mmap, column: ColumnPlace) -> Iterator[int]:
        """The unpacked size of each page of a column."""
        place, end = column.start, column.start + column.size
        if end > len(data):
            raise struct.error("a column outside the file")
        while place < end:
            cursor = _Cursor(data, place, self.path)
            header = cursor.fields()
            unpacked, packed = _number(header, 2, _INTEGER), _number(header, 3, _INTEGER)
            self._refuse_odd_values(header, unpacked)
            yield unpacked
            place = cursor.place + packed

    def _refuse_odd_values(self, header: _Fields, unpacked: int) -> None:
        dictionary = header.get((7, _STRUCT))
        if isinstance(dictionary, dict) and max(unpacked, _number(dictionary, 1, _INTEGER)) > _LARGEST_DICTIONARY:
            raise CandleFileError(f"{self.path.name} has a dictionary of more than 16 MiB. Write it again without one.")
        for of_page, encoding in ((5, 2), (8, 4)):
            values = header.get((of_page, _STRUCT))
            if isinstance(values, dict) and _number(values, encoding, _INTEGER) in _DELTA_TEXTS:
                raise CandleFileError(
                    f"{self.path.name} has texts that are written as their differences (DELTA_BYTE_ARRAY), which are "
                    "not read. Write it again with plain ones."
                )


_TRUE, _FALSE, _BYTE, _SHORT, _INTEGER, _LONG, _DOUBLE, _BINARY, _LIST, _SET = range(1, 11)
_STRUCT = 12
_NUMBERS = (_SHORT, _INTEGER, _LONG)
_LONG_LIST = 15
_DEEPEST = 16
_MOST_FIELDS = 64
_LONGEST_NUMBER = 10
_LARGEST_SIZE = {_INTEGER: 2**31 - 1, _LONG: 2**63 - 1}

_Value = int | bytes | list["_Value"] | dict[tuple[int, int], "_Value"] | None
_Fields = dict[tuple[int, int], _Value]
"""A struct's, by number and kind: pyarrow passes over one of a kind that it does not expect. None: not needed."""


class _Cursor:
    """Reads a message of the compact protocol."""

    def __init__(self, data: mmap.mmap, place: int, path: Path) -> None:
        self.place = place
        self._data, self._path, self._parts = data, path, 0

    def fields(self, depth: int = 0) -> _Fields:
        """The fields of the struct that begins here."""
        self._count(1)
        found: _Fields = {}
        number = 0
        while (head := self._byte()) != 0:
            step, kind = head >> 4, head & 15
            number = number + step if step else self._signed()
            if (number, kind) in found or len(found) > _MOST_FIELDS:
                raise struct.error("a field that comes twice, or too many")
            found[number, kind] = None if kind in (_TRUE, _FALSE) else self._value(kind, depth + 1)
        return found

    def _value(self, kind: int, depth: int) -> _Value:
        if depth > _DEEPEST:
            raise struct.error("too deep")
        if kind in _NUMBERS:
            return self._signed()
        if kind == _STRUCT:
            return self.fields(depth)
        if kind in (_LIST, _SET):
            return self._items(depth)
        if kind == _BINARY:
            return self._text()
        if kind not in (_BYTE, _DOUBLE):
            raise struct.error("a kind that Parquet does not have")
        self._pass(8 if kind == _DOUBLE else 1)
        return None

    def _items(self, depth: int) -> _Value:
        head = self._byte()
        count, kind = head >> 4, head & 15
        if count == _LONG_LIST:
            count = self._unsigned()
        self._count(count)
        if kind in (_TRUE, _FALSE):
            self._pass(count)
            return None
        return [self._value(kind, depth + 1) for _ in range(count)]

    def _count(self, parts: int) -> None:
        self._parts += parts
        if self._parts > _MOST_PARTS:
            raise CandleFileError(
                f"{self._path.name} is described in more than {_MOST_PARTS:,} parts. Write it again with larger row "
                "groups, or fewer columns."
            )

    def _text(self) -> _Value:
        size = self._unsigned()
        start = self.place
        self._pass(size)
        return bytes(self._data[start : self.place])

    def _byte(self) -> int:
        if self.place >= len(self._data):
            raise struct.error("cut")
        self.place += 1
        return self._data[self.place - 1]

    def _unsigned(self) -> int:
        number = 0
        for position in range(_LONGEST_NUMBER):
            byte = self._byte()
            number |= (byte & 127) << 7 * position
            if byte < 128:
                return number
        raise struct.error("a number too long")

    def _signed(self) -> int:
        number = self._unsigned()
        return number >> 1 ^ -(number & 1)

    def _pass(self, size: int) -> None:
        self.place += size
        if self.place > len(self._data):
            raise struct.error("cut")


def _number(fields: _Fields, number: int, kind: int) -> int:
    """A mandatory size or position."""
    value = fields.get((number, kind))
    if not isinstance(value, int) or not 0 <= value <= _LARGEST_SIZE[kind]:
        raise struct.error("a size that is none")
    return value


def _list(fields: _Value, number: int) -> list[_Value]:
    found = fields.get((number, _LIST)) if isinstance(fields, dict) else None
    if not isinstance(found, list):
        raise struct.error("a list is left out")
    return found


def _is_of(leaf: str, name: str) -> bool:
    """Whether a leaf is read for a name: pyarrow reads all leaves below it."""
    return leaf == name or leaf.startswith(name + ".")


@contextmanager
def _bytes_of(path: Path) -> Iterator[mmap.mmap]:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield data

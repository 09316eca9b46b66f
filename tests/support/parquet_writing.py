"""Parquet files that pyarrow would not write: the footer says one thing, and the pages another.

The forms are those that `core.market.history.parquet_pages` names.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_INTEGER, _LONG, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12
DOUBLE, TEXT = 5, 6
PLAIN, DELTA_TEXTS, INDEXES = 0, 6, 8
_LEVELS, _UTF8 = 3, 0
_PLAIN_PAGE, _DICTIONARY_PAGE = 0, 2
NO_CODEC, ZSTD = 0, 6
_FOLDED = 15

Field = tuple[int, int, bytes]
"""A number, a kind, and the value's bytes."""


def varint(number: int) -> bytes:
    data = bytearray()
    while number > 127:
        data.append(number & 127 | 128)
        number >>= 7
    return bytes([*data, number])


def struct_of(*fields: Field) -> bytes:
    data, last = b"", 0
    for number, kind, value in fields:
        data += bytes([(number - last) << 4 | kind]) + value
        last = number
    return data + b"\0"


def integer(number: int, value: int) -> Field:
    return number, _INTEGER, varint(value << 1)


def long(number: int, value: int) -> Field:
    return number, _LONG, varint(value << 1)


def text(number: int, value: str) -> Field:
    return number, _BINARY, varint(len(value)) + value.encode()


def struct_field(number: int, *fields: Field) -> Field:
    return number, _STRUCT, struct_of(*fields)


def list_field(number: int, kind: int, items: list[bytes]) -> Field:
    head = bytes([len(items) << 4 | kind]) if len(items) < _FOLDED else bytes([0xF0 | kind]) + varint(len(items))
    return number, _LIST, head + b"".join(items)


@dataclass(frozen=True)
class Page:
    """says: how large it unpacks, by its header."""

    data: bytes
    says: int
    values: int
    encoding: int = PLAIN
    is_dictionary: bool = False

    def packed(self) -> bytes:
        levels = [integer(3, _LEVELS), integer(4, _LEVELS)]
        held = [integer(1, self.values), integer(2, self.encoding)]
        return (
            struct_of(
                integer(1, _DICTIONARY_PAGE if self.is_dictionary else _PLAIN_PAGE),
                integer(2, self.says),
                integer(3, len(self.data)),
                struct_field(7, *held) if self.is_dictionary else struct_field(5, *held, *levels),
            )
            + self.data
        )


def write_lying(path: Path, columns: dict[str, list[Page]], rows: int, kind: int = DOUBLE, codec: int = ZSTD) -> None:
    """A row group of these pages, whose footer says that each column unpacks to 8 bytes a row."""
    data, described = b"PAR1", []
    for name, pages in columns.items():
        start = len(data)
        data += b"".join(page.packed() for page in pages)
        first = start + (len(pages[0].packed()) if pages[0].is_dictionary else 0)
        said = [
            integer(1, kind),
            list_field(2, _INTEGER, [varint(page.encoding << 1) for page in pages]),
            list_field(3, _BINARY, [varint(len(name)) + name.encode()]),
            integer(4, codec),
            long(5, rows),
            long(6, 8 * rows),
            long(7, len(data) - start),
            long(9, first),
            *([long(11, start)] if pages[0].is_dictionary else []),
        ]
        described.append(struct_of(long(2, start), struct_field(3, *said)))
    leaf = [integer(6, _UTF8)] if kind == TEXT else []
    leaves = [struct_of(integer(1, kind), integer(3, 0), text(4, name), *leaf) for name in columns]
    group = struct_of(list_field(1, _STRUCT, described), long(2, 8 * rows * len(columns)), long(3, rows))
    _end(path, data, [struct_of(text(4, "schema"), integer(5, len(columns))), *leaves], [group], rows)


def write_empty_columns(path: Path, columns: int, groups: int) -> None:
    """Row groups of so many columns, of three bytes each."""
    group = struct_of(list_field(1, _STRUCT, [struct_of(long(2, 4))] * columns), long(2, 1), long(3, 1))
    leaf = struct_of(integer(1, DOUBLE), integer(3, 0), text(4, "time"))
    _end(path, b"PAR1", [struct_of(text(4, "schema"), integer(5, 1)), leaf], [group] * groups, groups)


def write_unknown_fields(path: Path, count: int) -> None:
    """A footer of so many structs of nothing."""
    footer = bytes([0x1C, 0]) * count + b"\0"
    path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")


def _end(path: Path, data: bytes, schema: list[bytes], groups: list[bytes], rows: int) -> None:
    footer = struct_of(integer(1, 1), list_field(2, _STRUCT, schema), long(3, rows), list_field(4, _STRUCT, groups))
    path.write_bytes(data + footer + len(footer).to_bytes(4, "little") + b"PAR1")

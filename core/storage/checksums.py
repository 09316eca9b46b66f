"""Tables whose rows have a checksum, so that damage unnoticed by SQLite is detected when a row is read.

SQLite notices a damaged page if its structure is broken; a flipped bit in a number is another number to it. The
checksum is a CRC-32 over the row's id and values: it finds every single flipped bit, and every burst of up to 32.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Row = tuple[Any, ...]


@dataclass(frozen=True)
class SealedTable:
    """name: in SQL. columns: name and type of each, between `id` and `checksum`."""

    name: str
    columns: tuple[tuple[str, type], ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All columns, in the order in which rows are written and read."""
        return ("id", *(name for name, _ in self.columns), "checksum")

    def select(self, alias: str = "") -> str:
        """The columns for a SELECT whose rows `is_intact` can check."""
        return ", ".join(f"{alias}.{name}" if alias else name for name in self.names)

    @cached_property
    def insert(self) -> str:
        return f"INSERT INTO {self.name} ({', '.join(self.names)}) VALUES ({', '.join('?' * len(self.names))})"

    def seal(self, id_: int, values: Sequence[object]) -> Row:
        """The row to insert: values as SQLite will return them, and their checksum."""
        typed = [_as_stored(value, kind) for value, (_, kind) in zip(values, self.columns, strict=True)]
        row = (id_, *typed)
        return (*row, _checksum(row))

    def is_intact(self, row: Row) -> bool:
        """Whether a row read through `select` is undamaged."""
        return len(row) == len(self.columns) + 2 and row[-1] == _checksum(row[:-1])


def _as_stored(value: Any, kind: type) -> object:
    if value is None or value != value:  # SQLite has no NaN: it stores NULL
        return None
    return float(value) + 0.0 if kind is float else kind(value)  # it has no -0.0 either


def _checksum(values: Row) -> int:
    crc = 0
    for value in values:
        if type(value) is bytes:
            crc = zlib.crc32(value, crc)
    plain = [len(value) if type(value) is bytes else value for value in values]
    return zlib.crc32(repr(plain).encode(), crc)


def intact_rows(table: SealedTable, rows: Iterable[Row], on_damage: Callable[[SealedTable, int], None]) -> list[Row]:
    """The undamaged rows. on_damage: called with the table and the id of each other one."""
    kept = []
    for row in rows:
        if table.is_intact(row):
            kept.append(row)
        else:
            on_damage(table, row[0])
    return kept


def intact_with_details(
    table: SealedTable, detail: SealedTable, rows: Iterable[Row], on_damage: Callable[[SealedTable, int], None]
) -> list[tuple[Row, bytes | None]]:
    """The undamaged rows, and the value of each one's detail, whose columns follow; None if it is missing or damaged.
    on_damage: as in `intact_rows`."""
    width = len(table.names)
    found = []
    for both in rows:
        row, beside = both[:width], both[width:]
        if not table.is_intact(row):
            on_damage(table, row[0])
            continue
        value = None
        if beside[0] is not None:
            if detail.is_intact(beside):
                value = beside[1]
            else:
                on_damage(detail, row[0])
        found.append((row, value))
    return found

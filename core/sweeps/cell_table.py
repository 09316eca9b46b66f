"""The cells of a sweep in memory: SQLite filters and sorts them."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from threading import Lock

from core.checkpoints.filtering import Filter, Subject, matching
from core.sweeps.plan import Scalar, shown
from core.sweeps.points import skill_of
from core.sweeps.rows import CellRow, CellState, Part

Value = Scalar | None
_NUMBER, _FLAG, _TEXT = "REAL", "INTEGER", "TEXT COLLATE NOCASE"
_TABLE = "cells"


@dataclass(frozen=True, slots=True)
class CellColumn:
    """A column by its name in filters, with its value in the unit that a row shows; None is unknown. setting: its
    dotted key, if it is one."""

    name: str
    type: str
    value: Callable[[CellRow], Value]
    setting: str = ""


def _percent(share: float | None) -> float | None:
    return None if share is None else 100.0 * share


def _close(cell: CellRow, part: Part) -> float | None:
    skills = cell.first if part is Part.FIRST else cell.second
    return None if skills is None else _percent(skills.close.value)


def _range(cell: CellRow, part: Part) -> float | None:
    skills = cell.first if part is Part.FIRST else cell.second
    return None if skills is None else _percent(skills.range.value)


_BEFORE_SETTINGS = (
    CellColumn("cell", _NUMBER, lambda cell: cell.number),
    CellColumn("state", _TEXT, lambda cell: cell.state.value),
    CellColumn("model", _TEXT, lambda cell: cell.model),
)
_AFTER_SETTINGS = (
    CellColumn("file", _TEXT, lambda cell: ", ".join(cell.files)),
    CellColumn("seed", _NUMBER, lambda cell: cell.seed),
    CellColumn("skill_first", _NUMBER, lambda cell: _percent(skill_of(cell, Part.FIRST))),
    CellColumn("skill_second", _NUMBER, lambda cell: _percent(skill_of(cell, Part.SECOND))),
    CellColumn("close_first", _NUMBER, lambda cell: _close(cell, Part.FIRST)),
    CellColumn("close_second", _NUMBER, lambda cell: _close(cell, Part.SECOND)),
    CellColumn("range_first", _NUMBER, lambda cell: _range(cell, Part.FIRST)),
    CellColumn("range_second", _NUMBER, lambda cell: _range(cell, Part.SECOND)),
    CellColumn("seconds", _NUMBER, lambda cell: cell.seconds),
    CellColumn("candles", _NUMBER, lambda cell: cell.candles),
    CellColumn("worker", _TEXT, lambda cell: cell.worker),
    CellColumn("setting", _NUMBER, lambda cell: cell.configuration.number),
    CellColumn("fault", _TEXT, lambda cell: cell.sentence or None),
    CellColumn("is_default", _FLAG, lambda cell: cell.configuration.is_default),
    *(
        CellColumn(state.value, _FLAG, lambda cell, state=state: cell.state is state)  # type: ignore[misc]
        for state in CellState
    ),
)
_FIXED = frozenset(column.name for column in (*_BEFORE_SETTINGS, *_AFTER_SETTINGS))


class CellTable:
    """Cells by their numbers, under columns for filter and order; a setting has a column if its values differ. What is
    not known matches no comparison, and is last in either order."""

    def __init__(self, cells: Sequence[CellRow]) -> None:
        self.cells = tuple(sorted(cells, key=lambda cell: cell.number))
        self.columns = (*_BEFORE_SETTINGS, *_setting_columns(cells), *_AFTER_SETTINGS)
        self._by_number = {cell.number: cell for cell in cells}
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._db.close)
        self.subject = self._make_subject()
        self._is_filled, self._filling = False, Lock()

    def fill(self) -> None:
        """Fill SQLite's table, which a filter needs and the first look does not: 10,000 cells take a quarter of a
        second. Safe to call from any thread, and twice."""
        with self._filling:
            if not self._is_filled:
                self._db.executescript(self.subject.schema)
                places = ", ".join("?" * (len(self.columns) + 2))
                self._db.execute("BEGIN")
                self._db.executemany(f"INSERT INTO {_TABLE} VALUES ({places})", map(self._row, self.cells))
                self._db.execute("COMMIT")
                self._is_filled = True

    def get(self, number: int) -> CellRow | None:
        return self._by_number.get(number)

    def rows(
        self, condition: Filter | None = None, *, order_by: str = "cell", is_descending: bool = False
    ) -> list[CellRow]:
        """The cells that match, sorted by a column; among equals by their numbers. Raises FilterError."""
        if condition is None and order_by == "cell" and not is_descending:
            return list(self.cells)
        self.fill()
        found = None if condition is None else matching(self._db, condition, 0, self.subject)
        key = order_by if order_by in self.subject.names else "cell"
        way = "DESC" if is_descending else "ASC"
        numbers = self._db.execute(f'SELECT id FROM {_TABLE} ORDER BY "{key}" IS NULL, "{key}" {way}, id')
        return [self._by_number[number] for (number,) in numbers if found is None or number in found]

    def _make_subject(self) -> Subject:
        columns = ", ".join(f'"{column.name}" {column.type}' for column in self.columns)
        return Subject(
            _TABLE,
            f"CREATE TABLE {_TABLE} (id INTEGER PRIMARY KEY, {columns}, searched TEXT)",
            tuple(column.name for column in self.columns),
            frozenset(column.name for column in self.columns if column.type == _FLAG),
            "skill_second > 0.5 and model = 'gru'",
        )

    def _row(self, cell: CellRow) -> tuple[Value, ...]:
        """A number that is not finite is unknown."""
        values = (column.value(cell) for column in self.columns)
        known = (None if isinstance(value, float) and not isfinite(value) else value for value in values)
        return (cell.number, *known, _searched(cell))


def _searched(cell: CellRow) -> str:
    """The text that plain words are searched in, case-folded."""
    settings = (f"{key} {shown(value)}" for key, value in cell.settings)
    return "\n".join((cell.model, cell.state.value, *cell.files, *settings, cell.sentence)).casefold()


def _setting_columns(cells: Sequence[CellRow]) -> list[CellColumn]:
    values: dict[str, set[Value]] = {}
    for cell in cells:
        for key, value in cell.settings:
            values.setdefault(key, set()).add(value)
    varied = [key for key, each in values.items() if len(each) > 1]
    return [_setting_column(key, varied, values[key]) for key in varied]


def _setting_column(key: str, varied: Sequence[str], values: set[Value]) -> CellColumn:
    """Named by the setting alone; with its group, as training_seed, if another column has that name."""
    name = key.rpartition(".")[2]
    is_taken = name in _FIXED or sum(each.rpartition(".")[2] == name for each in varied) > 1
    are_words = any(isinstance(value, str) for value in values)
    return CellColumn(
        key.replace(".", "_") if is_taken else name,
        _TEXT if are_words else _NUMBER,
        lambda cell: dict(cell.settings).get(key),
        key,
    )

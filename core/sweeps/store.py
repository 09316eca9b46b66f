"""The table of a sweep: one row a cell, written as it ends. One process writes, any number read meanwhile."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.storage.lean_sqlite_utils import import_sqlite_utils
from core.sweeps.errors import SweepError
from core.sweeps.plan import Cell, Configuration, SweepFile, SweepPlan, plan_data, plan_of
from core.sweeps.rows import (
    CellResult,
    CellRow,
    CellState,
    LossSeries,
    Part,
    configuration_row,
    loss_row,
    skill_columns,
    to_cell,
    to_configuration,
    to_losses,
)
from core.sweeps.schema import APPLICATION_ID, SCHEMA, VERSION

if TYPE_CHECKING:
    from sqlite_utils import Database

FILE_NAME = "sweep.sqlite"
_BUSY_S = 10.0
_JOINED = "SELECT c.*, w.worker, w.seconds FROM cells AS c LEFT JOIN work AS w USING (number)"
_CELLS = f"{_JOINED} ORDER BY c.number"
_CELL, _CELLS_OF = f"{_JOINED} WHERE c.number = ?", f"{_JOINED} WHERE c.configuration = ? ORDER BY c.number"
_LOSSES = """
SELECT l.*, c.seed FROM losses AS l JOIN cells AS c ON c.number = l.cell
WHERE c.configuration = ? AND c.state = 'done' AND l.part = ? ORDER BY l.cell, l.file
"""
_COMPARED = {
    "configurations": "SELECT * FROM configurations ORDER BY number",
    "cells": "SELECT * FROM cells ORDER BY number",
    "losses": "SELECT * FROM losses ORDER BY cell, file, part",
}


@dataclass(frozen=True, slots=True)
class SweepHead:
    """What all cells share. base: the settings to which those of a configuration are added, as plain data."""

    plan: SweepPlan
    base: dict[str, Any]
    files: tuple[SweepFile, ...]
    models: dict[str, str]
    """The sha256 of each model's own file, by the model's name in the plan."""
    program: str
    torch: str


class SweepStore:
    """An open database of a sweep; a context manager. Belongs to the thread that opened it. All methods raise
    SweepError."""

    def __init__(self, folder: Path, *, readonly: bool = False) -> None:
        """readonly: of another process, also while it is written; raises SweepError if there is none."""
        self.path = folder / FILE_NAME
        if readonly and not self.path.exists():
            raise SweepError(f"There is no sweep in {folder}. Name a folder in which one was started.")
        with self._translated():
            self._db = _open(self.path, readonly)
        if self._version() != VERSION:
            self.close()
            raise SweepError(f"{self.path} is not a sweep of this version of Ghostcandle. Choose another folder.")

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> SweepStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What page and statistics read.

    def head(self) -> SweepHead | None:
        """None before a sweep has begun here."""
        with self._translated():
            rows = list(self._db.query("SELECT * FROM sweep"))
        if not rows:
            return None
        (row,) = rows
        files = tuple(SweepFile(**file) for file in json.loads(row["files"]))
        plan, base, models = plan_of(json.loads(row["plan"])), json.loads(row["base"]), json.loads(row["models"])
        return SweepHead(plan, base, files, models, row["program"], row["torch"])

    def read_configurations(self) -> tuple[Configuration, ...]:
        with self._translated():
            return tuple(map(to_configuration, self._db.query(_COMPARED["configurations"])))

    def read_cells(self) -> tuple[CellRow, ...]:
        """All rows, by their numbers."""
        return self._cells(_CELLS)

    def read_cell(self, number: int) -> CellRow:
        """Raises SweepError if there is no such cell."""
        rows = self._cells(_CELL, number)
        if not rows:
            raise SweepError(f"There is no cell {number} in {self.path}. `ghostcandle sweep export` lists them.")
        return rows[0]

    def cells_of(self, configuration: int) -> tuple[CellRow, ...]:
        return self._cells(_CELLS_OF, configuration)

    def _cells(self, statement: str, *values: int) -> tuple[CellRow, ...]:
        by_number = {of.number: of for of in self.read_configurations()}
        with self._translated():
            rows = list(self._db.query(statement, values))
        known = (row for row in rows if row["configuration"] in by_number)
        return tuple(to_cell(row, by_number[row["configuration"]]) for row in known)

    def losses(self, configuration: int, part: Part) -> tuple[LossSeries, ...]:
        """Of the configuration's done cells: a series for each cell and file, in the order of the cells."""
        with self._translated():
            return tuple(map(to_losses, self._db.query(_LOSSES, (configuration, part.value))))

    def digest(self) -> str:
        """The sha256 of all rows but those of `work`: equal for equal sweeps, disturbed or not."""
        digest = hashlib.sha256()
        with self._translated():
            for statement in _COMPARED.values():
                for row in self._db.execute(statement):
                    digest.update(repr(row).encode())
        return digest.hexdigest()

    # What the running sweep writes.

    def begin(self, head: SweepHead, cells: Sequence[Cell] = ()) -> None:
        """Store what all cells share, and those known by now, in one transaction."""
        files = json.dumps([asdict(file) for file in head.files])
        plan, base = json.dumps(plan_data(head.plan)), json.dumps(head.base, sort_keys=True)
        row = {"id": 1, "plan": plan, "base": base, "files": files, "models": json.dumps(head.models)}
        row |= {"program": head.program, "torch": head.torch}
        with self._write():
            self._db.table("sweep").insert(row)
            self._add(cells)

    def add(self, cells: Sequence[Cell]) -> None:
        """Store new cells, and their configurations, as waiting."""
        with self._write():
            self._add(cells)

    def _add(self, cells: Sequence[Cell]) -> None:
        rows = [
            {
                **{"number": cell.number, "configuration": cell.configuration.number, "seed": cell.seed},
                "files": json.dumps([file.name for file in cell.files]),
                "state": CellState.WAITING.value,
            }
            for cell in cells
        ]
        configurations = {cell.configuration.number: configuration_row(cell.configuration) for cell in cells}
        self._db.table("configurations").insert_all(configurations.values(), ignore=True)
        self._db.table("cells").insert_all(rows)

    def mark(self, numbers: Iterable[int], state: CellState) -> None:
        """Set cells to waiting or running."""
        with self._write():
            self._db.conn.executemany(
                "UPDATE cells SET state = ?, sentence = '' WHERE number = ?",
                [(state.value, number) for number in numbers],
            )

    def finish(self, number: int, result: CellResult, worker: str, seconds: float) -> None:
        """Store a result, with its losses, in one transaction. Does nothing for a cell that is done already."""
        row = {"state": CellState.DONE.value, "sentence": "", "digest": result.digest, "candles": result.candles}
        with self._write():
            if self._state(number) is CellState.DONE:
                return
            self._db.table("cells").update(number, row | skill_columns(result.first, result.second))
            self._db.table("losses").insert_all(loss_row(part, series) for part, series in result.losses)
            self._worked(number, worker, seconds)

    def fail(self, number: int, sentence: str, worker: str, seconds: float) -> None:
        with self._write():
            if self._state(number) is CellState.DONE:
                return
            self._db.table("cells").update(number, {"state": CellState.FAILED.value, "sentence": sentence})
            self._worked(number, worker, seconds)

    def _state(self, number: int) -> CellState:
        return CellState(self._db.table("cells").get(number)["state"])

    def _worked(self, number: int, worker: str, seconds: float) -> None:
        self._db.table("work").upsert({"number": number, "worker": worker, "seconds": seconds}, pk="number")

    def _version(self) -> int:
        with self._translated():
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
        return int(version)

    @contextmanager
    def _write(self) -> Iterator[None]:
        with self._translated():
            self._db.conn.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.conn.execute("ROLLBACK")
                raise
            self._db.conn.execute("COMMIT")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise SweepError(
                f"The table of the sweep, {self.path}, cannot be used ({error}). Check its disk and its permissions."
            ) from error


def _open(path: Path, readonly: bool) -> Database:
    import_sqlite_utils()
    from sqlite_utils import Database  # noqa: PLC0415 - not before the first paint

    if not readonly and not path.exists():
        _create(path)
    uri = f"{path.absolute().as_uri()}?mode={'ro' if readonly else 'rwc'}"
    connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_S, isolation_level=None)
    try:
        if not readonly:
            connection.execute("PRAGMA synchronous = FULL")  # an evaluation takes minutes, a sync milliseconds
        return Database(connection, execute_plugins=False)
    except BaseException:
        connection.close()
        raise


def _create(path: Path) -> None:
    """Under another name until it is whole: a window may be waiting to read it."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    with closing(sqlite3.connect(new, isolation_level=None)) as connection:
        connection.executescript(
            f"BEGIN IMMEDIATE;{SCHEMA}PRAGMA application_id = {APPLICATION_ID};PRAGMA user_version = {VERSION};COMMIT;"
        )
        connection.execute("PRAGMA journal_mode = WAL")
    new.replace(path)

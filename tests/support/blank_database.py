"""New databases begin as copies of one, whose tables were created once."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from threading import Lock

import pytest

from core.storage import database

_connect = database._connect


class BlankDatabase:
    """A database of the newest version, without rows."""

    def __init__(self) -> None:
        self._lock = Lock()

    def connect(self, path: Path, readonly: bool, busy_timeout_ms: int) -> sqlite3.Connection:
        """As `database._connect`, which opens a new file empty."""
        if not readonly and not path.exists():
            with suppress(OSError):  # SQLite meets the same fault, and its error is the program's
                self._copy_to(path)
        return _connect(path, readonly, busy_timeout_ms)

    def _copy_to(self, path: Path) -> None:
        """As a whole, or not at all: another thread may open it at the same time."""
        with self._lock:
            content = self._content
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".blank-") as copy:
            copy.write(content)
            copy.flush()
            os.link(copy.name, path)

    @cached_property
    def _content(self) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "blank.sqlite")
            path.touch()  # so that it is no copy
            database.open_database(path).close()
            return path.read_bytes()


@pytest.fixture(scope="session")
def blank_database() -> BlankDatabase:
    return BlankDatabase()


@pytest.fixture(autouse=True)
def new_databases_are_copies(monkeypatch: pytest.MonkeyPatch, blank_database: BlankDatabase) -> None:
    """Creating the tables takes longer. The tests of `core.storage` override this fixture."""
    monkeypatch.setattr(database, "_connect", blank_database.connect)

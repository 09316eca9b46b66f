"""A data folder and an open database, and a check that no test leaves a file open in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from sqlite_utils import Database

from core.storage.database import open_database
from core.storage.folder import DataFolder


@pytest.fixture(autouse=True)
def new_databases_are_copies() -> None:
    """They are not: here the schema is made as the program makes it."""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[DataFolder]:
    folder = DataFolder(tmp_path / "data")
    folder.ensure()
    yield folder
    left_open = [file.path for file in psutil.Process().open_files() if Path(file.path).is_relative_to(tmp_path)]
    assert left_open == []


@pytest.fixture
def db(folder: DataFolder) -> Iterator[Database]:
    with open_database(folder.database) as db:
        yield db


@pytest.fixture
def other(folder: DataFolder, db: Database) -> Iterator[Database]:
    """A second connection, which sees only committed data."""
    with open_database(folder.database, readonly=True) as other:
        yield other

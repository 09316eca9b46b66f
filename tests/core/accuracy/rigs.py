"""Sessions whose scores are read for the Accuracy dock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlite_utils import Database

from core.accuracy.book import AccuracyBook
from core.accuracy.findings import Request, RunAccuracy
from core.storage.database import open_database
from core.storage.folder import DataFolder

HORIZONS = 3


@contextmanager
def database(root: Path) -> Iterator[Database]:
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        yield db
    finally:
        db.close()


def read_all(book: AccuracyBook, request: Request | None = None) -> RunAccuracy:
    for horizon in book.horizons:
        for _ in book.read_on(horizon):
            pass
    return book.find(request or Request())

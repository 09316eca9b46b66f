"""Imports sqlite_utils without pandas and pyarrow, which it loads where they are installed, to know their types: nobody
here stores one, and they take 80 MB and half a second."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from threading import get_ident
from types import ModuleType


class _NoPandas(MetaPathFinder):
    """For one thread: another one may be reading a file with pandas."""

    def __init__(self) -> None:
        self._thread = get_ident()

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname == "pandas" and get_ident() == self._thread:
            raise ModuleNotFoundError("sqlite_utils needs no pandas", name=fullname)


def import_sqlite_utils() -> None:
    """Do nothing if it is imported already. Where pandas is, sqlite_utils takes it."""
    if "sqlite_utils" in sys.modules:
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        importlib.import_module("sqlite_utils")
    finally:
        sys.meta_path.remove(finder)

"""The import cost of the storage: the window paints before it opens the database."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import core.storage


def test_storage_imports_nothing_heavy_before_a_database_is_opened() -> None:
    folder = Path(core.storage.__file__).parent
    modules = [f"core.storage.{path.stem}" for path in folder.glob("*.py") if path.stem not in ("__init__", "weights")]
    assert len(modules) > 10
    look = (
        f"import sys, {', '.join(modules)}; print([m for m in ('pandas', 'sqlite_utils', 'torch') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=folder.parents[1]
    )
    assert done.stdout.strip() == "[]"

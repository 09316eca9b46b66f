"""Opening a database loads no pandas, which others can still import."""

from __future__ import annotations

import subprocess
import sys

from tests.support import commands

CODE = """
import sys
from pathlib import Path
from core.storage.database import open_database

open_database(Path(sys.argv[1])).close()
loaded = [name for name in ("pandas", "pyarrow") if name in sys.modules]
import pandas
open_database(Path(sys.argv[1])).close()
print(loaded, pandas.Timestamp(0).year)
"""


def test_pandas_stays_out_until_it_is_asked_for(tmp_path: object) -> None:
    command = [sys.executable, "-c", CODE, f"{tmp_path}/record.sqlite3"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=commands.ROOT)
    assert done.stdout == "[] 1970\n"

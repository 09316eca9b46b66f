"""Candle files, read in a process of its own, which tells how much memory that took."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.support import commands

MOST_MB = 200
_READ = """
import json, resource, sys
from pathlib import Path
import pandas, pyarrow.feather, pyarrow.parquet
from core.market.history.errors import CandleFileError
from core.market.history.reading import read_candle_table
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
told = []
for path in sys.argv[1:]:
    try:
        read_candle_table(Path(path))
        said = ""
    except CandleFileError as error:
        said = str(error)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    told.append((said, grown / (1024**2 if sys.platform == "darwin" else 1024)))
print(json.dumps(told))
"""


def told_by_a_reader(*paths: Path) -> list[tuple[str, float]]:
    """Of each in turn why it was refused, "" where it was not, and by how many MB the process has grown by then."""
    done = subprocess.run(
        [sys.executable, "-c", _READ, *map(str, paths)],
        capture_output=True,
        text=True,
        cwd=commands.ROOT,
        check=True,
        timeout=240,
    )
    return [(str(said), float(grown_mb)) for said, grown_mb in json.loads(done.stdout)]

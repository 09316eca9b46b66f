"""A candle file, read in a process of its own, which tells how much memory that took."""

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
try:
    read_candle_table(Path(sys.argv[1]))
    said = None
except CandleFileError as error:
    said = str(error)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(json.dumps({"said": said, "grown_mb": grown / (1024**2 if sys.platform == "darwin" else 1024)}))
"""


def told_by_a_reader(path: Path) -> tuple[str, float]:
    """Why it was refused, "" where it was not, and by how many MB the process grew."""
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(path)],
        capture_output=True,
        text=True,
        cwd=commands.ROOT,
        check=True,
        timeout=240,
    )
    found = json.loads(done.stdout)
    return str(found["said"] or ""), float(found["grown_mb"])

"""Reads candle files in a separate process and measures its memory."""

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
from core.market.history.read import read_candle_table
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
results = []
for path in sys.argv[1:]:
    try:
        read_candle_table(Path(path))
        said = ""
    except CandleFileError as error:
        said = str(error)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    results.append((said, grown / (1024**2 if sys.platform == "darwin" else 1024)))
print(json.dumps(results))
"""


def read_in_a_process(*paths: Path) -> list[tuple[str, float]]:
    """For each file the reason of its refusal ("" if accepted) and the growth of the process in MB so far."""
    done = subprocess.run(
        [sys.executable, "-c", _READ, *map(str, paths)],
        capture_output=True,
        text=True,
        cwd=commands.ROOT,
        check=True,
        timeout=240,
    )
    return [(str(said), float(grown_mb)) for said, grown_mb in json.loads(done.stdout)]

"""Several connections in one process, while another comes and goes: the -wal stays as long as one is open."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.recovering import open_or_recover
from tests.core.storage.samples import MARKET, candle

ROOT = Path(__file__).parents[3]
_COMES_AND_GOES = """
import sys
from pathlib import Path
from core.storage.candles import CandleStore
from core.storage.database import open_database
from tests.core.storage.samples import MARKET
db = open_database(Path(sys.argv[1]))
print(CandleStore(db).count(MARKET))
db.close()
"""


def counted_elsewhere(path: Path) -> int:
    done = subprocess.run(
        [sys.executable, "-c", _COMES_AND_GOES, str(path)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return int(done.stdout)


@pytest.mark.parametrize("readonly", [False, True])
def test_a_second_connection_of_this_process_lets_no_other_delete_the_log(tmp_path: Path, readonly: bool) -> None:
    folder = DataFolder(tmp_path)
    folder.ensure()
    window = open_or_recover(folder).db
    try:
        CandleStore(window).save(MARKET, [candle(1)])
        open_database(folder.database, readonly=readonly).close()  # as the worker does when it begins, or ends
        assert counted_elsewhere(folder.database) == 1
        assert folder.database.with_name(folder.database.name + "-wal").exists()
        CandleStore(window).save(MARKET, [candle(2)])
        assert counted_elsewhere(folder.database) == 2
        assert CandleStore(window).count(MARKET) == 2
    finally:
        window.close()
    assert counted_elsewhere(folder.database) == 2

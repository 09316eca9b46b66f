"""Several connections in one process while another opens and closes: the -wal stays as long as one is open."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.recovering import open_or_recover
from tests.core.storage.processes import child
from tests.core.storage.samples import MARKET, candle

if sys.platform == "win32":
    pytest.skip("the locks are those of POSIX", allow_module_level=True)

from tests.core.storage import children


@pytest.mark.parametrize("readonly", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_second_connection_of_this_process_protects_the_log(tmp_path: Path, readonly: bool) -> None:
    folder = DataFolder(tmp_path)
    folder.ensure()
    window = open_or_recover(folder).db
    with child(children.count_when_asked, folder.database) as elsewhere:

        def counted_elsewhere() -> object:
            elsewhere.pipe.send("count")
            return elsewhere.receive()

        try:
            CandleStore(window).save(MARKET, [candle(1)])
            open_database(folder.database, readonly=readonly).close()  # as the worker does when it begins, or ends
            assert counted_elsewhere() == 1
            assert folder.database.with_name(folder.database.name + "-wal").exists()
            CandleStore(window).save(MARKET, [candle(2)])
            assert counted_elsewhere() == 2
            assert CandleStore(window).count(MARKET) == 2
        finally:
            window.close()
        assert counted_elsewhere() == 2

"""The synthetic record of `python -m tests.benchmarks record` resembles a real one, complete and thinned."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from core.domain.clock import SystemClock
from core.settings.record import RecordSettings
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.row_repair import find_damaged
from tests.benchmarks.record import measure_record


@pytest.mark.slow
def test_a_thinned_candle_takes_less_than_two_kilobytes(tmp_path: Path) -> None:
    rules = RecordSettings(keep_detail_days=1, keep_detail_candles=1_000)
    measured = measure_record(tmp_path, 6_000, rules, SystemClock(), lambda done, total: None)
    assert measured["bytes_a_thinned_candle"] < 2_000 < measured["bytes_a_detailed_candle"]
    with closing(open_database(DataFolder(tmp_path).database)) as db:
        assert find_damaged(db.conn) == []
        for table in ("forecast_details", "step_details"):
            (left,) = db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()
            assert left == 1_441, "the newest day's, and its first candle"
        assert db.execute("SELECT COUNT(*) FROM scores").fetchone() == (5_999,)

"""The part of a run that the window reads at the start."""

from __future__ import annotations

from pathlib import Path

from core.storage.folder import DataFolder
from desktop.state.database import WindowDatabase
from tests.core.storage.samples import create_run, open_record
from tests.desktop.chart.past_support import conditions_at, issued, store, stored
from tests.desktop.chart.support import random_series

SERIES = random_series(30)


def test_the_last_forecast_has_its_market_conditions(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.ensure()
    database = WindowDatabase(folder)
    database.open()
    try:
        run = create_run(database.db)
        assert database.newest_forecast(run.run_id, SERIES.interval) is None
        record = open_record(database.db, run)
        store(record, SERIES, 0, 20)
        newest = SERIES[19]
        found = database.newest_forecast(run.run_id, SERIES.interval)
        assert found == issued(newest).event(run.run_id)
        assert found is not None and found.conditions == conditions_at(newest.open_time_ms)
        with record.write():
            record.add_forecast(stored(SERIES[20]))
        found = database.newest_forecast(run.run_id, SERIES.interval)
        assert found is not None and found.conditions is None, "as from before conditions were kept"
        database.db.conn.execute("UPDATE forecast_details SET arrays = X'00'")
        assert database.newest_forecast(run.run_id, SERIES.interval) is None, "its exact arrays are damaged"
    finally:
        database.close()

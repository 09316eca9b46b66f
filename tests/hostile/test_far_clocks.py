"""A system clock in the year 9000, or beyond Python's calendar: everything works as usual."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.clock import ManualClock, SystemClock
from core.logs.crashes import CrashLog
from core.logs.reading import LogTail
from core.logs.writing import log_to_file
from core.market.history.utc_times import parse_moment
from core.storage.backups import make_backup
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.recovering import open_or_recover
from desktop.commands.headless import run_headless
from desktop.jobs.history_dialogs import BackfillDialog
from tests.desktop import scenario
from tests.desktop.conftest import MakeBench, fill
from tests.desktop.whole_window import context

pytestmark = pytest.mark.hostile

YEARS_MS = {9000: 221_845_392_000_000, 20_000: 568_971_820_800_000}


@pytest.fixture(params=YEARS_MS)
def year(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def clock(year: int) -> ManualClock:
    """The window's."""
    return ManualClock(YEARS_MS[year])


def test_the_window_shows_a_run_at_a_far_date(make_bench: MakeBench) -> None:
    bench = make_bench(scenario.checkpoints())
    fill(bench)
    for dock in bench.window.docks.values():
        dock.show()
    bench.window._refresher._refresh()
    assert not bench.window.grab().isNull()


def test_training_works_at_a_far_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, year: int) -> None:
    """Behind the year 9999, each start of training ended with "year 20000 is out of range"."""
    monkeypatch.setattr(SystemClock, "now_ms", lambda clock: YEARS_MS[year])
    made = replace(context(tmp_path, speed=0.0), candles=20)
    summary = run_headless(made)
    assert summary["candles"] == 20 and summary["incidents"] == []
    assert run_headless(made)["candles"] >= 20, "a start on the data written then"


def test_a_damaged_database_is_restored_from_a_backup(tmp_path: Path, clock: ManualClock, year: int) -> None:
    folder = DataFolder(tmp_path)
    folder.ensure()
    open_database(folder.database).close()
    backup = make_backup(folder, clock, keep=3)
    assert backup.name.startswith(f"0001-{year}-")
    folder.database.write_bytes(b"\xa5" * folder.database.stat().st_size)
    opened = open_or_recover(folder, clock=clock)
    opened.db.close()
    assert opened.notice is not None and f"backup of {year}-" in opened.notice


def test_log_records_are_read_back(tmp_path: Path, year: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: YEARS_MS[year] / 1000.0)
    monkeypatch.setattr("time.time_ns", lambda: YEARS_MS[year] * 1_000_000)
    handler = log_to_file(tmp_path / "log")
    try:
        logging.getLogger("ghostcandle").warning("far ahead")
    finally:
        logging.getLogger("ghostcandle").removeHandler(handler)
        handler.close()
    (entry,) = LogTail(tmp_path / "log").read()
    assert (entry.at_ms, entry.text) == (YEARS_MS[year], "far ahead")


def test_a_crash_is_reported(tmp_path: Path, clock: ManualClock, year: int) -> None:
    report = CrashLog(DataFolder(tmp_path), clock).of_error(ValueError, ValueError("no"), None)
    assert report.path is not None and report.path.name.startswith(f"{year}-")


def test_history_is_requested(make_bench: MakeBench, year: int) -> None:
    """The date that is offered has to be one that can be entered."""
    window = make_bench(scenario.checkpoints()).window
    dialog = BackfillDialog(window.shell.settings.current.market, YEARS_MS[year], window)
    assert parse_moment(dialog.since.text()) < YEARS_MS[year]

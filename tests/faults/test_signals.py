"""A closing terminal and a service manager both send their signal to the whole process group."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.storage.checkpoints import CheckpointRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.runs import RunStore
from tests.faults.headless_runs import run_to
from tests.support import commands

pytestmark = [pytest.mark.slow, pytest.mark.faults]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.needs_data
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_to_the_group_ends_the_run_with_a_summary_and_a_checkpoint(
    tmp_path: Path, shared_data: Path, name: str
) -> None:
    file = shared_data / "binance" / "BTCUSDT_1m_20201201.csv"
    arguments = ("headless", "--feed", "replay", "--file", str(file), "--candles", "1000", "--seed", "0")
    process = subprocess.Popen(
        commands.command(*arguments, "--data-dir", str(tmp_path), "--device", "cpu", "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=commands.ROOT,
        start_new_session=True,
    )
    run_to(file, tmp_path, 25, process)
    os.killpg(process.pid, getattr(signal, name))
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    summary = json.loads(output)
    assert "error" not in summary and 25 <= summary["steps"] < 999
    db = open_database(DataFolder(tmp_path).database, readonly=True)
    newest = CheckpointRows(db).newest(RunStore(db).list()[0].run_id)
    db.close()
    assert newest is not None and newest.step == summary["steps"]

"""Two starts on one data folder: the second raises the first and exits; a killed first blocks no start."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from core.storage.folder import DataFolder
from tests.hostile.windows import TRACEBACK, window
from tests.support import commands

pytestmark = [
    pytest.mark.hostile,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals"),
]


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    commands.configure(tmp_path / "data")
    return DataFolder(tmp_path / "data")


def test_a_second_start_raises_the_first_window_unless_that_hangs(folder: DataFolder) -> None:
    with window(folder.root, "--feed", "simulate") as first:
        first.wait_for(lambda said: bool(said.get("title")) and said["feed"] == "simulated", "a window that runs")
        with window(folder.root, "--feed", "simulate") as second:
            assert second.end() == 0
            assert "brought to the front" in second.errors and TRACEBACK not in second.errors
            assert not any(said["window"] for said in second.has_said)
        refused = commands.run("headless", "--data-dir", str(folder.root))
        assert refused.returncode == 1 and TRACEBACK not in refused.stderr
        assert f"in use by a window (process {first.process.pid})" in refused.stderr
        stopped = psutil.Process(first.process.pid)
        stopped.suspend()
        try:
            with window(folder.root) as third:
                assert third.end() == 1
                assert "does not answer" in third.errors and TRACEBACK not in third.errors
        finally:
            stopped.resume()
        assert first.close() == 0


def test_the_next_start_recovers_from_a_killed_window(folder: DataFolder) -> None:
    with window(folder.root, "--feed", "simulate") as first:
        reached = first.wait_for(lambda said: said.get("step", 0) > 2, "training")["step"]
        first.kill()
    assert folder.owner_lock.exists() and folder.owner.exists(), "it had no time to tidy up"
    with window(folder.root, "--feed", "simulate") as second:
        said = second.wait_for(lambda said: said.get("step", 0) >= reached, "training to continue")
        assert any("closed unexpectedly" in text for text in said["banner"])
        assert second.close() == 0 and TRACEBACK not in second.errors

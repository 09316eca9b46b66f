"""The display goes away under the window: a logout, or the end of its X server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import resources
from core.storage.checkpoints import CheckpointRows
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.ownership import own
from core.storage.runs import RunStore
from tests.faults.headless_runs import run_to
from tests.support import commands

pytestmark = [
    pytest.mark.slow,
    pytest.mark.faults,
    pytest.mark.skipif(shutil.which("Xvfb") is None, reason="needs Xvfb"),
]
SAMPLE = Path(resources.__file__).parent / "sample_eurusd_1h.csv"
_EXITS = """
import sys
from pathlib import Path
from core.domain.clock import SystemClock
from core.training.hosting.process_host import ProcessHost
from tests.core.training import rigs

if __name__ == "__main__":
    host = ProcessHost(rigs.spec(Path(sys.argv[1])), SystemClock())
    host.start()
    while host.receive(60.0) is None:
        pass
    raise RuntimeError("nobody closes the host")
"""


@pytest.fixture
def display() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """An X server and its name."""
    with subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-screen", "0", "1600x900x24"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        yield server, f":{server.stdout.readline().strip()}"
        server.kill()


@pytest.mark.parametrize("is_closing", [False, True], ids=["at once", "while it closes"])
def test_a_window_that_loses_its_display_ends_with_a_checkpoint(
    tmp_path: Path, display: tuple[subprocess.Popen[str], str], is_closing: bool
) -> None:
    """Regression: it hung, with the data folder locked, because its trainer ignores the SIGTERM of Python's exit."""
    server, name = display
    arguments = ("run", "--file", str(SAMPLE), "--data-dir", str(tmp_path), "--device", "cpu")
    with subprocess.Popen(
        commands.command(*arguments),
        stderr=subprocess.PIPE,
        text=True,
        cwd=commands.ROOT,
        env={**os.environ, "DISPLAY": name, "QT_QPA_PLATFORM": "xcb"},
        start_new_session=True,
    ) as window:
        try:
            run_to(SAMPLE, tmp_path, 15, window)
            if is_closing:
                window.terminate()
            server.kill()
            _output, errors = window.communicate(timeout=120)
            assert window.returncode in ((0, 1) if is_closing else (1,)), errors
        finally:
            window.kill()  # else a failure would wait for it
    folder = DataFolder(tmp_path)
    with own(folder, "test"), closing(open_database(folder.database)) as db:
        (run,) = RunStore(db).list()
        newest = CheckpointRows(db).newest(run.run_id)
        steps = db.execute("SELECT MAX(step) FROM steps").fetchone()[0]
    logs = "\n".join(file.read_text("utf-8") for file in sorted(folder.logs.glob("*.log")))
    assert newest is not None and newest.step == steps, (errors, logs)
    assert is_closing or "display was lost" in errors


def test_a_program_that_fails_does_not_wait_for_its_trainer(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(_EXITS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(tmp_path / "program.py"), str(tmp_path / "data")],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(commands.ROOT)},
        timeout=120,
        check=False,
    )
    assert done.returncode == 1 and "nobody closes the host" in done.stderr

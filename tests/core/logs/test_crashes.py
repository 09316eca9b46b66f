"""Crash reports for the next start, from real processes that crash, are killed, or exit."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from core.domain.clock import ManualClock
from core.logs.crashes import CrashLog
from core.logs.writing import log_to_file
from core.storage.folder import DataFolder

OWNER = """
import sys
from importlib.metadata import version
from pathlib import Path
from core.domain.clock import SystemClock
from core.logs.crashes import CrashLog
from core.storage.folder import DataFolder
from core.storage.ownership import own

folder = DataFolder(Path(sys.argv[1]))
with own(folder, "window") as ownership:
    crashes = CrashLog(folder, SystemClock())
    report = crashes.begin(ownership.left_behind)
    print("" if report is None else report.text)
    {end}
    crashes.end()
"""


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    made = DataFolder(tmp_path)
    made.ensure()
    return made


def run(folder: DataFolder, end: str) -> int:
    return start(folder, end).returncode


def start(folder: DataFolder, end: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", OWNER.format(end=end), str(folder.root)]
    return subprocess.run(command, capture_output=True, check=False, timeout=60, text=True)


def next_start(folder: DataFolder) -> str:
    """The report that the next start prints; empty after a clean exit."""
    return start(folder, "pass").stdout.strip()


def test_a_clean_exit_leaves_no_report(folder: DataFolder) -> None:
    assert run(folder, "pass") == 0
    assert not next_start(folder)
    assert not folder.crashes.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_crash_is_reported_once_with_its_stack(folder: DataFolder) -> None:
    assert run(folder, "import ctypes; ctypes.string_at(0)") == -signal.SIGSEGV
    report = next_start(folder)
    assert "Segmentation fault" in report and "string_at" in report
    assert [path.read_text(encoding="utf-8").strip() for path in folder.crashes.iterdir()] == [report]
    assert not next_start(folder), "reported once"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_kill_is_reported_without_a_stack(folder: DataFolder) -> None:
    assert run(folder, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)") == -signal.SIGKILL
    report = next_start(folder)
    assert "ended unexpectedly" in report
    assert "no stack trace" in report


def test_a_window_error_is_stored_with_the_last_log_lines(folder: DataFolder) -> None:
    handler = log_to_file(folder.logs / "ghostcandle.log")
    logging.getLogger("ghostcandle").warning("the last thing that happened")
    try:
        raise ValueError("what went wrong")
    except ValueError as error:
        report = CrashLog(folder, ManualClock(1)).of_error(type(error), error, error.__traceback__)
    finally:
        logging.getLogger("ghostcandle").removeHandler(handler)
        handler.close()
    for words in (
        "what went wrong",
        "the last thing that happened",
        f"PySide6-Essentials {version('PySide6-Essentials')}",
        "Python 3",
    ):
        assert words in report.text
    assert "not installed" not in report.text


def test_only_the_newest_reports_are_kept(folder: DataFolder) -> None:
    clock = ManualClock(1_764_417_600_000)
    crashes = CrashLog(folder, clock)
    paths = []
    for _ in range(25):
        clock.advance_ms(1_000)
        paths.append(crashes.of_error(ValueError, ValueError("x"), None).path)
    assert sorted(folder.crashes.glob("*.txt")) == sorted(path for path in paths[-20:] if path is not None)


def test_an_unwritable_folder_loses_the_file_not_the_report(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file in the way")
    report = CrashLog(DataFolder(tmp_path), ManualClock(1)).of_error(ValueError, ValueError("boom"), None)
    assert report.path is None
    assert "boom" in report.text


def test_a_damaged_description_of_the_last_owner_is_ignored(folder: DataFolder) -> None:
    folder.owner.write_text('{"pid": "x"')
    assert not next_start(folder)

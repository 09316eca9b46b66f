"""A command started by another program: JSON progress lines, and an end when its stdin is closed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import resources
from desktop.app.progress_lines import ProgressLines
from desktop.commands import options
from tests.support import commands

SAMPLE = Path(resources.__file__).parent / "sample_eurusd_1h.csv"


def test_progress_is_one_json_object_per_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched: list[str] = []
    monkeypatch.setattr(options, "end_with_stdin", lambda: watched.append("stdin"))
    named = ("--venue", "file", "--symbol", "EUR/USD", "--data-dir", str(tmp_path))
    done = commands.invoke("import", str(SAMPLE), *named, "--json", "--progress-lines")
    (result,) = json.loads(done.stdout)["files"]
    assert done.returncode == 0 and watched == ["stdin"]
    reports = [json.loads(line)["progress"] for line in done.stderr.splitlines()]
    assert set(reports[0]) == {"title", "done", "total", "seconds_left"}
    assert reports[-1]["done"] == reports[-1]["total"] == result["stored"] > 0


def test_a_closed_reader_does_not_end_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with (tmp_path / "closed").open("w") as closed:
        monkeypatch.setattr(sys, "stderr", closed)
    ProgressLines().say("Unread.")


@pytest.mark.skipif(os.name != "posix", reason="the exit code of a signal")
def test_a_closed_stdin_interrupts_the_process() -> None:
    """As Ctrl+C does, also where the parent ignores that. Light: no command is loaded."""
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); from desktop.app.progress_lines import "
        "end_with_stdin; end_with_stdin(); print('begun', flush=True); signal.pause()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=commands.ROOT,
    ) as process:
        try:
            assert process.stdin is not None and process.stdout is not None
            assert process.stdout.readline() == b"begun\n" and process.poll() is None
            process.stdin.close()
            assert process.wait(60.0) == -signal.SIGINT
        finally:
            process.kill()

"""Running `ghostcandle` as a user does: another process, its stdout and its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def command(*arguments: str) -> list[str]:
    """The command line, in this interpreter."""
    return [sys.executable, "-m", "desktop", *arguments]


def run(*arguments: str, timeout_s: float = 120.0, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run to the end. Warnings of libraries do not matter here; what it prints does."""
    return subprocess.run(
        command(*arguments),
        capture_output=True,
        text=True,
        timeout=timeout_s,
        cwd=ROOT,
        env={**os.environ, **environment},
        check=False,
    )


def run_json(*arguments: str, timeout_s: float = 120.0, **environment: str) -> dict[str, Any]:
    """Run with --json, demand success, and return the one object on stdout."""
    done = run(*arguments, "--json", timeout_s=timeout_s, **environment)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer

"""Runs `ghostcandle` in this process, or in a separate one as a user does."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest.mock import patch

import torch

from core.logs.writing import LOGGER_NAME
from desktop.commands.cli import run_command_line

ROOT = Path(__file__).resolve().parents[2]
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
TINY = {
    "model": {"width": 8, "layers": 1, "heads": 2, "context": 8, "horizons": 3},
    "training": {"seed": 3, "replay_samples": 3, "device": "cpu", "host": "thread"},
    "market": {"catch_up_candles": 40},
}
"""Settings of runs that are over at once, in the process that started them."""


def configure(data: Path, settings: object = TINY) -> Path:
    """A data folder with these settings."""
    data.mkdir(parents=True, exist_ok=True)
    (data / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return data


def invoke(*arguments: str, **environment: str) -> CompletedProcess[str]:
    """Run in this process, to the end. Afterwards its environment, log, signals and threads are as they were."""
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.dict(os.environ, environment),
        _own_log(),
        _own_signals(),
        _own_threads(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run_command_line(arguments)
    return CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def invoke_json(*arguments: str, **environment: str) -> dict[str, Any]:
    """Run in this process with --json, demand success, and return the one object on stdout."""
    return _answer(invoke(*arguments, "--json", **environment))


def command(*arguments: str) -> list[str]:
    """The command line of another process, in this interpreter."""
    return [sys.executable, "-m", "desktop", *arguments]


def run(*arguments: str, timeout_s: float = 120.0, **environment: str) -> CompletedProcess[str]:
    """Run in another process, to the end. Warnings of libraries do not matter here; what it prints does."""
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
    """Run in another process with --json, demand success, and return the one object on stdout."""
    return _answer(run(*arguments, "--json", timeout_s=timeout_s, **environment))


def _answer(done: CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@contextlib.contextmanager
def _own_log() -> Iterator[None]:
    """A process ends with its log's handlers; here they would keep writing into a deleted folder."""
    logger = logging.getLogger(LOGGER_NAME)
    before, level = list(logger.handlers), logger.level
    try:
        yield
    finally:
        for handler in [handler for handler in logger.handlers if handler not in before]:
            logger.removeHandler(handler)
            handler.close()
        logger.setLevel(level)


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """One that the command does not handle ends the command, and not the tests with it."""

    def end(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _own_threads() -> Iterator[None]:
    threads = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(threads)

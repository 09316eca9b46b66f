"""Runs without a window, as processes that a test may kill."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import psutil

from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore
from tests.support import commands
from tests.support.waiting import wait_until

CANDLES = 1000 if "GHOSTCANDLE_SOAK" in os.environ else 400


def arguments(file: Path, data: Path) -> tuple[str, ...]:
    replay = ("--feed", "replay", "--file", str(file), "--candles", str(CANDLES))
    return ("headless", *replay, "--data-dir", str(data), "--seed", "0", "--device", "cpu")


def steps_so_far(data: Path) -> int:
    try:
        db = open_database(DataFolder(data).database, readonly=True)
    except StorageError:
        return 0
    try:
        known = RunStore(db).list()
        return RecordReader(db, known[0].run_id).counts().steps if known else 0
    finally:
        db.close()


def trainer_of(parent: psutil.Process) -> psutil.Process | None:
    for child in parent.children():
        if "spawn_main" in " ".join(child.cmdline()):
            return child
    return None


def kill(process: subprocess.Popen[str], whom: str) -> None:
    parent = psutil.Process(process.pid)
    trainer = trainer_of(parent)
    victims = {"parent": [parent], "child": [trainer], "both": [parent, trainer]}[whom]
    for victim in victims:
        if victim is not None:
            os.kill(victim.pid, signal.SIGKILL)


def run_to(file: Path, data: Path, steps: int, process: subprocess.Popen[str] | None) -> subprocess.Popen[str]:
    """Start it unless it still runs, and wait until it has done so many steps."""
    if process is None:
        process = subprocess.Popen(
            commands.command(*arguments(file, data), "--json"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=commands.ROOT,
        )
    wait_until(lambda: steps_so_far(data) >= steps, f"step {steps}", timeout_s=180.0, process=process)
    return process

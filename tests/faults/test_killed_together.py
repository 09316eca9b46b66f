"""A model of several markets that is killed repeatedly ends like an undisturbed one."""

from __future__ import annotations

import random
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore
from tests.faults.headless_runs import kill
from tests.support import commands
from tests.support.candles import random_walk, write_csv
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("killed runs"),
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX signals"),
]

SEED = 20_261_123
COUNT = 240
TINY = {**commands.TINY, "training": {**commands.TINY["training"], "host": "process"}}


def arguments(files: list[Path], data: Path, *more: str) -> tuple[str, ...]:
    named = [part for file in files for part in ("--file", str(file))]
    return ("headless", *named, "--data-dir", str(data), *more)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """One begins late, and one has holes."""
    folder, found = tmp_path_factory.mktemp("files"), []
    for seed, rows in enumerate((range(COUNT), range(30, COUNT), [*range(70), *range(75, 150), *range(160, COUNT)])):
        series = random_walk(COUNT, seed=seed)
        found.append(write_csv(folder / f"market{seed}.csv", [series[row] for row in rows]))
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, files: list[Path]) -> dict[str, Any]:
    data = commands.configure(tmp_path_factory.mktemp("calm"), TINY)
    return commands.run_json(*arguments(files, data), timeout_s=300.0)


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


def run_to(files: list[Path], data: Path, steps: int, process: subprocess.Popen[str] | None) -> subprocess.Popen[str]:
    """Start it unless it still runs, and wait until it has done so many steps."""
    if process is None:
        process = subprocess.Popen(
            commands.command(*arguments(files, data), "--json"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=commands.ROOT,
        )
    wait_until(lambda: steps_so_far(data) >= steps, f"step {steps}", timeout_s=180.0, process=process)
    return process


@pytest.mark.timeout(900)
def test_kills_change_nothing(tmp_path: Path, files: list[Path], undisturbed: dict[str, Any]) -> None:
    data = commands.configure(tmp_path / "killed", TINY)
    moments = sorted(random.Random(SEED).sample(range(20, round(0.8 * COUNT)), 3))
    print(f"seed {SEED}: killed at steps {moments}")
    process: subprocess.Popen[str] | None = None
    for moment, whom in zip(moments, ["child", "parent", "both"], strict=True):
        process = run_to(files, data, moment, process)
        kill(process, whom)
        if whom != "child":
            process.communicate(timeout=120)
            process = None
    last = commands.run_json(*arguments(files, data), timeout_s=300.0)
    for name, of in last.items():
        assert of["forecasts_sha256"] == undisturbed[name]["forecasts_sha256"], name
        assert (of["candles"], of["scored"]) == (undisturbed[name]["candles"], undisturbed[name]["scored"])
    assert last["pooled"]["steps"] == undisturbed["pooled"]["steps"] == COUNT - 1
    assert commands.run_json("checkpoints", "verify", "--data-dir", str(data))["ok"]


@pytest.mark.timeout(600)
def test_the_digest_depends_neither_on_the_host_nor_on_the_order_of_arrival(
    tmp_path: Path, files: list[Path], undisturbed: dict[str, Any]
) -> None:
    """With another order of the files their candles arrive in another order, in each batch."""
    data = commands.configure(tmp_path / "thread", TINY)
    found = commands.run_json(*arguments(files[::-1], data, "--trainer", "thread"), timeout_s=300.0)
    assert found["pooled"]["forecasts_sha256"] == undisturbed["pooled"]["forecasts_sha256"]

"""A run that is killed repeatedly ends like an undisturbed one: no candle missed, none scored twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore
from tests.conftest import SHARED_DATA
from tests.support import commands
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs_data,
    pytest.mark.xdist_group("killed runs"),  # two tests share one undisturbed run
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX signals"),
]

SEED = 20_261_121
CANDLES = 1000 if "GHOSTCANDLE_SOAK" in os.environ else 400
_FILE = Path("binance") / "BTCUSDT_1m_20201201.csv"


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


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The summary of a run that is not killed."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real market data (../shared/data) is not on this machine")
    return commands.run_json(*arguments(SHARED_DATA / _FILE, tmp_path_factory.mktemp("calm")), timeout_s=300.0)


@pytest.mark.timeout(900)
def test_five_kills_change_nothing(tmp_path: Path, shared_data: Path, undisturbed: dict[str, Any]) -> None:
    file = shared_data / _FILE
    generator = random.Random(SEED)
    moments = sorted(generator.sample(range(20, round(0.9 * CANDLES)), 5))
    victims = ["parent", "child", "both", "child", "parent"]
    print(f"seed {SEED}: killed at steps {moments}")
    data = tmp_path / "killed"
    process: subprocess.Popen[str] | None = None
    for moment, whom in zip(moments, victims, strict=True):
        process = run_to(file, data, moment, process)
        kill(process, whom)
        if whom != "child":
            process.communicate(timeout=120)
            process = None
    last = commands.run_json(*arguments(file, data), timeout_s=300.0)
    assert last["forecasts_sha256"] == undisturbed["forecasts_sha256"]
    assert last["candles"] == CANDLES and last["scored"] == CANDLES - 1 and last["steps"] == CANDLES - 1
    assert commands.run_json("checkpoints", "verify", "--data-dir", str(data))["ok"]
    once_more = commands.run_json(*arguments(file, data), timeout_s=120.0)
    assert json.dumps(once_more["forecasts_sha256"]) == json.dumps(undisturbed["forecasts_sha256"])


@pytest.mark.timeout(600)
def test_the_main_use_case(undisturbed: dict[str, Any]) -> None:
    """Real candles: scored, trained on, checkpoints kept, no figure zero or invented."""
    done = undisturbed
    assert done["scored"] == done["steps"] == CANDLES - 1 and done["checkpoints"]["kept"] > 0
    assert 0.0 < done["loss"]["best"] < 1.0 and 0.0 < done["loss"]["current"] < 1.0
    for name in ("direction", "candle", "coverage_50", "coverage_90"):
        assert 0.0 < done["accuracy"][name]["value"] < 1.0
    assert done["incidents"] == []


@pytest.mark.timeout(600)
def test_both_hosts_give_the_same_forecasts(tmp_path: Path, shared_data: Path) -> None:
    digests = {
        commands.run_json(
            *("headless", "--feed", "replay", "--file", str(shared_data / _FILE), "--candles", "100"),
            *("--data-dir", str(tmp_path / host), "--seed", "0", "--device", "cpu", "--trainer", host),
            timeout_s=200.0,
        )["forecasts_sha256"]
        for host in ("process", "thread")
    }
    assert len(digests) == 1

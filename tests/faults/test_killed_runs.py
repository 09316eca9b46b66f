"""A run that is killed repeatedly ends like an undisturbed one: no candle missed, none scored twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED_DATA
from tests.faults.headless_runs import (
    CANDLES,
    arguments,
    kill,
    run_to,
)
from tests.support import commands

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs_data,
    pytest.mark.xdist_group("killed runs"),  # two tests share one undisturbed run
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX signals"),
]

SEED = 20_261_121
_FILE = Path("binance") / "BTCUSDT_1m_20201201.csv"


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

"""`ghostcandle pretrain` as a process: one object on stdout, sentences, signals, and the run that starts from it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.core.training.pretraining.rigs import reverting, write
from tests.support import commands

SMALL = {
    "model": {"width": 16, "layers": 1, "heads": 2, "context": 8, "horizons": 3},
    "training": {"learning_rate": 3e-3, "device": "cpu", "seed": 3},
}
PROMISED = "epochs stopped_early best_epoch samples steps device world_size checkpoint wall_s"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps(SMALL))
    return folder


@pytest.fixture
def candles(tmp_path: Path) -> Path:
    return write(tmp_path / "reverting.csv", reverting(400))


def test_it_says_all_that_was_promised_and_the_next_run_starts_from_it(data: Path, candles: Path) -> None:
    told = commands.run_json("pretrain", str(candles), "--epochs", "2", "--data-dir", str(data))
    assert set(PROMISED.split()) <= set(told)
    for number, epoch in enumerate(told["epochs"], 1):
        assert epoch["epoch"] == number and epoch["seconds"] >= 0.0
        assert {"close_skill", "range_skill", "n"} <= set(epoch["validation"])
    assert (data / told["checkpoint"]["file"]).exists()
    replay = ("--file", str(candles), "--candles", "15", "--data-dir", str(data))
    started = commands.run_json("headless", *replay)
    assert any(told["checkpoint"]["id"] in incident["what_happened"] for incident in started["incidents"])
    refused = commands.run_json("headless", *replay, "--new-run", "--start-from", "none")
    assert refused["incidents"] == [] and refused["forecasts_sha256"] != started["forecasts_sha256"]


def test_for_people_it_is_a_table(data: Path, candles: Path) -> None:
    done = commands.run("pretrain", str(candles), "--epochs", "1", "--data-dir", str(data))
    assert done.returncode == 0
    for word in ("Epochs", "Skill, close", "held back", "pretrained-"):
        assert word in done.stdout
    assert "Epoch 1 of 1" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_the_best_so_far(data: Path, candles: Path, number: int) -> None:
    arguments = ("pretrain", str(candles), "--epochs", "100000", "--patience", "100000", "--json")
    with subprocess.Popen(
        commands.command(*arguments, "--data-dir", str(data)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=commands.ROOT,
        env=os.environ,
    ) as process:
        try:
            _wait_for_an_epoch(data, process)
            process.send_signal(number)
            out, err = process.communicate(timeout=120.0)
        finally:
            process.kill()
    told = json.loads(out)
    assert process.returncode == 0 and told["interrupted"] and not told["stopped_early"], err
    best = told["epochs"][told["best_epoch"] - 1]
    assert best["complete"] and (data / told["checkpoint"]["file"]).exists()


def _wait_for_an_epoch(data: Path, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 60.0
    while not list(data.rglob("pretrained-*.json")):
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.05)


def test_what_is_wrong_is_said_in_one_object(data: Path, tmp_path: Path, candles: Path) -> None:
    for file, words in ((tmp_path, "is a folder"), (write(tmp_path / "short.csv", reverting(40)), "has 40 candles")):
        done = commands.run("pretrain", str(candles), str(file), "--json", "--data-dir", str(data))
        assert done.returncode == 1 and words in json.loads(done.stdout)["error"]
        assert "Traceback" not in done.stderr


def test_only_the_first_of_several_processes_says_what_is_wrong(data: Path, tmp_path: Path) -> None:
    missing = ("pretrain", str(tmp_path / "none.csv"), "--json", "--data-dir", str(data))
    second = commands.run(*missing, RANK="1", WORLD_SIZE="2")
    usage = commands.run("pretrain", "--epochs", "none", "--json", RANK="1", WORLD_SIZE="2")
    assert second.returncode == 1 and usage.returncode == 2
    assert second.stdout == usage.stdout == ""

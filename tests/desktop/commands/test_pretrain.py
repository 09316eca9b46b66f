"""`ghostcandle pretrain`: one object on stdout, sentences, signals, and the run that starts from it."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from core.domain.events import JobProgress
from desktop.app.terminal_progress import TerminalProgress
from tests.core.training.pretraining.rigs import reverting, write
from tests.support import commands

SMALL = {
    "model": {"width": 16, "layers": 1, "heads": 2, "context": 8, "horizons": 3},
    "training": {"learning_rate": 3e-3, "device": "cpu", "host": "thread", "seed": 3},
}
PROMISED = "epochs stopped_early best_epoch samples steps device world_size checkpoint wall_s"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return commands.configure(tmp_path / "data", SMALL)


@pytest.fixture(scope="module")
def candles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("candles") / "reverting.csv", reverting(200))


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory: pytest.TempPathFactory, candles: Path) -> tuple[Path, dict[str, Any]]:
    """A data folder after two epochs, and the printed result."""
    folder = commands.configure(tmp_path_factory.mktemp("pretrained"), SMALL)
    return folder, commands.invoke_json("pretrain", str(candles), "--epochs", "2", "--data-dir", str(folder))


def test_it_prints_the_documented_fields_and_the_next_run_starts_from_it(
    pretrained: tuple[Path, dict[str, Any]], tmp_path: Path, candles: Path
) -> None:
    folder, result = pretrained
    assert set(PROMISED.split()) <= set(result)
    for number, epoch in enumerate(result["epochs"], 1):
        assert epoch["epoch"] == number and epoch["seconds"] >= 0.0
        assert {"close_skill", "range_skill", "n"} <= set(epoch["validation"])
    assert (folder / result["checkpoint"]["file"]).exists()
    data = Path(shutil.copytree(folder, tmp_path / "data"))
    replay = ("headless", "--file", str(candles), "--candles", "8", "--data-dir", str(data))
    started = commands.invoke_json(*replay)
    assert any(result["checkpoint"]["id"] in incident["what_happened"] for incident in started["incidents"])
    refused = commands.invoke_json(*replay, "--new-run", "--start-from", "none")
    assert refused["incidents"] == [] and refused["forecasts_sha256"] != started["forecasts_sha256"]


def test_without_json_it_prints_a_table(data: Path, candles: Path) -> None:
    done = commands.invoke("pretrain", str(candles), "--epochs", "1", "--data-dir", str(data))
    assert done.returncode == 0
    for word in ("Epochs", "Skill, close", "held back", "pretrained-"):
        assert word in done.stdout
    assert "Epoch 1 of 1" in done.stderr
    (kept,) = (data / "models").rglob("pretrained-*.safetensors")
    assert str(kept.relative_to(data)) in "".join(done.stdout.split()), "in full, also where a line has no room for it"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_the_best_epoch_so_far(
    data: Path, candles: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Sent while an epoch after the first is under way."""
    apply, sent = TerminalProgress.apply, []

    def apply_and_signal(progress: TerminalProgress, event: object) -> None:
        apply(progress, event)
        if isinstance(event, JobProgress) and not sent and event.done > 0 and list(data.rglob("pretrained-*.json")):
            sent.append(number)
            signal.raise_signal(number)

    monkeypatch.setattr(TerminalProgress, "apply", apply_and_signal)
    endless = ("--epochs", "1000", "--patience", "1000")
    result = commands.invoke_json("pretrain", str(candles), *endless, "--data-dir", str(data))
    assert result["interrupted"] and not result["stopped_early"] and len(result["epochs"]) < 1000
    assert result["epochs"][result["best_epoch"] - 1]["complete"] and (data / result["checkpoint"]["file"]).exists()


def test_an_error_is_one_json_object(data: Path, tmp_path: Path, candles: Path) -> None:
    for file, words in ((tmp_path, "is a folder"), (write(tmp_path / "short.csv", reverting(40)), "has 40 candles")):
        done = commands.invoke("pretrain", str(candles), str(file), "--json", "--data-dir", str(data))
        assert done.returncode == 1 and words in json.loads(done.stdout)["error"]
        assert "Traceback" not in done.stderr


def test_only_the_first_of_several_processes_prints_the_error(data: Path, tmp_path: Path) -> None:
    missing = ("pretrain", str(tmp_path / "none.csv"), "--json", "--data-dir", str(data))
    for rank in "01":
        done = commands.invoke(*missing, RANK=rank, WORLD_SIZE="2")
        usage = commands.invoke("pretrain", "--epochs", "none", "--json", RANK=rank, WORLD_SIZE="2")
        assert done.returncode == 1 and usage.returncode == 2
        assert bool(done.stdout) is bool(usage.stdout) is (rank == "0")
    assert "WORLD_SIZE" not in os.environ

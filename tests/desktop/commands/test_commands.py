"""headless, metrics, checkpoints, evaluate: one JSON object on stdout, messages instead of tracebacks, exit codes."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

import resources
from core.domain.candle import Market
from core.domain.events import EventBatch, ForecastScored
from core.market.shown_names import shown_market
from desktop.app.terminal_progress import TerminalProgress
from tests.support import commands

SAMPLE = Path(resources.__file__).parent / "sample_eurusd_1h.csv"
REPLAY = ("--feed", "replay", "--file", str(SAMPLE), "--candles", "20", "--seed", "3", "--device", "cpu")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a headless run, for tests that only read it."""
    return commands.configure(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def summary(data: Path) -> dict[str, Any]:
    """The printed summary of a headless run of 20 candles."""
    return commands.invoke_json("headless", *REPLAY, "--data-dir", str(data))


def test_headless_prints_its_whole_summary_and_the_next_start_resumes_the_run(
    data: Path, summary: dict[str, Any], tmp_path: Path
) -> None:
    assert (summary["candles"], summary["scored"], summary["steps"]) == (20, 19, 19)
    promised = "run_id candles scored steps steps_per_s device loss accuracy skill checkpoints incidents wall_s"
    assert {*promised.split(), "forecasts_sha256"} <= set(summary)
    assert {"current", "best", "trend"} <= set(summary["loss"])
    assert {"saved", "kept", "best"} <= set(summary["checkpoints"])
    shutil.copytree(data, tmp_path / "data")
    again = commands.invoke_json("headless", *REPLAY, "--data-dir", str(tmp_path / "data"))
    assert again["run_id"] == summary["run_id"] and again["steps"] == 19, "it was at its end"


def test_a_simulation_continues_its_market_at_the_next_start(tmp_path: Path) -> None:
    commands.configure(tmp_path, {**commands.TINY, "training": {**commands.TINY["training"], "seed": None}})
    simulate = ("headless", "--feed", "simulate", "--data-dir", str(tmp_path))
    first = commands.invoke_json(*simulate, "--candles", "10")
    second = commands.invoke_json(*simulate, "--candles", "15")
    assert (second["market"], second["run_id"]) == (first["market"], first["run_id"])
    assert (first["candles"], second["candles"], second["steps"]) == (10, 15, 14), "each candle once"
    other = commands.invoke_json(*simulate, "--candles", "3", "--seed", "7")
    assert "SIM-7" in other["market"] and other["market"] != first["market"]


def send_after_the_first_score(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Sends a signal after the first score."""
    passed_on, sent = TerminalProgress.apply_batch, []

    def take(progress: TerminalProgress, batch: EventBatch) -> None:
        passed_on(progress, batch)
        if not sent and any(isinstance(event, ForecastScored) for event in batch.events):
            sent.append(number)
            os.kill(os.getpid(), number)

    monkeypatch.setattr(TerminalProgress, "apply_batch", take)


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_a_run_with_a_summary_and_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    commands.configure(tmp_path)
    send_after_the_first_score(monkeypatch, getattr(signal, name))
    simulate = ("headless", "--feed", "simulate", "--candles", "500", "--data-dir", str(tmp_path))
    summary = commands.invoke_json(*simulate)
    assert 0 < summary["steps"] < 499 and summary["checkpoints"]["kept"] > 0


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupted_evaluation_has_no_verdict_and_no_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands.configure(tmp_path)
    send_after_the_first_score(monkeypatch, signal.SIGINT)
    report = ("--report", str(tmp_path / "out.html"))
    done = commands.invoke("evaluate", str(SAMPLE), *report, "--json", "--data-dir", str(tmp_path))
    assert done.returncode == 130 and "nothing was judged" in json.loads(done.stdout)["error"]
    assert not (tmp_path / "out.html").exists()


def test_metrics_reads_the_same_from_the_database(data: Path, summary: dict[str, Any]) -> None:
    metrics = commands.invoke_json("metrics", "--data-dir", str(data))
    assert metrics.items() <= summary.items() and metrics["checkpoints"]["kept"] > 0
    text = commands.invoke("metrics", "--data-dir", str(data))
    assert text.returncode == 0 and "Ghosts" in text.stdout
    market = Market.parse(metrics["market"])
    assert shown_market(market) in " ".join(text.stdout.split()) and market.symbol not in text.stdout


@pytest.mark.usefixtures("summary")
def test_metrics_are_of_the_newest_run_unless_another_is_named(data: Path, tmp_path: Path) -> None:
    where = ("--data-dir", str(shutil.copytree(data, tmp_path / "data")))
    first = commands.invoke_json("metrics", *where)["run_id"]
    second = commands.invoke_json("headless", *REPLAY, "--candles", "3", "--new-run", *where)["run_id"]
    assert commands.invoke_json("metrics", *where)["run_id"] == second != first
    assert commands.invoke_json("metrics", "--run", first, *where)["run_id"] == first


def test_checkpoints_list_show_verify(data: Path, summary: dict[str, Any]) -> None:
    known = commands.invoke_json("checkpoints", "list", "--data-dir", str(data))["checkpoints"]
    assert len(known) == summary["checkpoints"]["kept"] and known[0]["step"] == 19
    shown = commands.invoke_json("checkpoints", "show", known[0]["checkpoint_id"], "--data-dir", str(data))
    assert shown == known[0]
    table = commands.invoke("checkpoints", "list", "--data-dir", str(data), COLUMNS="40").stdout
    assert all(each["checkpoint_id"] in table for each in known), "whole, however narrow the terminal"
    assert commands.invoke_json("checkpoints", "verify", "--data-dir", str(data)) == {
        "ok": True,
        "checked": len(known),
        "problems": {},
    }


@pytest.mark.usefixtures("summary")
def test_an_altered_checkpoint_is_found(data: Path) -> None:
    file = next((data / "models").rglob("*.safetensors"))
    whole = file.read_bytes()
    file.write_bytes(whole[:-9] + b"tampered!")
    done = commands.invoke("checkpoints", "verify", "--json", "--data-dir", str(data))
    file.write_bytes(whole)
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert not answer["ok"] and "altered" in next(iter(answer["problems"].values()))


def test_evaluate_leaves_nothing_in_the_data_folder(tmp_path: Path) -> None:
    folder = commands.configure(tmp_path / "empty")
    summary = commands.invoke_json("evaluate", str(SAMPLE), "--candles", "40", "--data-dir", str(folder))
    assert summary["scored"] == summary["judged"] == 39 and summary["file"] == SAMPLE.name
    wanted = {"pinball", "horizons", "direction", "coverage", "diebold_mariano_p", "candles_per_s", "device"}
    assert wanted <= set(summary) and summary["pinball"]["close"]["skill"] is not None
    assert summary["candles_per_s"] > 0.0 and set(summary["horizons"]) == {"1", "2", "3"}
    assert not (folder / "ghostcandle.sqlite3").exists()


def test_an_evaluation_takes_nothing_from_the_replay_of_the_settings(tmp_path: Path) -> None:
    """Else it would bear its name, in events and log, and have its interval."""
    replay = {"feed": "replay", "file": "other.csv", "replayed_as": "EUR/USD sample", "joined_to": "5h"}
    commands.configure(tmp_path, {**commands.TINY, "market": replay})
    found = commands.invoke_json("evaluate", str(SAMPLE), "--candles", "3", "--data-dir", str(tmp_path))
    joined = commands.invoke_json(
        "evaluate", str(SAMPLE), "--interval", "3h", "--candles", "3", "--data-dir", str(tmp_path)
    )
    assert (found["interval"], joined["interval"]) == ("1h", "3h")
    assert "EUR/USD sample" not in found["market"]


@pytest.mark.parametrize(("given", "used"), [(None, 0), (5, 5)])
def test_evaluations_agree_without_a_seed(tmp_path: Path, given: int | None, used: int) -> None:
    """Without one in the settings it is 0."""
    training = {**commands.TINY["training"], "seed": given}
    commands.configure(tmp_path, {**commands.TINY, "training": training})
    summary = commands.invoke_json("evaluate", str(SAMPLE), "--candles", "3", "--data-dir", str(tmp_path))
    assert summary["seed"] == used


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("headless", "--feed", "replay", "--file", "no-such-file.csv"), "no-such-file.csv"),
        (("headless", "--feed", "replay"), "file"),
        (("headless", "--feed", "simulate", "--interval", "7x", "--candles", "5"), "7x"),
        (("metrics",), "database"),
        (("checkpoints", "list"), "database"),
    ],
)
def test_an_error_is_one_json_object(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    done = commands.invoke(*arguments, "--json", "--data-dir", str(commands.configure(tmp_path)))
    assert done.returncode != 0
    assert words in json.loads(done.stdout)["error"]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("metrics",),
        ("leaderboard",),
        ("share", "page.html"),
        ("export", "candles.csv", "--venue", "binance", "--symbol", "BTC/USDT", "--interval", "1m"),
        ("checkpoints", "list"),
        ("checkpoints", "verify"),
        ("backups", "list"),
        ("backups", "make"),
    ],
)
def test_a_command_that_reads_makes_no_data_folder(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    missing = tmp_path / "mistyped"
    done = commands.invoke(*arguments, "--data-dir", str(missing))
    assert done.returncode == 1 and f"no data folder {missing}" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_missing_cuda_is_an_error_message(tmp_path: Path) -> None:
    commands.configure(tmp_path)
    done = commands.invoke("headless", *REPLAY[:-1], "cuda", "--json", "--data-dir", str(tmp_path))
    if done.returncode == 0:
        pytest.skip("this machine has CUDA")
    assert "CUDA cannot be used" in json.loads(done.stdout)["error"]


def test_broken_settings_do_not_prevent_a_start(tmp_path: Path) -> None:
    training = {**commands.TINY["training"], "learning_rate": "much"}
    commands.configure(tmp_path, {**commands.TINY, "training": training, "from_the_future": 1})
    done = commands.invoke("headless", *REPLAY, "--json", "--data-dir", str(tmp_path))
    assert done.returncode == 0 and json.loads(done.stdout)["steps"] == 19
    assert "training.learning_rate" in done.stderr and "from_the_future" in done.stderr


def test_export_writes_the_tables_of_a_run(data: Path, summary: dict[str, Any], tmp_path: Path) -> None:
    where, out = ("--data-dir", str(data)), str(tmp_path / "out")
    printed = commands.invoke_json("export", out, "--scores", "--steps", "--format", "csv", *where)
    assert printed["run_id"] == summary["run_id"] and printed["damaged_rows"] == 0
    assert printed["rows"]["steps"] == 19 and printed["rows"]["scores"] >= 19
    assert (tmp_path / "out" / "steps.csv").is_file() and (tmp_path / "out" / "scores.csv").is_file()
    for wrong, sentence in (
        (("--scores", "--venue", "binance"), "name the run with --run"),
        ((), "Say what to export"),
        (("--scores", "--run", "other"), "no run 'other'"),
    ):
        failed = commands.invoke("export", out, *wrong, *where)
        assert failed.returncode != 0 and sentence in failed.stderr

"""The command line, as processes: one JSON object on stdout, sentences instead of tracebacks, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import resources
from tests.support import commands

SAMPLE = Path(resources.__file__).parent / "sample_eurusd_1h.csv"
REPLAY = ("--feed", "replay", "--file", str(SAMPLE), "--candles", "40", "--seed", "3", "--device", "cpu")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a finished run of 40 candles."""
    folder = tmp_path_factory.mktemp("data")
    summary = commands.run_json("headless", *REPLAY, "--data-dir", str(folder))
    assert summary["candles"] == 40 and summary["scored"] == 39 and summary["steps"] == 39
    return folder


def test_headless_says_all_that_was_promised(data: Path) -> None:
    summary = commands.run_json("headless", *REPLAY, "--data-dir", str(data))
    promised = "run_id candles scored steps steps_per_s device loss accuracy skill checkpoints incidents wall_s"
    assert {*promised.split(), "forecasts_sha256"} <= set(summary)
    assert {"current", "best", "trend"} <= set(summary["loss"])
    assert {"saved", "kept", "best"} <= set(summary["checkpoints"])
    assert summary["steps"] == 39, "a second start goes on with the same run, which is at its end"


def test_a_simulation_goes_on_with_its_market_at_the_next_start(tmp_path: Path) -> None:
    simulate = ("headless", "--feed", "simulate", "--device", "cpu", "--data-dir", str(tmp_path))
    first = commands.run_json(*simulate, "--candles", "30")
    second = commands.run_json(*simulate, "--candles", "45")
    assert (second["market"], second["run_id"]) == (first["market"], first["run_id"])
    assert (first["candles"], second["candles"], second["steps"]) == (30, 45, 44), "each candle once"
    other = commands.run_json(*simulate, "--candles", "3", "--seed", "7")
    assert "SIM-7" in other["market"] and other["market"] != first["market"]


def test_metrics_reads_the_same_from_the_database(data: Path) -> None:
    metrics = commands.run_json("metrics", "--data-dir", str(data))
    assert metrics["steps"] == 39 and metrics["checkpoints"]["kept"] > 0
    text = commands.run("metrics", "--data-dir", str(data))
    assert text.returncode == 0 and "Verdict" in text.stdout


def test_checkpoints_list_show_verify(data: Path) -> None:
    known = commands.run_json("checkpoints", "list", "--data-dir", str(data))["checkpoints"]
    assert known and known[0]["step"] == 39
    shown = commands.run_json("checkpoints", "show", known[0]["checkpoint_id"], "--data-dir", str(data))
    assert shown == known[0]
    assert commands.run_json("checkpoints", "verify", "--data-dir", str(data)) == {
        "ok": True,
        "checked": len(known),
        "problems": {},
    }


def test_an_altered_checkpoint_is_found(data: Path) -> None:
    file = next((data / "models").rglob("*.safetensors"))
    whole = file.read_bytes()
    file.write_bytes(whole[:-9] + b"tampered!")
    done = commands.run("checkpoints", "verify", "--json", "--data-dir", str(data))
    file.write_bytes(whole)
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert not answer["ok"] and "altered" in next(iter(answer["problems"].values()))


def test_evaluate_leaves_nothing_in_the_data_folder(tmp_path: Path) -> None:
    summary = commands.run_json("evaluate", str(SAMPLE), "--candles", "40", "--data-dir", str(tmp_path / "empty"))
    assert summary["scored"] == 39 and summary["file"] == SAMPLE.name and summary["seed"] == 0
    wanted = {"pinball", "horizons", "direction", "coverage", "diebold_mariano_p", "candles_per_s", "device"}
    assert wanted <= set(summary)
    assert summary["judged"] == 39 and summary["pinball"]["close"]["skill"] is not None
    assert summary["candles_per_s"] > 0.0 and set(summary["horizons"]) == {str(horizon) for horizon in range(1, 9)}
    assert not (tmp_path / "empty" / "ghostcandle.sqlite3").exists()


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
def test_what_is_wrong_is_said_in_one_object(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    done = commands.run(*arguments, "--json", "--data-dir", str(tmp_path))
    assert done.returncode != 0
    assert words in json.loads(done.stdout)["error"]
    assert "Traceback" not in done.stderr


def test_cuda_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    done = commands.run("headless", *REPLAY[:-1], "cuda", "--json", "--data-dir", str(tmp_path))
    if done.returncode == 0:
        pytest.skip("this machine has CUDA")
    assert "CUDA cannot be used" in json.loads(done.stdout)["error"]


def test_broken_settings_never_stop_a_start(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"training": {"learning_rate": "much"}, "from_the_future": 1}')
    done = commands.run("headless", *REPLAY, "--json", "--data-dir", str(tmp_path))
    assert done.returncode == 0 and json.loads(done.stdout)["steps"] == 39
    assert "training.learning_rate" in done.stderr and "from_the_future" in done.stderr


def test_help_names_every_command_and_loads_nothing_heavy() -> None:
    done = commands.run("--help", timeout_s=20.0)
    assert done.returncode == 0
    for name in ("run", "headless", "evaluate", "metrics", "checkpoints", "doctor", "selftest"):
        assert name in done.stdout


def test_bench_train_prints_its_ratio(tmp_path: Path) -> None:
    measured = commands.run_json("bench", "train", "--steps", "10", "--device", "cpu", "--data-dir", str(tmp_path))
    assert measured["ratio_to_bare_loop"]["median"] > 0.0 and measured["cases"]["default"]["steps"] == 10


def test_bench_train_on_a_device_that_is_not_there_says_so(tmp_path: Path) -> None:
    done = commands.run(
        "bench", "train", "--steps", "10", "--device", "cuda", "--data-dir", str(tmp_path), CUDA_VISIBLE_DEVICES=""
    )
    assert done.returncode == 1 and "CUDA cannot be used" in done.stderr
    assert "mistake" not in done.stderr and "Traceback" not in done.stderr

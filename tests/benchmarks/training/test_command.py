"""`python -m tests.benchmarks train`: of the engine, and of one model of several simulated markets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.benchmarks.training.command import train
from tests.support import commands


def measure(*options: str) -> Result:
    return CliRunner().invoke(train, [*options, "--json"])


def figures(*options: str) -> dict[str, Any]:
    done = measure(*options)
    assert done.exit_code == 0, done.output
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


@pytest.mark.slow
def test_rates_follow_from_the_times_of_the_closes(tmp_path: Path) -> None:
    answer = figures("--markets", "4,1", "--closes", "5", "--device", "cpu", "--data-dir", str(tmp_path))
    assert list(answer["markets"]) == ["1", "4"], "in ascending order"
    for count, found in answer["markets"].items():
        assert found["closes"] == 200 / int(count), "few markets have more closes, so that enough candles are timed"
        assert found["candles_per_s"] == pytest.approx(int(count) * found["steps_per_s"])
        assert 0.0 < found["close_ms"]["median"] <= found["close_ms"]["worst"]


@pytest.mark.parametrize("text", ["1,many", "0", "2,100000"])
def test_a_list_that_holds_no_number_of_markets_is_refused(text: str) -> None:
    answer = measure("--markets", text)
    assert answer.exit_code == 2 and "number" in answer.stderr


def test_the_model_is_that_of_the_settings(tmp_path: Path) -> None:
    commands.configure(tmp_path)
    measured = figures("--steps", "10", "--data-dir", str(tmp_path))
    case = measured["cases"]["default"]
    assert measured["ratio_to_bare_loop"]["median"] > 0.0 and (case["steps"], case["width"]) == (10, 8)


def test_a_missing_device_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    done = measure("--steps", "10", "--device", "cuda", "--data-dir", str(tmp_path))
    assert done.exit_code == 1 and "CUDA cannot be used" in done.stderr and "Traceback" not in done.output

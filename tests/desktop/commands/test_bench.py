"""`bench train`: of the engine, and of one model of several simulated markets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import commands


@pytest.mark.slow
def test_rates_follow_from_the_times_of_the_closes(tmp_path: Path) -> None:
    wanted = ("--markets", "4,1", "--closes", "5", "--device", "cpu")
    answer = commands.invoke_json("bench", "train", *wanted, "--data-dir", str(tmp_path))
    assert list(answer["markets"]) == ["1", "4"], "in ascending order"
    for count, found in answer["markets"].items():
        assert found["closes"] == 200 / int(count), "few markets have more closes, so that enough candles are timed"
        assert found["candles_per_s"] == pytest.approx(int(count) * found["steps_per_s"])
        assert 0.0 < found["close_ms"]["median"] <= found["close_ms"]["worst"]


@pytest.mark.parametrize("text", ["1,many", "0", "2,100000"])
def test_a_list_that_holds_no_number_of_markets_is_refused(text: str) -> None:
    answer = commands.invoke("bench", "train", "--markets", text)
    assert answer.returncode == 2 and "number" in answer.stderr


def test_bench_train_prints_its_ratio(tmp_path: Path) -> None:
    commands.configure(tmp_path)
    measured = commands.invoke_json("bench", "train", "--steps", "10", "--data-dir", str(tmp_path))
    assert measured["ratio_to_bare_loop"]["median"] > 0.0 and measured["cases"]["default"]["steps"] == 10


def test_bench_train_on_a_missing_device_is_an_error_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    done = commands.invoke("bench", "train", "--steps", "10", "--device", "cuda", "--data-dir", str(tmp_path))
    assert done.returncode == 1 and "CUDA cannot be used" in done.stderr
    assert "mistake" not in done.stderr and "Traceback" not in done.stderr

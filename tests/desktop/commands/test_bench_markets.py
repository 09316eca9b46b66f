"""`bench train --markets`: one model of several simulated markets."""

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

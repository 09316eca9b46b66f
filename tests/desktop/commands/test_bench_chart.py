"""`bench chart` as a process: the object that it prints, the words, and what is wrong with its options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import commands

SMALL = ("bench", "chart", "--sizes", "500,2000", "--repeats", "20", "--no-while-training")


def test_the_object_has_what_was_promised(tmp_path: Path) -> None:
    answer = commands.run_json(*SMALL, "--data-dir", str(tmp_path))
    assert set(answer["sizes"]) == {"500", "2000"}
    for figures in answer["sizes"].values():
        for name in ("tick_ms", "pan_ms", "all_ms", "append_ms", "cursor_ms"):
            assert {"p50", "p99"} <= set(figures[name])
    everything = answer["with_everything"]
    assert everything["size"] == 2_000 and everything["loading"] is None
    for name in ("tick_ms", "pan_ms", "all_ms", "append_ms", "cursor_ms", "tick_all_ms", "append_all_ms"):
        assert {"p50", "p99"} <= set(everything[name])
    assert answer["machine"]["platform"] == "offscreen" and answer["machine"]["cpus"] >= 1
    assert answer["tick_ratio_1e6_to_1e3"] is None and answer["peers"] == {} and answer["while_training"] == {}
    assert {bar["is_met"] for bar in answer["bars"]} == {None, True}


def test_the_words_name_each_bar(tmp_path: Path) -> None:
    done = commands.run(*SMALL, "--data-dir", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "2,000" in done.stdout and "not measured" in done.stdout and "met" in done.stdout


@pytest.mark.parametrize("sizes", ["many", "500,", "3", "1000,99999999999"])
def test_sizes_that_cannot_be_are_a_sentence(tmp_path: Path, sizes: str) -> None:
    done = commands.run("bench", "chart", "--sizes", sizes, "--json", "--data-dir", str(tmp_path))
    assert done.returncode == 2
    assert "sizes" in json.loads(done.stdout)["error"]


def test_frames_beside_a_trainers_process_are_those_of_a_window_without_torch(tmp_path: Path) -> None:
    arguments = ("--seconds", "1.5", "--device", "cpu", "--seed", "1", "--data-dir", str(tmp_path))
    answer = commands.run_json("bench", "frames", "--host", "process", *arguments)
    assert answer["has_torch"] is False
    assert answer["steps_per_s"] > 0 and answer["ticks_per_s"] > 30 and answer["frames"] >= 20
    assert 0.0 < answer["frame_ms"]["p50"] <= answer["frame_ms"]["p99"] <= answer["frame_ms"]["max"]

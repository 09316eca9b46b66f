"""`bench chart` and `bench train`: measurements by option, output, and refused options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from desktop.commands.bench_chart import run as chart_bench
from desktop.commands.bench_chart.run import HOSTS
from tests.support import commands

SMALL = ("bench", "chart", "--sizes", "500,2000", "--repeats", "20")
FIGURE = {"p50": 1.0, "p99": 2.0, "closed_paints": 0.0}


@pytest.fixture(autouse=True)
def measured(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Records the requested measurements; measuring is tested in tests/desktop/commands/bench_chart."""
    asked: list[tuple[Any, ...]] = []

    def sizes(
        wanted: tuple[int, ...], repeats: int, say: object, *, with_everything: bool = False
    ) -> dict[str, dict[str, Any]]:
        asked.append((wanted, repeats, with_everything))
        names = ("tick_ms", "cursor_ms", "pan_ms", "all_ms", "append_ms", "tick_all_ms", "append_all_ms")
        return {str(size): {"in_view": 500, **dict.fromkeys(names, FIGURE)} for size in wanted}

    def frames(host: str, seconds: float, settings: object, say: object) -> dict[str, Any]:
        asked.append((host, seconds))
        return {"frame_ms": {"p50": 5.0, "p99": 9.0, "max": 11.0}, "steps_per_s": 10.0, "ticks_per_s": 60.0}

    monkeypatch.setattr(chart_bench, "measure_sizes", sizes)
    monkeypatch.setattr(chart_bench, "_frames", frames)
    return asked


def test_all_sizes_and_the_largest_with_everything_are_measured(
    tmp_path: Path, measured: list[tuple[Any, ...]]
) -> None:
    answer = commands.invoke_json(*SMALL, "--no-while-training", "--data-dir", str(tmp_path))
    assert measured == [((500, 2000), 20, False), ((2000,), 20, True)]
    assert set(answer["sizes"]) == {"500", "2000"}
    assert answer["with_everything"]["size"] == 2_000 and answer["with_everything"]["loading"] is None
    assert answer["machine"]["platform"] == "offscreen" and answer["machine"]["cpus"] >= 1
    assert answer["tick_ratio_1e6_to_1e3"] is None and answer["while_training"] == {}


def test_frames_are_measured_beside_each_kind_of_trainer(tmp_path: Path, measured: list[tuple[Any, ...]]) -> None:
    answer = commands.invoke_json(*SMALL, "--seconds", "3", "--data-dir", str(tmp_path))
    assert set(answer["while_training"]) == set(HOSTS) and measured[2:] == [(host, 3.0) for host in HOSTS]


def test_without_json_it_prints_a_table(tmp_path: Path) -> None:
    done = commands.invoke(*SMALL, "--no-while-training", "--data-dir", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "2,000" in done.stdout and "not measured" in done.stdout


@pytest.mark.parametrize("sizes", ["many", "500,", "3", "1000,99999999999"])
def test_invalid_sizes_are_an_error_message(tmp_path: Path, sizes: str) -> None:
    done = commands.invoke("bench", "chart", "--sizes", sizes, "--json", "--data-dir", str(tmp_path))
    assert done.returncode == 2
    assert "sizes" in json.loads(done.stdout)["error"]


def test_bench_train_prints_its_ratio(tmp_path: Path) -> None:
    commands.configure(tmp_path)
    measured = commands.invoke_json("bench", "train", "--steps", "10", "--data-dir", str(tmp_path))
    assert measured["ratio_to_bare_loop"]["median"] > 0.0 and measured["cases"]["default"]["steps"] == 10


def test_bench_train_on_a_missing_device_is_an_error_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    done = commands.invoke("bench", "train", "--steps", "10", "--device", "cuda", "--data-dir", str(tmp_path))
    assert done.returncode == 1 and "CUDA cannot be used" in done.stderr
    assert "mistake" not in done.stderr and "Traceback" not in done.stderr

"""Measurements by option, output, and refused options."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner
from PySide6.QtWidgets import QApplication

from tests.benchmarks.__main__ import benchmarks
from tests.benchmarks.chart import run as chart_bench
from tests.benchmarks.chart.run import HOSTS, measure_frames_beside, measure_sizes

SMALL = ("chart", "--sizes", "500,2000", "--repeats", "20")
FIGURE = {"p50": 1.0, "p99": 2.0, "closed_paints": 0.0}


@pytest.fixture(autouse=True)
def measured(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Records the requested measurements; measuring is tested beside this file."""
    asked: list[tuple[Any, ...]] = []

    def sizes(
        wanted: tuple[int, ...], repeats: int, say: object, *, with_everything: bool = False
    ) -> dict[str, dict[str, Any]]:
        asked.append((wanted, repeats, with_everything))
        names = ("tick_ms", "cursor_ms", "pan_ms", "all_ms", "append_ms", "tick_all_ms", "append_all_ms")
        return {str(size): {"in_view": 500, **dict.fromkeys(names, FIGURE)} for size in wanted}

    def frames(host: str, seconds: float, say: object) -> dict[str, Any]:
        asked.append((host, seconds))
        return {"frame_ms": {"p50": 5.0, "p99": 9.0, "max": 11.0}, "steps_per_s": 10.0, "ticks_per_s": 60.0}

    monkeypatch.setattr(chart_bench, "measure_sizes", sizes)
    monkeypatch.setattr(chart_bench, "measure_frames_beside", frames)
    return asked


def measure(*arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(benchmarks, [*SMALL, *arguments, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_all_sizes_and_the_largest_with_everything_are_measured(measured: list[tuple[Any, ...]]) -> None:
    answer = measure("--no-while-training")
    assert measured == [((500, 2000), 20, False), ((2000,), 20, True)]
    assert set(answer["sizes"]) == {"500", "2000"}
    assert answer["with_everything"]["size"] == 2_000 and answer["with_everything"]["loading"] is None
    assert answer["machine"]["platform"] == "offscreen" and answer["machine"]["cpus"] >= 1
    assert answer["tick_ratio_1e6_to_1e3"] is None and answer["while_training"] == {}


def test_frames_are_measured_beside_each_kind_of_trainer(measured: list[tuple[Any, ...]]) -> None:
    answer = measure("--seconds", "3")
    assert set(answer["while_training"]) == set(HOSTS) and measured[2:] == [(host, 3.0) for host in HOSTS]


def test_without_json_it_prints_a_table() -> None:
    done = CliRunner().invoke(benchmarks, [*SMALL, "--no-while-training"], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    assert "2,000" in done.stdout and "not measured" in done.stdout


@pytest.mark.parametrize("sizes", ["many", "500,", "3", "1000,99999999999"])
def test_invalid_sizes_are_an_error_message(sizes: str) -> None:
    done = CliRunner().invoke(benchmarks, ["chart", "--sizes", sizes])
    assert done.exit_code == 2 and "sizes" in done.stderr


@pytest.mark.slow
def test_the_chart_is_measured_beside_a_trainer_process() -> None:
    found = measure_sizes((500,), 20, lambda sentence: None, with_everything=True)["500"]
    for name in ("tick_ms", "pan_ms", "all_ms", "append_ms", "cursor_ms"):
        assert {"p50", "p99"} <= set(found[name])
    beside = measure_frames_beside("process", 1.0, lambda sentence: None)
    assert beside["has_torch"] is False and beside["steps_per_s"] > 0 and beside["frames"] > 0
    assert 0.0 < beside["frame_ms"]["p50"] <= beside["frame_ms"]["p99"] <= beside["frame_ms"]["max"]

"""The benchmark's verdict on CUDA graphs: NaN fails, and thresholds are checked."""

from __future__ import annotations

import json
import math

import pytest

from core.domain.clock import SystemClock
from core.settings.tree import ModelSettings, Settings, TrainingSettings
from tests.benchmarks.training.command import graph_sentence
from tests.benchmarks.training.engine import Workload, compare_with_eager, judge_graph
from tests.core.training.engine.rigs import CPU

GRAPH = "CUDA graph"
ALIKE = [(1.0, 1.0), (0.5, 0.501), (0.25, 0.25)]


def test_a_fast_and_correct_graph_passes() -> None:
    verdict = judge_graph(GRAPH, ALIKE, 3.0)
    assert verdict["largest_loss_difference"] == pytest.approx(0.001 / 0.501)
    assert verdict["loss_is_within_tolerance"] and verdict["passes"]


@pytest.mark.parametrize("missing", [None, math.nan, math.inf])
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("side", [0, 1])
def test_a_step_without_a_loss_fails(missing: float | None, place: int, side: int) -> None:
    losses: list[tuple[float | None, float | None]] = [*ALIKE]
    losses[place] = (missing, 1.0) if side == 0 else (1.0, missing)
    verdict = judge_graph(GRAPH, losses, 10.0)
    assert verdict["largest_loss_difference"] is None and verdict["steps_without_loss"] == 1
    assert not verdict["loss_is_within_tolerance"] and not verdict["passes"]
    json.dumps(verdict, allow_nan=False)


@pytest.mark.parametrize(
    ("execution", "losses", "speedup"),
    [
        (GRAPH, ALIKE, 2.99),
        (GRAPH, [*ALIKE, (1.0, 1.05)], 10.0),
        ("eager: its step differs from the eager one", ALIKE, 10.0),
        (GRAPH, [], 10.0),
        (GRAPH, ALIKE, math.nan),
    ],
    ids=["slow", "other losses", "no graph", "nothing measured", "no times"],
)
def test_a_result_below_a_threshold_fails(execution: str, losses: list[tuple[float, float]], speedup: float) -> None:
    assert judge_graph(execution, losses, speedup)["passes"] is False


def test_without_a_gpu_the_comparison_reports_that_no_graph_was_used() -> None:
    """Both engines are eager on a CPU, so the losses are the same and the verdict is no."""
    model = ModelSettings(width=8, layers=1, heads=2, context=8, horizons=3)
    settings = Settings(training=TrainingSettings(device="cpu"))
    compared = compare_with_eager(Workload("small", model, 4), settings, CPU, 10, SystemClock())
    assert compared["largest_loss_difference"] == 0.0 and compared["loss_is_within_tolerance"]
    assert compared["passes"] is False and compared["execution"] == "eager"
    assert graph_sentence(compared).startswith("Failed")

"""Ratios and verdicts follow from the figures; unmeasured ones are not met."""

from __future__ import annotations

from typing import Any

import pytest

from tests.benchmarks.chart.report import print_report, with_ratios


def figure(p50: float, p99: float, closed_paints: int = 0) -> dict[str, float]:
    return {"p50": p50, "p99": p99, "max": p99, "samples": 20, "closed_paints": closed_paints}


def loading_of(worst_ms: float) -> dict[str, Any]:
    times = {"frames": 60, "p50_ms": 16.0, "p99_ms": 18.0, "worst_ms": worst_ms, "cpu_worst_ms": 9.0}
    return {
        "newest_painted_ms": 50.0,
        "all_painted_ms": 900.0,
        "everything_painted_ms": None,
        "while_loading": times,
        "before_loading": times,
    }


def measured(**of_a_million: dict[str, float]) -> dict[str, Any]:
    small = {name: figure(1.0, 2.0) for name in ("tick_ms", "cursor_ms", "pan_ms", "all_ms", "append_ms")}
    sizes = {size: {"in_view": 300, **small} for size in ("1000", "10000", "1000000")}
    sizes["1000000"] = {**sizes["1000000"], **of_a_million}
    frames = {
        host: {
            "frame_ms": figure(2.0, 9.0),
            "interval_ms": figure(17.0, 20.0),
            "ticks_per_s": 100.0,
            "steps_per_s": None if host == "none" else 20.0,
        }
        for host in ("none", "process", "thread")
    }
    machine = {"cpus": 2, "qt": "6"}
    loading = loading_of(worst_ms=20.0)
    everything = {"size": 1_000_000, **small, "tick_all_ms": figure(2.0, 3.0), "append_all_ms": figure(5.0, 6.0)}
    everything["loading"] = {**loading_of(worst_ms=25.0), "everything_painted_ms": 1_200.0}
    return {
        "machine": machine,
        "sizes": sizes,
        "loading": loading,
        "with_everything": everything,
        "while_training": frames,
    }


def test_all_bars_can_be_met() -> None:
    whole = with_ratios(measured())
    assert whole["tick_ratio_1e6_to_1e3"] == 1.0
    assert [bar["is_met"] for bar in whole["bars"]] == [True] * 9


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("tick_ms", figure(1.3, 2.0)),
        ("pan_ms", figure(1.0, 8.1)),
        ("all_ms", figure(1.0, 16.1)),
        ("cursor_ms", figure(1.0, 2.0, closed_paints=1)),
    ],
)
def test_a_missed_limit_is_reported(name: str, bad: dict[str, float]) -> None:
    whole = with_ratios(measured(**{name: bad}))
    assert [bar["is_met"] for bar in whole["bars"]].count(False) == 1


def test_an_unmeasured_limit_is_neither_met_nor_missed(capsys: pytest.CaptureFixture[str]) -> None:
    alone = measured()
    del alone["sizes"]["1000000"]
    whole = with_ratios({**alone, "loading": None, "with_everything": None, "while_training": {}})
    assert whole["tick_ratio_1e6_to_1e3"] is None
    assert [bar["is_met"] for bar in whole["bars"]] == [None, None, None, True, *[None] * 5]
    print_report(whole)
    assert capsys.readouterr().out.count("not measured") == 8


def test_the_figures_with_everything_are_printed_and_compared_with_their_limit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    good, slow = measured(), measured()
    slow["with_everything"]["loading"]["while_loading"] = {**loading_of(40.0)["while_loading"]}
    assert [bar["is_met"] for bar in with_ratios(slow)["bars"]] == [True] * 8 + [False]
    print_report(with_ratios(good))
    said = capsys.readouterr().out
    assert "1200" in said and "hindsight" in said and "everything on" in said

"""The text and the page show the numbers of the JSON and no others."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.domain.quantities import LEVELS
from core.evaluation.details import Timeline, evaluate_run, timeline_of
from core.evaluation.report import answers, charts, figures, paper_figures, svg
from core.evaluation.report.page import page
from core.evaluation.summary import summarise
from core.forecast.experts import EXPERTS, MODEL
from core.storage.runs import RunStore
from tests.core.evaluation.report.tree import Tree, require_self_contained
from tests.core.evaluation.rigs import database
from tests.support.candles import random_walk
from tests.support.synthetic_run import made_up

ABOUT = {"file": "candles.csv"}


@dataclass(frozen=True)
class Recorded:
    summary: dict[str, Any]
    timeline: Timeline


def recorded(root: Path, count: int) -> Recorded:
    run_id = made_up(root, random_walk(count, seed=2))
    with database(root) as db:
        run = RunStore(db).get(run_id)
        found, timeline = summarise(db, run) | evaluate_run(db, run, 3), timeline_of(db, run, 3)
    return Recorded({**ABOUT, **found}, timeline)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return recorded(tmp_path_factory.mktemp("run"), 120)


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Enough candles for intervals that hold however often one looks."""
    return recorded(tmp_path_factory.mktemp("long"), 870)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return recorded(tmp_path_factory.mktemp("short"), 12)


def test_the_skill_chart_ends_at_the_summary_value(run: Recorded) -> None:
    timeline = run.timeline
    assert timeline.target_open_time_ms.size == run.summary["judged"] == 119
    assert bool((np.diff(timeline.target_open_time_ms) > 0).all())
    assert timeline.inside_90.mean() == pytest.approx(run.summary["coverage"]["overall"])
    for name, losses in timeline.losses.items():
        of = run.summary["pinball"][name]
        best = losses.best_baseline
        assert best is not None and EXPERTS[best] == of["best_baseline_name"]
        shown = {"combination": losses.shown, "model": losses.of(MODEL), "best_baseline": losses.of(best)}
        for kind, each in (shown | {"reference": losses.reference}).items():
            assert each.mean() == pytest.approx(of[kind])


def test_candles_that_do_not_count_are_mentioned(run: Recorded) -> None:
    """Regression: nothing said why 400 of 1,400 candles were evaluated."""
    assert run.summary["left_out"] == 0 and figures.heading(run.summary).endswith("119 scored, 119 evaluated")
    longer = {**run.summary, "candles": 1_400, "scored": 1_399, "judged": 400, "left_out": 1_000}
    said = "400 evaluated (not the first 1,000: the reference needs them as its past)"
    assert said in figures.heading(longer) and said in Tree(page(longer, run.timeline)).text
    thinned = {**longer, "without_detail": 3_000}
    assert figures.heading(thinned).endswith("its past; of 3,000 older ones the detail is no longer stored)")


def test_too_few_targets_of_all_files_are_not_said_to_be_inside_a_band() -> None:
    few = {"coverage": {"overall": None, "overall_ci95": None}}
    assert figures.pooled_coverage(few) == "Not enough candles to judge the 90 % band."


def test_reliability_and_coverage_count_the_same_forecasts(run: Recorded) -> None:
    """The share inside the 90 % band is that at or below its upper end, less that below its lower end."""
    assert list(run.timeline.reliability) == [1, 3]
    near, far = run.timeline.reliability.values()
    values = [each.value for each in near if each.value is not None]
    assert len(near) == len(LEVELS) and values == sorted(values) and near[0].n == 119
    assert far[0].n == run.summary["horizons"]["3"]["close"]["n"] == 117
    assert values[-1] - values[0] == pytest.approx(run.summary["coverage"]["overall"], abs=0.01)


@pytest.mark.parametrize("name", figures.QUANTITIES)
def test_text_and_page_show_the_numbers_of_the_json(long: Recorded, name: str) -> None:
    of, watched = long.summary["pinball"][name], long.summary["watched"]
    seen = Tree(page(long.summary, long.timeline)).text
    best = figures.measured(of["skill_vs_best"], of["skill_vs_best_ci95"], of["n"])
    assert f"{100.0 * of['skill_vs_best']:+.1f} %" in best and best in seen and of["best_baseline_name"] in seen
    for each in (*watched[name].values(), long.summary["skill"][f"online_gain_{name}"]):
        wanted = figures.measured(each["value"], each["ci95"], each["n"])
        assert figures.percent(each["value"]) in wanted and wanted in seen
    for horizon, value in watched["horizons"].items():
        each = value[name]["skill"]
        assert (horizon, figures.measured(each["value"], each["ci95"], each["n"])) in {
            (row[0], row[1 + figures.QUANTITIES.index(name)]) for row in figures.horizons(long.summary, "skill")
        }


def test_every_other_drawn_quantity_has_a_row(long: Recorded, short: Recorded) -> None:
    seen = Tree(page(long.summary, long.timeline)).text
    rows = figures.also_drawn(long.summary)
    assert [row[0] for row in rows] == ["body", "upper wick", "lower wick", "volume"]
    for row, key in zip(rows, figures.ALSO_DRAWN, strict=True):
        of = long.summary["watched"][key]["skill"]
        assert row[1] == figures.measured(of["value"], of["ci95"], of["n"]) and row[3] == "850"
        assert row[1] in seen and row[2] and row[2] in seen
    assert {row[1:] for row in figures.also_drawn(short.summary)} == {(figures.NOT_ENOUGH, "", "11")}
    unmoved = {"skill": {"value": None, "ci95": None, "n": 119}}
    still = {**long.summary, "watched": dict.fromkeys(figures.ALSO_DRAWN, unmoved)}
    assert {row[1:] for row in figures.also_drawn(still)} == {(figures.NOTHING, "", "119")}


def test_the_page_leads_with_the_answers_and_marks_what_is_of_another_set(run: Recorded) -> None:
    seen = Tree(page(run.summary, run.timeline)).text
    places = [seen.index(text) for _, text in answers.answers(run.summary)]
    assert places == sorted(places) and places[-1] < seen.index(figures.AFTER_WARM_UP)
    marked = ("Against the best", "Diebold-Mariano, close", "Paper score", "Plots")
    assert all(f"{heading}, {figures.AFTER_WARM_UP}" in seen for heading in marked)
    assert not any(f"{heading}, {figures.AFTER_WARM_UP}" in seen for heading in ("Other values", "Skill further ahead"))


@pytest.mark.parametrize(
    ("ci95", "reverse_last", "said"),
    [
        ([0.49, 0.53], 0.6, "not proven better than a coin flip"),
        ([0.52, 0.58], None, "above 50 %, which alone is no proof of skill"),
        ([0.52, 0.58], 0.51, "better than a coin flip, and than “reverse last”"),
        ([0.52, 0.58], 0.54, "no proof of skill: “reverse last” alone has 54.0 %"),
        ([0.42, 0.48], 0.54, "worse than a coin flip"),
    ],
)
def test_a_direction_beside_50_percent_proves_as_much_as_in_the_window(
    ci95: list[float], reverse_last: float | None, said: str
) -> None:
    assert figures.coin_verdict(ci95, reverse_last) == said


def test_what_insides_are_worth_is_a_section_of_a_run_that_reads_them(run: Recorded) -> None:
    assert run.summary["inside"] is None
    assert "The inside of candles" not in Tree(page(run.summary, run.timeline)).text
    of = {"candles": 5000, "known": 4990, "worth": {"value": 0.0071, "ci95": [0.002, 0.012], "n": 4800}}
    shown = Tree(page({**run.summary, "inside": of}, run.timeline)).text
    for text in ("The inside of candles", "4,990 of the newest 5,000 candles", "+0.7 % (0.2 to 1.2) (valid"):
        assert text in shown
    unproven = {**run.summary, "inside": {**of, "worth": {"value": 0.0071, "ci95": [-0.002, 0.012], "n": 4800}}}
    assert "not proven" in figures.inside(unproven)


def test_candles_after_a_gap_are_separate_with_n_and_intervals(run: Recorded) -> None:
    assert run.summary["after_gap"]["n"] == 0
    assert "No evaluated candle came after a gap" in Tree(page(run.summary, run.timeline)).text
    found = {"skill": -0.02, "skill_ci95": [-0.05, 0.01]}
    of = run.summary["after_gap"] | {"n": 48, "close": found, "range": {**found, "skill": 0.1}}
    of |= {"coverage_90": 0.5, "coverage_90_ci95": [0.36, 0.64], "direction": 0.52, "direction_ci95": [0.4, 0.65]}
    shown = Tree(page({**run.summary, "after_gap": of | {"direction_n": 44}}, run.timeline)).text
    for text in ("48, in none of the other figures", "-2.0 % (-5.0 to 1.0)", "50.0 % (95 %: 36.0 to 64.0, n = 48)"):
        assert text in shown
    assert "n = 44" in shown and "skill of the range +10.0 %" in shown
    few = figures.after_gap({**run.summary, "after_gap": {**run.summary["after_gap"], "n": 5}})
    assert ": 5, in none" in few and figures.NOT_ENOUGH in few


def test_drifts_are_listed_or_reported_as_none(run: Recorded) -> None:
    assert run.summary["drifts"] == [] and "No drift was found" in page(run.summary, run.timeline)
    drift = {"candle_open_time_ms": 1_584_000_000_000, "step": 900, "candles": 37, "loss_before": 0.1234}
    found = {**run.summary, "drifts": [{**drift, "loss_after": 0.25, "what_was_done": "Nothing <b>much</b>."}]}
    seen = Tree(page(found, run.timeline)).text
    for text in ("2020-03-12 08:00", "0.123", "0.25 over 37 candles", "Nothing <b>much</b>."):
        assert text in seen


def test_every_chart_ends_at_its_number(run: Recorded) -> None:
    for name in figures.QUANTITIES:
        drawn = charts.loss_reduction(run.timeline, name)
        described = drawn.findtext("desc") if drawn is not None else None
        assert described is not None
        assert f"combination ends at {figures.percent(run.summary['pinball'][name]['skill'])}" in described


@pytest.mark.parametrize(
    ("found", "headline", "rows"),
    [
        ({"break_even_bp_ci95": None}, "Not enough candles or trades", 3),
        ({}, "This needs costs under 0.80 bp (0.20 to 1.40) a trade.", 3),
        ({"break_even_bp_ci95": [-0.2, 1.8]}, "Not proven to gain even if a trade costs nothing", 3),
        ({"n": 299}, "Not proven to gain", 3),
        ({"break_even_bp_ci95": [-0.9, -0.1]}, "This loses even if a trade costs nothing", 3),
        ({"trades_per_candle": 0.0}, "This needs costs under", 1),
        ({"net_bp_ci95": None}, "This needs costs under", 0),
    ],
)
def test_the_paper_score_leads_with_a_cost(run: Recorded, found: dict[str, Any], headline: str, rows: int) -> None:
    of = {"n": 4_000, "break_even_bp": 0.8, "break_even_bp_ci95": [0.2, 1.4], "cost_bp": 5.0, "net_bp": -0.4}
    of |= {"net_bp_ci95": [-0.9, 0.1], "trades_per_candle": 0.4, "time_in_market": 0.5, "drawdown_bp": 120.0}
    summary = {**run.summary, "paper": {**run.summary["paper"], **of, **found}}
    assert paper_figures.headline(summary).startswith(headline) and len(paper_figures.rows(summary)) == rows
    seen = Tree(page(summary, run.timeline)).text
    assert paper_figures.headline(summary) in seen and "No order was placed." in seen
    if rows == 3:
        assert "not proven to differ from 0" in seen and "120 bp" in seen


def test_direction_and_coverage_have_n(long: Recorded, run: Recorded) -> None:
    shown = dict([*figures.direction(long.summary), *figures.coverage(long.summary)])
    of = long.summary["watched"]
    right = shown["Direction right"]
    assert f"{100.0 * of['direction']['value']:.1f} %" in right and f"n = {of['direction']['n']}" in right
    assert f"n = {of['majority']['n']}" in shown["Majority, in hindsight"]
    assert figures.NOT_ENOUGH in dict(figures.coverage(run.summary))["Worst 500 in a row"]
    low, high = of["coverage_90"]["ci95"]
    assert low < of["coverage_90"]["value"] < high
    assert f"(95 %: {100.0 * low:.1f} to {100.0 * high:.1f}, n = 850)" in shown["90 % band covers"]


@pytest.mark.parametrize(
    ("chance", "n", "said"),
    [
        (0.2173, 479, "p = 0.2173 (n = 479); not proven"),
        (0.0499, 479, "p = 0.0499 (n = 479); the losses differ"),
        (0.01, 120, "p = 0.0100 (n = 120); not proven"),
        (1e-9, 7_997, "p below 0.0001 (n = 7,997); the losses differ"),
        (None, 12, figures.NOT_ENOUGH),
    ],
)
def test_the_probability_of_chance_is_explained(run: Recorded, chance: float | None, n: int, said: str) -> None:
    summary = {**run.summary, "diebold_mariano_p": chance, "judged": n}
    assert said in dict(figures.difference(summary))["Diebold-Mariano, close, after warm-up"]
    assert said in Tree(page(summary, run.timeline)).text


def test_too_few_candles_are_reported_without_numbers(short: Recorded) -> None:
    json.dumps(short.summary, allow_nan=False)
    tree = Tree(page(short.summary, short.timeline))
    assert figures.NOT_ENOUGH in tree.text and "Not enough candles to draw this." in tree.text
    assert "svg" not in tree.tags and "nan" not in tree.text.lower() and "None" not in tree.text
    assert all(
        figures.NOT_ENOUGH in value
        for row in figures.findings(short.summary)
        if row[0] != "Candles (n)"
        for value in row[1:]
    )


def test_one_candle_is_accepted(tmp_path: Path) -> None:
    only = recorded(tmp_path, 1)
    assert figures.NOT_ENOUGH in page(only.summary, only.timeline)


@pytest.mark.parametrize(
    ("ci95", "n", "said"),
    [
        (None, 20, figures.NOT_ENOUGH),
        ([-0.1, 0.1], 5000, "not proven"),
        ([0.0, 0.1], 5000, "not proven"),
        ([0.01, 0.1], 299, "not proven"),
        ([0.01, 0.1], 300, "better"),
        ([-0.1, -0.01], 300, "worse"),
    ],
)
def test_only_an_interval_excluding_zero_on_enough_candles_is_proof(
    ci95: list[float] | None, n: int, said: str
) -> None:
    assert figures.verdict(ci95, n, "better", "worse").startswith(said)


@pytest.mark.parametrize(
    "name",
    [
        "<script>alert(1)</script>.csv",
        '"><img src=x onerror=alert(1)>.csv',
        "</style></title><b>.csv",
        "a\x1b[31m\u202e\udcff&amp;.csv",
    ],
)
def test_a_hostile_file_name_is_escaped(run: Recorded, name: str) -> None:
    text = page({**run.summary, "file": name}, run.timeline)
    text.encode()
    plain, tree = Tree(page(run.summary, run.timeline)), Tree(text)
    assert tree.tags == plain.tags and tree.attributes == plain.attributes
    assert figures.printable(name) in tree.text
    assert "\x1b" not in text and "\u202e" not in text


def test_the_page_is_self_contained_and_reproducible(long: Recorded) -> None:
    text = page(long.summary, long.timeline)
    assert text == page(long.summary, long.timeline)
    tree = require_self_contained(text)
    ids = [value for name, value in tree.attributes if name == "id"]
    assert len(ids) == len(set(ids)) and tree.tags.count("svg") == tree.tags.count("desc") >= 8


def test_coverage_over_time_is_drawn_once_a_window_is_full(run: Recorded) -> None:
    assert charts.rolling_coverage(run.timeline) is None
    generator = np.random.default_rng(3)
    longer = replace(run.timeline, target_open_time_ms=np.arange(1200) * 60_000, inside_90=generator.random(1200) < 0.9)
    drawn = charts.rolling_coverage(longer)
    assert drawn is not None
    shares = np.convolve(longer.inside_90, np.full(500, 1 / 500), "valid")
    described = drawn.findtext("desc")
    assert described is not None and f"{100.0 * shares.min():.1f} %" in described


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1.0), (-0.483, 0.0279), (-1e-5, 3e-5), (12.0, 340.0), (0.0, 0.6), (0.0, 0.28)]
)
def test_ticks_are_round_few_and_inside(low: float, high: float) -> None:
    axis = svg.Axis(low, high, 0.0, 100.0)
    ticks = axis.ticks()
    assert 2 <= len(ticks) <= 6 and low - 1e-9 <= ticks[0] and ticks[-1] <= high + 1e-9
    steps = np.diff(ticks)
    assert steps == pytest.approx(steps[0]) and axis.at(low) == 0.0 and axis.at(high) == 100.0


def test_the_chance_of_a_price_is_a_table_only_with_cases(run: Recorded) -> None:
    of = {"n": 800, "brier": 0.16, "skill": 0.047, "skill_ci95": [0.036, 0.058], "reliability": []}
    of |= {"skill_vs_climatology": -0.001, "skill_vs_climatology_ci95": [-0.02, 0.01]}
    assert (
        figures.touched(run.summary) == [] and "The chance of a price" not in Tree(page(run.summary, run.timeline)).text
    )
    summary = {**run.summary, "touched": {"multiples": [1.0], "within": {"8": of}}}
    against_climatology = "-0.1 % (-2.0 to 1.0), not proven"
    assert figures.touched(summary) == [("8", "0.1600", "+4.7 % (3.6 to 5.8)", against_climatology, "800")]
    assert against_climatology in Tree(page(summary, run.timeline)).text

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.domain.events import QUANTILE_LEVELS
from core.evaluation.assess import ERROR_WINDOW
from core.evaluation.details import evaluate_run, timeline_of
from core.evaluation.findings import AFTER_GAP, OVERALL, QuantityAccuracy, Request, estimate_data
from core.evaluation.running import RunningAccuracy
from core.evaluation.summary import stored_market
from core.forecast.sample_sizes import BLOCK
from core.settings.tree import Settings
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore
from tests.core.evaluation.rigs import HORIZONS, database, read_all
from tests.support.candles import random_walk, without
from tests.support.synthetic_run import SyntheticRun, correct_newest, made_up


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A run of 1,200 candles with a hole: so few that `evaluate` leaves out none at the start."""
    root = tmp_path_factory.mktemp("run")
    return root, made_up(root, without(random_walk(1200, seed=4), 900, 901))


@pytest.fixture(scope="module")
def evaluated(run: tuple[Path, str]) -> dict[str, Any]:
    """The output of `evaluate` for it."""
    root, run_id = run
    with database(root) as db:
        return evaluate_run(db, RunStore(db).get(run_id), HORIZONS)


def as_evaluated(of: QuantityAccuracy) -> dict[str, Any]:
    return {"combination": of.loss, "best_baseline_name": of.best_baseline}


def same_figures(watched: dict[str, Any], of: QuantityAccuracy) -> None:
    """Both are of the newest full block."""
    for key, estimate in (("skill", of.skill), ("model_gain", of.model_gain)):
        assert watched[key] == estimate_data(estimate) and estimate.n % BLOCK == 0
        assert estimate.low is not None


@pytest.mark.parametrize("horizon", range(1, HORIZONS + 1))
def test_running_evaluation_equals_evaluate(run: tuple[Path, str], evaluated: dict[str, Any], horizon: int) -> None:
    root, run_id = run
    with database(root) as db:
        found = read_all(RunningAccuracy(db, run_id, HORIZONS), Request(horizon))
        timeline = timeline_of(db, RunStore(db).get(run_id), HORIZONS)
    chosen, row = found.chosen, found.horizons[horizon - 1]
    for name, of in (("close", chosen.close), ("range", chosen.range)):
        expected = evaluated["horizons"][str(horizon)][name]
        mine = as_evaluated(of)
        same_figures(evaluated["watched"]["horizons"][str(horizon)][name], of)
        assert mine == pytest.approx({key: expected[key] for key in mine})
        losses = {each.name: getattr(each, name) for each in chosen.experts if getattr(each, name) is not None}
        assert expected["experts"].items() <= losses.items()
    assert (row.close, row.range) == (chosen.close.skill, chosen.range.skill)
    assert row.model_gain_range == chosen.range.model_gain
    assert chosen.loss_reduction_close.values[-1] == pytest.approx(chosen.close.skill.value, abs=1e-6)
    assert found.left_out == evaluated["left_out"] == 0
    if horizon == 1:
        for key in ("direction", "reverse_last", "majority", "coverage_90"):
            assert evaluated["watched"][key] == estimate_data(getattr(chosen, key))
        closed_inside = timeline.inside_90[: chosen.coverage_90.n]
        assert chosen.coverage_90.value == pytest.approx(closed_inside.mean()) and chosen.coverage_90.n == 1150
        assert chosen.direction.value == pytest.approx(evaluated["direction"]["accuracy"], abs=0.02)
        observed = [each.value for each in timeline.reliability[1]]
        assert [each.value for each in chosen.reliability] == pytest.approx(observed)
        assert len(chosen.reliability) == len(QUANTILE_LEVELS)


def test_all_candles_one_ahead_have_the_figures_of_the_run_whatever_detail_is_left(tmp_path: Path) -> None:
    """Longer than the first 1,000 candles and the newest 900; the detail of some was deleted, and one was corrected."""
    run_id = made_up(tmp_path, random_walk(1400, seed=5))
    db = open_database(DataFolder(tmp_path).database)
    correct_newest(db, run_id)
    db.conn.execute("DELETE FROM score_details WHERE id % 3 = 1")
    run = RunStore(db).get(run_id)
    expected = stored_market(db, run, Settings()).accuracy
    for most in (900, 50_000):
        found = read_all(RunningAccuracy(db, run_id, HORIZONS, most))
        first, further, chosen = found.horizons[0], found.horizons[1], found.chosen
        assert (first.close, first.range) == (expected.skill_close, expected.skill_range)
        assert expected.model_gain is not None and expected.model_gain[1:] == (
            first.model_gain_close,
            first.model_gain_range,
        )
        assert (chosen.close.skill, chosen.range.model_gain) == (first.close, first.model_gain_range)
        assert first.n == 1350 and first.close.low is not None and found.left_out > 400
        assert chosen.experts[0].close_skill == first.close.value and further.n < found.left_out + chosen.n
        regime = RunningAccuracy(db, run_id, HORIZONS, most)
        assert read_all(regime, Request(1, "calm")).chosen.close.skill.n < 900
    db.close()


def test_figures_of_the_run_grow_with_it(tmp_path: Path) -> None:
    candles = random_walk(120, seed=2)
    run = SyntheticRun(tmp_path)
    run.write(candles[:70])
    with database(tmp_path) as db:
        accuracy = RunningAccuracy(db, run.run_id, HORIZONS)
        read_all(accuracy)
        run.write(candles[70:])
        later, whole = read_all(accuracy).horizons[0], read_all(RunningAccuracy(db, run.run_id, HORIZONS)).horizons[0]
    run.close()
    assert later == whole and later.n == 119


def test_each_regime_equals_evaluate_by_regime(run: tuple[Path, str], evaluated: dict[str, Any]) -> None:
    root, run_id = run
    regimes = evaluated["regimes"]
    with database(root) as db:
        accuracy = RunningAccuracy(db, run_id, HORIZONS)
        groups = [group for group in read_all(accuracy).groups[1:] if group != AFTER_GAP]
        found = {group: accuracy.find(Request(1, group)).chosen for group in groups}
    assert set(groups) == {name for name, of in regimes.items() if of["n"]} and len(groups) > 1
    for name, of in found.items():
        expected = regimes[name]
        assert of.n == expected["n"]
        # Losses of experts are stored as float32, the separate ones of the reference as float64.
        assert of.close.skill.value == pytest.approx(expected["close"]["skill"], abs=1e-7)
        assert of.range.skill.value == pytest.approx(expected["range"]["skill"], abs=1e-7)
        assert of.coverage_90.value == pytest.approx(expected["coverage_90"])
        assert of.direction.value == pytest.approx(expected["direction"]) and of.direction.n == expected["direction_n"]


def test_candles_after_a_gap_form_a_separate_group_as_in_evaluate(tmp_path: Path) -> None:
    run_id = made_up(tmp_path, without(random_walk(240, seed=6), *range(4, 236, 6)))
    with database(tmp_path) as db:
        evaluated = evaluate_run(db, RunStore(db).get(run_id), HORIZONS)
        accuracy = RunningAccuracy(db, run_id, HORIZONS)
        found = read_all(accuracy, Request(1, AFTER_GAP))
        nearly_all = accuracy.find(Request(3, AFTER_GAP))
        others = accuracy.find(Request())
    apart, expected = found.chosen, evaluated["after_gap"]
    assert AFTER_GAP in found.groups and apart.n == expected["n"] == 39
    assert apart.n + others.chosen.n == 200 and others.chosen.n == evaluated["judged"]
    assert expected["share"] == pytest.approx(39 / 200)
    for name, of in (("close", apart.close), ("range", apart.range)):
        assert of.skill.value == pytest.approx(expected[name]["skill"], abs=1e-6)
    assert (apart.coverage_90.value, apart.direction.n) == (expected["coverage_90"], expected["direction_n"])
    assert nearly_all.chosen.n > 2 * apart.n, "further ahead more of them come after a gap"
    with database(tmp_path) as db:
        scores = [score for score in RecordReader(db, run_id).scores() if score.after_gap]
    assert expected["coverage_90"] == pytest.approx(np.mean([score.inside_90 for score in scores]))


def test_without_a_gap_there_is_no_gap_group(tmp_path: Path) -> None:
    run_id = made_up(tmp_path, random_walk(50))
    with database(tmp_path) as db:
        assert AFTER_GAP not in read_all(RunningAccuracy(db, run_id, HORIZONS)).groups
        assert evaluate_run(db, RunStore(db).get(run_id), HORIZONS)["after_gap"]["n"] == 0


def test_reading_in_pieces_gives_the_same_as_reading_at_once(tmp_path: Path) -> None:
    candles = random_walk(140, seed=2)
    run = SyntheticRun(tmp_path)
    run.write(candles[:60])
    with database(tmp_path) as db:
        accuracy = RunningAccuracy(db, run.run_id, HORIZONS)
        early = read_all(accuracy)
        assert early.chosen.n == 59 and early.left_out == 0
        for first in range(60, 140, 7):
            run.write(candles[first : first + 7])
            later = read_all(accuracy)
        whole = read_all(RunningAccuracy(db, run.run_id, HORIZONS))
    run.close()
    assert later.chosen.n == 139 and later.horizons == whole.horizons
    assert later.chosen.experts == whole.chosen.experts and later.chosen.reliability == whole.chosen.reliability
    np.testing.assert_array_equal(later.chosen.error_curve.values, whole.chosen.error_curve.values)


def test_only_the_newest_are_used_and_memory_is_bounded(tmp_path: Path) -> None:
    run_id = made_up(tmp_path, random_walk(150, seed=2))
    with database(tmp_path) as db:
        found = read_all(RunningAccuracy(db, run_id, HORIZONS, most=40))
    assert found.most == found.chosen.n == 40 and [row.n for row in found.horizons] == [149, 40, 40]


def test_only_the_used_part_of_a_long_run_is_read(run: tuple[Path, str]) -> None:
    """A year of one minute is 525,600 scores, of which the dock shows 20,000."""
    root, run_id = run
    with database(root) as db:
        accuracy = RunningAccuracy(db, run_id, HORIZONS, most=100)
        assert list(accuracy.read_more(1)) == [], "one piece, not three"


def test_too_few_candles_give_no_number(tmp_path: Path) -> None:
    run_id = made_up(tmp_path, random_walk(12))
    with database(tmp_path) as db:
        chosen = read_all(RunningAccuracy(db, run_id, HORIZONS)).chosen
    assert chosen.n == 11
    estimates = (chosen.direction, chosen.coverage_90, chosen.close.skill, chosen.range.model_gain, *chosen.reliability)
    assert all(each.value is None and each.low is None for each in estimates)
    assert chosen.experts == () and chosen.worst_500 is None and len(chosen.coverage_curve) == 0
    assert len(chosen.error_curve) == 0


def test_a_run_without_scores_works(tmp_path: Path) -> None:
    run_id = made_up(tmp_path, [])
    with database(tmp_path) as db:
        found = read_all(RunningAccuracy(db, run_id, HORIZONS), Request(2))
    assert found.chosen.n == 0 and found.groups == (OVERALL,) and [row.n for row in found.horizons] == [0, 0, 0]


def test_the_error_is_that_of_the_median_against_the_actual_close(run: tuple[Path, str]) -> None:
    root, run_id = run
    with database(root) as db:
        found = read_all(RunningAccuracy(db, run_id, HORIZONS))
        rows = RecordReader(db, run_id).past_forecasts(1, 0, 2**62, 2**62)
        opened, closes, _ = RecordReader(db, run_id).origins()
    counts = ~rows.after_gap
    counts &= np.isin(rows.target_open_time_ms, opened)
    came = np.log(closes[np.searchsorted(opened, rows.target_open_time_ms[counts])] / rows.origin_close[counts])
    newest = slice(-ERROR_WINDOW, None)
    error = np.abs(came - rows.quantiles[counts][:, 0, 3])[newest].mean()
    curve = found.chosen.error_curve
    assert curve.values[-1] == pytest.approx(error) and curve.target_open_time_ms[-1] == opened[-1]
    assert found.chosen.no_change_curve.values[-1] == pytest.approx(np.abs(came)[newest].mean())


def test_scores_are_grouped_by_the_likeliest_regime_at_their_origin(tmp_path: Path) -> None:
    run_id = made_up(tmp_path, random_walk(100, seed=6))
    db = open_database(DataFolder(tmp_path).database)
    _give_regimes(db, run_id)
    accuracy = RunningAccuracy(db, run_id, HORIZONS)
    overall = read_all(accuracy)
    parts = {name: accuracy.find(Request(1, name)) for name in ("calm", "trending", "volatile")}
    db.close()
    assert overall.groups == (OVERALL, "calm", "volatile")
    assert parts["trending"].chosen.n == 0
    # of the origins 0..98, the third ones are volatile, the fifth ones among the others have no regime
    volatile = sum(place % 3 == 0 for place in range(99))
    unknown = sum(place % 3 != 0 and place % 5 == 0 for place in range(99))
    assert parts["volatile"].chosen.n == volatile and parts["calm"].chosen.n == 99 - volatile - unknown
    assert parts["calm"].horizons[0].n == parts["calm"].chosen.n


def _give_regimes(db: Any, run_id: str) -> None:
    """As the trainer stores them: calm, trending, volatile, one row for each candle."""
    columns = "run_id TEXT, origin_open_time_ms INTEGER, calm REAL, trending REAL, volatile REAL"
    db.executescript(f"CREATE TABLE IF NOT EXISTS conditions ({columns});")
    opened, _, _ = RecordReader(db, run_id).origins()
    db.execute("DELETE FROM conditions")
    for place, time_ms in enumerate(opened.tolist()):
        if place % 3 and place % 5 == 0:
            continue
        regime = (0.1, 0.2, 0.7) if place % 3 == 0 else (0.6, 0.2, 0.2)
        db.execute(
            "INSERT INTO conditions (run_id, origin_open_time_ms, calm, trending, volatile) VALUES (?, ?, ?, ?, ?)",
            (run_id, time_ms, *regime),
        )


def test_a_corrected_score_counts_once_in_its_newest_version(run: tuple[Path, str], tmp_path: Path) -> None:
    run_id = made_up(tmp_path, random_walk(60, seed=3))
    db = open_database(DataFolder(tmp_path).database)
    before = read_all(RunningAccuracy(db, run_id, HORIZONS)).chosen
    correct_newest(db, run_id)
    after = read_all(RunningAccuracy(db, run_id, HORIZONS)).chosen
    db.close()
    assert after.n == before.n == 59
    assert after.close.loss is not None and before.close.loss is not None
    assert after.close.loss == pytest.approx(before.close.loss + 1.0 / 59)

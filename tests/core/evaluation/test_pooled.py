"""Runs judged as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

from core.evaluation.details import evaluate_run
from core.evaluation.pooled import evaluate_pooled
from core.storage.runs import Run, RunStore
from tests.core.evaluation.rigs import database
from tests.core.training import rigs
from tests.core.training.hosting.learned_together import learned
from tests.support.candles import random_walk

HORIZONS = rigs.SMALL.model.horizons
SHARED = ("skill", "skill_vs_best", "skill_without_model", "model_gain")


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Database, Run]]:
    root = tmp_path_factory.mktemp("run")
    session = rigs.service(root)
    rigs.feed(session, random_walk(90, seed=3))
    run_id = session.status().run_id
    session.close()
    with database(root) as db:
        yield db, RunStore(db).get(run_id)


def figures(pinball: dict[str, Any]) -> list[float]:
    intervals = [pinball[quantity][f"{key}_ci95"] for quantity in ("close", "range") for key in ("skill", "model_gain")]
    return [pinball[quantity][key] for quantity in ("close", "range") for key in SHARED] + [
        each for interval in intervals for each in interval
    ]


def test_one_run_has_the_figures_of_its_own_evaluation(scored: tuple[Database, Run]) -> None:
    db, run = scored
    alone, pooled = evaluate_run(db, run, HORIZONS), evaluate_pooled(db, [run], HORIZONS)
    for horizon in ("1", "2", "3"):
        assert figures(pooled["horizons"][horizon]) == pytest.approx(figures(alone["horizons"][horizon]))
        for quantity in ("close", "range"):
            name = "best_baseline_name"
            assert pooled["horizons"][horizon][quantity][name] == alone["horizons"][horizon][quantity][name]
    assert pooled["judged"] == alone["judged"]
    assert pooled["anytime"] == alone["anytime"]
    assert pooled["coverage"]["overall"] == pytest.approx(alone["coverage"]["overall"])


def test_a_market_counted_twice_proves_no_more_than_once(scored: tuple[Database, Run]) -> None:
    """Scores of one target are not independent: twice the rows must not narrow the interval."""
    db, run = scored
    once, twice = (evaluate_pooled(db, [run] * times, HORIZONS) for times in (1, 2))
    assert figures(twice["pinball"]) == pytest.approx(figures(once["pinball"]))
    assert twice["pinball"]["close"]["n"] == 2 * once["pinball"]["close"]["n"]
    assert twice["markets"] == 2 and twice["judged"] == 2 * once["judged"]
    assert twice["coverage"]["overall_ci95"] == pytest.approx(once["coverage"]["overall_ci95"])


def test_runs_without_scores_have_no_figures(tmp_path: Path) -> None:
    session = rigs.service(tmp_path)
    run_id = session.status().run_id
    session.close()
    with database(tmp_path) as db:
        pooled = evaluate_pooled(db, [RunStore(db).get(run_id)], HORIZONS)
    assert pooled["judged"] == 0 and pooled["coverage"]["overall"] is None
    assert pooled["pinball"]["close"]["model_gain"] is None and pooled["pinball"]["close"]["skill_ci95"] is None


def test_a_restless_market_counts_no_more_than_a_calm_one(tmp_path: Path) -> None:
    calm = random_walk(60, seed=3)
    names = ("open", "high", "low", "close")
    restless = [
        replace(each, **{name: 100.0 * (getattr(each, name) / 100.0) ** 20 for name in names})
        for each in random_walk(60, seed=4)
    ]
    markets = {"calm": calm, "restless": restless}
    with learned(tmp_path, markets) as readers, database(tmp_path) as db:
        runs = [RunStore(db).get(reader.run_id) for reader in readers.values()]
        alone = [evaluate_run(db, run, HORIZONS)["pinball"] for run in runs]
        pooled = evaluate_pooled(db, runs, HORIZONS)["pinball"]
    for quantity in ("close", "range"):
        for key in ("skill", "skill_without_model", "model_gain"):
            assert pooled[quantity][key] == pytest.approx(sum(each[quantity][key] for each in alone) / 2)

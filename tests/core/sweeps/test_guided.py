"""Configurations that Optuna proposes."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("optuna", reason="needs the extra sweeps")

from core.sweeps.guided import GuidedProposals
from core.sweeps.rows import CellState
from tests.core.sweeps import made

PLAN = """
files = "*.csv"
models = ["transformer", "gru"]
budget = 15
batch = 4
sampler = "{sampler}"
storage = "{storage}"
[settings]
training.learning_rate = {{ from = 1e-6, to = 1e-2, scale = "log" }}
model.width = [32, 64, 66]
"""


@pytest.mark.parametrize(("sampler", "storage"), [("tpe", "journal"), ("tpe", "sqlite"), ("random", "journal")])
def test_neither_workers_nor_stops_change_what_it_proposes(tmp_path: Path, sampler: str, storage: str) -> None:
    draft = made.draft(tmp_path, PLAN.format(sampler=sampler, storage=storage))

    def run(name: str, executor: made.MadeExecutor, until: int | None = None) -> None:
        made.run(tmp_path / name, draft, executor, until, lambda store: GuidedProposals(store, draft))

    run("alone", made.MadeExecutor())
    run("many", made.MadeExecutor(7, seed=2))
    for until in (1, 6, 9):
        run("stopped", made.MadeExecutor(3, seed=until), until)
    run("stopped", made.MadeExecutor(2))
    assert len({made.digest(tmp_path / name) for name in ("alone", "many", "stopped")}) == 1
    rows = made.cells(tmp_path / "alone")
    assert all(row.state is CellState.DONE for row in rows) and len(rows) == 2 * len({r.configuration for r in rows})
    assert rows[0].configuration.is_default and dict(rows[0].settings) == {
        "training.learning_rate": 3e-5,
        "model.width": 64,
    }
    assert all(dict(row.settings)["model.width"] != 66 for row in rows), "four heads do not divide it"


def test_progress_counts_the_cells_that_are_still_to_be_proposed(tmp_path: Path) -> None:
    draft = made.draft(tmp_path, PLAN.format(sampler="tpe", storage="journal"))
    reports = made.run(
        tmp_path / "sweep", draft, made.MadeExecutor(), proposals=lambda store: GuidedProposals(store, draft)
    )
    totals = [progress.total for progress in reports.progress]
    assert totals[0] == 2 * 15 and totals == sorted(totals, reverse=True), "one that is proposed twice is run once"
    assert totals[-1] == len(made.cells(tmp_path / "sweep"))


def test_it_learns_from_the_first_parts(tmp_path: Path) -> None:
    """The made skill is best at 1e-4."""
    text = PLAN.format(sampler="tpe", storage="journal").replace("budget = 15", "budget = 60")
    draft = made.draft(tmp_path, text)
    made.run(tmp_path / "sweep", draft, made.MadeExecutor(), proposals=lambda store: GuidedProposals(store, draft))
    rates = [dict(row.settings)["training.learning_rate"] for row in made.cells(tmp_path / "sweep")]
    near = [3e-5 <= float(rate) <= 3e-4 for rate in rates]
    assert sum(near[-40:]) > 2 * sum(near[:40])

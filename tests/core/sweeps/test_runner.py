"""Handing out cells, and writing how they ended."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from core.settings.tree import Settings
from core.sweeps.cell import CellJob
from core.sweeps.errors import SweepError
from core.sweeps.executor import Outcome
from core.sweeps.ownership import owned
from core.sweeps.rows import CellState, Part
from core.sweeps.runner import MOST_DEATHS
from core.sweeps.start import begin, draft_of
from core.sweeps.store import SweepStore
from tests.core.sweeps import made

PLAN = """
files = "*.csv"
seeds = [1, 2, 3]
[settings]
training.learning_rate = [1e-5, 3e-5]
"""
CELLS = 12


def test_each_cell_runs_once_and_the_order_leaves_no_trace(tmp_path: Path) -> None:
    draft = made.draft(tmp_path, PLAN)
    alone, many = made.MadeExecutor(), made.MadeExecutor(5, seed=7)
    reports = made.run(tmp_path / "alone", draft, alone)
    made.run(tmp_path / "many", draft, many)
    assert (alone.most_at_once, many.most_at_once) == (1, 5)
    for executor in (alone, many):
        assert sorted(job.number for job in executor.submitted) == [*range(1, CELLS + 1)]
    assert made.digest(tmp_path / "alone") == made.digest(tmp_path / "many")
    last = reports.progress[-1]
    assert (last.done, last.failed, last.total, last.seconds) == (CELLS, 0, CELLS, 1.0)


def test_a_sweep_that_is_stopped_again_and_again_has_the_same_table(tmp_path: Path) -> None:
    draft, chance = made.draft(tmp_path, PLAN), random.Random(3)
    made.run(tmp_path / "whole", draft, made.MadeExecutor())
    submitted: Counter[int] = Counter()
    for _ in range(CELLS):
        executor = made.MadeExecutor(chance.randint(1, 4), chance.random())
        reports = made.run(tmp_path / "parts", draft, executor, until=chance.randint(0, 2))
        submitted.update(row.number for row in reports.rows)
    made.run(tmp_path / "parts", draft, made.MadeExecutor())
    assert made.digest(tmp_path / "parts") == made.digest(tmp_path / "whole")
    assert set(submitted.values()) <= {1}, "what has ended does not run again"


def test_a_failing_cell_is_a_row_with_its_sentence_and_the_rest_runs(tmp_path: Path) -> None:
    def how(job: CellJob) -> Outcome:
        outcome = Outcome(job, "worker", 1.0, made.result_of(job))
        return dataclasses.replace(outcome, result=None, sentence="No.") if job.number == 5 else outcome

    draft = made.draft(tmp_path, PLAN)
    made.run(tmp_path / "sweep", draft, made.MadeExecutor(2, how=how))
    rows = made.cells(tmp_path / "sweep")
    assert [(row.number, row.sentence) for row in rows if row.state is CellState.FAILED] == [(5, "No.")]
    assert sum(row.state is CellState.DONE for row in rows) == CELLS - 1
    again = made.MadeExecutor()
    made.run(tmp_path / "sweep", draft, again)
    assert again.submitted == []


def test_a_cell_whose_workers_die_runs_again_alone_and_then_fails(tmp_path: Path) -> None:
    beside: list[set[int]] = []

    def how(job: CellJob) -> Outcome:
        if job.number == 4:
            beside.append({each.number for each in executor.running})
            return Outcome(job, "", 0.0)
        return Outcome(job, "worker", 1.0, made.result_of(job))

    executor = made.MadeExecutor(3, how=how)
    made.run(tmp_path / "sweep", made.draft(tmp_path, PLAN), executor)
    rows = made.cells(tmp_path / "sweep")
    assert [row.number for row in rows if row.state is CellState.FAILED] == [4] and "died" in rows[3].sentence
    assert len(beside) == MOST_DEATHS and beside[2:] == [set()] * (MOST_DEATHS - 2)


def test_a_lost_scheduler_is_no_fault_of_its_cells(tmp_path: Path) -> None:
    lost: Counter[int] = Counter()

    def how(job: CellJob) -> Outcome:
        lost[job.number] += 1
        if lost[job.number] < 2 * MOST_DEATHS:
            return Outcome(job, "", 0.0, is_death=False)
        return Outcome(job, "worker", 1.0, made.result_of(job))

    made.run(tmp_path / "sweep", made.draft(tmp_path, PLAN), made.MadeExecutor(2, how=how))
    assert all(row.state is CellState.DONE for row in made.cells(tmp_path / "sweep"))


def test_losses_are_read_back_by_configuration_and_part(tmp_path: Path) -> None:
    made.run(tmp_path / "sweep", made.draft(tmp_path, PLAN), made.MadeExecutor())
    with SweepStore(tmp_path / "sweep", readonly=True) as store:
        found = store.losses(2, Part.SECOND)
        rows = [row for row in store.read_cells() if row.configuration.number == 2]
    assert [each.cell for each in found] == [row.number for row in rows] and len(found) == 6
    for each, row in zip(found, rows, strict=True):
        assert (each.seed, (each.file,)) == (row.seed, row.files)
        assert each.forecast_close.tolist() == [place + row.number for place in range(made.N)]
        assert each.target_open_time_ms.tolist() == [60_000 * place for place in range(made.N)]


def change_seeds(folder: Path) -> None:
    made.write_plan(folder, PLAN.replace("[1, 2, 3]", "[1, 2]"))


def change_file(folder: Path) -> None:
    (folder / "market-0.csv").write_bytes((folder / "new.txt").read_bytes())


@pytest.mark.parametrize(
    ("change", "sentence"), [(change_seeds, "seeds differs"), (change_file, r"market-0\.csv differs")]
)
def test_another_plan_does_not_continue_it(tmp_path: Path, change: Callable[[Path], None], sentence: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    made.write_plan(other, PLAN, 3)
    (tmp_path / "new.txt").write_bytes((other / "market-2.csv").read_bytes())
    made.run(tmp_path / "sweep", made.draft(tmp_path, PLAN), made.MadeExecutor(), until=3)
    change(tmp_path)
    now = draft_of(tmp_path / "SWEEP.toml", Settings())
    with SweepStore(tmp_path / "sweep") as store, pytest.raises(SweepError, match=sentence):
        begin(store, now)


def test_another_version_does_not_continue_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = made.draft(tmp_path, PLAN)
    made.run(tmp_path / "sweep", draft, made.MadeExecutor(), until=3)
    monkeypatch.setattr("core.sweeps.start.versions", lambda: ("9.9", "9.9"))
    with SweepStore(tmp_path / "sweep") as store, pytest.raises(SweepError, match="was begun with Ghostcandle"):
        begin(store, draft)


def test_a_folder_has_one_owner(tmp_path: Path) -> None:
    with owned(tmp_path / "sweep"), pytest.raises(SweepError, match="Another process runs"), owned(tmp_path / "sweep"):
        pass
    with owned(tmp_path / "sweep"):
        pass

"""`ghostcandle sweep` up to its first cell, and what it prints afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pandas as pd
import pytest

from core.sweeps.rows import CellState
from core.sweeps.store import SweepStore
from tests.core.sweeps import made
from tests.desktop.commands.walk_files import write
from tests.support import commands
from tests.support.candles import HOUR

PLAN = """
files = "*.csv"
seeds = [1, 2]
candles = 12
[settings]
training.learning_rate = [1e-5, 3e-5]
"""
BROKEN = """
from models.nlinear import NLinear

class Own(NLinear):
    def forward(self, *given, **named):
        return 5
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for seed, name in enumerate(("alpha", "beta")):
        write(tmp_path / f"{name}.csv", seed)
    commands.configure(tmp_path / "data")
    return tmp_path


def sweep(folder: Path, plan: str, *options: str) -> CompletedProcess[str]:
    (folder / "SWEEP.toml").write_text(plan)
    return commands.invoke("sweep", str(folder / "SWEEP.toml"), *options, "--data-dir", str(folder / "data"))


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (PLAN.replace("learning_rate", "learning_rat"), "there is no setting training.learning_rat"),
        (PLAN.replace("3e-5", "3.0"), "training.learning_rate is not right"),
        (PLAN.replace("*.csv", "*.parquet"), "no file"),
        (PLAN.replace("seeds", 'models = ["oracle.py:Own"]\nseeds'), "there is no file"),
        (PLAN.replace("seeds", 'models = ["own.py:Own"]\nseeds'), "does not pass check-model"),
        (PLAN.replace("seeds", 'models = ["oracle"]\nseeds'), "There is no model 'oracle'"),
        (PLAN.replace("seeds", "together = true\nseeds"), "have different intervals"),
        (PLAN.replace("seeds", 'device = "cuda:77"\nseeds'), "device: "),
    ],
)
def test_what_cannot_be_run_is_a_sentence_before_the_first_cell(folder: Path, plan: str, sentence: str) -> None:
    if "together" in plan:
        write(folder / "hourly.csv", 5, HOUR)
    (folder / "own.py").write_text(BROKEN)
    done = sweep(folder, plan, "--pool", "--workers", "1")
    assert done.returncode == 1 and sentence in done.stderr and "Traceback" not in done.stderr
    table = folder / "data" / "sweeps" / "SWEEP"
    if (table / "sweep.sqlite").exists():
        with SweepStore(table, readonly=True) as store:
            assert store.head() is None and store.read_cells() == ()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--seed", "3"), "its plan names it under seeds"),
        (("--device", "cpu"), "its plan names it under device"),
        (("--scheduler", "tcp://127.0.0.1:1", "--workers", "2"), "leave out --workers"),
    ],
)
def test_options_that_the_plan_has_are_refused(folder: Path, options: tuple[str, ...], sentence: str) -> None:
    done = sweep(folder, PLAN, *options)
    assert done.returncode == 2 and sentence in done.stderr


def test_a_dry_run_says_how_much_and_writes_nothing(folder: Path) -> None:
    done = sweep(folder, PLAN, "--dry-run", "--json", "--workers", "2")
    found = json.loads(done.stdout)
    assert (found["cells"], found["configurations"], found["candles"], found["ended"]) == (8, 2, 8 * 12, 0)
    assert found["seconds"] > 0.0 and "a guess" in found["seconds_are"] and found["table_bytes"] > 0
    assert not (folder / "data" / "sweeps").exists()
    shown = sweep(folder, PLAN, "--dry-run").stdout
    assert "8 cells: 2 configurations on 2 files." in shown and "a guess" in shown


def test_a_guided_sweep_continues_after_the_settings_were_changed(folder: Path) -> None:
    pytest.importorskip("optuna", reason="needs the extra sweeps")
    from core.sweeps.guided import GuidedProposals  # noqa: PLC0415 - of an extra

    plan = PLAN.replace("candles", "budget = 3\ncandles").replace("[1e-5, 3e-5]", "{ from = 1e-6, to = 1e-3 }")
    draft = made.draft_in(folder, plan, folder / "data")
    made.run(folder / "out", draft, made.MadeExecutor(), proposals=lambda store: GuidedProposals(store, draft))
    commands.configure(folder / "data", commands.TINY | {"training": {"learning_rate": 5e-4}})
    place = ("--folder", str(folder / "out"), "--pool", "--workers", "1")
    again = sweep(folder, plan, *place, "--json")
    assert again.returncode == 0 and json.loads(again.stdout)["done"] == 3 * 4, again.stderr
    refused = sweep(folder, plan, *place, "--retry-failed")
    assert refused.returncode == 2 and "rests on the failures" in refused.stderr


def test_a_sweep_that_has_ended_is_reported_and_exported(folder: Path) -> None:
    place = folder / "out"
    made.run(place, made.draft_in(folder, PLAN, folder / "data"), made.MadeExecutor())
    again = sweep(folder, PLAN, "--folder", str(place), "--pool", "--workers", "1", "--json")
    found = json.loads(again.stdout)
    assert (found["cells"], found["done"], found["failed"], found["stopped"]) == (8, 8, {}, False)
    data = ("--data-dir", str(folder / "data"))
    for form, read in (("parquet", pd.read_parquet), ("csv", pd.read_csv)):
        target = str(folder / form)
        written = commands.invoke_json("sweep", "export", str(place), target, "--losses", "--format", form, *data)
        assert written["rows"] == {"cells": 8, "losses": 8 * 2 * made.N}
        cells, losses = (read(folder / form / f"{name}.{form}") for name in ("cells", "losses"))
        assert list(cells["cell"]) == [*range(1, 9)] and set(cells["state"]) == {CellState.DONE.value}
        assert list(cells["training.learning_rate"]) == [1e-5] * 4 + [3e-5] * 4
        assert losses.groupby("cell").size().tolist() == [2 * made.N] * 8
        refused = commands.invoke("sweep", "export", str(place), target, "--losses", "--format", form, *data)
        assert refused.returncode == 1 and "exists already" in refused.stderr
    absent = commands.invoke("sweep", "export", str(folder), str(folder / "x"), *data)
    assert absent.returncode == 1 and "There is no sweep in" in absent.stderr

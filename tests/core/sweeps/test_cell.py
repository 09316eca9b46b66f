"""One cell: an evaluation as `ghostcandle evaluate` makes it."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.domain.clock import SystemClock
from core.settings.tree import from_dict
from core.sweeps.cell import CellCancelled, CellJob, run_cell
from core.sweeps.errors import SweepError
from core.sweeps.grid import base_of, cells_of, configurations_of
from core.sweeps.plan import plan_of
from core.sweeps.rows import CellResult, Part
from core.sweeps.sources import find_files
from core.sweeps.work import in_place, work
from tests.desktop.commands.walk_files import write
from tests.support import commands

CANDLES = 14


def jobs(folder: Path, **plan: Any) -> list[CellJob]:
    made = plan_of({"files": "*.csv", "seeds": [3], "candles": CANDLES, **plan})
    base = base_of(from_dict(commands.TINY)[0])
    cells = cells_of(configurations_of(made, base), find_files(made, folder), made)
    return [
        CellJob(each.number, each.configuration, base, each.files, each.seed, CANDLES, "cpu", None) for each in cells
    ]


def evaluated(job: CellJob) -> CellResult:
    return run_cell(job, [Path(file.path) for file in job.files], job.configuration, SystemClock())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for seed, name in enumerate(("alpha", "beta")):
        write(tmp_path / f"{name}.csv", seed)
    return tmp_path


def test_it_gives_the_forecasts_of_evaluate_on_any_thread(folder: Path) -> None:
    data = str(commands.configure(folder / "data"))
    options = ("--candles", str(CANDLES), "--model", "nlinear", "--data-dir", data)
    expected = commands.invoke_json("evaluate", str(folder / "alpha.csv"), *options)["forecasts_sha256"]
    job = jobs(folder, models=["nlinear"])[0]
    found: list[CellResult] = []
    thread = threading.Thread(target=lambda: found.append(evaluated(job)))
    thread.start()
    thread.join(timeout=120)
    assert [each.digest for each in found] == [expected]


def test_several_files_together_give_the_forecasts_of_evaluate_together(folder: Path) -> None:
    data = str(commands.configure(folder / "data"))
    files = [str(folder / f"{name}.csv") for name in ("alpha", "beta")]
    options = ("--together", "--candles", str(CANDLES), "--data-dir", data)
    expected = commands.invoke_json("evaluate", *files, *options)["pooled"]
    (job,) = jobs(folder, together=True)
    found = evaluated(job)
    assert (found.digest, found.candles) == (expected["forecasts_sha256"], 2 * CANDLES)
    assert [(part, series.file) for part, series in found.losses] == [
        (part, name) for name in ("alpha.csv", "beta.csv") for part in Part
    ]


def test_the_parts_have_all_judged_losses_and_the_first_ends_at_the_split(folder: Path) -> None:
    job = jobs(folder)[0]
    found = evaluated(job)
    (_, first), (_, second) = found.losses
    (file,) = job.files
    assert first.target_open_time_ms[-1] < file.split_ms <= second.target_open_time_ms[0]
    times = np.concatenate([first.target_open_time_ms, second.target_open_time_ms])
    assert len(times) == CANDLES - 1 and bool((np.diff(times) == 60_000).all())
    assert (found.first.close.n, found.second.range.n) == (len(first), len(second))
    for losses in (first.forecast_close, second.reference_range):
        assert losses.dtype == np.float32 and bool((losses > 0.0).all())


def test_a_changed_file_and_a_missing_one_are_sentences(folder: Path) -> None:
    job = jobs(folder)[0]
    write(folder / "alpha.csv", 7)
    with pytest.raises(SweepError, match=r"alpha\.csv has changed since the sweep began"):
        evaluated(job)
    (folder / "alpha.csv").unlink()
    with pytest.raises(SweepError, match=r"alpha\.csv cannot be read"):
        evaluated(job)


def test_a_cell_that_nobody_waits_for_ends(folder: Path) -> None:
    job = replace(jobs(folder)[0], candles=None)
    with pytest.raises(CellCancelled):
        run_cell(job, [Path(job.files[0].path)], job.configuration, SystemClock(), lambda: True)


def test_whatever_fails_is_one_sentence_of_the_cell(folder: Path) -> None:
    job = jobs(folder)[0]
    bad = replace(job, configuration=replace(job.configuration, settings=(("model.width", 65),)))
    assert "do not divide a width of 65" in str(work(bad, in_place, folder).sentence)
    unknown = replace(job, configuration=replace(job.configuration, settings=(("nothing.width", 8),)))
    outcome = work(unknown, in_place, folder)
    assert outcome.result is None and "The evaluation failed" in str(outcome.sentence)
    assert "\n" not in str(outcome.sentence)

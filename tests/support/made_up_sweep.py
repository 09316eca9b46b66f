"""Sweeps with made-up results, stored as the engine stores them."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np

from core.domain.events import Estimate
from core.sweeps.plan import Cell, Configuration, SweepFile, SweepPlan, plan_of
from core.sweeps.rows import CellResult, PartSkills
from core.sweeps.store import SweepHead, SweepStore

_HOUR_MS = 3_600_000
FAULT = "The weights became infinite in step 12. Lower the learning rate."


def made_up_plan(rates: int = 3, widths: int = 3, files: int = 2, seeds: int = 2) -> SweepPlan:
    return plan_of(
        {
            "files": [f"market-{number}.csv" for number in range(files)],
            "models": ["transformer", "gru"],
            "settings": {
                "training.learning_rate": [float(f"{0.0001 * 2.0**place:.6g}") for place in range(rates)],
                "model.width": [32 * (place + 1) for place in range(widths)],
            },
            "seeds": list(range(seeds)),
        }
    )


def cells_of(plan: SweepPlan) -> list[Cell]:
    """A grid: each configuration on each file with each seed."""
    files = [SweepFile(name, f"/data/{name}", "0" * 64, _HOUR_MS, 1500, 750 * _HOUR_MS) for name in plan.files]
    rates, widths = plan.settings.values()
    assert isinstance(rates, tuple) and isinstance(widths, tuple)
    configurations = [
        Configuration(number, model, (("training.learning_rate", rate), ("model.width", width)), number == 1)
        for number, (model, rate, width) in enumerate(product(plan.models, rates, widths), start=1)
    ]
    grid = product(configurations, files, plan.seeds)
    return [Cell(number, of, (file,), seed) for number, (of, file, seed) in enumerate(grid, start=1)]


def result_of(cell: Cell, random: np.random.Generator) -> CellResult:
    """The skill grows with the width, and is best at a middle rate."""
    rate, width = (float(value) for _key, value in cell.configuration.settings)
    skill = 0.01 + 0.0001 * width - 0.004 * abs(np.log10(rate / 0.0004)) - 0.003 * (cell.configuration.model == "gru")
    first, second = (
        PartSkills(*(_estimate(skill + 0.002 * float(random.standard_normal())) for _quantity in "cr"))
        for _part in "12"
    )
    return CellResult(f"{cell.number:064x}", 1500, first, second, ())


def _estimate(value: float) -> Estimate:
    return Estimate(value, value - 0.01, value + 0.01, 742)


def store_sweep(folder: Path, plan: SweepPlan, *, open_cells: int = 0, failed: int = 0) -> list[Cell]:
    """Store a sweep whose last `open_cells` cells wait, and whose `failed` cells before them have failed."""
    folder.mkdir(parents=True, exist_ok=True)
    cells, random = cells_of(plan), np.random.default_rng(1)
    with SweepStore(folder) as store:
        files = tuple(dict.fromkeys(file for cell in cells for file in cell.files))
        store.begin(SweepHead(plan, {}, files, {}, "1.0", "2.0"))
        store.add(cells)
        ended = cells[: len(cells) - open_cells]
        for place, cell in enumerate(ended):
            seconds = 20.0 + 0.4 * float(dict(cell.configuration.settings)["model.width"])
            if place >= len(ended) - failed:
                store.fail(cell.number, FAULT, "here", seconds)
            else:
                store.finish(cell.number, result_of(cell, random), "here", seconds)
    return cells

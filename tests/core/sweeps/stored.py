"""A sweep of simulated losses, stored as the engine stores it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from core.domain.events import Estimate
from core.forecast.score import skill
from core.sweeps.plan import Cell, Configuration, SweepFile, plan_of
from core.sweeps.rows import CellResult, LossSeries, Part, PartSkills
from core.sweeps.store import SweepHead, SweepStore
from tests.core.sweeps.simulated import MARKETS, SEEDS, sweep

FAULT = "The weights became infinite in step 12. Lower <the> learning rate."
_RATES, _WIDTHS = (0.0003, 0.001, 0.003, 0.01), (16, 32, 64)


def store_simulated(
    folder: Path, *, better: int | None = None, advantage: float = 0.0, candles: int = 600, failed: int | None = None
) -> None:
    """12 configurations, of which the first is the default; `better` counts from 1. failed: the number of a cell."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = dict(zip(Part, sweep(1, candles, None if better is None else better - 1, advantage), strict=True))
    settings = {"training.learning_rate": list(_RATES), "model.width": list(_WIDTHS)}
    plan = plan_of({"files": ["market *"], "settings": settings, "seeds": list(range(SEEDS))})
    files = tuple(SweepFile(f"market {n}", f"/data/{n}", "0" * 64, 60_000, 2 * candles, 0) for n in range(MARKETS))
    configurations = [
        Configuration(number, "transformer", (("training.learning_rate", rate), ("model.width", width)), number == 1)
        for number, (rate, width) in enumerate(product(_RATES, _WIDTHS), start=1)
    ]
    cells = [
        Cell(number, of, (file,), seed)
        for number, (of, file, seed) in enumerate(product(configurations, files, range(SEEDS)), start=1)
    ]
    with SweepStore(folder) as store:
        store.begin(SweepHead(plan, {}, files, {}, "1.0", "2.0"))
        store.add(cells)
        for cell in cells:
            seconds = 10.0 + 0.5 * float(dict(cell.configuration.settings)["model.width"])
            if cell.number == failed:
                store.fail(cell.number, FAULT, "here", seconds)
            else:
                store.finish(cell.number, _result(cell, parts), "here", seconds)


def _result(cell: Cell, parts: dict[Part, dict[int, list[LossSeries]]]) -> CellResult:
    losses = [
        (part, replace(series, cell=cell.number))
        for part, of in parts.items()
        for series in of[cell.configuration.number - 1]
        if (series.file, series.seed) == (cell.files[0].name, cell.seed)
    ]
    first, second = (_skills(series) for _, series in losses)
    return CellResult(f"{cell.number:064x}", cell.files[0].candles, first, second, tuple(losses))


def _skills(series: LossSeries) -> PartSkills:
    def of(forecast: np.ndarray, reference: np.ndarray) -> Estimate:
        return skill(forecast.astype(np.float64), reference.astype(np.float64))

    return PartSkills(
        of(series.forecast_close, series.reference_close), of(series.forecast_range, series.reference_range)
    )

"""The page of one cell of a sweep: its settings, its skills on both parts, and how they came about over time."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
from jinja2 import Template

from core.domain.dates import utc_text
from core.domain.events import Estimate
from core.evaluation.report import svg
from core.evaluation.report.figures import measured, percent
from core.evaluation.report.page import page_environment
from core.files.durable import write_durably
from core.sweeps.plan import shown
from core.sweeps.rows import CellRow, CellState, LossArray, LossSeries, Part
from core.sweeps.store import SweepStore

FOLDER = "cells"
"""Of the pages, in the sweep's folder."""
_MOST_POINTS = 700
_DAYS = 5
_TITLES = {Part.FIRST: "first part, which chooses", Part.SECOND: "second part, which judges"}


def write_cell_report(folder: Path, number: int) -> Path:
    """The path of the page. Raises SweepError, and OSError if it cannot be written."""
    with SweepStore(folder, readonly=True) as store:
        cell = store.read_cell(number)
        losses = {part: _own(store, cell, part) for part in Part}
    path = folder / FOLDER / f"cell-{number}.html"
    path.parent.mkdir(exist_ok=True)
    write_durably(path, cell_page(folder.resolve().name, cell, losses).encode(), is_private=False)
    return path


def cell_page(sweep: str, cell: CellRow, losses: dict[Part, tuple[LossSeries, ...]]) -> str:
    """The complete HTML file."""
    charts = [
        (f"{series.file}, {_TITLES[part]}", chart)
        for part, those in losses.items()
        for place, series in enumerate(those)
        if (chart := _reduction(series, f"{part.value}-{place}")) is not None
    ]
    return _template().render(
        sweep=sweep, cell=cell, facts=_facts(cell), skills=_skills(cell), charts=charts, is_failed=_has_failed(cell)
    )


def _own(store: SweepStore, cell: CellRow, part: Part) -> tuple[LossSeries, ...]:
    return tuple(each for each in store.losses(cell.configuration.number, part) if each.cell == cell.number)


def _has_failed(cell: CellRow) -> bool:
    return cell.state is CellState.FAILED


def _facts(cell: CellRow) -> list[tuple[str, str]]:
    facts = [("model", cell.model), *((key, shown(value)) for key, value in cell.settings)]
    facts += [("file", ", ".join(cell.files)), ("seed", str(cell.seed)), ("state", cell.state.value)]
    if cell.candles is not None:
        facts.append(("candles", f"{cell.candles:,}"))
    if cell.seconds is not None:
        facts.append(("time", f"{cell.seconds:,.1f} s, on {cell.worker}"))
    if cell.digest is not None:
        facts.append(("sha256 of the forecasts", cell.digest))
    return facts


def _skills(cell: CellRow) -> list[tuple[str, str, str]]:
    parts = zip(Part, (cell.first, cell.second), strict=True)
    return [(_TITLES[part], _skill(of.close), _skill(of.range)) for part, of in parts if of is not None]


def _skill(of: Estimate) -> str:
    return measured(of.value, of.ci95, of.n)


def _reduction(series: LossSeries, key: str) -> Element | None:
    """How much of the reference's loss was saved up to each candle; each curve ends at the skill."""
    curves = [
        ("range", "baseline", _saved(series.forecast_range, series.reference_range)),
        ("close", "combination", _saved(series.forecast_close, series.reference_close)),
    ]
    known = [(name, kind, values) for name, kind, values in curves if values is not None]
    if len(series) < 2 or not known:
        return None
    rows = np.unique(np.linspace(0, len(series) - 1, _MOST_POINTS).astype(int))
    across = svg.across(0.0, float(len(series) - 1))
    upward = svg.upward([0.0, *(float(end) for *_, values in known for end in (values.min(), values.max()))])
    ends = "; ".join(f"{name} ends at {percent(float(values[-1]))}" for name, _, values in known)
    drawn = [
        *svg.scale_left(upward, percent, "of the loss of “no change”"),
        *svg.scale_below(across, _days(series), "UTC"),
        svg.line(svg.LEFT, upward.at(0.0), svg.RIGHT, upward.at(0.0), "zero"),
        *(
            svg.curve([(across.at(float(row)), upward.at(float(values[row]))) for row in rows], f"curve {kind}")
            for _, kind, values in known
        ),
        *svg.legend((name, f"curve {kind}") for name, kind, _ in known),
    ]
    return svg.chart(key, f"Loss reduction over time, {series.file}", f"{ends}; n = {len(series):,}.", drawn)


def _saved(loss: LossArray, reference: LossArray) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """None for a reference without a loss."""
    total = float(reference.sum(dtype=np.float64))
    return np.cumsum(reference.astype(np.float64) - loss) / total if total > 0.0 else None


def _days(series: LossSeries) -> list[tuple[float, str]]:
    rows = np.unique(np.linspace(0, len(series) - 1, _DAYS).astype(int))
    return [(float(row), utc_text(int(series.target_open_time_ms[row]), "%Y-%m-%d")) for row in rows]


@cache
def _template() -> Template:
    return page_environment().get_template("sweep_cell.html")

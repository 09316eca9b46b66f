"""The page of a sweep: `report.html` in its folder, without a script and with nothing from the network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Template

from core.domain.counts import counted
from core.domain.events import Estimate
from core.evaluation.report.figures import between, percent
from core.evaluation.report.page import page_environment
from core.files.durable import write_durably
from core.sweeps import report_charts, verdict_text
from core.sweeps.points import Point, points_of
from core.sweeps.rows import CellRow, CellState, Part
from core.sweeps.store import SweepStore
from core.sweeps.winner import Standing, Verdict, judge_sweep

FILE_NAME = "report.html"
HEADER = ("settings", "skill, first part", "skill, second part", "edge over the default", "may be the best", "s a cell")
_MISSING = "–"


@dataclass(frozen=True, slots=True)
class SweepFigures:
    """first, second: the configurations by their numbers, with the skills of each part."""

    name: str
    verdict: Verdict
    cells: tuple[CellRow, ...]
    first: tuple[Point, ...]
    second: tuple[Point, ...]

    def rows(self) -> list[tuple[str, ...]]:
        """The cells under HEADER: what may be the best first, then by skill on the second part."""
        standings = {standing.configuration: standing for standing in self.verdict.standings}
        pairs = sorted(zip(self.first, self.second, strict=True), key=lambda pair: _order(pair, standings))
        labels = self.labels()
        return [self._row(labels[of.number], of, second, standings.get(of.number)) for of, second in pairs]

    def _row(self, label: str, first: Point, second: Point, standing: Standing | None) -> tuple[str, ...]:
        edge = _MISSING if standing is None else self._edge(standing)
        seconds = _MISSING if first.seconds is None else f"{first.seconds:,.1f}"
        return label, _skill(first), _skill(second), edge, _in_set(standing), seconds

    def _edge(self, standing: Standing) -> str:
        return "the default" if standing.configuration == self.verdict.default else _measured(standing.edge)

    def labels(self) -> dict[int, str]:
        """Of each configuration, with the number under which the plots show it."""
        configurations = {cell.configuration.number: cell.configuration.text for cell in self.cells}
        return {number: f"{number}: {text}" for number, text in sorted(configurations.items())}

    def progress(self) -> str:
        done, failed = (sum(cell.state is state for cell in self.cells) for state in (CellState.DONE, CellState.FAILED))
        text = f"{counted(len(self.cells), 'cell')}, {done:,} done, {failed:,} failed"
        return text if done + failed == len(self.cells) else f"{text}; the others have not ended yet"

    def failures(self) -> list[tuple[str, ...]]:
        return [
            (str(cell.number), cell.configuration.text, ", ".join(cell.files), str(cell.seed), cell.sentence)
            for cell in self.cells
            if cell.state is CellState.FAILED
        ]


def _order(pair: tuple[Point, Point], standings: dict[int, Standing]) -> tuple[bool, float]:
    standing, skill = standings.get(pair[0].number), pair[1].skill
    return not (standing is not None and standing.in_set), float("inf") if skill is None else -skill


def _skill(point: Point) -> str:
    return _MISSING if point.skill is None else percent(point.skill)


def _measured(edge: Estimate) -> str:
    if edge.value is None or edge.ci95 is None:
        return _MISSING
    return f"{percent(edge.value)} ({between(edge.ci95)})"


def _in_set(standing: Standing | None) -> str:
    if standing is None or standing.in_set is None:
        return _MISSING
    return "yes" if standing.in_set else "no"


def read_figures(folder: Path) -> SweepFigures:
    """Of a sweep that is running or has ended. Takes seconds. Raises SweepError."""
    with SweepStore(folder, readonly=True) as store:
        verdict, cells = judge_sweep(store), store.read_cells()
    return SweepFigures(folder.resolve().name, verdict, cells, *(points_of(cells, part) for part in Part))


def write_page(folder: Path, figures: SweepFigures) -> Path:
    """The path of the page. Raises OSError."""
    path = folder / FILE_NAME
    write_durably(path, page(figures).encode())
    return path


def page(figures: SweepFigures) -> str:
    """The complete HTML file: the same bytes for the same sweep. Any text may be in it."""
    return _template().render(figures=figures, verdict=figures.verdict)


@cache
def _template() -> Template:
    environment = page_environment()
    environment.globals |= {"charts": report_charts, "texts": verdict_text, "HEADER": HEADER}
    return environment.get_template("sweep.html")

"""Sentences about a sweep: its progress, a cell, and what choosing its settings is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.sweeps.estimate import Rate, seconds_for, table_bytes, temporary_bytes
from core.sweeps.grid import Extent
from core.sweeps.plan import Configuration, SweepPlan
from core.sweeps.points import Point
from core.sweeps.rows import CellRow, CellState
from core.sweeps.verdict_text import EXPLAINED, points
from core.sweeps.winner import Verdict
from desktop.checkpoints.columns import format_bytes
from desktop.services.sweep_judge import Judged
from desktop.services.sweep_reader import FoundSweep
from desktop.state.job_list import Job
from desktop.sweeps.names import axis_title, value_text
from desktop.sweeps.table import percent, state_text
from desktop.ui.formatting import format_count, format_duration, format_number
from desktop.ui.translation import translate

_SHOWN_NOTES = 2
"""Of the notes on the verdict; the others are in its tooltip."""


def progress_text(cells: Sequence[CellRow], most: int, job: Job | None) -> str:
    """``12 of 24 cells done, 1 failed · 3 min left``. most: with the cells that Optuna may still propose."""
    counts = Counter(cell.state for cell in cells)
    done = format_count(counts[CellState.DONE])
    known, at_most = translate("Sweeps", "{0} of {1} cells done"), translate("Sweeps", "{0} of at most {1} cells done")
    parts = [(known if most == len(cells) else at_most).format(done, format_count(most))]
    if counts[CellState.FAILED]:
        parts.append(translate("Sweeps", "{0} failed").format(format_count(counts[CellState.FAILED])))
    text = ", ".join(parts)
    is_open = counts[CellState.WAITING] or counts[CellState.RUNNING]
    if job is None:
        return translate("Sweeps", "{0} · not running here").format(text) if is_open else text
    left = job.report.seconds_left
    known = translate("Sweeps", "{0} left").format(format_duration(left)) if left is not None else ""
    return " · ".join(filter(None, (text, known or translate("Sweeps", "running"))))


def settings_text(of: Point | CellRow) -> str:
    """``gru, learning rate 0.001, width 64``"""
    return ", ".join([of.model, *(f"{axis_title(key).lower()} {value_text(value)}" for key, value in of.settings)])


def cells_text(cells: Sequence[CellRow], points: Sequence[Point]) -> str:
    """What is selected. points: of the part on the pictures."""
    if not cells:
        return translate("Sweeps", "Select a cell, or click a picture, for its settings and its result.")
    if len(cells) == 1:
        return _cell_text(cells[0])
    number = cells[0].configuration.number
    count = translate("Sweeps", "{0} cells").format(format_count(len(cells)))
    if any(cell.configuration.number != number for cell in cells):
        return translate("Sweeps", "{0} of several settings.").format(count)
    skill = next((point.skill for point in points if point.number == number), None)
    text = translate("Sweeps", "{0} with {1}.").format(count, settings_text(cells[0]))
    if skill is None:
        return text
    mean = translate("Sweeps", "Mean skill {0} %.").format(format_number(100.0 * skill, 2, signed=True))
    return f"{text} {mean}"


def _cell_text(cell: CellRow) -> str:
    where = translate("Sweeps", "Cell {0}: {1}, on {2}, seed {3}").format(
        format_count(cell.number), settings_text(cell), ", ".join(cell.files), cell.seed
    )
    if cell.state is CellState.FAILED:
        return translate("Sweeps", "{0}. It failed: {1}").format(where, cell.sentence)
    if cell.second is None:
        return f"{where}: {state_text(cell)}."
    result = translate("Sweeps", "On the second part close {0} %, range {1} %").format(
        percent(cell.second.close), percent(cell.second.range)
    )
    return f"{where}. {result}."


def extent_text(extent: Extent, plan: SweepPlan, workers: int, rate: Rate) -> str:
    """``24 cells: 6 settings on 2 files with 2 seeds. About 12 min on 2 workers (a guess …), 3 MB of disk.``"""
    cells, settings = format_count(extent.cells), format_count(extent.configurations)
    runs = extent.cells // max(extent.configurations * len(plan.seeds), 1)
    files = translate("Sweeps", "all files together") if plan.together else _files(runs)
    seeds = len(plan.seeds)
    of_seeds = translate("Sweeps", "1 seed") if seeds == 1 else translate("Sweeps", "{0} seeds").format(seeds)
    text = translate("Sweeps", "{0} cells: {1} settings on {2} with {3}.").format(cells, settings, files, of_seeds)
    at_once = min(workers, extent.cells)
    took = format_duration(seconds_for(extent.candles, at_once, rate))
    disk = format_bytes(table_bytes(extent) + temporary_bytes(extent, workers))
    needs = translate("Sweeps", "About {0} on {1} cores ({2}), and at most {3} of disk.")
    return f"{text} {needs.format(took, at_once, rate.source, disk)}"


def _files(count: int) -> str:
    return translate("Sweeps", "1 file") if count == 1 else translate("Sweeps", "{0} files").format(format_count(count))


def verdict_texts(found: FoundSweep | None, judged: Judged | None) -> tuple[str, str]:
    """What the sweep has proven, and details for a tooltip."""
    if found is None or not found.table.cells:
        return "", ""
    if not found.is_over:
        return translate("Sweeps", "The verdict follows once all cells have ended."), EXPLAINED
    if judged is None:
        return translate("Sweeps", "Comparing the settings…"), EXPLAINED
    if judged.verdict is None:
        return judged.trouble, EXPLAINED
    notes = judged.verdict.notes
    return " ".join((judged.verdict.sentence, *notes[:_SHOWN_NOTES])), "\n".join((*notes[_SHOWN_NOTES:], EXPLAINED))


def proof_text(judged: Judged | None, of: Configuration) -> str:
    """What is proven of a configuration that is about to be used, and what is not."""
    elsewhere = translate("Sweeps", "Of other markets and times the sweep says nothing.")
    return f"{_proof(None if judged is None else judged.verdict, of)} {elsewhere}"


def _proof(verdict: Verdict | None, of: Configuration) -> str:
    if verdict is None or verdict.best is None:
        return translate("Sweeps", "Nothing is proven of these settings: the sweep has no winner.")
    if of.number == verdict.default:
        return translate("Sweeps", "They are the default of the sweep, with which the others are compared.")
    standing = next((each for each in verdict.standings if each.configuration == of.number), None)
    if standing is None:
        return translate("Sweeps", "Nothing is proven of these settings: they could not be compared.")
    edge = points(standing.edge)
    if of.number != verdict.best:
        text = translate(
            "Sweeps", "Not proven: they were not the choice of the first part. Edge over the default: {0}."
        )
        return text.format(edge)
    if not verdict.is_better:
        return translate("Sweeps", "Not proven to be better than the default: its edge is {0}.").format(edge)
    return translate("Sweeps", "Better than the default on these files: an edge of {0}.").format(edge)

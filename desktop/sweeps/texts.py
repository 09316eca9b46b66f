"""Sentences about a sweep: its progress, a cell, and what choosing its settings is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.sweeps.plan import shown
from core.sweeps.points import Point
from core.sweeps.rows import CellRow, CellState
from desktop.state.job_list import Job
from desktop.sweeps.names import axis_title
from desktop.sweeps.table import percent, state_text
from desktop.ui.formatting import format_count, format_duration, format_number
from desktop.ui.translation import translate


def progress_text(cells: Sequence[CellRow], job: Job | None) -> str:
    """``12 of 24 cells done, 1 failed · 3 min left``"""
    counts = Counter(cell.state for cell in cells)
    done = format_count(counts[CellState.DONE])
    parts = [translate("Sweeps", "{0} of {1} cells done").format(done, format_count(len(cells)))]
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
    return ", ".join([of.model, *(f"{axis_title(key).lower()} {shown(value)}" for key, value in of.settings)])


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

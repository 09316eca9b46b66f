"""The configurations of a sweep as points of its pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.domain.quantities import FloatArray
from core.sweeps.plan import NamedValues, Scalar
from core.sweeps.rows import CellRow, Part, PartSkills

MODEL = "model"
"""The axis of the models; those of settings have their dotted keys."""


@dataclass(frozen=True, slots=True)
class Point:
    """A configuration, with the means of its cells that ended well. number: the configuration's; skill: None before the
    first of them; seconds: of one cell."""

    number: int
    model: str
    settings: NamedValues
    skill: float | None
    seconds: float | None

    def value(self, name: str) -> Scalar:
        return self.model if name == MODEL else dict(self.settings)[name]


def skill_of(cell: CellRow, part: Part) -> float | None:
    """Of close and range in equal parts, as the winner is chosen; None while one of them is unknown."""
    skills = cell.first if part is Part.FIRST else cell.second
    return None if skills is None else _mean(_values(skills))


def points_of(cells: Iterable[CellRow], part: Part) -> tuple[Point, ...]:
    """By their numbers."""
    by_number: dict[int, list[CellRow]] = {}
    for cell in cells:
        by_number.setdefault(cell.configuration.number, []).append(cell)
    return tuple(_point(own, part) for _number, own in sorted(by_number.items()))


def _point(cells: Sequence[CellRow], part: Part) -> Point:
    of = cells[0].configuration
    skill = _mean([skill_of(cell, part) for cell in cells if cell.first is not None])
    return Point(of.number, of.model, of.settings, skill, _mean([cell.seconds for cell in cells if cell.first]))


def _values(skills: PartSkills) -> list[float | None]:
    return [skills.close.value, skills.range.value]


def _mean(values: Sequence[float | None]) -> float | None:
    """None without values, or if one of them is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def axis_names(points: Sequence[Point]) -> tuple[str, ...]:
    """The settings with more than one value, in the plan's order; the model, if there are several, comes last."""
    if not points:
        return ()
    names = (*dict(points[0].settings), MODEL)
    return tuple(name for name in names if len({point.value(name) for point in points}) > 1)


def ordered_values(points: Sequence[Point], name: str) -> tuple[Scalar, ...]:
    """All values of a setting: numbers by size, words in the order of the points."""
    values = dict.fromkeys(point.value(name) for point in points)
    are_numbers = all(isinstance(value, int | float) for value in values)
    return tuple(sorted(values)) if are_numbers else tuple(values)


def grid_of(points: Sequence[Point], across: str, up: str) -> FloatArray:
    """The mean skill for each pair of values, NaN where there is none: [value across, value up]."""
    columns, rows = (
        {value: place for place, value in enumerate(ordered_values(points, name))} for name in (across, up)
    )
    sums, counts = np.zeros((len(columns), len(rows))), np.zeros((len(columns), len(rows)))
    for point in points:
        if point.skill is not None:
            place = columns[point.value(across)], rows[point.value(up)]
            sums[place] += point.skill
            counts[place] += 1
    means: FloatArray = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return means

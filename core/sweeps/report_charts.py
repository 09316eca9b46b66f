"""The plots of a sweep's page, each as one SVG element, or None if there is nothing to draw."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from xml.etree.ElementTree import Element

import numpy as np

from core.domain.quantities import FloatArray
from core.evaluation.report import svg
from core.evaluation.report.figures import between, percent
from core.sweeps.plan import Scalar, shown
from core.sweeps.points import Point, axis_names, grid_of, ordered_values
from core.sweeps.winner import Verdict

_MOST_MAPS = 3
_MOST_VALUES = 16
_FULL_ENOUGH = 0.5
"""Share of the pairs of values with a skill, from which a map shows more than parallel coordinates do."""
_FAINTEST, _STRONGEST = 0.08, 0.85
_MOST_LABELS = 6
_MOST_EDGES = 24


def heat_maps(points: Sequence[Point]) -> list[tuple[str, Element]]:
    """A title and a map for each of the first pairs of settings whose values were mostly combined, as in a grid."""
    found: list[tuple[str, Element]] = []
    for across, up in combinations(axis_names(points), 2):
        means = grid_of(points, across, up)
        if max(means.shape) <= _MOST_VALUES and np.isfinite(means).mean() >= _FULL_ENOUGH:
            found.append((f"{up} over {across}", _heat_map(points, across, up, means, len(found))))
    return found[:_MOST_MAPS]


def _heat_map(points: Sequence[Point], across: str, up: str, means: FloatArray, number: int) -> Element:
    columns, lines = (ordered_values(points, name) for name in (across, up))
    width, height = (svg.RIGHT - svg.LEFT) / len(columns), (svg.BOTTOM - svg.TOP) / len(lines)
    drawn = [svg.label(svg.LEFT, svg.TOP - 22.0, up, "start", "axis")]
    described = []
    for column, line in zip(*np.nonzero(np.isfinite(means)), strict=True):
        text = percent(float(means[column, line]))
        x, y = svg.LEFT + width * column, svg.BOTTOM - height * (line + 1)
        opacity = _opacity(means, float(means[column, line]))
        drawn.append(_tile(x + 1.0, y + 1.0, width - 2.0, height - 2.0, opacity))
        drawn.append(svg.label(x + width / 2.0, y + height / 2.0 + 4.0, text, class_=_ink(opacity)))
        described.append(f"{shown(columns[column])}, {shown(lines[line])}: {text}")
    drawn += [
        svg.label(svg.LEFT - 8.0, svg.BOTTOM - height * (place + 0.5) + 4.0, shown(value), "end")
        for place, value in enumerate(lines)
    ]
    axis = svg.across(-0.5, len(columns) - 0.5)
    drawn += svg.scale_below(axis, [(float(place), shown(value)) for place, value in enumerate(columns)], across)
    return svg.chart(f"map-{number}", f"Skill by {across} and {up}", "; ".join(described) + ".", drawn)


def _tile(x: float, y: float, width: float, height: float, opacity: float) -> Element:
    shade = f"{opacity:.2f}"
    return svg.node("rect", x=x, y=y, width=width, height=height, fill_opacity=shade, class_="bar combination")


def _opacity(means: FloatArray, value: float) -> float:
    low, high = float(np.nanmin(means)), float(np.nanmax(means))
    return _FAINTEST + (_STRONGEST - _FAINTEST) * ((value - low) / (high - low) if high > low else 0.5)


def _ink(opacity: float) -> str:
    return "value" if opacity < 0.5 else "on-bar"


def parallel(points: Sequence[Point], verdict: Verdict) -> Element | None:
    """An axis for each setting and one for the skill; a line for each configuration."""
    names, known = axis_names(points), [point for point in points if point.skill is not None]
    if not names or not known:
        return None
    skills = [point.skill for point in known if point.skill is not None]
    upward = svg.upward(skills)
    across = svg.across(-0.3, len(names) + 0.3)
    drawn = [svg.line(x, svg.TOP, x, svg.BOTTOM, "zero") for x in map(across.at, range(len(names) + 1))]
    in_set = {standing.configuration for standing in verdict.standings if standing.in_set}
    for point in sorted(known, key=lambda each: (each.number == verdict.best, each.number in in_set)):
        assert point.skill is not None
        places = [(across.at(float(place)), _height(points, name, point)) for place, name in enumerate(names)]
        places.append((across.at(float(len(names))), upward.at(point.skill)))
        drawn.append(svg.curve(places, _line_class(point, in_set, verdict)))
    drawn += [*_axis_labels(points, names, across), *_skill_labels(upward, across.at(float(len(names))))]
    drawn += svg.legend(_LEGEND)
    described = f"{len(known):,} configurations; the skill is from {percent(min(skills))} to {percent(max(skills))}."
    return svg.chart("parallel", "Settings and skill, one line for each configuration", described, drawn)


_LEGEND = (("chosen", "curve model"), ("may be the best", "curve combination"), ("others", "curve faint"))


def _line_class(point: Point, in_set: set[int], verdict: Verdict) -> str:
    if point.number == verdict.best:
        return "curve model"
    return "curve combination" if point.number in in_set else "curve faint"


def _axis_labels(points: Sequence[Point], names: Sequence[str], across: svg.Axis) -> list[Element]:
    drawn = []
    for place, name in enumerate(names):
        x, values = across.at(float(place)), ordered_values(points, name)
        drawn.append(svg.label(x, svg.BOTTOM + 24.0, name, class_="axis"))
        named = values if len(values) <= _MOST_LABELS else (values[0], values[-1])
        drawn += [svg.label(x - 6.0, _of_value(values, value) + 4.0, shown(value), "end", "on-line") for value in named]
    return drawn


def _skill_labels(upward: svg.Axis, x: float) -> list[Element]:
    ticks = [svg.label(x + 8.0, upward.at(value) + 4.0, percent(value), "start") for value in upward.ticks()]
    return [svg.label(x, svg.BOTTOM + 24.0, "skill", class_="axis"), *ticks]


def _height(points: Sequence[Point], name: str, point: Point) -> float:
    return _of_value(ordered_values(points, name), point.value(name))


def _of_value(values: Sequence[Scalar], value: Scalar) -> float:
    """Evenly spaced in their order, as in the window: a range of rates spans decades."""
    share = values.index(value) / (len(values) - 1) if len(values) > 1 else 0.5
    return svg.Axis(-0.06, 1.06, svg.BOTTOM, svg.TOP).at(share)


def skill_and_cost(points: Sequence[Point], verdict: Verdict) -> Element | None:
    """A dot for each configuration: the seconds of a cell, and its skill."""
    known = [(point, point.seconds, point.skill) for point in points if point.seconds and point.skill is not None]
    if not known:
        return None
    upward = svg.upward([skill for _, _, skill in known])
    across = svg.across(0.0, 1.08 * max(seconds for _, seconds, _ in known))
    drawn = [
        *svg.scale_left(upward, percent, "skill on the second part"),
        *svg.scale_below(across, [(value, f"{value:g}") for value in across.ticks()], "seconds a cell"),
    ]
    in_set = {standing.configuration for standing in verdict.standings if standing.in_set}
    for point, seconds, skill in known:
        kind = _line_class(point, in_set, verdict).replace("curve", "dot")
        drawn.append(svg.node("circle", cx=across.at(seconds), cy=upward.at(skill), r=4.5, class_=kind))
    for point, seconds, skill in known:
        names = [*(["chosen"] * (point.number == verdict.best)), *(["default"] * (point.number == verdict.default))]
        if names:
            drawn.append(svg.label(across.at(seconds), upward.at(skill) - 9.0, ", ".join(names), class_="value"))
    described = "; ".join(f"{seconds:,.1f} s: {percent(skill)}" for _, seconds, skill in known[:_MOST_EDGES])
    return svg.chart("cost", "Skill against cost", f"{described}.", drawn)


def edges(verdict: Verdict, labels: dict[int, str]) -> Element | None:
    """The edge over the default of each configuration with its interval, the best first."""
    known = [
        standing for standing in verdict.standings if standing.edge.ci95 and standing.configuration != verdict.default
    ]
    if not known or len(known) > _MOST_EDGES:
        return None
    known.sort(key=lambda standing: -(standing.edge.value or 0.0))
    limits = [limit for standing in known for limit in standing.edge.ci95 or ()]
    upward = svg.upward([0.0, *limits], 0.1)
    across = svg.across(-0.5, len(known) - 0.5)
    zero = upward.at(0.0)
    drawn = [
        *svg.scale_left(upward, percent, "edge over the default, with its 95 % interval"),
        *svg.scale_below(
            across, [(float(n), str(of.configuration)) for n, of in enumerate(known)], "number in the table"
        ),
        svg.line(svg.LEFT, zero, svg.RIGHT, zero, "zero"),
    ]
    for place, standing in enumerate(known):
        x, edge = across.at(float(place)), standing.edge
        assert edge.value is not None and edge.low is not None and edge.high is not None
        kind = "model" if standing.configuration == verdict.best else "combination" if standing.in_set else "faint"
        drawn += svg.whisker(x, upward.at(edge.low), upward.at(edge.high), f"curve {kind}")
        drawn.append(svg.node("circle", cx=x, cy=upward.at(edge.value), r=4.5, class_=f"dot {kind}"))
    described = "; ".join(
        f"{labels[of.configuration]}: {percent(of.edge.value or 0.0)}, {between(of.edge.ci95 or [])}" for of in known
    )
    return svg.chart("edges", "Edges over the default", f"{described}.", drawn)

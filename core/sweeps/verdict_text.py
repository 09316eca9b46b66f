"""The verdict of a sweep in sentences, the same in the window, in the terminal and on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from core.domain.counts import counted
from core.domain.events import Estimate
from core.evaluation.report.figures import between, percent, printable
from core.forecast.sample_sizes import FEWEST_FOR_AN_EDGE
from core.sweeps.best_of_many import MOST_IN_A_SET, SIZE

if TYPE_CHECKING:
    from core.sweeps.winner import SeedEdge

EXPLAINED = (
    "The best setting is chosen on the first part of the candles and judged on the second, one candle ahead, close and "
    "range in equal parts. Skill: the relative reduction of the loss against “no change”; edge: the skill less that of "
    "the default. Brackets hold 95 % intervals for a single look, from a block bootstrap. Markets with the same times "
    "are one observation; the losses of several seeds are averaged."
)

TABLE_EXPLAINED = (
    "May be the best: in the model confidence set, which holds the best setting in 95 of 100 sweeps. A skill is the "
    "mean over all cells of the setting; an edge is of the candles that all settings share. s a cell: mean seconds of "
    "its cells on the machines that computed them."
)
_NAMED = 3
"""The most settings that a headline names."""


def points(edge: Estimate) -> str:
    """A difference of two skills with its interval."""
    if edge.value is None or edge.ci95 is None:
        return "not measured"
    return f"{percent(edge.value).replace(' %', ' points')} ({between(edge.ci95)})"


def proof(edge: Estimate) -> str:
    if edge.low is None or edge.high is None or edge.low <= 0.0 <= edge.high:
        return "not proven"
    return "proven" if edge.low > 0.0 else "proven to be worse"


def headline(in_set: Sequence[str] | None, compared: int, best: str, edge: Estimate | None) -> str:
    """in_set: the labels of the settings that may be the best; None: not determined. best: of the chosen one. edge:
    its over the default; None if the default was chosen."""
    is_outside = in_set is not None and best not in in_set
    outside = " It is proven not to be the best on the second part." if is_outside else ""
    return f"{_in_set(in_set, compared)} {_edge(edge)}{outside}"


def _in_set(in_set: Sequence[str] | None, compared: int) -> str:
    if in_set is None:
        return f"Which of the {compared:,} settings are indistinguishable is determined for at most {MOST_IN_A_SET}."
    if len(in_set) == compared:
        return f"The {compared:,} settings are indistinguishable."
    if len(in_set) == 1:
        return f"Of {compared:,} settings one is proven to be the best: {printable(in_set[0])}."
    named = f": {'; '.join(map(printable, in_set))}" if len(in_set) <= _NAMED else ""
    return f"Of {compared:,} settings {len(in_set):,} may be the best and are indistinguishable{named}."


def _edge(edge: Estimate | None) -> str:
    if edge is None:
        return "The default was chosen."
    return f"The chosen one's edge over the default is {points(edge)}: {proof(edge)}."


def notes(
    best: str, default: str, parts: tuple[int, int], any_better_p: float | None, seeds: Sequence[SeedEdge]
) -> tuple[str, ...]:
    """What a reader of the headline should know. best: of the chosen one; parts: their candles; seeds: empty if the
    default was chosen."""
    first, second = (counted(n, "candle") for n in parts)
    against = "" if best == default else f" against the default: {printable(default)}"
    chosen = f"Chosen on {first}: {printable(best)}. Judged on {second}{against}."
    return chosen, _bound(any_better_p), *([_of_seeds(seeds)] if seeds else [])


def _bound(p: float | None) -> str:
    if p is None:
        return "All settings lose exactly what the default loses: none has an effect."
    value = "p below 0.001" if p < 0.001 else f"p = {p:.3f}"
    proven = "is proven, however many were tried" if p <= SIZE else "is not proven, given how many were tried"
    return f"That any of them, whichever it is, beats the default on the second part {proven} ({value})."


def _of_seeds(seeds: Sequence[SeedEdge]) -> str:
    if len(seeds) == 1:
        return "All of one seed: another seed may give another order. Three or more show how much."
    ahead = sum(1 for each in seeds if each.edge.value is not None and each.edge.value > 0.0)
    return f"The edge is above zero with {ahead:,} of {len(seeds):,} seeds."


def not_compared(reasons: Mapping[int, str], labels: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(f"Not compared: {printable(labels[number])}, as {reason}." for number, reason in reasons.items())


OVERLAP = (
    "The first part of one file has times of the second part of another, so that the choice knew some of what judges "
    "it. To divide all files at once, name a date as first_part."
)


def too_few(n: int) -> str:
    return (
        f"No winner is named: the smaller part has {counted(n, 'candle')} that all settings share, and "
        f"{FEWEST_FOR_AN_EDGE} are needed. Sweep over more candles."
    )

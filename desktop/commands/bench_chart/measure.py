"""What a measure is, and how many of them are taken: in turns over all sizes, so that the machine's mood hits alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from desktop.commands.bench_chart.rig import Rig

_WARM_UP = 10


class Measure(Protocol):
    """One thing that a user does or sees."""

    name: str
    """Its key in the report, with the unit."""

    def prepare(self, rig: Rig) -> None:
        """Bring the chart to where the measure begins."""
        ...

    def sample_ms(self, rig: Rig, turn: int) -> float:
        """Do it once. `turn` counts from 0; the same turn does the same on every rig."""
        ...


@dataclass(slots=True)
class Figure:
    """The samples of one measure on one chart."""

    samples_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    closed_paints: int = 0
    """How often the closed candles were painted in them."""

    def summary(self) -> dict[str, float | int]:
        """Percentiles in milliseconds, on the wall's clock; `cpu_p99` is of the time that a core worked for it."""
        p50, p99 = np.percentile(self.samples_ms, [50.0, 99.0])
        return {
            "p50": float(p50),
            "p99": float(p99),
            "max": max(self.samples_ms),
            "cpu_p99": float(np.percentile(self.cpu_ms, 99.0)),
            "samples": len(self.samples_ms),
            "closed_paints": self.closed_paints,
        }


def take(measure: Measure, rigs: Sequence[Rig], repeats: int, seed: int = 0) -> dict[int, Figure]:
    """`repeats` samples on each rig, by its count of candles. Each turn goes over all rigs in a new order."""
    figures = {rig.count: Figure() for rig in rigs}
    order = np.random.default_rng(seed)
    for rig in rigs:
        measure.prepare(rig)
    for turn in range(_WARM_UP + repeats):
        for index in order.permutation(len(rigs)).tolist():
            _sample(measure, rigs[index], turn, figures[rigs[index].count])
    return figures


def _sample(measure: Measure, rig: Rig, turn: int, figure: Figure) -> None:
    taken_ms = measure.sample_ms(rig, turn)
    if turn >= _WARM_UP:
        figure.samples_ms.append(taken_ms)
        figure.cpu_ms.append(rig.cpu_ms)
        figure.closed_paints += rig.closed_paints

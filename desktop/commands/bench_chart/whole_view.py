"""All candles in view: they come at once, from half of them, or are there while something else happens."""

from __future__ import annotations

from desktop.commands.bench_chart.measure import Measure
from desktop.commands.bench_chart.rig import MeasureError, Rig

_FAR_OUT = 1e-12


class WholeView:
    """From the call of `zoom` to the paint: other groups, another price range, everything redrawn."""

    name = "all_ms"

    def prepare(self, rig: Rig) -> None:
        rig.show_newest()

    def sample_ms(self, rig: Rig, turn: int) -> float:
        rig.chart.zoom(_FAR_OUT)
        rig.chart.zoom(2.0 + 0.01 * (turn % 7))
        rig.settle()
        taken_ms = rig.timed_ms(lambda: rig.chart.zoom(_FAR_OUT))
        _check(rig)
        return taken_ms


class AllInView:
    """Another measure, taken while all candles are in view."""

    def __init__(self, measure: Measure, name: str) -> None:
        self._measure, self.name = measure, name

    def prepare(self, rig: Rig) -> None:
        self._measure.prepare(rig)

    def sample_ms(self, rig: Rig, turn: int) -> float:
        rig.chart.zoom(_FAR_OUT)  # untimed: a candle that closed has pushed the first one out
        rig.settle()
        _check(rig)
        return self._measure.sample_ms(rig, turn)


def _check(rig: Rig) -> None:
    frame, count = rig.chart.frame, len(rig.series)
    if (frame.first, frame.stop) != (0, count):
        raise MeasureError(f"Only {frame.stop - frame.first} of {count} candles came into view; no figure is given.")

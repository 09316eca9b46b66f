"""What is measured: things that a user does or sees on the chart, in turns over all sizes, so that the machine's mood
hits alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from PySide6.QtCore import QEvent

from tests.benchmarks.chart import scenario
from tests.benchmarks.chart.rig import HEIGHT, IN_VIEW, WIDTH, MeasureError, Rig

_LEFT, _RIGHT, _STEP = 300, 1300, 9
"""Of a drag, in pixels."""
_HELD_AT = 0.6 * HEIGHT
"""Inside a pane, also with everything switched on: on its edge a drag would move that edge."""
_FAR_OUT = 1e-12
_WARM_UP = 10


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing that a user does or sees."""

    name: str
    """Its key in the report, with the unit."""
    sample_ms: Callable[[Rig, int], float]
    """Does it once. The turn counts from 0; the same turn does the same on every rig."""
    prepare: Callable[[Rig], None] = Rig.show_newest
    """Brings the chart to where the measure begins."""


@dataclass(slots=True)
class Figure:
    """The samples of one measure on one chart."""

    samples_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    closed_paints: int = 0
    """How often the closed candles were painted in them."""

    def summary(self) -> dict[str, float | int]:
        """Percentiles in milliseconds, on the wall's clock; `cpu_…` are of the time that a core worked for it."""
        p50, p99 = np.percentile(self.samples_ms, [50.0, 99.0])
        return {
            "p50": float(p50),
            "p99": float(p99),
            "max": max(self.samples_ms),
            "cpu_p50": float(np.percentile(self.cpu_ms, 50.0)),
            "cpu_p99": float(np.percentile(self.cpu_ms, 99.0)),
            "samples": len(self.samples_ms),
            "closed_paints": self.closed_paints,
        }


def _tick(rig: Rig, turn: int) -> float:
    candle = rig.ticks[(turn + 1) % len(rig.ticks)]
    return rig.timed_ms(lambda: rig.chart.set_forming(candle))


def _move_cursor(rig: Rig, turn: int) -> float:
    """Over the plot in slants, a pixel row never twice in a row."""
    x, y = 40 + 37 * turn % (WIDTH - 200), 30 + 23 * turn % (HEIGHT - 90)
    return rig.timed_ms(lambda: rig.point_at(x, y))


def _hold_plot(rig: Rig) -> None:
    rig.show_newest()
    rig.point_at(_LEFT, _HELD_AT)
    rig.point_at(_LEFT, _HELD_AT, QEvent.Type.MouseButtonPress, held=True)
    rig.settle()


def _pan(rig: Rig, turn: int) -> float:
    """The hand goes to and fro over a thousand pixels."""
    span = _RIGHT - _LEFT
    travelled = _STEP * (turn + 1) % (2 * span)
    x = _LEFT + (travelled if travelled <= span else 2 * span - travelled)
    before = rig.chart.frame.right
    taken_ms = rig.timed_ms(lambda: rig.point_at(x, _HELD_AT, held=True))
    if rig.chart.frame.right == before:
        raise MeasureError("The view did not follow the mouse; no figure is given.")
    return taken_ms


def _show_all(rig: Rig, turn: int) -> float:
    rig.chart.zoom(_FAR_OUT)
    rig.chart.zoom(2.0 + 0.01 * (turn % 7))
    rig.settle()
    taken_ms = rig.timed_ms(lambda: rig.chart.zoom(_FAR_OUT))
    _check(rig)
    return taken_ms


def _append(rig: Rig, turn: int) -> float:
    closed = scenario.following(rig.series[-1], rig.series[-IN_VIEW])

    def close() -> None:
        rig.series.add(closed)
        rig.chart.refresh()
        rig.chart.set_forming(rig.ticks[0])
        rig.chart.set_forecast(forecast)

    forecast = rig.prepare_candle(closed)
    taken_ms = rig.timed_ms(close)
    if rig.chart.frame.stop != len(rig.series):
        raise MeasureError("The view did not follow the candle that closed; no figure is given.")
    return taken_ms


TICKS = Measure("tick_ms", _tick)
"""The current forming candle, with the newest 300 candles in view: from `set_forming` to the paint."""
CURSOR_MOVES = Measure("cursor_ms", _move_cursor)
"""The crosshair and the readout follow the mouse, and no closed candle is painted. From its event to the paint."""
PANS = Measure("pan_ms", _pan, _hold_plot)
"""A step of a drag: the plot is held, and every mouse move shows other candles, with their own price range. From the
mouse event to the paint."""
WHOLE_VIEW = Measure("all_ms", _show_all)
"""From the call of `zoom` to the paint: other groups, another price range, everything redrawn."""
APPENDS = Measure("append_ms", _append)
"""A candle closes: it joins the series, another begins, a new forecast comes, and the view follows. From
`CandleSeries.add` to the paint."""


def all_in_view(measure: Measure, name: str) -> Measure:
    """Another measure, taken while all candles are in view."""

    def sample_ms(rig: Rig, turn: int) -> float:
        rig.chart.zoom(_FAR_OUT)  # untimed: a candle that closed has pushed the first one out
        rig.settle()
        _check(rig)
        return measure.sample_ms(rig, turn)

    return replace(measure, name=name, sample_ms=sample_ms)


def _check(rig: Rig) -> None:
    frame, count = rig.chart.frame, len(rig.series)
    if (frame.first, frame.stop) != (0, count):
        raise MeasureError(f"Only {frame.stop - frame.first} of {count} candles came into view; no figure is given.")


def take(measure: Measure, rigs: Sequence[Rig], repeats: int) -> dict[int, Figure]:
    """`repeats` samples on each rig, by its count of candles. Each turn goes over all rigs in a new order."""
    figures = {rig.count: Figure() for rig in rigs}
    order = np.random.default_rng(0)
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

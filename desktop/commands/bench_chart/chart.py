"""All measures over all sizes, in one process and in turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtWidgets import QApplication

from desktop.commands.bench_chart.measure import Measure, take
from desktop.commands.bench_chart.measures import AllInView, Appends, CursorMoves, Pans, Ticks, WholeView
from desktop.commands.bench_chart.rig import Rig

SIZES = (1_000, 10_000, 100_000, 1_000_000)


def application() -> QApplication:
    """The process's one application, made where there is none."""
    existing = QApplication.instance() or QApplication(["ghostcandle"])
    assert isinstance(existing, QApplication)
    return existing


def measures() -> tuple[Measure, ...]:
    """In the order in which they are taken: appending comes last, because it changes what is stored."""
    return Ticks(), CursorMoves(), Pans(), WholeView(), Appends()


def measures_of_all() -> tuple[Measure, ...]:
    """What else is taken where everything is switched on."""
    return AllInView(Ticks(), "tick_all_ms"), AllInView(Appends(), "append_all_ms")


def measure_sizes(
    sizes: Sequence[int], repeats: int, say: Callable[[str], None], *, with_everything: bool = False
) -> dict[str, dict[str, Any]]:
    """Each measure's percentiles by the size as a text, with the candles that were in view. Needs an application.
    Raises MeasureError.

    say: called with the name of each measurement. with_everything: indicators, hindsight and the strip of errors
    as well, and ticks and closing candles also while all is in view.
    """
    say(f"Making charts of {', '.join(f'{size:,}' for size in sizes)} candles.")
    rigs = [Rig(size, with_everything=with_everything) for size in sizes]
    found: dict[str, dict[str, Any]] = {str(rig.count): {"in_view": rig.in_view} for rig in rigs}
    try:
        for measure in (*measures(), *(measures_of_all() if with_everything else ())):
            say(f"Measuring {measure.name}, {repeats} times on each.")
            for count, figure in take(measure, rigs, repeats).items():
                found[str(count)][measure.name] = figure.summary()
    finally:
        for rig in rigs:
            rig.close()
    return found

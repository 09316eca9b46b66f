"""The default layout is calm: few docks, and few numbers."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QApplication

from desktop.app.composition import Application
from desktop.layouts.arrangements import WATCH
from tests.desktop.app.three_markets import simulated
from tests.desktop.whole_window import CATCH_UP, CandleGate, run_window, step_of, until
from tests.support.shown_numbers import shown_numbers

MOST_NUMBERS, MOST_DOCKS = 30, 5


def test_a_running_simulation_shows_few_numbers_in_few_docks(
    qapp: QApplication, tmp_path: Path, gate: CandleGate
) -> None:
    async def story(application: Application) -> None:
        window = application.window
        window.resize(1600, 900)
        await until(lambda: step_of(application) >= CATCH_UP - 2, "the catch-up")
        await until(lambda: bool(application.chart.model.ghosts()), "ghosts")
        await until(lambda: not window.has_stale_panels(), "panels that show it")
        shown = {each for each, dock in window.docks.items() if dock.isVisible()}
        assert shown == WATCH.shown and len(shown) <= MOST_DOCKS
        numbers = shown_numbers(window)
        assert 5 < len(numbers) <= MOST_NUMBERS, numbers

    run_window(qapp, simulated(tmp_path, speed=None, catch_up_candles=CATCH_UP), story)

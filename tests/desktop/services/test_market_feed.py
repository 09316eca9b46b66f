"""Replaying a user's file in the window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from desktop.app.composition import Application
from tests.desktop.whole_window import CandleGate, context, run_window, until
from tests.support.candles import random_walk, write_csv


@pytest.mark.usefixtures("idle_trainer")
@pytest.mark.parametrize(("rows", "behind"), [(300, 150), (1_200, 1_000)])
def test_a_replay_begins_with_candles_behind_it_and_candles_to_come(
    qapp: QApplication, tmp_path: Path, gate: CandleGate, rows: int, behind: int
) -> None:
    """Regression: it jumped to the file's end, and said that forecasts come in an hour."""
    file = write_csv(tmp_path / "mine.csv", random_walk(rows))

    async def story(application: Application) -> None:
        chart = application.chart
        await until(
            lambda: chart.model.count >= behind and "2 candles per second" in feed_words(application), "a start"
        )
        assert chart.model.count == behind
        gate.release(3)
        await until(lambda: chart.model.count == behind + 3, "the next candles")

    run_window(qapp, context(tmp_path / "data", file=str(file), speed=None, catch_up_candles=1_000), story)


def feed_words(application: Application) -> str:
    status = application.state.feed
    return "" if status is None else status.sentence

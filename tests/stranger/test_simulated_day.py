"""A day of one-minute candles at speed in the real window, while a user visits its panels: memory stays bounded."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest
from PySide6.QtWidgets import QApplication

from core.settings.tree import MarketSettings
from core.storage.folder import DataFolder
from desktop.app.context import Context
from tests.stranger.day import QUICK, steps
from tests.stranger.program import main_window, play
from tests.stranger.user import User, pause
from tests.torture.census import Census, assert_does_not_go_on_growing, assert_no_objects_are_left, take

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3_600)]

CANDLES = 1_440 if os.environ.get("GHOSTCANDLE_SOAK") else 240
"""`make soak` goes through the whole day."""
KINDS = ("Incidents", "Feed", "Log", "Important")
PANELS = ("Gradients", "Markets", "Loss", "Accuracy", "Checkpoints")
"""Besides Events. Checkpoints is last: it has a column named Loss too."""
INVENTED = replace(QUICK, market=MarketSettings(feed="simulate", speed=12.0, catch_up_candles=60))
RESTS = 4
_LOOK_MS = 250
LONGEST_WAIT_S = 1_500.0
MADE = 300
"""Forecasts that are remembered until their scores come: 256, and those that are shown."""
KEPT = {
    "core.domain.events.ForecastMade": MADE,
    "core.domain.events.Ghost": 9 * MADE,
    "core.domain.regimes.RegimeProbabilities": MADE,
    "core.domain.diagnosis.GradientStatistics": 150,
    "core.domain.diagnosis.LayerStatistics": 4_000,
    "core.logs.reading.LogEntry": 5_100,
    "desktop.panels.events.rows.Event": 6_100,
    "core.domain.events.CheckpointInfo": 200,
    "core.checkpoints.row.CheckpointRow": 200,
}
"""Records of a run are bounded; within a day they may grow up to these limits."""


@dataclass(frozen=True)
class Rest:
    """Objects, files and threads of the process while no user action is running."""

    candles: int
    census: Census
    files: int
    threads: int


def test_memory_does_not_grow_over_a_day(qt: QApplication, user: User, tmp_path: Path) -> None:
    rests: list[Rest] = []
    context = Context(INVENTED, DataFolder(tmp_path), as_json=False)
    play(qt, context, lambda user: a_day(user, rests), user, longest_s=RESTS * LONGEST_WAIT_S)
    print(*((each.candles, each.files, each.threads, f"{each.census.memory_mb:.0f} MB") for each in rests), sep="\n")
    first, *others = rests
    for rest in others:
        assert rest.files <= first.files + 2 and rest.threads <= first.threads + 2, rests
        assert_no_objects_are_left(first.census, rest.census, KEPT)
    assert_does_not_go_on_growing([rest.census for rest in rests])


async def a_day(user: User, rests: list[Rest]) -> None:
    await user.until(lambda: steps() > 0, "training", patience_s=300.0)
    await user.menu("View", "Layouts", "Train")
    await user.menu("View", "Panels", "Markets")
    for part in range(1, RESTS + 1):
        while steps() < CANDLES * part // RESTS:
            await visit_all(user)
        rests.append(at_rest())
    await user.picture("29-after-a-day")
    await user.press("Ctrl+Q")


async def visit_all(user: User) -> None:
    """Each panel by its tab, and each kind of events."""
    await user.click("Events")
    for kind in KINDS:
        await user.click("Kind", within="Events")
        await user.click(kind)
        await pause(_LOOK_MS)
    for panel in PANELS:
        await user.click(panel)
        await pause(_LOOK_MS)


def at_rest() -> Rest:
    process = psutil.Process()
    return Rest(steps(), take(main_window()), process.num_fds(), process.num_threads())

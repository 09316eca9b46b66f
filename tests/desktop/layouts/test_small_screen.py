"""The window fits on a screen of 1366 x 768 that is scaled to 200 %, and 1280 x 720 with larger text."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from core.settings.window import AppearanceSettings
from desktop.actions import ActionId
from desktop.layouts.arrangements import TRAIN, WATCH, Arrangement
from desktop.ui.interface_size import set_font
from desktop.ui.theme import Theme
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench, fill

ROOM = (683, 384)


def running(make_bench: MakeBench, qapp: QApplication, size: tuple[int, int], percent: int = 100) -> Bench:
    set_font(qapp, AppearanceSettings(interface_percent=percent))
    Theme("dark").apply_to(qapp)
    bench = make_bench(scenario.checkpoints(), "dark", size)
    fill(bench)
    for _ in range(8):
        qapp.processEvents()
    return bench


def test_it_fits_with_all_that_is_needed_in_it(make_bench: MakeBench, qapp: QApplication) -> None:
    window = running(make_bench, qapp, ROOM).window
    assert (window.width(), window.height()) == ROOM
    chart, status, rate = window.chart, window.status, window.inputs.learning_rate
    assert chart.width() >= 250 and chart.height() >= 150
    for part in (status, status.trainer, rate):
        assert part.isVisible() and part.visibleRegion().boundingRect() == part.rect()
        assert window.rect().contains(part.mapTo(window, part.rect().bottomRight()))
    assert not window.docks[ActionId.SHOW_ACCURACY].visibleRegion().isEmpty(), "how good the ghosts are comes first"


@pytest.mark.parametrize("arrangement", [WATCH, TRAIN])
def test_no_arrangement_needs_more(make_bench: MakeBench, qapp: QApplication, arrangement: Arrangement) -> None:
    bench = running(make_bench, qapp, ROOM)
    bench.window.arrange(arrangement)
    for _ in range(8):
        qapp.processEvents()
    assert (bench.window.width(), bench.window.height()) == ROOM


def test_the_learning_rate_stays_in_the_tool_bar_with_larger_text(make_bench: MakeBench, qapp: QApplication) -> None:
    window = running(make_bench, qapp, (1280, 720), 130).window
    rate = window.inputs.learning_rate
    assert rate.isVisible() and rate.visibleRegion().boundingRect() == rate.rect()

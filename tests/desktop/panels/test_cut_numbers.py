"""No number is cut, however narrow a dock or the window was made: 980 must not read 98."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from desktop.actions import ActionId
from desktop.panels.base import Panel
from tests.desktop import feed_scenario, scenario
from tests.desktop.conftest import Bench, MakeBench, fill
from tests.support.cut_numbers import cut_numbers

WIDTHS = (200, 240, 280, 320, 360, 400, 480, 600, 900)
WINDOWS = ((760, 510), (1000, 640), (1280, 720), (1600, 900), (2560, 1440))
DOCKS = (
    ActionId.SHOW_LOSS,
    ActionId.SHOW_GRADIENTS,
    ActionId.SHOW_ACCURACY,
    ActionId.SHOW_BEST,
    ActionId.SHOW_CHECKPOINTS,
    ActionId.SHOW_INCIDENTS,
    ActionId.SHOW_FEED,
    ActionId.SHOW_WATCHLIST,
    ActionId.SHOW_JOBS,
)


@pytest.fixture
def bench(make_bench: MakeBench) -> Bench:
    bench = make_bench(scenario.checkpoints())
    fill(bench)
    feed_scenario.eventful(bench.state)
    return bench


def sizes() -> Iterator[tuple[int, int]]:
    for width in WIDTHS:
        yield width, 180
        yield width, 420


def settle(qapp: QApplication, *panels: Panel) -> None:
    """Layouts in layouts take a turn of the loop each."""
    for _ in range(6):
        qapp.processEvents()
        for panel in panels:
            panel.refresh_if_seen()


@pytest.mark.parametrize("action_id", DOCKS)
def test_a_dock_that_is_made_wider_and_wider_cuts_no_number(
    qtbot: QtBot, bench: Bench, action_id: ActionId, qapp: QApplication
) -> None:
    panel = bench.window.docks[action_id].widget()
    assert isinstance(panel, Panel)
    panel.setParent(None)  # a dock of its own, without asking the desktop for a place
    qtbot.addWidget(panel)
    panel.show()
    for size in sizes():
        panel.resize(*size)
        settle(qapp, panel)
        assert cut_numbers(panel) == [], f"at {panel.size()}"


@pytest.mark.parametrize("action_id", [ActionId.SHOW_ACCURACY, ActionId.SHOW_GRADIENTS, ActionId.SHOW_FEED])
def test_a_window_that_is_made_wider_and_wider_cuts_no_number(
    bench: Bench, action_id: ActionId, qapp: QApplication
) -> None:
    bench.window.show_dock(action_id)
    for size in WINDOWS:
        bench.window.resize(*size)
        settle(qapp, *bench.window.findChildren(Panel))
        assert cut_numbers(bench.window) == [], f"at {size}"


def test_what_is_cut_is_found(qtbot: QtBot, qapp: QApplication) -> None:
    """And what can be scrolled to is not taken for cut."""
    host, number = QWidget(), QLabel("980 of 1,000")
    row = QHBoxLayout(host)
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(number)
    row.setSizeConstraint(QHBoxLayout.SizeConstraint.SetNoConstraint)
    qtbot.addWidget(host)
    host.resize(30, 40)
    host.show()
    qapp.processEvents()
    assert any("980" in words for words in cut_numbers(host))
    row.setSizeConstraint(QHBoxLayout.SizeConstraint.SetDefaultConstraint)
    area = QScrollArea()
    area.setWidgetResizable(True)
    qtbot.addWidget(area)
    area.setWidget(host)
    area.resize(60, 60)
    area.show()
    qapp.processEvents()
    assert cut_numbers(area) == []

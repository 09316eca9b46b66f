"""No number is cut in a dock or window of any width: 980 must not read 98."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from core.domain.events import Estimate, ForecastGroup
from core.settings.window import AppearanceSettings
from desktop.actions import ActionId
from desktop.panels.accuracy.details import PAGES, AccuracyDetails
from desktop.panels.gradients.norm_plot import NormPlot
from desktop.state.run_state import RunState
from desktop.ui.interface_size import set_font
from desktop.ui.panel_base import Panel
from desktop.ui.plain_text import ElidedLabel, elided_by_words
from desktop.ui.scrolling import DownScrolling
from desktop.ui.theme import Theme
from tests.desktop import feed_scenario, scenario
from tests.desktop.conftest import Bench, MakeBench, fill, shown_panel
from tests.desktop.panels.accuracy_helpers import found
from tests.support.cut_numbers import cut_numbers, evenness

WIDTHS = (200, 240, 280, 320, 360, 400, 480, 600, 900)
WINDOWS = ((760, 510), (1000, 640), (1280, 720), (1600, 900), (2560, 1440))
DOCKS = (
    ActionId.SHOW_LOSS,
    ActionId.SHOW_GRADIENTS,
    ActionId.SHOW_ACCURACY,
    ActionId.SHOW_CHECKPOINTS,
    ActionId.SHOW_EVENTS,
    ActionId.SHOW_MARKETS,
    ActionId.SHOW_JOBS,
)
SCROLLED = (ActionId.SHOW_ACCURACY, ActionId.SHOW_GRADIENTS)
IN_WINDOW = (*SCROLLED, ActionId.SHOW_EVENTS)


@pytest.fixture
def bench(make_bench: MakeBench) -> Bench:
    return in_full_swing(make_bench)


def in_full_swing(make_bench: MakeBench) -> Bench:
    bench = make_bench(scenario.checkpoints())
    fill(bench)
    ghosts = Estimate(0.037, 0.029, 0.045, 4_024)
    own = scenario.accuracy(scored=4_024, live_scored=0, group=ForecastGroup.REPLAYED, skill_close=ghosts)
    bench.state.apply(scenario.status(accuracy=own))
    feed_scenario.eventful(bench.state)
    return bench


def sizes() -> Iterator[tuple[int, int]]:
    for width in WIDTHS:
        yield width, 180
        yield width, 420


def settle(qapp: QApplication, *panels: Panel) -> None:
    """Nested layouts take a turn of the event loop each."""
    for _ in range(6):
        qapp.processEvents()
        for panel in panels:
            panel.refresh_if_seen()


@pytest.mark.slow
def test_widening_a_dock_cuts_no_number(qtbot: QtBot, bench: Bench, qapp: QApplication) -> None:
    panels = [bench.window.docks[action_id].widget() for action_id in DOCKS]
    for panel in panels:
        assert isinstance(panel, Panel)
        panel.setParent(None)  # afloat, without asking the desktop for a place
        qtbot.addWidget(panel)
        panel.show()
        for size in sizes():
            panel.resize(*size)
            settle(qapp, panel)
            assert cut_numbers(panel) == [], f"{panel.objectName()} at {panel.size()}"


def test_widening_the_window_cuts_no_number(bench: Bench, qapp: QApplication) -> None:
    """A page is no wider than its visible part: a headline that wraps out of view loses its number."""
    for action_id in IN_WINDOW:
        bench.window.show_dock(action_id)
        for size in WINDOWS:
            bench.window.resize(*size)
            settle(qapp, *bench.window.findChildren(Panel))
            assert cut_numbers(bench.window) == [], f"{action_id} at {size}"
            for area in bench.window.docks[action_id].findChildren(QScrollArea):
                if area.isVisible() and action_id in SCROLLED:
                    assert area.widget().width() <= area.viewport().width()


@pytest.mark.parametrize("text", ["Learning: too early to tell (of 2,000 candles)", "Step 12,340, loss 0.3127"])
def test_a_long_line_is_elided_by_whole_words_with_their_units(qtbot: QtBot, text: str) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    words, metrics = text.split(" "), label.fontMetrics()
    whole = {text, *(" ".join(words[:count]) + " …" for count in range(1, len(words)) if words[count - 1] != "2,000")}
    for width in range(label.minimumSizeHint().width(), metrics.horizontalAdvance(text) + 20):
        assert elided_by_words(text, metrics, width) in whole


@pytest.mark.parametrize("percent", [75, pytest.param(150, marks=pytest.mark.slow), 200])
def test_large_text_cuts_no_number(make_bench: MakeBench, qapp: QApplication, percent: int) -> None:
    """In windows that are made larger and smaller again, and in a column that is dragged as narrow as it gets."""
    set_font(qapp, AppearanceSettings(interface_percent=percent))
    bench = in_full_swing(make_bench)
    sizes_of_window = WINDOWS[::2] if percent < 100 else (WINDOWS[2], WINDOWS[4])
    for action_id in IN_WINDOW:
        bench.window.show_dock(action_id)
        for size in (*sizes_of_window, *reversed(sizes_of_window)):
            bench.window.resize(*size)
            settle(qapp, *bench.window.findChildren(Panel))
            assert cut_numbers(bench.window) == [], f"{action_id} at {size}"
        for width in (600, 200):
            bench.window.resizeDocks([bench.window.docks[action_id]], [width], Qt.Orientation.Horizontal)
            settle(qapp, *bench.window.findChildren(Panel))
            assert cut_numbers(bench.window) == [], f"{action_id} dragged to {width}"


@pytest.mark.parametrize("percent", [100, pytest.param(150, marks=pytest.mark.slow), 200])
def test_no_page_of_the_accuracy_cuts_a_number(
    qtbot: QtBot, state: RunState, theme: Theme, qapp: QApplication, percent: int
) -> None:
    set_font(qapp, AppearanceSettings(interface_percent=percent))
    details = AccuracyDetails(state, theme)
    shown_panel(qtbot, details, 400, 640)
    for name in PAGES:
        details.open_page(name)
        details.show_found(found(1_700), None)
        for size in sizes():
            details.resize(*size)
            settle(qapp)
            assert cut_numbers(details) == [], f"{name} at {details.size()}"


@pytest.mark.parametrize(("percent", "most"), [(100, (760, 540)), (150, (1280, 720)), (200, (1400, 720))])
def test_the_width_of_numbers_does_not_raise_the_windows_minimum_size(
    make_bench: MakeBench, qapp: QApplication, percent: int, most: tuple[int, int]
) -> None:
    set_font(qapp, AppearanceSettings(interface_percent=percent))
    bench = in_full_swing(make_bench)
    settle(qapp, *bench.window.findChildren(Panel))
    least = bench.window.minimumSizeHint()
    assert (least.width(), least.height()) <= most and least.height() <= most[1]


def test_the_lower_edge_of_a_page_cuts_no_row_of_text(qtbot: QtBot, bench: Bench, qapp: QApplication) -> None:
    """Of 1,800 the comma lost its tail: it read 1.800. A row that has no room waits until it is scrolled to."""
    inks = qapp.palette()
    inks.setColor(QPalette.ColorRole.PlaceholderText, bench.theme.palette.muted_text)  # as in the whole window
    qapp.setPalette(inks)
    panel = bench.window.docks[ActionId.SHOW_GRADIENTS].widget()
    assert isinstance(panel, Panel)
    panel.setParent(None)
    qtbot.addWidget(panel)
    panel.show()
    settle(qapp, panel)
    area, curves = panel.findChild(DownScrolling), panel.findChild(NormPlot)
    assert area is not None and curves is not None
    looked_at = 0
    for height in range(90, 620, 5):
        panel.resize(390, height)
        settle(qapp, panel)
        view = area.viewport()
        box = curves.plot.mapTo(view, curves.plot.getViewBox().sceneBoundingRect().bottomLeft().toPoint())
        if curves.plot.mapTo(view, QPoint(0, 0)).y() < view.height() <= box.y() + 1:
            continue  # a curve may be cut: it is no number
        if area.verticalScrollBar().maximum() > 0:
            looked_at += 1
            lowest = QRect(view.mapTo(panel, QPoint(0, view.height() - 1)), QSize(view.width(), 1))
            assert evenness(panel.grab(lowest)) > 0.6, f"at {height}"
    assert looked_at > 10


def test_the_check_finds_cut_numbers(qtbot: QtBot, qapp: QApplication) -> None:
    """And what can be scrolled down to is not taken for cut; what must be scrolled across shows half a number."""
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
    area.show()
    for size, is_cut in (((200, 10), False), ((60, 60), True)):
        area.resize(*size)
        qapp.processEvents()
        assert bool(cut_numbers(area)) is is_cut

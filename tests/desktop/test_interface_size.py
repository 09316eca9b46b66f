"""Text is as large as the settings say, or as the screen needs, in the font that was chosen."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.window_settings import AppearanceSettings
from desktop.actions import ActionId
from desktop.dialogs.preferences import PreferencesDialog
from desktop.interface_size import BUNDLED_FAMILY, automatic_factor, set_font
from desktop.panels.loss import LossPanel
from tests.desktop import scenario
from tests.desktop.conftest import MakeBench, fill


@pytest.mark.parametrize(
    ("width", "height", "dpi", "factor"),
    [
        (1280, 720, 96.0, 1.0),
        (1920, 1080, 96.0, 1.0),
        (2560, 1440, 96.0, 1.0),
        (3840, 2160, 96.0, 1.5),
        (3840, 2160, 144.0, 1.0),  # the desktop scales its text
        (1920, 1080, 192.0, 1.0),  # the same screen, with two pixels for each
        (5120, 2880, 96.0, 2.0),
        (7680, 4320, 96.0, 2.0),
        (3440, 1440, 96.0, 1.0),
        (1440, 900, 72.0, 1.0),
    ],
)
def test_a_large_screen_that_nobody_scales_gets_larger_text(width: int, height: int, dpi: float, factor: float) -> None:
    assert automatic_factor(width, height, dpi) == factor


@pytest.mark.parametrize("percent", [75, 150, 300])
def test_a_size_that_is_set_holds_for_all_text(qapp: QApplication, make_bench: MakeBench, percent: int) -> None:
    points = qapp.font().pointSizeF()
    set_font(qapp, AppearanceSettings(interface_percent=percent))
    assert qapp.font().pointSizeF() == pytest.approx(points * percent / 100)
    bench = make_bench(scenario.checkpoints())
    fill(bench)
    for widget in (bench.window.status.loss, bench.window.accuracy.tabs, bench.chart, bench.window.checkpoints.table):
        assert widget.font().pointSizeF() == pytest.approx(points * percent / 100)


def test_nothing_is_changed_where_nothing_is_set_and_the_screen_is_usual(qapp: QApplication) -> None:
    before = qapp.font()
    set_font(qapp, AppearanceSettings())
    assert qapp.font() == before


@pytest.mark.parametrize("is_bold", [False, True])
def test_the_digits_of_the_bundled_font_are_all_of_one_width(qapp: QApplication, is_bold: bool) -> None:
    set_font(qapp, AppearanceSettings(font="bundled"))
    font = qapp.font()
    assert font.family() == BUNDLED_FAMILY
    font.setBold(is_bold)
    assert len({QFontMetrics(font).horizontalAdvance(digit) for digit in "0123456789"}) == 1


@pytest.mark.parametrize("percent", [100, 150, 200])
def test_what_stands_beside_text_grows_with_it(qapp: QApplication, make_bench: MakeBench, percent: int) -> None:
    usual = make_bench(scenario.checkpoints()).window._tool_bar.iconSize()
    set_font(qapp, AppearanceSettings(interface_percent=percent))
    bench = make_bench(scenario.checkpoints())
    fill(bench)
    assert bench.window._tool_bar.iconSize() == usual * percent / 100
    panel = bench.window.docks[ActionId.SHOW_LOSS].widget()
    assert isinstance(panel, LossPanel)
    plot = panel.plot
    for _ in range(3):
        panel.refresh()
        qapp.processEvents()
    height = QFontMetrics(qapp.font()).height()
    assert plot.getAxis("bottom").height() >= height, "the labels below are whole"
    assert plot.getPlotItem().layout.getContentsMargins()[1] >= height / 2 - 1, "so is the topmost at the left"
    assert plot.getAxis("left").width() >= QFontMetrics(qapp.font()).horizontalAdvance("0.35")


def test_preferences_are_no_higher_than_the_window(qtbot: QtBot, make_bench: MakeBench) -> None:
    window = make_bench(scenario.checkpoints()).window
    dialog = PreferencesDialog(window.settings, window)
    qtbot.addWidget(dialog)
    assert dialog.height() <= window.height() == 720

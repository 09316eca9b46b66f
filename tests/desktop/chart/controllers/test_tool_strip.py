"""The strip of drawing tools: what it offers, which tool is shown as active, and that it can be hidden."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication

from core.domain.drawings import DrawingKind
from desktop.actions import ActionId
from desktop.chart.controllers.drawings import DRAWING_KINDS
from desktop.chart.controllers.tool_strip import ToolStrip
from tests.desktop.chart.controllers.test_drawings import drawings, place
from tests.desktop.chart.controllers.tools import ToolBench


@pytest.fixture
def strip(bench: ToolBench) -> ToolStrip:
    strip = ToolStrip(bench.bench.shell, bench.bench.chart)
    strip.setVisible(True)
    QApplication.processEvents()
    bench.bench.chart.flush()
    return strip


def click(bench: ToolBench, strip: ToolStrip, action_id: ActionId) -> None:
    QTest.mouseClick(strip.widgetForAction(bench.bench.shell.actions[action_id]), Qt.MouseButton.LeftButton)


def active(strip: ToolStrip) -> list[str]:
    return [button.text() for button in strip.buttons() if isinstance(button, QAbstractButton) and button.isChecked()]


def test_it_is_a_slim_strip_at_the_left_of_the_chart(bench: ToolBench, strip: ToolStrip) -> None:
    chart = bench.bench.chart
    assert (
        strip.mapTo(bench.bench.window, QPoint(0, 0)).x() + strip.width()
        == chart.mapTo(bench.bench.window, QPoint(0, 0)).x()
    )
    assert strip.height() == chart.height() and strip.width() <= 40


def test_each_tool_has_a_button_whose_tooltip_names_it_and_its_shortcut(bench: ToolBench, strip: ToolStrip) -> None:
    assert len(strip.buttons()) == len(DRAWING_KINDS) + 1
    for action_id in (*DRAWING_KINDS, ActionId.MEASURE):
        action = bench.bench.shell.actions[action_id]
        button = strip.widgetForAction(action)
        assert isinstance(button, QAbstractButton)
        assert not button.icon().isNull() and button.text()
        assert action.shortcut().toString() in button.toolTip()
        assert button.focusPolicy() is Qt.FocusPolicy.TabFocus


def test_the_active_tool_is_checked_until_it_has_drawn(bench: ToolBench, strip: ToolStrip) -> None:
    click(bench, strip, ActionId.DRAW_HORIZONTAL)
    assert bench.tools.placed.placing is DrawingKind.HORIZONTAL and len(active(strip)) == 1
    click(bench, strip, ActionId.DRAW_VERTICAL)
    assert bench.tools.placed.placing is DrawingKind.VERTICAL and len(active(strip)) == 1
    bench.click(place(bench, 30, 0.5))
    assert active(strip) == [] and [drawing.kind for drawing in drawings(bench)] == [DrawingKind.VERTICAL]


def test_escape_and_a_second_click_uncheck_it(bench: ToolBench, strip: ToolStrip) -> None:
    click(bench, strip, ActionId.DRAW_CHANNEL)
    bench.key(Qt.Key.Key_Escape)
    assert active(strip) == [] and bench.tools.placed.placing is None
    click(bench, strip, ActionId.DRAW_CHANNEL)
    click(bench, strip, ActionId.DRAW_CHANNEL)
    assert active(strip) == [] and bench.tools.placed.placing is None


def test_the_setting_hides_it(bench: ToolBench, strip: ToolStrip) -> None:
    bench.bench.shell.settings.change_chart(show_drawing_tools=False)
    assert not strip.isVisible()
    bench.bench.shell.settings.change_chart(show_drawing_tools=True)
    assert strip.isVisible()

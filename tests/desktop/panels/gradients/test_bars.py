from __future__ import annotations

import itertools
import math

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from desktop.panels.gradients.bars import Bar, BarList
from desktop.ui.theme import Theme
from tests.desktop.conftest import shown_panel


def make(qtbot: QtBot, theme: Theme, bars: list[Bar], *, is_log: bool = True) -> BarList:
    widget = BarList(theme, is_log=is_log)
    widget.show_bars(bars)
    shown_panel(qtbot, widget, 300, widget.sizeHint().height())
    return widget


def length(widget: BarList, index: int) -> int:
    """Pixels of a bar's colour in the middle of its row."""
    image = widget.grab().toImage()
    row = widget.row_rect(index).center().y()
    bar, marked = widget._theme.palette.curves[0].rgb(), widget._theme.palette.warning.rgb()
    ratio = image.devicePixelRatio()
    return sum(image.pixel(x, round(row * ratio)) in (bar, marked) for x in range(image.width()))


def test_on_a_logarithmic_scale_each_decade_has_the_same_length(qtbot: QtBot, theme: Theme) -> None:
    values = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
    widget = make(qtbot, theme, [Bar("Layer", value, "") for value in values])
    lengths = [length(widget, index) for index in range(len(values))]
    steps = [after - before for before, after in itertools.pairwise(lengths[1:])]
    assert max(steps) - min(steps) <= 2 and min(steps) > 20


def test_on_a_plain_scale_half_the_value_is_half_the_length(qtbot: QtBot, theme: Theme) -> None:
    widget = make(qtbot, theme, [Bar("A", 1.0, ""), Bar("B", 0.5, "")], is_log=False)
    assert length(widget, 1) == pytest.approx(length(widget, 0) / 2, abs=2)


@pytest.mark.parametrize("value", [math.nan, math.inf, None, 0.0, -1.0])
def test_invalid_values_draw_no_bar_and_do_not_affect_the_scale(
    qtbot: QtBot, theme: Theme, value: float | None
) -> None:
    good = [Bar("A", 0.01, "0.01"), Bar("B", 1.0, "1.00")]
    alone, beside = make(qtbot, theme, good), make(qtbot, theme, [*good, Bar("C", value, "–", newest=value)])
    assert length(beside, 2) == 0
    assert [length(beside, index) for index in (0, 1)] == [length(alone, index) for index in (0, 1)]


@pytest.mark.parametrize("values", [(math.nan,), (0.0, 0.0), (1e-300, 1e300), (0.5,)])
def test_any_numbers_can_be_painted(qtbot: QtBot, theme: Theme, values: tuple[float, ...]) -> None:
    widget = make(qtbot, theme, [Bar("Layer", value, "") for value in values])
    assert not widget.grab().isNull()


def test_a_marked_bar_has_another_colour_and_a_pointer(qtbot: QtBot, theme: Theme) -> None:
    widget = make(qtbot, theme, [Bar("A", 1.0, "1"), Bar("B", 1.0, "1", is_marked=True)])
    image = widget.grab().toImage()
    warning = theme.palette.warning.rgb()
    rows = [widget.row_rect(index).center().y() for index in (0, 1)]
    has_pointer = [any(image.pixel(x, row) == warning for x in range(8)) for row in rows]
    assert has_pointer == [False, True]


def test_hovering_highlights_a_row_and_shows_its_tooltip(qtbot: QtBot, theme: Theme) -> None:
    widget = make(qtbot, theme, [Bar("A", 1.0, "1", tooltip="all of A"), Bar("B", 0.1, "0.1", tooltip="all of B")])
    before = widget.grab().toImage()
    place = widget.row_rect(1).center()
    QTest.mouseMove(widget, place - QPoint(1, 0))
    QTest.mouseMove(widget, place)
    qtbot.waitUntil(lambda: widget.grab().toImage() != before)
    QApplication.sendEvent(widget, QHelpEvent(QHelpEvent.Type.ToolTip, place, widget.mapToGlobal(place)))
    assert QToolTip.text() == "all of B"
    QToolTip.hideText()

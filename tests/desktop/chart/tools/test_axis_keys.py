"""The price axis and the panes' heights, by real key events only."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from core.indicators.spec import IndicatorSpec
from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.items.indicator import IndicatorLayer
from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import random_series

ALT, CONTROL, SHIFT = (
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
)
UP, DOWN = Qt.Key.Key_Up, Qt.Key.Key_Down


def press(chart: ChartWidget, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> None:
    QTest.keyClick(chart, key, modifiers)
    settle(chart)


def with_panes(show_chart: ShowChart) -> ChartWidget:
    chart = show_chart(random_series(300))
    chart.add_layer(IndicatorLayer(IndicatorSpec.of("rsi"), 0, 0))
    chart.add_layer(IndicatorLayer(IndicatorSpec.of("macd"), 1, 0))
    settle(chart)
    return chart


def heights(chart: ChartWidget) -> list[int]:
    return [pane.bottom - pane.top for pane in chart.frame.panes]


@pytest.mark.parametrize("kind", list(ScaleKind))
def test_prices_are_moved_and_stretched_and_fitted_again(show_chart: ShowChart, kind: ScaleKind) -> None:
    chart = show_chart(random_series(300))
    chart.restyle(scale=kind)
    settle(chart)
    fitted, view = chart.frame.prices, (chart.scale.right, chart.scale.spacing)
    press(chart, UP, ALT)
    higher = chart.frame.prices
    assert higher.low > fitted.low and higher.high > fitted.high and chart.frame.is_manual
    press(chart, DOWN, ALT)
    assert chart.frame.prices.low == pytest.approx(fitted.low) and chart.frame.prices.high == pytest.approx(fitted.high)
    press(chart, UP, ALT | SHIFT)
    assert chart.frame.prices.span < fitted.span
    press(chart, DOWN, ALT | SHIFT)
    press(chart, DOWN, ALT | SHIFT)
    assert chart.frame.prices.span > fitted.span
    assert (chart.scale.right, chart.scale.spacing) == view
    chart.fit_prices()
    settle(chart)
    assert chart.frame.prices == fitted


def test_a_pane_gets_higher_and_lower_and_is_notified_for_storing(show_chart: ShowChart) -> None:
    chart, notified = with_panes(show_chart), []
    chart.panes_resized.connect(lambda: notified.append(chart.heights.chosen))
    before = heights(chart)
    press(chart, UP, CONTROL | SHIFT)
    assert heights(chart)[0] > before[0] and heights(chart)[1] == before[1], "the first one, without a crosshair"
    assert len(notified) == 1 and notified[0]
    press(chart, DOWN, CONTROL | SHIFT)
    press(chart, DOWN, CONTROL | SHIFT)
    assert heights(chart)[0] < before[0]
    for _ in range(60):
        press(chart, DOWN, CONTROL | SHIFT)
    assert min(heights(chart)) > 10


def test_the_crosshair_says_which_pane(show_chart: ShowChart) -> None:
    chart = with_panes(show_chart)
    before, page_down = heights(chart), Qt.Key.Key_PageDown
    for wanted in (chart.frame.panes[0], chart.frame.panes[1], chart.frame.panes[1]):
        press(chart, page_down, CONTROL)
        cross = chart.overlay.cross
        assert cross is not None and chart.frame.pane_at(cross.y()).name == wanted.name
        assert chart.frame.index_at(cross.x()) == 299
    press(chart, UP, CONTROL | SHIFT)
    assert heights(chart)[1] > before[1]
    press(chart, Qt.Key.Key_Left, CONTROL)
    cross = chart.overlay.cross
    assert cross is not None and chart.frame.index_at(cross.x()) == 298
    assert chart.frame.pane_at(cross.y()) is chart.frame.panes[1], "it walks on in its pane"
    assert chart.key_mark is not None and chart.key_mark.price == random_series(300)[298].close
    for _ in range(3):
        press(chart, Qt.Key.Key_PageUp, CONTROL)
    cross = chart.overlay.cross
    assert cross is not None and chart.frame.pane_at(cross.y()) is chart.frame.price_pane


def test_with_no_candle_or_no_pane_the_keys_do_no_harm(show_chart: ShowChart) -> None:
    empty, plain = show_chart(None), show_chart(random_series(50))
    for chart in (empty, plain):
        for modifiers in (ALT, ALT | SHIFT, CONTROL | SHIFT, CONTROL):
            for key in (UP, DOWN, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
                press(chart, key, modifiers)
    assert not empty.frame.is_manual and plain.frame.panes == ()

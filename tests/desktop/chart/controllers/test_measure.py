"""Measuring by Shift+drag, by key and drag, by clicks, and by keyboard alone."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.candle import Candle, Interval
from core.domain.drawings import Anchor
from core.domain.price_lines import LineKind
from core.market.resample import ResampledSeries
from desktop.actions import ActionId
from desktop.chart.axes.price_scale import PriceRange
from desktop.chart.items.measure import Measurement, measured
from desktop.chart.painting.text import Box
from tests.desktop.chart.controllers.tools import MARKET, ToolBench
from tests.desktop.chart.paint_helpers import PaintedRegion
from tests.desktop.chart.support import forming_after, random_series, texts

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def shown(bench: ToolBench) -> Measurement:
    layer = bench.tools.measure.layer
    (found,) = layer.back_to_front()
    return found


def ends(bench: ToolBench) -> tuple[QPoint, QPoint]:
    count = len(bench.candles)
    prices = bench.bench.chart.frame.prices
    low, high = prices.low + 0.2 * prices.span, prices.low + 0.7 * prices.span
    return bench.point(count - 40, low), bench.point(count - 15, high)


def test_the_numbers_are_those_of_a_plain_sum() -> None:
    from desktop.chart.data.model import ChartModel  # noqa: PLC0415 - only for this test

    series = random_series(50, skip=frozenset({20, 21}))
    model = ChartModel()
    model.set_series(series, "")
    model.set_forming(forming_after(series))
    assert model.forming is not None
    start, end = Anchor(series[10].open_time_ms, 200.0), Anchor(model.forming.open_time_ms, 150.0)
    found = measured(Measurement(start, end), model)
    volume = sum(series[index].volume for index in range(10, len(series))) + model.forming.volume
    assert (found.change, found.share, found.candles) == (-50.0, -0.25, len(series) - 10)
    assert found.volume == pytest.approx(volume)
    assert found.duration_ms == end.time_ms - start.time_ms
    back = measured(Measurement(end, start), model)
    assert (back.candles, back.volume, back.change) == (found.candles, found.volume, 50.0)
    nothing = measured(Measurement(start, start), model)
    assert nothing.share == 0.0 and nothing.candles == 0 and nothing.volume == series[10].volume


@pytest.mark.parametrize("by_key", (False, True))
def test_a_drag_measures_and_does_not_pan(bench: ToolBench, by_key: bool) -> None:
    start, end = ends(bench)
    right = bench.bench.chart.scale.right
    if by_key:
        bench.hover(start)
        bench.act(Qt.Key.Key_M)
    bench.drag(start, end, Qt.KeyboardModifier.NoModifier if by_key else SHIFT)
    found = measured(shown(bench), bench.bench.chart.model)
    assert found.candles == 25 and found.change > 0
    assert bench.bench.chart.scale.right == right
    assert bench.tools.placed.placing is None


def test_it_follows_the_view_and_stays_until_the_next_click(bench: ToolBench) -> None:
    start, end = ends(bench)
    bench.drag(start, end, SHIFT)
    before = shown(bench)
    bench.bench.chart.zoom(1.4)
    bench.key(Qt.Key.Key_Left)
    bench.bench.chart.flush()
    assert shown(bench) == before
    bench.click(bench.middle(0.9))
    assert bench.tools.placed.passing is None


def test_the_box_is_drawn_where_it_was_measured(bench: ToolBench) -> None:
    start, end = ends(bench)
    chart = bench.bench.chart
    middle = QPoint((start.x() + end.x()) // 2 + 20, (start.y() + end.y()) // 2 + 15)
    before = chart.grab().toImage().pixelColor(middle)
    bench.drag(start, end, SHIFT)
    bench.hover(bench.middle(0.95))
    assert chart.grab().toImage().pixelColor(middle) != before


def box(bench: ToolBench) -> Box:
    (label,) = bench.bench.chart.overlay.plot_labels
    assert isinstance(label.shows, Box)
    return label.shows


@pytest.mark.parametrize("is_rising", [True, False])
@pytest.mark.parametrize("width", [1_000, 420])
def test_the_numbers_are_never_under_the_readout(bench: ToolBench, is_rising: bool, width: int) -> None:
    window = bench.bench.window
    window.resize(width, window.height())
    QApplication.processEvents()
    bench.bench.chart.flush()
    chart = bench.bench.chart
    high, low = QPoint(chart.width() // 4, 80), QPoint(10, 160)
    bench.drag(*((low, high) if is_rising else (high, low)), SHIFT)
    for place in (high, QPoint(30, 30), low, bench.middle()):
        bench.hover(place)
        assert not box(bench).rect.intersects(chart.overlay.readout.rect)
        assert chart.frame.price_pane.rect.contains(box(bench).rect)


def test_the_box_moves_out_of_view_with_its_candles(bench: ToolBench) -> None:
    start, end = ends(bench)
    bench.drag(start, end, SHIFT)
    chart = bench.bench.chart
    assert chart.overlay.plot_labels
    bench.key(Qt.Key.Key_Home)
    assert chart.frame.stop < len(bench.candles) - 40, "it is out of view"
    assert chart.overlay.plot_labels == ()
    bench.key(Qt.Key.Key_End)
    assert chart.overlay.plot_labels
    prices = chart.frame.prices
    chart.hold_prices(PriceRange(prices.high, prices.high + prices.span))
    chart.flush()
    assert chart.overlay.plot_labels == ()


def test_a_tick_updates_the_volume_in_the_box(bench: ToolBench, qtbot: QtBot) -> None:
    """No part of the box lies where a tick repaints by itself."""
    qtbot.waitUntil(lambda: len(bench.tools.markers.layer.track) > 0)  # they arrive later and repaint everything
    chart, newest = bench.bench.chart, bench.newest
    opens = newest.open_time_ms + MARKET.interval.duration_ms
    chart.set_forming(Candle(opens, *[newest.close] * 4, volume=1.0))
    end = bench.point(len(bench.candles), newest.close)
    bench.drag(bench.middle(0.3), end, SHIFT)
    said = texts(box(bench).rows)
    QApplication.processEvents()
    painted = PaintedRegion(chart)
    chart.viewport().installEventFilter(painted)
    chart.set_forming(Candle(opens, *[newest.close] * 4, volume=3.0))
    chart.flush()
    QApplication.processEvents()
    assert texts(box(bench).rows) != said
    assert painted.newest.contains(box(bench).rect.center()) and not painted.newest.contains(QPoint(300, 200))


def test_less_than_a_candle_is_labelled_as_such() -> None:
    from desktop.chart.data.model import ChartModel  # noqa: PLC0415 - only for this test

    series, model = random_series(300), ChartModel()
    hours = ResampledSeries(series, Interval.parse("1h")).series
    model.set_series(hours, "")
    start, end = Anchor(series[63].open_time_ms, 100.0), Anchor(series[75].open_time_ms, 110.0)
    found = measured(Measurement(start, end), model)
    assert (found.candles, found.volume, found.duration_ms) == (0, None, 12 * 60_000) and found.is_within_candle
    whole = measured(Measurement(start, Anchor(series[63 + 60].open_time_ms, 110.0)), model)
    assert (whole.candles, whole.is_within_candle) == (1, False)
    assert whole.volume == pytest.approx(hours[1].volume + hours[2].volume)
    none = measured(Measurement(start, start), model)
    assert not none.is_within_candle, "no time at all"


def test_a_measure_of_minutes_at_an_hour_says_less_than_a_candle(bench: ToolBench) -> None:
    start, end = bench.point(len(bench.candles) - 30, bench.newest.close), bench.middle(0.9)
    bench.drag(start, QPoint(start.x() + round(12 * bench.bench.chart.scale.spacing), end.y()), SHIFT)
    assert measured(shown(bench), bench.bench.chart.model).candles == 12
    stored = bench.bench.chart.model.series
    assert stored is not None
    bench.bench.chart.set_series(ResampledSeries(stored, Interval.parse("1d")).series, "", is_same_market=True)
    bench.bench.chart.flush()
    said = texts(box(bench).rows)
    assert "less than 1 candle" in said and "12 min" in said and "Volume" not in said


def test_a_click_begins_and_another_ends(bench: ToolBench) -> None:
    start, end = ends(bench)
    bench.hover(start)
    bench.act(Qt.Key.Key_M)
    bench.click(start)
    bench.hover(end)
    bench.click(end)
    assert measured(shown(bench), bench.bench.chart.model).candles == 25
    assert bench.tools.placed.placing is None


def test_by_keys_alone(bench: ToolBench) -> None:
    spacing, right = bench.bench.chart.scale.spacing, bench.bench.chart.scale.right
    bench.act(Qt.Key.Key_M)
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Up):
        bench.key(key)
    bench.key(Qt.Key.Key_Left, SHIFT)
    found = shown(bench)
    assert found.start == Anchor(bench.newest.open_time_ms, bench.newest.close)
    assert measured(found, bench.bench.chart.model).candles == 12
    assert found.end.price > found.start.price
    assert (bench.bench.chart.scale.spacing, bench.bench.chart.scale.right) == (spacing, right)
    bench.key(Qt.Key.Key_Return)
    bench.key(Qt.Key.Key_Left)
    assert shown(bench) == found and bench.bench.chart.scale.right < right, "the arrows are the view's again"
    bench.key(Qt.Key.Key_Escape)
    assert bench.tools.placed.passing is None


def test_it_begins_at_the_keyboard_crosshair(bench: ToolBench) -> None:
    bench.hover(bench.middle())
    bench.key(Qt.Key.Key_Left, CONTROL)
    bench.key(Qt.Key.Key_Left, CONTROL | SHIFT)
    chart = bench.bench.chart
    cross = chart.overlay.cross
    assert cross is not None
    pointed_at = bench.candles[chart.frame.index_at(cross.x())]
    bench.act(Qt.Key.Key_M)
    bench.key(Qt.Key.Key_Right)
    assert shown(bench).start == Anchor(pointed_at.open_time_ms, pointed_at.close)


def test_from_the_menu_it_follows_the_mouse(bench: ToolBench) -> None:
    start, end = ends(bench)
    bench.choose(start, "Measure from here")
    bench.hover(end)
    assert measured(shown(bench), bench.bench.chart.model).candles == 25
    bench.click(end)
    assert bench.tools.placed.placing is None


def test_measuring_and_placing_a_line_cancel_each_other(bench: ToolBench) -> None:
    actions = bench.bench.shell.actions
    bench.hover(bench.middle())
    actions[ActionId.ADD_ALERT].trigger()
    actions[ActionId.MEASURE].trigger()
    assert bench.tools.placed.placing in bench.tools.measure.kinds.values()
    actions[ActionId.ADD_ALERT].trigger()
    assert bench.tools.placed.placing is LineKind.ALERT

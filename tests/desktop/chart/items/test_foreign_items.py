"""pyqtgraph items from outside the chart follow candles, scale, colours and mouse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyqtgraph
import pytest
import shiboken6
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from core.domain.candle import Interval
from core.domain.candle_series import CandleSeries
from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.data.model import Moment
from desktop.chart.widget import ChartWidget
from docs.examples.chart_items import add_items
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.paint_helpers import channels
from tests.desktop.chart.support import candle, random_series

_LEFT = Qt.MouseButton.LeftButton


def foreign_items(chart: ChartWidget) -> tuple[Any, Any]:
    """The example's marks and its curve."""
    (marks,), (curve,) = chart.box().foreign_items, chart.box("Return, %").foreign_items
    return marks, curve


def assert_right(chart: ChartWidget) -> None:
    """Marks are on highs of the shown candles and the curve ends at the newest, to the pixel."""
    settle(chart)
    series, (marks, curve) = chart.model.series, foreign_items(chart)
    at = marks.getOriginalDataset()[0].astype(int)
    assert set(at) == set(np.argsort(series.volume)[-20:])
    np.testing.assert_array_equal(marks.getOriginalDataset()[1], series.high[at])
    np.testing.assert_allclose(curve.getOriginalDataset()[1], 100.0 * np.diff(np.log(series.close)))
    picture, seen = channels(chart.viewport().grab().toImage()), [index for index in at if chart.frame.left + 1 < index]
    warning = chart.style_shown.palette.warning
    for index in seen:
        column, row = chart.frame.x(index), chart.frame.y(float(series.high[index]))
        around = picture[row - 3 : row + 4, column - 3 : column + 4].reshape(-1, 3)
        assert (around == (warning.blue(), warning.green(), warning.red())).all(axis=1).any()
    assert seen


@pytest.fixture
def chart(show_chart: ShowChart) -> ChartWidget:
    """With the example of docs/examples."""
    chart = show_chart(random_series(120))
    add_items(chart)
    assert_right(chart)
    return chart


def test_a_moment_hides_what_came_after_it(chart: ChartWidget) -> None:
    chart.show_moment(Moment(int(chart.model.whole.open_time_ms[80])))
    assert chart.model.count == 80
    assert_right(chart)
    chart.show_moment(None)
    assert_right(chart)


def test_older_history_moves_marks_with_their_candles(chart: ChartWidget) -> None:
    older = CandleSeries(Interval.parse("1m"))
    for index in range(-50, 0):
        older.add(candle(index, 20_000.0))
    for one in chart.model.whole:
        older.add(one)
    chart.replace_series(older)
    assert_right(chart)


def test_an_empty_chart_accepts_foreign_items(show_chart: ShowChart) -> None:
    chart = show_chart()
    add_items(chart)
    settle(chart)
    chart.set_series(random_series(120), "BTC/USDT")
    assert_right(chart)


def test_another_interval_or_market_gets_separate_marks(chart: ChartWidget) -> None:
    chart.set_series(random_series(90, seed=3), "BTC/USDT", is_same_market=True)
    assert_right(chart)


def test_a_candle_that_closed_or_came_late_counts(chart: ChartWidget) -> None:
    chart.model.whole.add(candle(120, 20_010.0, volume=1_000.0))
    chart.model.whole.add(candle(-1, 20_000.0))
    chart.refresh()
    assert_right(chart)


@pytest.mark.parametrize("kind", ScaleKind)
def test_scale_and_colours_apply_to_foreign_items(chart: ChartWidget, kind: ScaleKind) -> None:
    chart.restyle(scale=kind)
    assert_right(chart)
    chart._theme.set_mode("light")
    assert_right(chart)
    late = pyqtgraph.PlotDataItem([1.0], [20_000.0])
    chart.box().addItem(late)
    assert late.getData()[1][0] == pytest.approx(math.log10(20_000.0) if kind is ScaleKind.LOG else 20_000.0)


def test_the_scale_of_a_pane_fits_and_the_pane_goes(chart: ChartWidget) -> None:
    (pane,), (_, curve) = chart.frame.panes, foreign_items(chart)
    seen = curve.getData()[1][max(chart.frame.first - 1, 0) : chart.frame.stop - 1]
    assert pane.shown.low < seen.min() and pane.shown.high > seen.max()
    chart.remove_pane("Return, %")
    assert chart.frame.panes == ()
    assert curve.scene() is None
    with pytest.raises(KeyError):
        chart.remove_pane("Return, %")
    assert chart.add_pane("Return, %").foreign_items == []


def drag(chart: ChartWidget, start: QPoint, way: QPoint) -> None:
    view = chart.viewport()
    QTest.mouseMove(view, start)
    QTest.mousePress(view, _LEFT, pos=start)
    for step in (1, 2, 3):
        QTest.mouseMove(view, start + way * (step / 3))
    QTest.mouseRelease(view, _LEFT, pos=start + way)


@pytest.mark.parametrize("kind", ["line", "region"])
def test_a_drag_moves_a_movable_item_and_otherwise_the_view(
    chart: ChartWidget, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setitem(pyqtgraph.CONFIG_OPTIONS, "mouseRateLimit", -1)  # otherwise pyqtgraph reads the clock
    start, way = QPoint(300, 200), QPoint(60, -45)
    at, to = (chart.box().mapSceneToView(QPointF(place)) for place in (start, start + way))
    if kind == "line":
        item = pyqtgraph.InfiniteLine(at, angle=0, movable=True)
    else:
        item = pyqtgraph.RectROI((at.x() - 5, at.y() - 9), (10, 18))
    chart.box().addItem(item)
    settle(chart)
    before, right = QPointF(item.pos()), chart.scale.right
    drag(chart, start, way)
    assert item.pos().y() - before.y() == pytest.approx((to - at).y(), rel=1e-6)
    assert chart.scale.right == right
    moved = QPointF(item.pos())
    drag(chart, QPoint(500, 300), way)
    assert item.pos() == moved
    assert chart.scale.right < right


def test_the_label_of_a_removed_line_is_still_deleted_with_it(chart: ChartWidget) -> None:
    line = pyqtgraph.InfiniteLine(0.0, angle=0, label="here")
    chart.box().addItem(line)
    settle(chart)
    chart.box().removeItem(line)
    assert not shiboken6.ownedByPython(line.label)


def test_escape_releases_it(chart: ChartWidget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(pyqtgraph.CONFIG_OPTIONS, "mouseRateLimit", -1)
    start = QPoint(300, 200)
    line = pyqtgraph.InfiniteLine(chart.box().mapSceneToView(QPointF(start)), angle=0, movable=True)
    chart.box().addItem(line)
    settle(chart)
    QTest.mousePress(chart.viewport(), _LEFT, pos=start)
    QTest.mouseMove(chart.viewport(), start + QPoint(0, 30))
    QTest.keyClick(chart, Qt.Key.Key_Escape)
    assert not line.moving and not chart.is_moving
    there = line.value()
    QTest.mouseMove(chart.viewport(), start + QPoint(0, 90))
    QTest.mouseRelease(chart.viewport(), _LEFT, pos=start + QPoint(0, 90))
    assert line.value() == there

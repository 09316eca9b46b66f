"""Axis interaction and kinetic scrolling: real mouse events on a shown chart."""

import itertools
import math

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtTest import QTest

from core.domain.clock import ManualClock
from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.tools.pan_and_zoom import Kinetic
from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import candle, forming_after, random_series
from tests.torture.user import move_mouse

LEFT = Qt.MouseButton.LeftButton


def on_price_axis(chart: ChartWidget) -> QPoint:
    return QPoint(chart.frame.layout.plot_right + 10, 250)


def on_time_axis(chart: ChartWidget) -> QPoint:
    return QPoint(300, chart.frame.layout.plot_bottom + 5)


def drag(chart: ChartWidget, start: QPoint, by: QPoint, *, release: bool = True) -> None:
    QTest.mousePress(chart.viewport(), LEFT, pos=start)
    for share in (0.3, 0.7, 1.0):
        QTest.mouseMove(chart.viewport(), start + QPoint(round(by.x() * share), round(by.y() * share)))
    if release:
        QTest.mouseRelease(chart.viewport(), LEFT, pos=start + by)
    settle(chart)


@pytest.mark.parametrize("kind", list(ScaleKind))
def test_the_price_axis_is_stretched_and_a_double_click_fits_it_again(show_chart: ShowChart, kind: ScaleKind) -> None:
    chart = show_chart(random_series(300))
    chart.restyle(scale=kind)
    settle(chart)
    fitted = chart.frame.prices
    drag(chart, on_price_axis(chart), QPoint(0, 60))
    assert chart.frame.prices.span < fitted.span
    drag(chart, on_price_axis(chart), QPoint(0, -160))
    assert chart.frame.prices.span > fitted.span
    QTest.mouseDClick(chart.viewport(), LEFT, pos=on_price_axis(chart))
    settle(chart)
    assert chart.frame.prices == fitted


@pytest.mark.parametrize("far", [-4_000, 4_000])
def test_a_chart_that_is_pressed_flat_during_a_drag_of_its_axes_stays_whole(show_chart: ShowChart, far: int) -> None:
    chart = show_chart(random_series(300))
    for axis, size in ((on_price_axis, QSize(900, 4)), (on_time_axis, QSize(4, 500))):
        whole = chart.size()
        start = axis(chart)
        QTest.mousePress(chart.viewport(), LEFT, pos=start)
        chart.resize(size)
        move_mouse(chart.viewport(), start + QPoint(far, far), LEFT)
        settle(chart)
        QTest.mouseRelease(chart.viewport(), LEFT, pos=start)
        chart.resize(whole)
        settle(chart)
    assert 0.0 < chart.frame.prices.span < math.inf
    assert 0.0 < chart.scale.spacing < math.inf


def test_held_prices_stay_while_candles_come_and_move_with_the_plot(show_chart: ShowChart) -> None:
    series = random_series(300)
    chart = show_chart(series)
    drag(chart, on_price_axis(chart), QPoint(0, 40))
    held = chart.frame.prices
    series.add(candle(300, 30_000.0))
    chart.refresh()
    chart.set_forming(forming_after(series, 4_000.0))
    settle(chart)
    assert chart.frame.prices == held
    under = chart.frame.price_pane.value_at(200)
    drag(chart, QPoint(400, 200), QPoint(0, 50))
    assert chart.frame.price_pane.value_at(250) == pytest.approx(under, abs=held.span / 200)


def test_without_a_held_range_a_vertical_drag_moves_no_price(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(300))
    before = chart.frame.prices
    drag(chart, QPoint(400, 200), QPoint(0, 80))
    assert chart.frame.prices == before


def test_the_time_axis_zooms_and_a_double_click_resets_it(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(300))
    spacing = chart.scale.spacing
    drag(chart, on_time_axis(chart), QPoint(100, 0))
    assert chart.scale.spacing > spacing
    drag(chart, on_time_axis(chart), QPoint(-200, 0))
    assert chart.scale.spacing < spacing
    QTest.mouseDClick(chart.viewport(), LEFT, pos=on_time_axis(chart))
    settle(chart)
    assert chart.scale.spacing == spacing


def run_on(chart: ChartWidget, clock: ManualClock, turns: int = 5) -> list[float]:
    """The view after each frame, for this many frames or until a throw ends."""
    kinetic, places = chart.findChild(Kinetic), []
    assert kinetic is not None
    while kinetic.is_running and len(places) < turns:
        clock.advance_ms(16)
        kinetic._timer.timeout.emit()
        places.append(chart.scale.right)
    return places


def test_a_throw_runs_on_slows_down_and_ends(show_chart: ShowChart, clock: ManualClock) -> None:
    chart = show_chart(random_series(3_000))
    QTest.mousePress(chart.viewport(), LEFT, pos=QPoint(300, 200))
    for x in range(320, 520, 20):
        clock.advance_ms(8)
        QTest.mouseMove(chart.viewport(), QPoint(x, 200))
    QTest.mouseRelease(chart.viewport(), LEFT, pos=QPoint(500, 200))
    places = [chart.scale.right, *run_on(chart, clock, turns=1_000)]
    assert 10 < len(places) < 1_000, "it comes to rest"
    moves = [before - after for before, after in itertools.pairwise(places)]
    assert all(move > 0 for move in moves[:-1]) and all(after < before for before, after in itertools.pairwise(moves))


def test_releasing_a_resting_drag_does_not_scroll_on(show_chart: ShowChart, clock: ManualClock) -> None:
    chart = show_chart(random_series(3_000))
    QTest.mousePress(chart.viewport(), LEFT, pos=QPoint(300, 200))
    for x in (350, 400, 450):
        clock.advance_ms(10)
        QTest.mouseMove(chart.viewport(), QPoint(x, 200))
    clock.advance_ms(500)
    QTest.mouseRelease(chart.viewport(), LEFT, pos=QPoint(450, 200))
    before = chart.scale.right
    run_on(chart, clock)
    assert chart.scale.right == before


def test_a_press_stops_kinetic_scrolling(show_chart: ShowChart, clock: ManualClock) -> None:
    chart = show_chart(random_series(3_000))
    QTest.mousePress(chart.viewport(), LEFT, pos=QPoint(300, 200))
    for x in range(330, 600, 30):
        clock.advance_ms(8)
        QTest.mouseMove(chart.viewport(), QPoint(x, 200))
    QTest.mouseRelease(chart.viewport(), LEFT, pos=QPoint(570, 200))
    QTest.mousePress(chart.viewport(), LEFT, pos=QPoint(300, 200))
    before = chart.scale.right
    run_on(chart, clock)
    assert chart.scale.right == before
    QTest.mouseRelease(chart.viewport(), LEFT, pos=QPoint(300, 200))


def test_escape_releases_a_drag(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(300))
    drag(chart, QPoint(400, 200), QPoint(60, 0), release=False)
    QTest.keyClick(chart, Qt.Key.Key_Escape)
    before = chart.scale.right
    QTest.mouseMove(chart.viewport(), QPoint(200, 200))
    settle(chart)
    assert chart.scale.right == before


def thrown(chart: ChartWidget, clock: ManualClock) -> None:
    QTest.mousePress(chart.viewport(), LEFT, pos=QPoint(300, 200))
    for x in range(330, 600, 30):
        clock.advance_ms(8)
        QTest.mouseMove(chart.viewport(), QPoint(x, 200))
    QTest.mouseRelease(chart.viewport(), LEFT, pos=QPoint(570, 200))
    clock.advance_ms(16)


@pytest.mark.parametrize("way", ["go_to_newest", "go_to_oldest", "reset_view", "double click"])
def test_navigating_stops_kinetic_scrolling(show_chart: ShowChart, clock: ManualClock, way: str) -> None:
    chart = show_chart(random_series(3_000))
    thrown(chart, clock)
    if way == "double click":
        QTest.mouseDClick(chart.viewport(), LEFT, pos=on_time_axis(chart))
    else:
        getattr(chart, way)()
    before = chart.scale.right
    run_on(chart, clock)
    assert chart.scale.right == before


def test_any_press_stops_kinetic_scrolling(show_chart: ShowChart, clock: ManualClock) -> None:
    chart = show_chart(random_series(3_000))
    thrown(chart, clock)
    QTest.mousePress(chart.viewport(), LEFT, pos=on_price_axis(chart))
    before = chart.scale.right
    run_on(chart, clock)
    assert chart.scale.right == before
    QTest.mouseRelease(chart.viewport(), LEFT, pos=on_price_axis(chart))


@pytest.mark.parametrize("place", ["plot", "time axis", "price axis"])
def test_closing_candles_do_not_move_a_dragged_view(show_chart: ShowChart, place: str) -> None:
    series = random_series(300)
    chart = show_chart(series)
    places = {"plot": QPoint(400, 200), "time axis": on_time_axis(chart), "price axis": on_price_axis(chart)}
    QTest.mousePress(chart.viewport(), LEFT, pos=places[place])
    before = chart.scale.right
    for index in range(300, 305):
        series.add(candle(index, 20_000.0))
        chart.refresh()
        settle(chart)
    assert chart.scale.right == before
    QTest.mouseRelease(chart.viewport(), LEFT, pos=places[place])

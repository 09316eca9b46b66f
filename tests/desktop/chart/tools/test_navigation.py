"""The chart controlled by real mouse and key events."""

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton

from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import candle, forecast_after, random_series, x_of

LEFT = Qt.MouseButton.LeftButton


def newest_button(chart: ChartWidget) -> QToolButton:
    button = chart.findChild(QToolButton)
    assert isinstance(button, QToolButton)
    return button


def turn_wheel(chart: ChartWidget, at: QPoint, steps: int, modifiers: Qt.KeyboardModifier | None = None) -> None:
    event = QWheelEvent(
        QPointF(at),
        QPointF(chart.mapToGlobal(at)),
        QPoint(),
        QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton,
        modifiers or Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(chart.viewport(), event)
    settle(chart)


def drag(chart: ChartWidget, start: QPoint, by: int, *, release: bool = True) -> None:
    QTest.mousePress(chart.viewport(), LEFT, pos=start)
    for share in (0.25, 0.5, 1.0):
        QTest.mouseMove(chart.viewport(), start + QPoint(round(by * share), 0))
    if release:
        QTest.mouseRelease(chart.viewport(), LEFT, pos=start + QPoint(by, 0))
    settle(chart)


def press(chart: ChartWidget, key: Qt.Key) -> None:
    QTest.keyClick(chart, key)
    settle(chart)


def test_the_view_starts_at_the_newest_candle_with_room_for_the_ghosts(show_chart: ShowChart) -> None:
    series = random_series(300)
    chart = show_chart(series)
    chart.set_forecast(forecast_after(series, horizon=8))
    settle(chart)
    assert chart.frame.stop == 300
    assert x_of(chart.scale, 300 + 7) < chart.scale.width
    assert newest_button(chart).isHidden()


def test_room_for_the_ghosts_survives_new_candles(show_chart: ShowChart) -> None:
    series = random_series(300)
    chart = show_chart(series, has_forecast=True)
    room = chart.scale.right - len(series)
    for index in range(300, 320):
        series.add(candle(index, 20_000.0))
        chart.refresh()
        chart.set_forecast(forecast_after(series))
        settle(chart)
        assert chart.scale.right - len(series) == room


def test_the_wheel_zooms_about_the_cursor(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(2_000))
    press(chart, Qt.Key.Key_PageUp)
    at = QPoint(300, 200)
    before, spacing = chart.scale.index_at(300), chart.scale.spacing
    turn_wheel(chart, at, 2)
    assert chart.scale.spacing > spacing
    assert chart.scale.index_at(300) == pytest.approx(before)
    turn_wheel(chart, at, -5)
    assert chart.scale.spacing < spacing
    assert chart.scale.index_at(300) == pytest.approx(before)


def test_the_wheel_with_shift_pans(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(2_000))
    spacing, right = chart.scale.spacing, chart.scale.right
    turn_wheel(chart, QPoint(300, 200), 3, Qt.KeyboardModifier.ShiftModifier)
    assert chart.scale.spacing == spacing
    assert chart.scale.right < right


def test_a_drag_moves_the_candle_under_the_cursor(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(2_000))
    before = chart.scale.index_at(300)
    drag(chart, QPoint(300, 200), 150)
    assert chart.scale.index_at(450) == pytest.approx(before)


def test_a_jittery_click_does_not_pan(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(500))
    right = chart.scale.right
    drag(chart, QPoint(300, 200), 2)
    assert chart.scale.right == right


def test_new_candles_do_not_move_the_view_during_a_drag(show_chart: ShowChart) -> None:
    series = random_series(500)
    chart = show_chart(series)
    drag(chart, QPoint(300, 200), 40, release=False)
    right = chart.scale.right
    assert chart.scale.is_newest_in_view
    series.add(candle(500, 20_000.0))
    chart.refresh()
    settle(chart)
    assert chart.scale.right == right
    QTest.mouseRelease(chart.viewport(), LEFT, pos=QPoint(340, 200))
    series.add(candle(501, 20_000.0))
    chart.refresh()
    settle(chart)
    assert chart.scale.right == right + 1


def test_older_candles_that_come_late_leave_the_same_candles_in_view(show_chart: ShowChart) -> None:
    late = frozenset(range(100, 140))
    series = random_series(2_000, skip=late)
    chart = show_chart(series)
    drag(chart, QPoint(100, 200), 600)
    drag(chart, QPoint(100, 200), 600)
    shown = chart.model.time_at(chart.frame.first)
    for index in sorted(late, reverse=True):
        series.add(candle(index, 20_000.0))
    chart.refresh()
    settle(chart)
    assert len(series) == 2_000
    assert chart.model.time_at(chart.frame.first) == shown


def test_home_end_and_arrows(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(2_000))
    resting = chart.scale.right
    press(chart, Qt.Key.Key_Left)
    assert chart.scale.right < resting
    press(chart, Qt.Key.Key_Right)
    assert chart.scale.right == pytest.approx(resting)
    press(chart, Qt.Key.Key_Home)
    assert chart.frame.first == 0
    press(chart, Qt.Key.Key_End)
    assert chart.scale.right == resting


@pytest.mark.parametrize(("closer", "wider"), [(Qt.Key.Key_Plus, Qt.Key.Key_Minus), (Qt.Key.Key_Up, Qt.Key.Key_Down)])
def test_keys_zoom_and_keep_the_ghosts_in_view(show_chart: ShowChart, closer: Qt.Key, wider: Qt.Key) -> None:
    chart = show_chart(random_series(2_000))
    spacing, room = chart.scale.spacing, chart.scale.right - 2_000
    press(chart, closer)
    assert chart.scale.spacing > spacing
    assert chart.scale.right - 2_000 == room
    press(chart, wider)
    assert chart.scale.spacing == pytest.approx(spacing)


def test_other_keys_are_left_to_others(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(100))
    before = (chart.scale.right, chart.scale.spacing)
    QTest.keyClick(chart, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(chart, Qt.Key.Key_A)
    assert (chart.scale.right, chart.scale.spacing) == before


def test_a_double_click_resets(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(2_000))
    before = (chart.scale.right, chart.scale.spacing)
    turn_wheel(chart, QPoint(200, 200), -4)
    drag(chart, QPoint(200, 200), 300)
    assert (chart.scale.right, chart.scale.spacing) != before
    QTest.mouseDClick(chart.viewport(), LEFT, pos=QPoint(300, 200))
    settle(chart)
    assert (chart.scale.right, chart.scale.spacing) == before


def test_the_button_goes_to_the_newest_candle_and_hides(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(2_000))
    press(chart, Qt.Key.Key_Home)
    button = newest_button(chart)
    assert button.isVisible()
    QTest.mouseClick(button, LEFT)
    settle(chart)
    assert chart.scale.is_newest_in_view
    assert button.isHidden()


def test_another_series_starts_a_new_view(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(2_000))
    press(chart, Qt.Key.Key_Home)
    chart.set_series(random_series(700, seed=1), "ETH/USDT")
    settle(chart)
    assert chart.scale.is_newest_in_view
    assert chart.frame.stop == 700


def test_escape_undoes_zooming_moving_and_a_manual_scale_and_is_then_left_to_others(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(300))
    before = (chart.scale.right, chart.scale.spacing, chart.frame.prices)
    turn_wheel(chart, QPoint(300, 200), 3)
    drag(chart, QPoint(300, 200), 150)
    chart.hold_prices(chart.fresh_frame().prices)
    press(chart, Qt.Key.Key_Escape)
    assert (chart.scale.right, chart.scale.spacing, chart.frame.prices) == before
    event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(chart, event)
    assert not event.isAccepted()


def test_escape_first_removes_the_crosshair_and_then_resets_the_view(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(300))
    QTest.keyClick(chart, Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)
    turn_wheel(chart, QPoint(300, 200), 3)
    zoomed = chart.scale.spacing
    press(chart, Qt.Key.Key_Escape)
    assert chart.key_mark is None and chart.scale.spacing == zoomed
    press(chart, Qt.Key.Key_Escape)
    assert chart.scale.is_reset

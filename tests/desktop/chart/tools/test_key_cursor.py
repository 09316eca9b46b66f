"""The crosshair, moved by real key events only."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from core.domain.candle_series import CandleSeries
from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.controllers.tools import send_move
from tests.desktop.chart.support import forecast_after, forming_after, random_series

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
LEFT, RIGHT = Qt.Key.Key_Left, Qt.Key.Key_Right


def press(chart: ChartWidget, key: Qt.Key, *, far: bool = False) -> None:
    QTest.keyClick(chart, key, CONTROL | SHIFT if far else CONTROL)
    settle(chart)


def pointed_at(chart: ChartWidget) -> int:
    cross = chart.overlay.cross
    assert cross is not None
    return chart.frame.index_at(cross.x())


def test_keys_walk_from_the_newest_candle_into_the_past_and_back(show_chart: ShowChart) -> None:
    series = random_series(300)
    chart = show_chart(series)
    for wanted in (299, 298, 297):
        press(chart, LEFT)
        assert pointed_at(chart) == wanted
    texts = [span.text for row in chart.overlay.readout.rows for span in row]
    assert f" {series[297].close:,.2f}" in texts
    press(chart, LEFT, far=True)
    assert pointed_at(chart) == 287
    press(chart, RIGHT)
    assert pointed_at(chart) == 288


def test_the_view_goes_along_and_both_ends_hold(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(300))
    for _ in range(40):
        press(chart, LEFT, far=True)
        cross = chart.overlay.cross
        assert cross is not None and 0 <= cross.x() < chart.frame.layout.plot_right
    assert pointed_at(chart) == 0
    for _ in range(40):
        press(chart, RIGHT, far=True)
    assert pointed_at(chart) == 299


def test_ghosts_can_be_read_too(show_chart: ShowChart) -> None:
    series = random_series(300)
    chart = show_chart(series)
    chart.set_forecast(forecast_after(series, horizon=8))
    chart.set_forming(forming_after(series))
    settle(chart)
    press(chart, RIGHT)
    assert pointed_at(chart) == 300, "it begins at the newest candle"
    for _ in range(10):
        press(chart, RIGHT)
    assert pointed_at(chart) == 307
    last = chart.model.ghosts()[-1].ghost
    texts = [span.text for row in chart.overlay.readout.rows for span in row]
    assert f" {last.close:,.2f}" in texts


def test_the_crosshair_starts_in_the_view(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(3_000))
    chart.go_to_time(random_series(3_000)[500].open_time_ms)
    settle(chart)
    left, right = chart.scale.left, chart.scale.right
    press(chart, LEFT)
    assert (chart.scale.left, chart.scale.right) == (left, right)
    assert left <= pointed_at(chart) <= right


def test_a_candle_at_the_axis_is_not_in_the_view(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(3_000))
    chart.scale.pan_to(600.0)
    chart.refresh()
    settle(chart)
    press(chart, RIGHT)
    assert (chart.scale.right, pointed_at(chart)) == (600.0, 599)
    press(chart, RIGHT)
    assert pointed_at(chart) == 600 < chart.scale.right, "the view has moved to it"


def test_it_stays_at_its_candle_when_the_view_moves_and_candles_close_or_come_late(show_chart: ShowChart) -> None:
    whole = random_series(320)
    series = CandleSeries(whole.interval)
    series.extend(whole[index] for index in range(300) if index != 250)
    chart = show_chart(series)
    for _ in range(4):
        press(chart, LEFT)
    pointed = series[pointed_at(chart)].open_time_ms

    def is_at_it() -> bool:
        settle(chart)
        cross, index = chart.overlay.cross, series.index_at(pointed)
        return (
            cross is not None
            and index == pointed_at(chart)
            and abs(chart.frame.y(series[index].close) - cross.y()) <= 1
        )

    chart.zoom(1.5)
    assert is_at_it()
    QTest.keyClick(chart, LEFT)
    assert is_at_it(), "the arrows pan"
    chart.go_to_newest()
    series.add(whole[300])
    chart.refresh()
    assert is_at_it()
    series.add(whole[250])
    chart.refresh()
    assert is_at_it()
    chart.set_forming(whole[301])
    assert is_at_it()
    press(chart, RIGHT)
    index = series.index_at(pointed)
    assert index is not None and pointed_at(chart) == index + 1
    chart.go_to_oldest()
    settle(chart)
    assert chart.overlay.cross is None, "out of view"
    press(chart, LEFT)
    assert pointed_at(chart) == index, "and it continues from there"


def test_the_mouse_takes_the_crosshair_over(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(300))
    press(chart, LEFT)
    send_move(chart, QPoint(200, 200), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier)
    settle(chart)
    cross = chart.overlay.cross
    assert cross is not None and abs(cross.x() / chart.frame.ratio - 200) <= chart.frame.spacing
    press(chart, LEFT)
    assert pointed_at(chart) == chart.frame.index_at(cross.x()) - 1


def test_escape_hides_the_crosshair(show_chart: ShowChart) -> None:
    chart = show_chart(random_series(300))
    press(chart, LEFT)
    QTest.keyClick(chart, Qt.Key.Key_Escape)
    settle(chart)
    assert chart.overlay.cross is None and chart.key_mark is None
    press(chart, LEFT, far=True)
    assert pointed_at(chart) == 299, "and it starts again"


def test_an_empty_chart_leaves_the_keys_alone(show_chart: ShowChart) -> None:
    chart = show_chart(None)
    press(chart, LEFT)
    assert chart.overlay.cross is None

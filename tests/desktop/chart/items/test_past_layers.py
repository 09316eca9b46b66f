"""The pixels of hindsight and the error strip."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.domain.candle import Interval
from core.domain.candle_series import CandleSeries
from core.domain.drawings import Anchor, Drawing, DrawingKind
from core.domain.events import ForecastMode
from core.storage.record_reader import RecordReader
from desktop.chart.axes.price_scale import PriceRange
from desktop.chart.controllers.context_menu import ChartMenu
from desktop.chart.data.past_forecasts import PastForecasts
from desktop.chart.items.drawings import DrawingsLayer
from desktop.chart.items.error_strip import ERROR_PANE, ErrorStripLayer, class_colours, grouped, round_level
from desktop.chart.items.hindsight import HindsightLayer
from desktop.chart.items.placed import Placed
from desktop.chart.panes.layer import Layer, View
from desktop.chart.widget import ChartWidget
from desktop.ui import formatting
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.controllers.tools import send_move
from tests.desktop.chart.past_support import open_recorded
from tests.desktop.chart.support import MINUTE_MS, ghost, outcome_of, point_over, random_series, texts

SERIES = random_series(400)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordReader]:
    with open_recorded(Path(tmp_path_factory.mktemp("record")), SERIES) as (_db, record):
        yield record.reader


def pixels(chart: ChartWidget) -> np.ndarray:
    image = chart.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine() // 4, 4)
    return rows[:, : image.width(), 2::-1].astype(int)


def is_colour(area: np.ndarray, colour: QColor) -> np.ndarray:
    return (np.abs(area - np.array(colour.getRgb()[:3])) <= 2).all(axis=-1)


def read_all(chart: ChartWidget) -> None:
    for _ in range(50):
        chart.layers_changed()
        settle(chart)
        if not chart.model.past.is_waiting:
            return
        while chart.model.past.load_next():
            pass
    pytest.fail("it was never read whole")


def rows_of(chart: ChartWidget, layer: Layer, index: int | None = None) -> str:
    return texts(tuple(layer.rows(chart.frame, chart.model, index)))


def add(chart: ChartWidget, index: int, error: float, **changes: object) -> None:
    """A live forecast of one candle with this relative error of the close."""
    candle = SERIES[index]
    close = candle.close / (1.0 + error)
    drawn = ghost(candle.open_time_ms, candle.open + 6.0, close, spread=30.0)
    chart.model.past.add(outcome_of(candle, ghost=drawn, **changes))


def test_a_ghost_frames_its_candle_in_its_own_hue(show_chart: ShowChart) -> None:
    chart = show_chart(SERIES)
    chart.zoom(4.0)
    layer = HindsightLayer()
    chart.add_layer(layer)
    settle(chart)
    index = chart.frame.stop - 5
    add(chart, index, -0.002)
    chart.layers_changed()
    settle(chart)
    frame, image = chart.frame, pixels(chart)
    past = chart.model.past.view(SERIES, index, index + 1).past[0]
    row = frame.y(float(past["close"]))
    hue = frame.palette.ghost(bool(past["close"] >= past["open"]))
    assert is_colour(image[row, frame.x(index)], hue)
    body = frame.widths.body // 2
    beside = image[row, frame.x(index) - body - frame.pixel]
    assert is_colour(beside, hue), "it is wider than the candle, so both are seen"
    neighbour = frame.x(index + 2)
    assert not is_colour(image[: frame.layout.price_bottom, neighbour - 3 : neighbour + 4], hue).any()


def test_the_ribbon_ends_where_nothing_was_forecast(show_chart: ShowChart) -> None:
    chart = show_chart(SERIES)
    chart.hold_prices(PriceRange(SERIES.low[300:].min() - 200, SERIES.high[300:].max() + 200))
    chart.add_layer(HindsightLayer())
    settle(chart)
    bare = pixels(chart)
    for index in (*range(360, 370), *range(376, 386)):
        add(chart, index, 0.0)
    chart.layers_changed()
    settle(chart)
    frame, image = chart.frame, pixels(chart)
    rows = slice(frame.layout.price_top, frame.layout.price_bottom)
    changed = (image != bare).any(axis=-1)[rows]
    assert changed[:, frame.x(364)].any() and changed[:, frame.x(380)].any()
    assert not changed[:, frame.x(371) : frame.x(374)].any()
    assert not changed[:, frame.x(388) : frame.x(395)].any()


def test_what_was_not_made_live_is_paler(show_chart: ShowChart) -> None:
    chart = show_chart(SERIES)
    chart.zoom(3.0)
    chart.add_layer(ErrorStripLayer())
    settle(chart)
    live, later = chart.frame.stop - 8, chart.frame.stop - 4
    add(chart, live, 0.002, inside_50=True)
    add(chart, later, 0.002, inside_50=True, mode=ForecastMode.CATCH_UP)
    chart.layers_changed()
    settle(chart)
    frame, image = chart.frame, pixels(chart)
    row = (frame.pane(ERROR_PANE).y(0.1) + frame.pane(ERROR_PANE).y(0.0)) // 2
    strong, pale = (image[row, frame.x(index)] for index in (live, later))
    ground = np.array(frame.palette.background.getRgb()[:3])
    assert is_colour(strong, class_colours(frame.palette)[0])
    assert 0 < np.abs(pale - ground).sum() < np.abs(strong - ground).sum()
    strip = chart._layers.of_pane(ERROR_PANE)[0]
    assert "(catch-up)" in rows_of(chart, strip, later) and "(live)" not in rows_of(chart, strip, live)
    assert "n 2, 1 not made live (paler)" in rows_of(chart, strip)


@pytest.mark.parametrize(
    ("error", "flags", "kind"), [(0.003, (True, True), 0), (-0.003, (False, True), 1), (0.003, (False, False), 2)]
)
def test_a_bar_shows_the_side_the_size_and_the_band(
    show_chart: ShowChart, error: float, flags: tuple[bool, bool], kind: int
) -> None:
    chart = show_chart(SERIES)
    chart.add_layer(ErrorStripLayer())
    index = 390
    add(chart, index, error, inside_50=flags[0], inside_90=flags[1], direction_hit=kind == 0)
    chart.layers_changed()
    settle(chart)
    frame, image = chart.frame, pixels(chart)
    pane, colour = frame.pane(ERROR_PANE), class_colours(frame.palette)[kind]
    column = is_colour(image[pane.top : pane.bottom, frame.x(index)], colour).nonzero()[0] + pane.top
    ends = sorted((pane.y(0.0), pane.y(error * 100.0)))
    assert abs(column.min() - ends[0]) <= 1 and abs(column.max() - ends[1]) <= 1
    assert pane.shown.low == -pane.shown.high, "zero stays in the middle"
    mark = frame.palette.good if kind == 0 else frame.palette.bad
    assert is_colour(image[pane.bottom - 2, frame.x(index)], mark)
    said = rows_of(chart, chart._layers.of_pane(ERROR_PANE)[0], index)
    assert formatting.format_percent(error, 3, signed=True) in said
    assert ("inside 50 %", "inside 90 %", "outside 90 %")[kind] in said


def test_numbers_are_of_what_is_in_view_and_say_of_how_many(show_chart: ShowChart, reader: RecordReader) -> None:
    chart = show_chart(SERIES, width=1500)
    strip = ErrorStripLayer()
    chart.add_layer(strip)
    chart.model.past.begin(reader, MINUTE_MS)
    read_all(chart)
    view = chart.model.past.view(SERIES, chart.frame.first, chart.frame.stop)
    n = chart.frame.stop - chart.frame.first
    assert len(view) == n
    said = rows_of(chart, strip)
    assert f"in view: n {n}" in said
    assert f"mean |error| {np.abs(view.error).mean():.3f} %" in said
    assert f"in 90 %: {view.past['inside_90'].sum()} of {n}" in said
    counted = (view.past["hit"] >= 0).sum()
    assert f"direction hit: {(view.past['hit'] == 1).sum()} of {counted}" in said
    chart.go_to_oldest()
    read_all(chart)
    assert rows_of(chart, strip) != said


@pytest.mark.parametrize("width", [240, 300, 420, 640, 900, 1500])
@pytest.mark.parametrize("is_hovered", [False, True])
def test_at_any_width_all_three_classes_are_explained_or_the_candle_is(
    show_chart: ShowChart, reader: RecordReader, width: int, is_hovered: bool
) -> None:
    chart = show_chart(SERIES, width=width, height=600)
    chart.add_layer(ErrorStripLayer())
    chart.model.past.begin(reader, MINUTE_MS)
    read_all(chart)
    if is_hovered:
        index = chart.frame.stop - 5
        QTest.mouseMove(chart.viewport(), point_over(chart, index, SERIES[index].close))
        settle(chart)
    frame, pane, (box,) = chart.frame, chart.frame.pane(ERROR_PANE), chart.overlay.pane_readouts
    squares = [span.colour for row in box.rows for span in row if span.text == "■"]
    said = texts(box.rows)
    if squares or not is_hovered:
        assert squares == list(class_colours(frame.palette))
        assert all(name in said for name in ("50 %", "90 %", "out"))
    else:
        assert "side" in said, "inside or outside, in words"
    assert box.rect.right() < frame.layout.plot_right
    assert box.rect.bottom() <= pane.inner_top, "over no bar"


def test_groups_hold_means_and_shares(reader: RecordReader) -> None:
    past = PastForecasts()
    past.begin(reader, MINUTE_MS)
    view = past.view(SERIES, 0, 400)
    for _ in range(10):
        while past.load_next():
            pass
        view = past.view(SERIES, 0, 400)
    groups = grouped(view, 16)
    assert len(groups.index) == 25
    for number, centre in enumerate(groups.index):
        chosen = (view.index // 16) == number
        assert centre == number * 16 + 7.5
        assert groups.mean_size[number] == pytest.approx(np.abs(view.error[chosen]).mean())
        held = view.past["inside_90"][chosen].mean()
        assert groups.shares[0, number] + groups.shares[1, number] == pytest.approx(held)
    np.testing.assert_allclose(groups.shares.sum(axis=0), 1.0)


def test_the_first_frame_of_a_strip_that_is_zoomed_out_is_scaled_to_its_groups(
    show_chart: ShowChart, reader: RecordReader
) -> None:
    """No second one follows where nothing moves, as in a replay that is paused."""
    chart = show_chart(SERIES, width=300)
    chart.model.past.begin(reader, MINUTE_MS)
    chart.zoom(0.01)
    hindsight = HindsightLayer()
    chart.add_layer(hindsight)
    read_all(chart)
    chart.remove_layer(hindsight)
    settle(chart)
    chart.add_layer(ErrorStripLayer())
    settle(chart)
    assert chart.frame.group > 1
    shown = chart.frame.pane(ERROR_PANE).shown
    chart.layers_changed()
    settle(chart)
    assert chart.frame.pane(ERROR_PANE).shown == shown


def test_zoomed_out_the_strip_is_scaled_to_its_groups(show_chart: ShowChart, reader: RecordReader) -> None:
    chart = show_chart(SERIES, width=300)
    chart.add_layer(ErrorStripLayer())
    chart.add_layer(HindsightLayer())
    chart.model.past.begin(reader, MINUTE_MS)
    chart.zoom(0.01)
    read_all(chart)
    read_all(chart)
    frame = chart.frame
    assert frame.group > 1
    view = chart.model.past.view(SERIES, frame.first, frame.stop)
    assert frame.pane(ERROR_PANE).shown.high < np.abs(view.error).max()
    image = pixels(chart)
    assert is_colour(image[: frame.layout.price_bottom], frame.palette.ghost_text).any(), "the median line is there"


def test_at_another_interval_the_chart_says_so_and_shows_none(show_chart: ShowChart, reader: RecordReader) -> None:
    coarser = CandleSeries(Interval.parse("5m"))
    coarser.extend(SERIES[index] for index in range(0, 400, 5))
    chart = show_chart(coarser)
    chart.model.past.begin(reader, MINUTE_MS)
    layers = (HindsightLayer(), ErrorStripLayer())
    for layer in layers:
        chart.add_layer(layer)
    read_all(chart)
    assert not len(chart.model.past.view(coarser, 0, 80)) and not chart.model.past.is_waiting
    assert rows_of(chart, layers[0]) == ""
    frame = chart.frame
    corner = pixels(chart)[: frame.layout.price_top, frame.layout.plot_right // 2 : frame.layout.plot_right]
    assert is_colour(corner, frame.palette.raised).any(), "the note is in the upper right corner"
    chart.set_series(SERIES, "one minute")
    read_all(chart)
    assert len(chart.model.past.view(SERIES, 300, 400)) == 100


def test_the_mouse_repaints_no_closed_candle(show_chart: ShowChart, reader: RecordReader) -> None:
    chart = show_chart(SERIES)
    chart.add_layer(HindsightLayer())
    chart.add_layer(ErrorStripLayer())
    chart.model.past.begin(reader, MINUTE_MS)
    read_all(chart)
    paints = chart.closed_paints
    for index in range(chart.frame.first + 1, chart.frame.stop):
        QTest.mouseMove(chart.viewport(), point_over(chart, index, SERIES[index].close))
        settle(chart)
        assert chart.overlay.tooltip is not None
    assert chart.closed_paints == paints


def test_the_tooltip_lies_over_nothing_that_the_mouse_is_on_and_beside_no_menu(
    show_chart: ShowChart, reader: RecordReader
) -> None:
    chart = show_chart(SERIES)
    chart.model.past.begin(reader, MINUTE_MS)
    drawn, menu = DrawingsLayer(), ChartMenu(chart)
    menu.add(lambda offered, _at: offered.addAction("something"))
    chart.add_layer(HindsightLayer())
    chart.add_layer(drawn)
    read_all(chart)
    index = chart.frame.stop - 10
    place = point_over(chart, index, SERIES[index].close)
    QTest.mouseMove(chart.viewport(), place)

    def has_tooltip() -> bool:
        settle(chart)
        return chart.overlay.tooltip is not None

    assert has_tooltip()
    drawing = Drawing(DrawingKind.HORIZONTAL, (Anchor(0, SERIES[index].close),), number=1)
    for in_hand in (Placed((drawing,), hovered=1), Placed(preview=drawing)):
        drawn.shown = in_hand
        chart.layers_changed()
        assert not has_tooltip()
    drawn.shown = Placed((drawing,), selected=1)
    chart.layers_changed()
    assert has_tooltip()
    reason = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(chart.viewport(), QContextMenuEvent(reason, place, chart.mapToGlobal(place)))
    send_move(chart, place, Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier)
    assert not has_tooltip()
    menu.dismiss()
    assert has_tooltip()


@pytest.mark.parametrize(
    ("reach", "level", "decimals"), [(0.35, 0.2, 2), (1.0, 1.0, 2), (0.0034, 0.002, 3), (7.9, 5.0, 2), (0.0, 1.0, 2)]
)
def test_levels_are_round_and_inside(reach: float, level: float, decimals: int) -> None:
    assert round_level(reach) == (pytest.approx(level), decimals)


def test_with_nothing_in_view_the_strip_has_the_levels_of_a_strip_that_never_had_anything(
    show_chart: ShowChart, reader: RecordReader
) -> None:
    chart, layer, fresh = show_chart(SERIES), ErrorStripLayer(), ErrorStripLayer()
    chart.model.past.begin(reader, MINUTE_MS)
    chart.add_layer(layer)
    read_all(chart)
    assert layer.extent(View(300, 400, 1), chart.model) is not None
    assert layer.pane_scale != fresh.pane_scale
    chart.model.past.begin(None, MINUTE_MS)
    assert layer.extent(View(300, 400, 1), chart.model) is None
    assert layer.pane_scale == fresh.pane_scale

"""The pixels of hindsight."""

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
from desktop.chart.items.drawings import DrawingsLayer
from desktop.chart.items.hindsight import HindsightLayer
from desktop.chart.items.placed import Placed
from desktop.chart.panes.layer import Layer
from desktop.chart.widget import ChartWidget
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
    chart.add_layer(HindsightLayer())
    settle(chart)
    live, later = chart.frame.stop - 8, chart.frame.stop - 4
    add(chart, live, -0.002)
    add(chart, later, -0.002, mode=ForecastMode.CATCH_UP)
    chart.layers_changed()
    settle(chart)
    frame, image = chart.frame, pixels(chart)
    past = chart.model.past.view(SERIES, live, later + 1).past
    strong, pale = (
        image[frame.y(float(row["close"])), frame.x(index)] for row, index in zip(past, (live, later), strict=True)
    )
    ground = np.array(frame.palette.background.getRgb()[:3])
    assert is_colour(strong, frame.palette.ghost(bool(past[0]["close"] >= past[0]["open"])))
    assert 0 < np.abs(pale - ground).sum() < np.abs(strong - ground).sum()


def test_at_another_interval_the_chart_says_so_and_shows_none(show_chart: ShowChart, reader: RecordReader) -> None:
    coarser = CandleSeries(Interval.parse("5m"))
    coarser.extend(SERIES[index] for index in range(0, 400, 5))
    chart = show_chart(coarser)
    chart.model.past.begin(reader, MINUTE_MS)
    layer = HindsightLayer()
    chart.add_layer(layer)
    read_all(chart)
    assert not len(chart.model.past.view(coarser, 0, 80)) and not chart.model.past.is_waiting
    assert rows_of(chart, layer) == ""
    frame = chart.frame
    corner = pixels(chart)[: frame.layout.price_top, frame.layout.plot_right // 2 : frame.layout.plot_right]
    assert is_colour(corner, frame.palette.raised).any(), "the note is in the upper right corner"
    chart.set_series(SERIES, "one minute")
    read_all(chart)
    assert len(chart.model.past.view(SERIES, 300, 400)) == 100


def test_the_mouse_repaints_no_closed_candle(show_chart: ShowChart, reader: RecordReader) -> None:
    chart = show_chart(SERIES)
    chart.add_layer(HindsightLayer())
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

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication

from desktop.chart.data.columns import CandleColumns, columns
from desktop.chart.painting.geometry import (
    CandleWidths,
    candle_rect,
    candle_rects,
    candle_widths,
    volume_rect,
    volume_rects,
)
from desktop.chart.painting.primitives import fill_rects, rects
from tests.desktop.chart.support import random_series


@given(st.floats(1, 300), st.sampled_from([1.0, 1.25, 1.5, 2.0, 3.0]))
def test_wicks_are_in_the_middle_and_neighbours_do_not_overlap(slot: float, ratio: float) -> None:
    widths = candle_widths(slot, ratio)
    assert (widths.body - widths.wick) % 2 == 0
    assert 1 <= widths.wick <= widths.body
    assert widths.body >= (3 if slot >= 3 else 1), "a body is to be seen beside its wick"
    assert widths.body <= max(int(slot) - (slot >= 4), 1)


def test_candles_cover_exactly_the_pixels_of_their_prices() -> None:
    series = random_series(40)
    drawn = columns(series, 0, 40, 1)
    found = candle_rects(drawn, CandleWidths(5, 1), lambda index: (index * 8 + 4).astype(np.int64), to_row)
    areas = [edges for of_colour in found for edges in of_colour.tolist()]
    wicks = {left: (top, bottom) for left, top, right, bottom in areas if left == right}
    bodies = {left + 2: (top, bottom) for left, top, right, bottom in areas if left != right}
    for index, candle in enumerate(series):
        high, low, opened, closed = (
            int(to_row(np.float64(p))) for p in (candle.high, candle.low, candle.open, candle.close)
        )
        assert wicks[index * 8 + 4] == (high, low)
        assert bodies[index * 8 + 4] == (min(opened, closed), max(opened, closed))
    assert len(found[0]) == 2 * sum(candle.close >= candle.open for candle in series)


@given(
    st.lists(st.integers(-50, 500), min_size=4, max_size=4).map(sorted),
    st.booleans(),
    st.floats(0, 1e6),
    st.floats(1, 60),
    st.sampled_from([1.0, 1.5, 2.0]),
)
def test_one_candle_covers_the_pixels_that_it_covers_among_many(
    rows: list[int], is_rising: bool, volume: float, slot: float, ratio: float
) -> None:
    high, one, other, low = rows
    opened, closed = (other, one) if is_rising else (one, other)
    widths, centre = candle_widths(slot, ratio), 77
    drawn = CandleColumns(*(np.array([float(value)]) for value in (0, -opened, -high, -low, -closed, volume)), group=1)

    def to_y(value: NDArray[np.float64]) -> NDArray[np.int64]:
        return (-value).astype(np.int64)

    def to_x(index: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.full(index.shape, centre)

    found = candle_rects(drawn, widths, to_x, to_y)
    many = [area for of_colour in found for area in of_colour]
    alone = candle_rect(centre, opened, high, low, closed, widths)
    assert [edges(area) for area in alone] == [tuple(int(edge) for edge in area) for area in many]
    bars = volume_rects(drawn, widths, to_x, to_y, 40)
    top = int(to_y(drawn.volume)[0])
    assert [tuple(int(edge) for edge in area) for bar in bars for area in bar] == (
        [edges(volume_rect(centre, top, 40, widths))] if volume > 0 else []
    )


def edges(area: QRect) -> tuple[int, int, int, int]:
    return area.left(), area.top(), area.right(), area.bottom()


def test_a_bar_for_every_traded_candle() -> None:
    series = random_series(10)
    drawn = columns(series, 0, 10, 1)
    up, down = volume_rects(
        drawn, CandleWidths(3, 1), lambda index: index.astype(np.int64), lambda v: (100 - v / 10).astype(np.int64), 100
    )
    assert len(up) + len(down) == 10
    assert {int(rect[3]) for rect in [*up, *down]} == {100}


def test_rectangles_are_filled_to_the_pixel(qapp: QApplication) -> None:
    image = QImage(40, 20, QImage.Format.Format_RGB32)
    image.fill(QColor("black"))
    painter = QPainter(image)
    fill_rects(
        painter, rects(np.array([2, 30]), np.array([3, 0]), np.array([4, 30]), np.array([7, 19])), QColor("white")
    )
    painter.end()
    white = {(x, y) for x in range(40) for y in range(20) if image.pixelColor(x, y) == QColor("white")}
    assert white == {(x, y) for x in (2, 3, 4) for y in range(3, 8)} | {(30, y) for y in range(20)}


def to_row(price: np.ndarray | np.float64) -> np.ndarray:
    return np.floor((20_500 - price) + 0.5).astype(np.int64)

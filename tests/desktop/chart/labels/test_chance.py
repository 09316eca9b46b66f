"""The chance of a price in words: at the crosshair, on the axis, on a horizontal line, and why there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest

from core.domain.drawings import Anchor, Drawing, DrawingKind
from core.domain.events import ForecastMade
from core.domain.price_lines import LineKind, PriceLine
from desktop.chart.items.drawings import DrawingsLayer
from desktop.chart.items.placed import Placed
from desktop.chart.items.price_lines import PriceLinesLayer
from desktop.chart.labels.chance import axis_tip, chance_rows, chance_tip, percent, short_chance
from desktop.chart.painting.text import Span, box_size
from desktop.chart.widget import ChartWidget
from desktop.ui.formatting import MISSING
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import forecast_after, forecast_with_paths, point_over, random_series, texts

SERIES = random_series(400)
MADE = forecast_with_paths(SERIES)
PRICE = MADE.origin_close * 1.001


@pytest.fixture
def chart(show_chart: ShowChart) -> ChartWidget:
    made = show_chart(SERIES)
    made.restyle(shows_chance=True)
    forecast(made, MADE)
    return made


def forecast(chart: ChartWidget, made: ForecastMade | None) -> None:
    """Show a forecast whose paths, if it has some, are computed."""
    chart.set_forecast(made)
    make = chart.model.futures.begin(made, SERIES)
    if make is not None:
        make()
    settle(chart)


def point_at(chart: ChartWidget, place: QPoint) -> None:
    QTest.mouseMove(chart.viewport(), place + QPoint(0, 30))
    QTest.mouseMove(chart.viewport(), place)
    settle(chart)


def test_the_crosshair_and_a_horizontal_line_say_the_chance_of_their_price(chart: ChartWidget) -> None:
    layer = DrawingsLayer()
    layer.shown = Placed((Drawing(DrawingKind.HORIZONTAL, (Anchor(0, PRICE),)),))
    chart.add_layer(layer)
    point_at(chart, point_over(chart, 350, MADE.origin_close - 10.0))
    label = chart.overlay.price_label
    assert label is not None and label.price is not None
    for box in (label, *chart.overlay.axis_tags):
        assert box.price is not None
        touched = chart.model.chances_of(box.price)[-1].touched
        assert texts(box.rows[1:]) == f"{percent(touched)} in 8 "
    assert len(chart.overlay.axis_tags) == 1
    chart.restyle(shows_chance=False)
    settle(chart)
    boxes = (chart.overlay.price_label, *chart.overlay.axis_tags)
    assert [len(box.rows) for box in boxes if box is not None] == [1, 1]


@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0])
def test_a_chance_on_the_axis_is_not_cut(chart: ChartWidget, chance: float) -> None:
    """Regression: "under 1 % in 8" was wider than the axis."""
    point_at(chart, QPoint(40, 60))
    label = chart.overlay.price_label
    assert label is not None and len(label.rows) == 2
    row = (Span(f"{percent(chance)} in 8", chart.frame.palette.text),)
    assert box_size((label.rows[0], row), chart.frame.fonts).width() <= label.rect.width()


def test_the_table_has_a_row_for_each_number_of_candles(chart: ChartWidget) -> None:
    said = texts(tuple(chance_rows(chart.frame, chart.model, PRICE)))
    for within, each in zip(("1 candle", "3 candles", "8 candles"), chart.model.chances_of(PRICE), strict=True):
        words = f"touched {percent(each.touched)}, closed beyond {percent(each.closed_beyond)}"
        assert f"within {within} {words}" in said


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (None, "no forecast"),
        (replace(MADE, is_by_simple_rules=True, quantiles=None), "of the baselines alone"),
        (forecast_after(SERIES), "not kept"),
        (forecast_with_paths(random_series(500)), "too few candles"),
    ],
)
def test_without_a_chance_there_is_a_dash_and_the_reason(
    chart: ChartWidget, made: ForecastMade | None, reason: str
) -> None:
    forecast(chart, made)
    assert short_chance(chart.frame, chart.model, PRICE) == MISSING
    said = texts(tuple(chance_rows(chart.frame, chart.model, PRICE)))
    assert MISSING in said and reason in said


def test_a_hovered_horizontal_line_or_alert_has_the_table_of_its_price(chart: ChartWidget) -> None:
    anchors = (Anchor(int(SERIES.open_time_ms[300]), PRICE), Anchor(int(SERIES.open_time_ms[350]), PRICE))
    level, slanted = (
        Drawing(DrawingKind.HORIZONTAL, anchors[:1], number=0),
        Drawing(DrawingKind.TREND_LINE, anchors, number=1),
    )
    drawings, lines = DrawingsLayer(), PriceLinesLayer()
    cursor = QPoint(200, 200)
    for layer, placed in (
        (drawings, Placed((level, slanted), hovered=level.number)),
        (lines, Placed((PriceLine(PRICE, LineKind.ALERT, number=0),), hovered=0)),
    ):
        layer.shown = placed  # type: ignore[attr-defined]
        box = layer.tooltip(chart.frame, chart.model, cursor)
        assert box == chance_tip(chart.frame, chart.model, PRICE, cursor) and len(box.rows) == 4
        layer.shown = replace(placed, hovered=None)  # type: ignore[attr-defined]
        assert layer.tooltip(chart.frame, chart.model, cursor) is None
    drawings.shown = Placed((level, slanted), hovered=slanted.number)
    assert drawings.tooltip(chart.frame, chart.model, cursor) is None


def test_while_it_is_computed_it_says_so(chart: ChartWidget) -> None:
    chart.set_forecast(replace(MADE, origin_close=MADE.origin_close + 1.0))
    assert "being computed" in texts(tuple(chance_rows(chart.frame, chart.model, PRICE)))


def test_an_old_forecast_says_its_age(chart: ChartWidget) -> None:
    chart.set_market_time(chart.model.time_at(len(SERIES) + 4))
    settle(chart)
    assert "ago" in texts(tuple(chance_rows(chart.frame, chart.model, PRICE)))


@pytest.mark.parametrize(("later", "has_chance"), [(7, True), (9, False), (80, False)])
def test_a_forecast_whose_candles_are_over_has_no_chance_left(chart: ChartWidget, later: int, has_chance: bool) -> None:
    chart.set_market_time(chart.model.time_at(len(SERIES) + later))
    settle(chart)
    assert (short_chance(chart.frame, chart.model, PRICE) != MISSING) == has_chance
    assert ("over" in texts(tuple(chance_rows(chart.frame, chart.model, PRICE)[-1:]))) == (not has_chance)


@pytest.mark.parametrize("factor", [0.4, 1.0, 4.0])
def test_the_table_covers_neither_the_ghosts_nor_its_price(chart: ChartWidget, factor: float) -> None:
    chart.zoom(factor)
    settle(chart)
    frame, ghosts = chart.frame, chart.model.ghosts()
    axis, first = frame.layout.plot_right + frame.scaled(20), frame.x(ghosts[0].index)
    for row in range(5, frame.layout.price_bottom, 40):
        boxes = [axis_tip(frame, chart.model, QPoint(axis, row))]
        boxes += [chance_tip(frame, chart.model, PRICE, QPoint(first + place, row)) for place in (-30, 0, 30)]
        for box in boxes:
            assert box is not None and box.rect.right() < first
            assert not box.rect.top() <= row <= box.rect.bottom()


def test_outside_the_price_axis_and_when_hidden_there_is_no_table(chart: ChartWidget) -> None:
    frame = chart.frame
    below = QPoint(frame.layout.plot_right + 5, frame.layout.price_bottom + 5)
    assert axis_tip(frame, chart.model, below) is None
    assert axis_tip(frame, chart.model, QPoint(frame.layout.plot_right - 5, 100)) is None
    chart.restyle(shows_chance=False)
    settle(chart)
    assert axis_tip(chart.frame, chart.model, QPoint(frame.layout.plot_right + 5, 100)) is None
    assert short_chance(chart.frame, chart.model, PRICE) == ""


@pytest.mark.parametrize(
    ("chance", "said"), [(0.0005, "<1 %"), (0.01, "1 %"), (0.234, "23 %"), (0.99, "99 %"), (0.9995, ">99 %")]
)
def test_no_more_digits_than_the_paths_support(chance: float, said: str) -> None:
    assert percent(chance).replace("\u202f", " ").replace("\u00a0", " ") == said

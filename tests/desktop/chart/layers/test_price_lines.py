"""Alerts and notes as they are drawn: each can be read and taken hold of, wherever it lies."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage

from core.market.price_lines import LineKind, PriceLine
from desktop.chart.layers.price_lines import PriceLinesLayer
from desktop.chart.scales.price_scale import ScaleKind
from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.support import random_series

SERIES = random_series(120)
CLOSE = SERIES[-1].close


def alert(price: float, number: int, text: str = "") -> PriceLine:
    return PriceLine(price, LineKind.ALERT, text, is_armed=True, line_id=number)


def shown(show_chart: ShowChart, *lines: PriceLine, selected: int | None = None) -> tuple[ChartWidget, PriceLinesLayer]:
    chart, layer = show_chart(SERIES), PriceLinesLayer()
    layer.shown = replace(layer.shown, lines=lines, selected=selected)
    chart.add_layer(layer)
    settle(chart)
    return chart, layer


def labels(chart: ChartWidget, layer: PriceLinesLayer) -> dict[int, tuple[int, int]]:
    """The label's rows of each line, as the mouse finds them."""
    frame, found = chart.frame, {}
    x = frame.scaled(16)
    for y in range(frame.layout.price_bottom):
        line = layer.line_at(frame, QPoint(x, y), chart.overlay.taken)
        if line is not None and line.line_id is not None:
            first, _ = found.get(line.line_id, (y, y))
            found[line.line_id] = (first, y)
    return found


def test_lines_at_nearly_one_price_have_labels_and_tags_beside_each_other(show_chart: ShowChart) -> None:
    lines = [alert(CLOSE + step, number, f"line {number}") for number, step in enumerate((0.0, 0.0, 0.3, -0.2))]
    chart, layer = shown(show_chart, *lines)
    tags = [tag.rect for tag in chart.overlay.axis_tags]
    assert len(tags) == len(lines)
    assert not any(one.intersects(other) for one, other in combinations(tags, 2))
    found = labels(chart, layer)
    assert sorted(found) == [0, 1, 2, 3], "each can be clicked"
    height = chart.frame.fonts.line
    assert all(last - first >= height for first, last in found.values())
    assert found[2][0] < min(found[0][0], found[1][0]) < found[3][0], "the higher price is above"


def test_lines_apart_stay_at_their_prices(show_chart: ShowChart) -> None:
    chart, _ = shown(show_chart, alert(CLOSE + 15, 1), alert(CLOSE - 15, 2))
    frame = chart.frame
    for tag, price in zip(chart.overlay.axis_tags, (CLOSE + 15, CLOSE - 15), strict=True):
        assert abs(tag.rect.center().y() - frame.y(price)) <= 1


def test_in_percent_the_tag_tells_the_price_too(show_chart: ShowChart) -> None:
    chart, _ = shown(show_chart, alert(CLOSE + 5, 1))
    chart.restyle(scale=ScaleKind.PERCENT)
    settle(chart)
    (tag,) = chart.overlay.axis_tags
    texts = [span.text for row in tag.rows for span in row]
    assert texts == [f"{CLOSE + 5:,.2f}", chart.frame.price_text(CLOSE + 5)] and texts[1].endswith("%")
    fonts = chart.frame.fonts
    assert all(fonts.width(text, bold=True) < tag.rect.width() for text in texts)


@pytest.mark.parametrize(("away", "where"), [(5_000.0, "above"), (-5_000.0, "below")])
def test_a_selected_line_out_of_view_is_told_with_its_place(show_chart: ShowChart, away: float, where: str) -> None:
    chart, layer = shown(show_chart, alert(CLOSE + away, 7, "far"), selected=7)
    texts = " ".join(span.text for row in chart.overlay.readout.rows for span in row)
    assert f"{CLOSE + away:,.2f}" in texts and where in texts and "far" in texts
    layer.shown = replace(layer.shown, selected=None)
    chart.layers_changed()
    settle(chart)
    assert where not in " ".join(span.text for row in chart.overlay.readout.rows for span in row)


def test_a_picture_that_is_taken_shows_nothing_of_the_hand(show_chart: ShowChart) -> None:
    chart, layer = shown(show_chart, alert(CLOSE + 5, 1), alert(CLOSE - 9_000, 2))
    plain: QImage = chart.snapshot()
    for changes in (
        {"selected": 1},
        {"hovered": 1},
        {"selected": 2},
        {"preview": alert(CLOSE - 5, 3), "hint": "Click"},
    ):
        before = replace(layer.shown, **changes)
        layer.shown = before
        chart.layers_changed()
        settle(chart)
        assert chart.snapshot() == plain
        assert layer.shown == before, "on the screen it stays"
        layer.shown = replace(layer.shown, selected=None, hovered=None, preview=None, hint="")

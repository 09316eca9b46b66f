"""Drawing of alerts and notes: each is readable and can be grabbed, wherever it is."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage

from core.domain.price_lines import LineKind, PriceLine
from desktop.chart.axes.price_scale import PriceRange, ScaleKind
from desktop.chart.controllers.saving import image_of
from desktop.chart.items.price_lines import PriceLinesLayer
from desktop.chart.widget import ChartWidget
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.controllers.tools import send_move
from tests.desktop.chart.paint_helpers import picture, screen
from tests.desktop.chart.support import forming_after, random_series

SERIES = random_series(120)
CLOSE = SERIES[-1].close


def alert(price: float, number: int, text: str = "") -> PriceLine:
    return PriceLine(price, LineKind.ALERT, text, is_armed=True, number=number)


def shown(show_chart: ShowChart, *lines: PriceLine, selected: int | None = None) -> tuple[ChartWidget, PriceLinesLayer]:
    chart, layer = show_chart(SERIES), PriceLinesLayer()
    layer.shown = replace(layer.shown, things=lines, selected=selected)
    chart.add_layer(layer)
    settle(chart)
    return chart, layer


def labels(chart: ChartWidget, layer: PriceLinesLayer) -> dict[int, tuple[int, int]]:
    """The label rows of each line, found by hit testing."""
    frame, found = chart.frame, {}
    x = frame.scaled(16)
    for y in range(frame.layout.price_bottom):
        line = layer.line_at(frame, QPoint(x, y), chart.overlay.taken, chart.overlay.taken_of_axis)
        if line is not None and line.number is not None:
            first, _ = found.get(line.number, (y, y))
            found[line.number] = (first, y)
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
def test_a_selected_line_out_of_view_is_shown_with_its_place(show_chart: ShowChart, away: float, where: str) -> None:
    chart, layer = shown(show_chart, alert(CLOSE + away, 7, "far"), selected=7)
    texts = " ".join(span.text for row in chart.overlay.readout.rows for span in row)
    assert f"{CLOSE + away:,.2f}" in texts and where in texts and "far" in texts
    layer.shown = replace(layer.shown, selected=None)
    chart.layers_changed()
    settle(chart)
    assert where not in " ".join(span.text for row in chart.overlay.readout.rows for span in row)


LONG = "Resistance of last winter, met four times; sell a third here and the rest when the volume dries up above it"


def test_the_label_of_a_long_note_shows_all_of_it_under_the_mouse(show_chart: ShowChart) -> None:
    note = PriceLine(CLOSE - 3.0, LineKind.NOTE, LONG, number=1)
    chart, _ = shown(show_chart, note, PriceLine(CLOSE + 9.0, LineKind.NOTE, "Short", number=2))
    (long_label, short_label) = sorted(drawn_labels(chart), key=lambda area: -area.width())
    for place, said in (
        (long_label.center(), LONG),
        (short_label.center(), ""),
        (QPoint(long_label.right() + 40, long_label.center().y()), ""),
    ):
        send_move(chart, place, Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier)
        settle(chart)
        tooltip = chart.overlay.tooltip
        words = "" if tooltip is None else " ".join(span.text for row in tooltip.rows for span in row)
        assert words == said
        assert tooltip is None or chart.frame.layout.plot.contains(tooltip.rect)
        assert np.array_equal(screen(chart), picture(chart))


def test_a_label_ends_before_the_axis_and_shows_the_rest_under_the_mouse(show_chart: ShowChart) -> None:
    crossed = replace(alert(CLOSE + 5, 1), is_armed=False, crossed_at_ms=SERIES[-1].open_time_ms)
    chart, _ = shown(show_chart, crossed)
    (whole,) = drawn_labels(chart)
    chart.resize(chart.width() - chart.frame.layout.plot_right + whole.width() // 2, chart.height())
    settle(chart)
    (area,) = drawn_labels(chart)
    assert area.width() < whole.width() and area.right() < chart.frame.layout.plot_right
    send_move(chart, area.center(), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier)
    settle(chart)
    tooltip = chart.overlay.tooltip
    assert tooltip is not None
    assert "crossed" in " ".join(span.text for row in tooltip.rows for span in row)


def test_a_picture_that_is_taken_shows_nothing_of_the_hand(show_chart: ShowChart) -> None:
    chart, layer = shown(show_chart, alert(CLOSE + 5, 1), alert(CLOSE - 9_000, 2))
    plain: QImage = image_of(chart)
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
        assert image_of(chart) == plain
        assert layer.shown == before, "on the screen it stays"
        layer.shown = replace(layer.shown, selected=None, hovered=None, preview=None, hint="")


def drawn_labels(chart: ChartWidget) -> list[QRect]:
    return [label.area for label in chart.overlay.plot_labels]


@pytest.mark.parametrize("size", [(900, 560), (420, 320)])
def test_no_word_of_a_line_is_under_the_readout(show_chart: ShowChart, size: tuple[int, int]) -> None:
    """With a manual price scale, lines reach up there; the readout avoids the mouse, and they avoid the readout."""
    chart, layer = show_chart(SERIES, *size), PriceLinesLayer()
    prices = chart.frame.prices
    chart.hold_prices(PriceRange(prices.low, prices.high))
    settle(chart)
    pane = chart.frame.price_pane
    rows = (pane.top, pane.top + 8, pane.top + 30, pane.inner_bottom - 3, pane.inner_bottom - 40)
    lines = [alert(pane.value_at(row), number, "far up or down") for number, row in enumerate(rows)]
    layer.shown = replace(layer.shown, things=tuple(lines))
    chart.add_layer(layer)
    settle(chart)
    for cursor in (None, QPoint(20, 20), QPoint(40, 90), QPoint(size[0] // 2, size[1] // 2)):
        if cursor is not None:
            send_move(chart, cursor, Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier)
            settle(chart)
        found, readout = drawn_labels(chart), chart.overlay.readout.rect
        assert len(found) == len(lines)
        assert not any(area.intersects(readout) for area in found)
        assert not any(one.intersects(other) for one, other in combinations(found, 2))


def test_a_hand_that_comes_to_a_label_beside_the_readout_finds_it_there(show_chart: ShowChart) -> None:
    chart, layer = shown(show_chart)
    price = chart.frame.price_pane.value_at(12)
    layer.shown = replace(layer.shown, things=(alert(price, 1),))
    chart.hold_prices(chart.frame.prices)
    settle(chart)
    (before,) = drawn_labels(chart)
    send_move(chart, before.center(), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier)
    settle(chart)
    assert not chart.overlay.readout.rect.intersects(before), "the readout has dodged"
    assert drawn_labels(chart) == [before]
    found = layer.line_at(chart.frame, before.center(), chart.overlay.taken, chart.overlay.taken_of_axis)
    assert found is not None and found.number == 1


@pytest.mark.parametrize("scale", list(ScaleKind))
def test_tags_near_the_last_price_are_beside_its_own(show_chart: ShowChart, scale: ScaleKind) -> None:
    steps = (0.0, 0.4, -0.4, 1.5)
    chart, layer = shown(show_chart, *(alert(CLOSE + step, number) for number, step in enumerate(steps)))
    chart.restyle(scale=scale)
    for move in (None, 0.3, 4.0, -4.0):
        if move is not None:
            chart.set_forming(forming_after(SERIES, move))
        settle(chart)
        last, tags = chart.overlay.last_price, [tag.rect for tag in chart.overlay.axis_tags]
        assert last is not None and len(tags) == len(steps)
        assert not any(tag.intersects(last.rect) for tag in tags)
        assert not any(one.intersects(other) for one, other in combinations(tags, 2))
        for tag, number in zip(tags, range(len(steps)), strict=True):
            found = layer.line_at(chart.frame, tag.center(), chart.overlay.taken, chart.overlay.taken_of_axis)
            assert found is not None and found.number == number


def test_tags_keep_the_order_of_the_prices_while_the_last_one_passes_them(show_chart: ShowChart) -> None:
    """Including near the ends of the axis."""
    steps = (-0.4, 0.4, -6.0, 6.0, 12.0)
    chart, _ = shown(show_chart, *(alert(CLOSE + step, number) for number, step in enumerate(steps)))
    chart.hold_prices(PriceRange(CLOSE - 25.0, CLOSE + 13.0))
    chart.set_live(True)  # the countdown makes the last price's label two lines high
    for move in (*range(-26, 14), 12.7):
        chart.set_forming(forming_after(SERIES, float(move)))
        settle(chart)
        assert chart.overlay.last_price is None or len(chart.overlay.last_price.rows) == 2
        boxes = [box for box in (*chart.overlay.axis_tags, chart.overlay.last_price) if box is not None]
        assert len(boxes) == len(steps) + (-25 <= move <= 13)
        from_above = sorted(boxes, key=lambda box: box.rect.top())
        assert from_above == sorted(from_above, key=lambda box: -(box.price or 0.0)), move
        assert not any(one.rect.intersects(other.rect) for one, other in combinations(boxes, 2)), move


def test_ticks_and_mouse_leave_no_trace_of_tags_and_words_that_moved(show_chart: ShowChart) -> None:
    chart, _ = shown(show_chart, *(alert(CLOSE + step, number) for number, step in enumerate((0.0, 1.0, -1.0))))
    pane = chart.frame.price_pane
    top = chart.frame.price_pane.value_at(pane.top + 5)
    chart.hold_prices(PriceRange(chart.frame.prices.low, top + 30))
    settle(chart)
    random = np.random.default_rng(5)
    for number in range(40):
        if number % 2:
            chart.set_forming(forming_after(SERIES, float(random.normal(0.0, 6.0))))
        else:
            place = QPoint(int(random.integers(0, 300)), int(random.integers(0, 540)))
            send_move(chart, place, Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier)
        settle(chart)
        assert np.array_equal(screen(chart), picture(chart)), f"after act {number}"


def test_every_tag_can_be_read_while_the_crosshair_passes_by(show_chart: ShowChart) -> None:
    chart, _ = shown(show_chart, *(alert(CLOSE + step, number) for number, step in enumerate((9.0, 10.0, -20.0))))
    steps = range(chart.frame.price_pane.inner_top, chart.frame.price_pane.inner_bottom, 3)
    at_rest, has_moved = [tag.rect for tag in chart.overlay.axis_tags], False
    for row in steps:
        send_move(chart, QPoint(400, row), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier)
        settle(chart)
        label, last = chart.overlay.price_label, chart.overlay.last_price
        tags = [tag.rect for tag in chart.overlay.axis_tags]
        assert label is not None and last is not None
        for one, other in combinations((label.rect, *tags), 2):
            assert not one.intersects(other), row
        assert not any(tag.intersects(last.rect) for tag in tags)
        has_moved = has_moved or tags != at_rest
        assert np.array_equal(screen(chart), picture(chart)), row
    assert has_moved
    send_move(chart, QPoint(chart.width() - 10, steps[0]), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier)
    settle(chart)
    assert [tag.rect for tag in chart.overlay.axis_tags] == at_rest, "a hand that comes to one finds it at its price"


def test_a_tick_leaves_a_tag_beside_the_crosshair_where_it_is(show_chart: ShowChart) -> None:
    chart, _ = shown(show_chart, alert(CLOSE + 10.0, 0))
    place = QPoint(400, chart.frame.y(CLOSE + 10.0))
    send_move(chart, place, Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier)
    chart.set_forming(forming_after(SERIES, 0.1))
    settle(chart)
    for move in (0.2, 0.3):
        chart.set_forming(forming_after(SERIES, move))
        settle(chart)
        (tag,), label = chart.overlay.axis_tags, chart.overlay.price_label
        assert label is not None and not tag.rect.intersects(label.rect)

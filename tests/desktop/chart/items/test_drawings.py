"""Drawings in a frame: hit testing, clipping and handles, on every scale."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QLineF, QPoint, QPointF, QRect, QRectF
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from core.domain.clock import ManualClock
from core.domain.drawings import FIBONACCI_LEVELS, Anchor, Drawing, DrawingKind, position_anchors
from desktop.chart.axes.price_scale import PriceRange, ScaleKind
from desktop.chart.controllers.saving import image_of
from desktop.chart.data.anchors import time_at
from desktop.chart.data.model import ChartModel
from desktop.chart.items.drawings import DrawingsLayer, cut, distance_to, grip_of, reshaped, shape_of
from desktop.chart.items.placed import Placed
from desktop.chart.tools.places import moved_by
from desktop.chart.widget import ChartWidget
from desktop.ui.colour_choice import COLOURS
from desktop.ui.theme import Theme
from tests.desktop.chart.conftest import ShowChart, settle
from tests.desktop.chart.paint_helpers import NOISE, channels, picture, pixels
from tests.desktop.chart.support import forming_after, random_series

SERIES = random_series(120)
CLOSE = SERIES[-1].close
AREA = QRectF(-10, -20, 300, 200)
near = st.integers(-1000, 1600).map(lambda halves: halves / 2)
"""Points lie on half pixels: two different ones are never closer than this."""
far = st.one_of(near, st.integers(-(2 * 10**12), 2 * 10**12).map(lambda halves: halves / 2))


def points(of: st.SearchStrategy[float]) -> st.SearchStrategy[QPointF]:
    return st.builds(QPointF, of, of)


def drawn(kind: DrawingKind, start: int = 80, end: int = 110, number: int = 1) -> Drawing:
    anchors = (Anchor(SERIES[start].open_time_ms, CLOSE - 20.0), Anchor(SERIES[end].open_time_ms, CLOSE + 20.0))
    text = "words" if kind is DrawingKind.TEXT else ""
    return Drawing(kind, all_anchors(kind, anchors), text, number=number)


def all_anchors(kind: DrawingKind, ends: tuple[Anchor, Anchor]) -> tuple[Anchor, ...]:
    if kind.is_position:
        return position_anchors(kind, *ends)
    below = Anchor(ends[0].time_ms, max(ends[0].price - 10.0, 1e-18))
    return (*ends, below)[: kind.anchors]


def shown(show_chart: ShowChart, *drawings: Drawing, **more: object) -> tuple[ChartWidget, DrawingsLayer]:
    chart, layer = show_chart(SERIES), DrawingsLayer()
    layer.shown = replace(Placed(), things=drawings, **more)  # type: ignore[arg-type]
    chart.add_layer(layer)
    settle(chart)
    return chart, layer


@given(points(near), points(near), st.booleans())
def test_what_is_cut_lies_in_the_area_and_on_the_line(start: QPointF, end: QPointF, is_endless: bool) -> None:
    line = cut(start, end, AREA, is_endless=is_endless)
    if line is None:
        return
    whole = QLineF(start, end)
    if is_endless:
        whole.setLength(10_000.0)
    for point in (line.p1(), line.p2()):
        assert AREA.adjusted(-1e-6, -1e-6, 1e-6, 1e-6).contains(point)
        assert distance_to(whole, point) < 1e-3


@given(points(far), points(far), st.floats(0, 1), st.booleans())
def test_no_part_that_could_be_seen_is_cut_off(start: QPointF, end: QPointF, share: float, is_endless: bool) -> None:
    place = start + (end - start) * share
    line = cut(start, end, AREA, is_endless=is_endless)
    if AREA.adjusted(1, 1, -1, -1).contains(place):
        # Near the ends of a line of 1e12 pixels a double resolves thousandths.
        assert line is not None and distance_to(line, place) < 0.01


@given(points(near), points(near), points(near))
def test_the_distance_is_that_to_the_nearest_of_many_points(start: QPointF, end: QPointF, place: QPointF) -> None:
    line = QLineF(start, end)
    shares = np.linspace(0, 1, 2_001)
    brute = min(math.dist((p.x(), p.y()), (place.x(), place.y())) for p in (line.pointAt(float(s)) for s in shares))
    assert distance_to(line, place) == pytest.approx(brute, abs=line.length() / 2_000 + 1e-9)


@pytest.mark.parametrize("scale", list(ScaleKind))
@pytest.mark.parametrize("kind", list(DrawingKind))
def test_it_is_hit_where_it_is_seen(show_chart: ShowChart, kind: DrawingKind, scale: ScaleKind) -> None:
    """Every pixel that the drawing changes is near a part that the mouse can grab."""
    chart = show_chart(SERIES)
    chart.restyle(scale=scale)
    settle(chart)
    before = picture(chart)
    layer, drawing = DrawingsLayer(), replace(drawn(kind), width_px=2)
    layer.shown = Placed((drawing,))
    chart.add_layer(layer)
    settle(chart)
    frame = chart.frame
    shape = shape_of(frame, chart.model, drawing)
    changed = np.argwhere(picture(chart) != before)
    assert len(changed) > 30
    inside = [area.adjusted(-2, -2, 2, 2) for area in shape.areas]
    missed = 0
    for row, column in changed[::7]:
        place = QPointF(column + 0.5, row + 0.5)
        if column >= frame.layout.plot_right or any(area.contains(place) for area in inside):
            continue
        on_words = any(words.ground.adjusted(-2, -2, 2, 2).contains(place) for words in shape.texts)
        missed += grip_of(shape, frame, place) is None and not on_words
    assert missed == 0


@pytest.mark.parametrize("kind", list(DrawingKind))
def test_all_of_its_pixels_are_those_that_it_says(show_chart: ShowChart, kind: DrawingKind) -> None:
    """A paint of other pixels skips it."""
    chart = show_chart(SERIES)
    before = picture(chart)
    layer = DrawingsLayer()
    layer.shown = Placed((replace(drawn(kind), width_px=4),), selected=1)
    chart.add_layer(layer)
    settle(chart)
    (label,) = chart.overlay.plot_labels
    changed = np.argwhere((picture(chart) != before)[:, : chart.frame.layout.plot_right])
    assert all(label.area.contains(int(column), int(row)) for row, column in changed)


def test_of_two_the_upper_one_is_hit_and_what_is_selected_lies_on_top(show_chart: ShowChart) -> None:
    first, second = drawn(DrawingKind.TREND_LINE, number=1), drawn(DrawingKind.TREND_LINE, number=2)
    chart, layer = shown(show_chart, first, second)
    frame = chart.frame
    middle = shape_of(frame, chart.model, first).lines[0].center().toPoint()
    grip = layer.grip_at(frame, chart.model, middle)
    assert grip is not None and grip.thing is second and grip.handle is None
    layer.shown = replace(layer.shown, selected=1)
    grip = layer.grip_at(frame, chart.model, middle)
    assert grip is not None and grip.thing is first
    assert layer.grip_at(frame, chart.model, middle + QPoint(0, 60)) is None


def test_a_ray_goes_on_and_a_trend_line_ends(show_chart: ShowChart) -> None:
    chart, _ = shown(show_chart)
    (line,) = shape_of(chart.frame, chart.model, drawn(DrawingKind.TREND_LINE, 80, 90)).lines
    (ray,) = shape_of(chart.frame, chart.model, drawn(DrawingKind.RAY, 80, 90)).lines
    assert ray.p1() == line.p1() and ray.length() > 1.5 * line.length()
    assert ray.angleTo(line) % 360 == pytest.approx(0, abs=1e-6) or ray.angleTo(line) == pytest.approx(360)


@pytest.mark.parametrize("number", range(4))
def test_each_corner_of_a_rectangle_is_a_handle_and_the_opposite_one_stays(show_chart: ShowChart, number: int) -> None:
    chart, _ = shown(show_chart)
    rectangle = drawn(DrawingKind.RECTANGLE)
    corners = shape_of(chart.frame, chart.model, rectangle).handles
    there = Anchor(SERIES[100].open_time_ms, CLOSE + 3.0)
    after = shape_of(chart.frame, chart.model, reshaped(rectangle, number, there)).handles
    opposite = {0: 1, 1: 0, 2: 3, 3: 2}[number]
    assert after[opposite] == corners[opposite] and after[number] != corners[number]


@given(st.integers(-30, 30), st.floats(-0.4, 0.4), st.sampled_from(list(ScaleKind)))
def test_what_is_moved_as_a_whole_keeps_its_form(candles: int, rise: float, kind: ScaleKind) -> None:
    model, range_shown = ChartModel(), PriceRange(CLOSE / 2, CLOSE * 2, kind, CLOSE)
    model.set_series(SERIES, "")
    before = drawn(DrawingKind.TREND_LINE)
    after = moved_by(before, model, range_shown, candles, rise)
    for old, new in zip(before.anchors, after.anchors, strict=True):
        assert new.time_ms - old.time_ms == candles * 60_000
        tolerance = 0.011 / (CLOSE / 2)  # a cent, as a share of the lowest price
        assert range_shown.share(new.price) - range_shown.share(old.price) == pytest.approx(rise, abs=tolerance)


@pytest.mark.parametrize("kind", list(ScaleKind))
@pytest.mark.parametrize("rise", [-1e9, 1e9])
def test_nothing_is_moved_to_zero_or_out_of_bounds(rise: float, kind: ScaleKind) -> None:
    model = ChartModel()
    model.set_series(SERIES, "")
    moved = moved_by(drawn(DrawingKind.RAY), model, PriceRange(CLOSE / 2, CLOSE * 2, kind), 0, rise)
    assert all(0.01 <= anchor.price <= 1e18 for anchor in moved.anchors)


@pytest.mark.parametrize("kind", list(DrawingKind))
def test_ends_at_the_bounds_of_what_can_be_stored_are_drawn_and_hit(show_chart: ShowChart, kind: DrawingKind) -> None:
    """As left by another program, or by a user at an absurd zoom."""
    far = (Anchor(-(2**53), 1e-18), Anchor(2**53, 1e18))
    drawing = replace(drawn(kind), anchors=all_anchors(kind, far))
    chart, layer = shown(show_chart, drawing, selected=1)
    for scale in ScaleKind:
        chart.restyle(scale=scale)
        settle(chart)
        layer.grip_at(chart.frame, chart.model, QPoint(100, 100))
        image_of(chart)


def test_at_rest_no_handle_is_seen(show_chart: ShowChart) -> None:
    chart, layer = shown(show_chart, drawn(DrawingKind.TREND_LINE), selected=1, hint="Click")
    with_handles = picture(chart)
    image = image_of(chart)
    layer.shown = replace(layer.shown, selected=None, hint="")
    chart.layers_changed()
    settle(chart)
    assert (picture(chart) != with_handles).any()
    assert image == image_of(chart)


def test_ticks_and_hands_paint_no_closed_candle(show_chart: ShowChart) -> None:
    chart, layer = shown(show_chart, *(drawn(kind, number=number) for number, kind in enumerate(DrawingKind, 1)))
    chart.set_forming(forming_after(SERIES))
    settle(chart)
    painted = chart.closed_paints
    for step in range(5):
        chart.set_forming(forming_after(SERIES, move=float(step)))
        settle(chart)
        layer.shown = replace(layer.shown, hovered=step, selected=step + 1)
        chart.layers_changed()
        settle(chart)
    assert chart.closed_paints == painted


def test_a_horizontal_line_has_its_price_on_the_axis(show_chart: ShowChart) -> None:
    chart, _ = shown(show_chart, drawn(DrawingKind.HORIZONTAL))
    said = ["".join(span.text for span in tag.rows[0]) for tag in chart.overlay.axis_tags]
    assert said == [f"{CLOSE - 20.0:,.2f}"]


def test_each_colour_can_be_seen_on_both_grounds() -> None:
    def luminance(name: str) -> float:
        channels = [int(name[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for mode in ("dark", "light"):
        ground = luminance(Theme(mode).palette.background.name())  # type: ignore[arg-type]
        for name, colour in COLOURS[1:]:
            high, low = sorted((luminance(colour), ground), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 3.0, (mode, name)


def test_the_handle_of_a_line_is_at_its_candle(show_chart: ShowChart) -> None:
    chart, _ = shown(show_chart)
    drawing = drawn(DrawingKind.TREND_LINE, 90, 100)
    start = shape_of(chart.frame, chart.model, drawing).handles[0].toPoint()
    assert abs(start.x() - chart.frame.x(90)) <= 1
    assert abs(start.y() - chart.frame.y(CLOSE - 20.0)) <= 1
    assert time_at(chart.model, 90) == drawing.anchors[0].time_ms


@pytest.mark.parametrize("height_px", [10, 24, 40, 60, 80, 110, 150, 220])
@pytest.mark.parametrize("direction", [1, -1], ids=["up", "down"])
def test_where_levels_lie_close_together_those_that_traders_look_for_first_are_written(
    show_chart: ShowChart, height_px: int, direction: int
) -> None:
    first_looked_for = ["0", "1", "0.618", "0.5", "0.382", "0.236", "0.786"]
    chart, _layer = shown(show_chart)
    pane, fonts = chart.frame.price_pane, chart.frame.fonts
    rise = direction * height_px * pane.shown.span / pane.height
    anchors = (Anchor(SERIES[80].open_time_ms, CLOSE), Anchor(SERIES[110].open_time_ms, CLOSE + rise))
    fibonacci = Drawing(DrawingKind.FIBONACCI, anchors, number=1)
    shape = shape_of(chart.frame, chart.model, fibonacci)
    rows = {words.text.split()[0]: words.ground for words in shape.texts}
    assert not [1 for one, other in combinations(rows.values(), 2) if one.intersects(other)]
    of_levels = dict(
        zip((f"{share:g}" for share in FIBONACCI_LEVELS), (line.y1() for line in shape.lines), strict=True)
    )
    for place, level in enumerate(first_looked_for):
        before = [of_levels[other] for other in first_looked_for[:place] if other in rows]
        has_room = all(abs(row - of_levels[level]) >= fonts.line for row in before)
        assert (level in rows) is has_room, f"{level} of {sorted(rows)}"
    assert "0.618" in rows or height_px < 3 * fonts.line


@pytest.mark.parametrize("left_px", [300, 95, 60, -40])
def test_no_level_strikes_its_price_out(show_chart: ShowChart, left_px: int) -> None:
    """Regression: it did where only the longest of the texts had no room beside the lines."""
    chart, _layer = shown(show_chart)
    pane, index = chart.frame.price_pane, chart.frame.index_at(left_px)
    anchors = (Anchor(SERIES[index].open_time_ms, CLOSE), Anchor(SERIES[110].open_time_ms, CLOSE + pane.shown.span / 2))
    shape = shape_of(chart.frame, chart.model, Drawing(DrawingKind.FIBONACCI, anchors, number=1))
    assert len(shape.texts) == len(FIBONACCI_LEVELS)
    for words, line in zip(shape.texts, shape.lines, strict=True):
        is_beside = words.ground.right() <= min(line.x1(), line.x2())
        assert is_beside or words.baseline.y() < line.y1()


@pytest.mark.parametrize("width_px", [1, 2, 3])
def test_a_dashed_line_that_begins_out_of_view_is_the_same_wherever_the_chart_lies(
    qtbot: QtBot, clock: ManualClock, width_px: int
) -> None:
    """Qt starts its own dashes at the device's edge, so a window and a file would differ."""
    host, chart = QWidget(), ChartWidget(Theme("dark"), clock)
    layout = QVBoxLayout(host)
    layout.setContentsMargins(90, 70, 50, 60)
    layout.addWidget(chart)
    qtbot.addWidget(host)
    host.resize(760, 480)
    chart.set_series(SERIES, "BTC/USDT · 1m · test")
    layer = DrawingsLayer()
    chart.add_layer(layer)
    with qtbot.waitExposed(host):
        host.show()
    settle(chart)
    prices, random = chart.frame.price_pane.shown, np.random.default_rng(3)
    for _ in range(12):
        heights = prices.low + prices.span * random.uniform(-3.0, 4.0, 2)
        places = zip(random.integers(20, 119, 2).tolist(), heights.tolist(), strict=True)
        anchors = tuple(Anchor(SERIES[index].open_time_ms, price) for index, price in places)
        layer.shown = Placed((Drawing(DrawingKind.FIBONACCI, anchors, width_px=width_px, number=1),))
        chart.layers_changed()
        settle(chart)
        area = QRect(chart.mapTo(host, QPoint(0, 0)), chart.size())
        on_screen = pixels(host.screen().grabWindow(host.winId()).toImage().copy(area))
        apart = on_screen[..., None].view(np.uint8).astype(int) - picture(chart)[..., None].view(np.uint8)
        assert np.abs(apart).max() <= NOISE, f"{anchors}"


def test_the_price_of_a_level_has_a_ground_over_candles(show_chart: ShowChart) -> None:
    """Regression: two of seven could not be read among the wicks."""
    chart, _layer = shown(show_chart, drawn(DrawingKind.FIBONACCI))
    shape = shape_of(chart.frame, chart.model, drawn(DrawingKind.FIBONACCI))
    ground, shades = chart.frame.palette.background, channels(image_of(chart)).astype(int)
    wanted = np.array([ground.blue(), ground.green(), ground.red()])
    for words in (each.ground.toAlignedRect() for each in shape.texts):
        beside_letters = shades[words.top() + 1 : words.bottom(), words.left() + 1 : words.left() + 3, :3]
        assert np.abs(beside_letters - wanted).max() < 40


def test_words_hide_no_candle_beside_their_letters(show_chart: ShowChart) -> None:
    chart = show_chart(SERIES)
    before, drawing, layer = picture(chart), drawn(DrawingKind.TEXT), DrawingsLayer()
    layer.shown = Placed((drawing,))
    chart.add_layer(layer)
    settle(chart)
    same, shape = picture(chart) == before, shape_of(chart.frame, chart.model, drawing)
    for ground in (words.ground.toAlignedRect() for words in shape.texts):
        assert same[ground.top() : ground.bottom() + 1, ground.left()].all(), "no box ends here"
        assert same[ground.top() : ground.bottom() + 1, ground.left() : ground.right()].mean() > 0.2


def test_a_vertical_line_is_at_its_candle_from_top_to_bottom(show_chart: ShowChart) -> None:
    chart, _ = shown(show_chart)
    (line,) = shape_of(chart.frame, chart.model, drawn(DrawingKind.VERTICAL, 90)).lines
    pane = chart.frame.price_pane
    assert line.x1() == line.x2() and abs(line.x1() - chart.frame.x(90)) <= 1
    assert min(line.y1(), line.y2()) <= pane.top and max(line.y1(), line.y2()) >= pane.inner_bottom - 1


@pytest.mark.parametrize("scale", list(ScaleKind))
def test_the_lines_of_a_channel_are_parallel_on_each_scale(show_chart: ShowChart, scale: ScaleKind) -> None:
    chart, _ = shown(show_chart)
    chart.restyle(scale=scale)
    settle(chart)
    channel = drawn(DrawingKind.CHANNEL)
    shape = shape_of(chart.frame, chart.model, channel)
    first, second = shape.lines
    assert first.dx() == pytest.approx(second.dx()) and first.dy() == pytest.approx(second.dy())
    assert distance_to(second, shape.handles[2]) < 1
    there = Anchor(SERIES[95].open_time_ms, CLOSE + 15.0)
    after = shape_of(chart.frame, chart.model, reshaped(channel, 2, there))
    assert after.lines[0] == first
    assert distance_to(after.lines[1], QPointF(chart.frame.x(95) + 0.5, chart.frame.y(there.price) + 0.5)) < 2


def test_a_channel_between_two_prices_of_one_candle_is_drawn(show_chart: ShowChart) -> None:
    chart, _ = shown(show_chart)
    upright = drawn(DrawingKind.CHANNEL, 90, 90)
    channel = replace(upright, anchors=(*upright.anchors[:2], Anchor(SERIES[95].open_time_ms, CLOSE)))
    first, second = shape_of(chart.frame, chart.model, channel).lines
    assert abs(first.x1() - chart.frame.x(90)) <= 1 and abs(second.x1() - chart.frame.x(95)) <= 1


@pytest.mark.parametrize(
    ("kind", "signs"),
    [(DrawingKind.LONG_POSITION, ("+", "\N{MINUS SIGN}")), (DrawingKind.SHORT_POSITION, ("\N{MINUS SIGN}", "+"))],
)
def test_a_position_says_its_prices_percents_and_ratio(
    show_chart: ShowChart, kind: DrawingKind, signs: tuple[str, str]
) -> None:
    chart, _ = shown(show_chart)
    entry = Anchor(SERIES[80].open_time_ms, CLOSE)
    rise = 0.3 * chart.frame.prices.span * (1 if kind is DrawingKind.LONG_POSITION else -1)
    position = Drawing(kind, position_anchors(kind, entry, Anchor(SERIES[110].open_time_ms, CLOSE + rise)))
    at_entry, at_target, at_stop = (words.text for words in shape_of(chart.frame, chart.model, position).texts)
    assert at_entry == f"Entry {CLOSE:,.2f} · reward/risk 2.00"
    assert f"Target {CLOSE + rise:,.2f} ({signs[0]}" in at_target
    assert f"Stop {CLOSE - rise / 2:,.2f} ({signs[1]}" in at_stop


def test_a_position_without_a_stop_has_no_ratio(show_chart: ShowChart) -> None:
    chart, _ = shown(show_chart)
    entry, level = Anchor(SERIES[80].open_time_ms, CLOSE), Anchor(SERIES[110].open_time_ms, CLOSE)
    flat = Drawing(DrawingKind.LONG_POSITION, (entry, level, level))
    (words,) = shape_of(chart.frame, chart.model, flat).texts
    assert words.text.endswith("reward/risk –")

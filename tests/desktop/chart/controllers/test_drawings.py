"""Drawings by mouse, keyboard and menu, and after a restart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from core.domain.candle_series import CandleSeries
from core.domain.drawings import MOST_DRAWINGS, Anchor, Drawing, DrawingKind
from core.domain.price_lines import LineKind
from desktop.actions import ActionId
from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.controllers.drawings import DRAWING_KINDS
from desktop.chart.items.drawings import shape_of
from desktop.dialogs.drawings import DrawingDialog
from tests.desktop.chart.controllers.tools import LEFT, MARKET, NONE, OTHER, ToolBench, opened
from tests.desktop.chart.support import joined
from tests.desktop.conftest import MakeBench

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
ACTIONS = {kind: action_id for action_id, kind in DRAWING_KINDS.items()}
TWO_ENDED = [kind for kind in DrawingKind if kind.anchors == 2]
THREE_ANCHORS = [kind for kind in DrawingKind if kind.anchors == 3]


def drawings(bench: ToolBench) -> tuple[Drawing, ...]:
    return bench.tools.drawings.things


def the_drawing(bench: ToolBench) -> Drawing:
    (drawing,) = drawings(bench)
    return drawing


def choose(bench: ToolBench, kind: DrawingKind) -> None:
    """From the Chart menu."""
    bench.bench.shell.actions[ACTIONS[kind]].trigger()
    bench.bench.chart.flush()


def place(bench: ToolBench, back: int, share: float) -> QPoint:
    """At a candle counted back from the newest, at a share of the prices' height."""
    shown = bench.bench.chart.frame.prices
    return bench.point(len(bench.candles) - 1 - back, shown.low + share * shown.span)


def draw(bench: ToolBench, kind: DrawingKind, start: QPoint, end: QPoint | None = None) -> Drawing:
    choose(bench, kind)
    if end is None:
        bench.hover(start)
        bench.click(start)
    else:
        bench.drag(start, end)
    if kind is DrawingKind.TEXT:
        write(bench, "Support")
    return drawings(bench)[-1]


def dialog_of(bench: ToolBench) -> DrawingDialog:
    (dialog,) = (each for each in bench.bench.window.findChildren(DrawingDialog) if each.isVisible())
    return dialog


def write(bench: ToolBench, text: str) -> None:
    """Type into the open dialog and accept it."""
    dialog = dialog_of(bench)
    dialog.edit.selectAll()
    QTest.keyClicks(dialog.edit, text)
    dialog.accept()
    QApplication.sendPostedEvents(dialog, 52)  # QEvent.DeferredDelete
    bench.bench.chart.flush()


def handles(bench: ToolBench, drawing: Drawing) -> list[QPoint]:
    """In logical pixels."""
    chart = bench.bench.chart
    points = shape_of(chart.frame, chart.model, drawing).handles
    return [(point / chart.frame.ratio).toPoint() for point in points]


def middle_of(bench: ToolBench, drawing: Drawing) -> QPoint:
    """A place on its first line, away from its handles."""
    chart = bench.bench.chart
    return (shape_of(chart.frame, chart.model, drawing).lines[0].pointAt(0.4) / chart.frame.ratio).toPoint()


def anchor_under(bench: ToolBench, at: QPoint) -> Anchor:
    point = bench.bench.chart.point_at(at.toPointF())
    return Anchor(bench.candles[round(point.index)].open_time_ms, round(bench.price_at(at), 2))


@pytest.mark.parametrize("kind", TWO_ENDED)
def test_a_drag_draws_from_candle_to_candle(bench: ToolBench, kind: DrawingKind) -> None:
    start, end = place(bench, 40, 0.8), place(bench, 15, 0.9)
    right = bench.bench.chart.scale.right
    drawing = draw(bench, kind, start, end)
    assert drawing.kind is kind
    for anchor, at in zip(drawing.anchors, (start, end), strict=True):
        assert anchor.time_ms == anchor_under(bench, at).time_ms
        assert anchor.price == pytest.approx(bench.price_at(at), abs=0.01)
        assert anchor.price == round(anchor.price, 2), "in the market's decimals"
    assert bench.tools.placed.placing is None and bench.tools.placed.selected == drawing
    assert bench.bench.chart.scale.right == right, "the view stays"


@pytest.mark.parametrize("kind", [*TWO_ENDED, *THREE_ANCHORS])
def test_two_clicks_draw_the_same_with_a_preview_between(bench: ToolBench, kind: DrawingKind) -> None:
    start, end = place(bench, 40, 0.8), place(bench, 15, 0.9)
    by_drag = draw(bench, kind, start, end)
    bench.tools.placed.remove(by_drag)
    choose(bench, kind)
    bench.click(start)
    bench.hover(end)
    preview = bench.tools.drawings.layer.shown.preview
    assert preview is not None and preview.anchors == by_drag.anchors
    assert drawings(bench) == ()
    bench.click(end)
    assert the_drawing(bench).anchors == by_drag.anchors


@pytest.mark.parametrize("kind", [DrawingKind.HORIZONTAL, DrawingKind.VERTICAL, DrawingKind.TEXT])
def test_one_click_places_a_single_point_drawing(bench: ToolBench, kind: DrawingKind) -> None:
    at = place(bench, 30, 0.8)
    drawing = draw(bench, kind, at)
    assert drawing.anchors == (anchor_under(bench, at),)
    assert drawing.text == ("Support" if kind is DrawingKind.TEXT else "")


def test_two_clicks_at_one_place_are_no_line_and_leave_the_view(bench: ToolBench) -> None:
    choose(bench, DrawingKind.TREND_LINE)
    at = place(bench, 30, 0.8)
    spacing = bench.bench.chart.scale.spacing
    bench.click(at)
    QTest.mouseDClick(bench.bench.chart.viewport(), LEFT, NONE, at)
    assert drawings(bench) == () and bench.tools.placed.placing is DrawingKind.TREND_LINE
    assert bench.bench.chart.scale.spacing == spacing


@pytest.mark.parametrize("times", [1, 2])
def test_escape_ends_drawing(bench: ToolBench, times: int) -> None:
    """Before the first point and between the two."""
    choose(bench, DrawingKind.RAY)
    if times == 2:
        bench.click(place(bench, 40, 0.8))
    bench.key(Qt.Key.Key_Escape)
    assert bench.tools.placed.placing is None and bench.tools.drawings.layer.shown.preview is None
    bench.click(place(bench, 30, 0.7))
    assert drawings(bench) == ()


def test_escape_during_a_drag_cancels_the_drawing(bench: ToolBench) -> None:
    choose(bench, DrawingKind.RECTANGLE)
    bench.drag(place(bench, 40, 0.8), place(bench, 15, 0.9), release=False)
    bench.key(Qt.Key.Key_Escape)
    QTest.mouseRelease(bench.bench.chart.viewport(), LEFT, NONE, place(bench, 15, 0.9))
    assert drawings(bench) == () and bench.tools.placed.placing is None


def test_with_ctrl_both_ends_snap_to_prices_of_their_candles(bench: ToolBench) -> None:
    first, last = ends = sorted(bench.candles[-45:-5], key=lambda each: each.low - each.high)[:2]  # prices differ
    choose(bench, DrawingKind.TREND_LINE)
    at = [bench.candles.index(candle) for candle in ends]
    start, end = bench.point(at[0], first.high), bench.point(at[1], last.low)
    bench.drag(start - QPoint(0, 5), end + QPoint(0, 5), CONTROL)
    anchors = the_drawing(bench).anchors
    assert anchors == (Anchor(first.open_time_ms, first.high), Anchor(last.open_time_ms, last.low))


def test_a_handle_is_dragged_with_ctrl_to_an_open(bench: ToolBench) -> None:
    drawing = draw(bench, DrawingKind.TREND_LINE, place(bench, 40, 0.9), place(bench, 15, 0.9))
    candle = bench.candles[-26]
    target = bench.point(len(bench.candles) - 26, candle.open)
    bench.drag(handles(bench, drawing)[0], target, CONTROL)
    start, end = the_drawing(bench).anchors
    assert start.time_ms == candle.open_time_ms and start.price in (candle.open, candle.close, candle.high, candle.low)
    assert end == drawing.anchors[1]


@pytest.mark.parametrize("kind", TWO_ENDED)
@pytest.mark.parametrize("handle", [0, 1])
def test_dragging_a_handle_reshapes_it_and_can_be_undone(bench: ToolBench, kind: DrawingKind, handle: int) -> None:
    drawing = draw(bench, kind, place(bench, 40, 0.6), place(bench, 15, 0.9))
    there = place(bench, 28, 0.4)
    bench.drag(handles(bench, drawing)[handle], there)
    formed = the_drawing(bench)
    assert formed.number == drawing.number
    assert formed.anchors[1 - handle] == drawing.anchors[1 - handle]
    assert formed.anchors[handle].time_ms == anchor_under(bench, there).time_ms
    assert formed.anchors[handle].price == pytest.approx(bench.price_at(there), abs=0.01)
    bench.key(Qt.Key.Key_Z, CONTROL)
    assert the_drawing(bench) == drawing
    bench.key(Qt.Key.Key_Z, CONTROL)
    assert drawings(bench) == (), "finally the drawings"
    assert not bench.bench.shell.actions[ActionId.UNDO_LINE].isEnabled()


@pytest.mark.parametrize("scale", list(ScaleKind))
@pytest.mark.parametrize("kind", [*TWO_ENDED, *THREE_ANCHORS])
def test_moving_a_drawing_keeps_its_shape(bench: ToolBench, kind: DrawingKind, scale: ScaleKind) -> None:
    bench.bench.chart.restyle(scale=scale)
    drawing = draw(bench, kind, place(bench, 40, 0.6), place(bench, 15, 0.9))
    before = handles(bench, drawing)
    at = middle_of(bench, drawing)
    spacing = round(bench.bench.chart.scale.spacing)
    bench.drag(at, at + QPoint(-4 * spacing, 30))
    after = handles(bench, the_drawing(bench))
    for old, new in zip(before, after, strict=True):
        assert (new - old - QPoint(-4 * spacing, 30)).manhattanLength() <= 2


def test_escape_cancels_a_drag(bench: ToolBench) -> None:
    drawing = draw(bench, DrawingKind.TREND_LINE, place(bench, 40, 0.6), place(bench, 15, 0.9))
    at = middle_of(bench, drawing)
    bench.drag(at, at + QPoint(0, 40), release=False)
    bench.key(Qt.Key.Key_Escape)
    QTest.mouseRelease(bench.bench.chart.viewport(), LEFT, NONE, at + QPoint(0, 40))
    assert the_drawing(bench) == drawing


def test_a_click_selects_and_one_elsewhere_deselects(bench: ToolBench) -> None:
    drawing = draw(bench, DrawingKind.TREND_LINE, place(bench, 40, 0.6), place(bench, 15, 0.9))
    bench.click(place(bench, 30, 0.2))
    assert bench.tools.placed.selected is None
    bench.click(middle_of(bench, drawing))
    assert bench.tools.placed.selected == drawing and the_drawing(bench) == drawing
    bench.key(Qt.Key.Key_Escape)
    assert bench.tools.placed.selected is None


def test_undo_and_redo_cover_lines_and_drawings_in_order_of_change(bench: ToolBench) -> None:
    draw(bench, DrawingKind.TREND_LINE, place(bench, 40, 0.6), place(bench, 15, 0.9))
    bench.choose(place(bench, 30, 0.2), "Alert at")
    draw(bench, DrawingKind.HORIZONTAL, place(bench, 30, 0.4))
    actions = bench.bench.shell.actions
    everything = (bench.tools.lines.things, drawings(bench))
    assert not actions[ActionId.REDO_LINE].isEnabled()
    kept = []
    for modifiers in (*[CONTROL] * 3, *[CONTROL | SHIFT] * 3):
        bench.key(Qt.Key.Key_Z, modifiers)
        kept.append((len(bench.tools.lines.things), len(drawings(bench))))
    assert kept == [(1, 1), (0, 1), (0, 0), (0, 1), (1, 1), (1, 2)]
    assert [line.price for line in bench.tools.lines.things] == [line.price for line in everything[0]]
    assert drawings(bench) == everything[1] and not actions[ActionId.REDO_LINE].isEnabled()
    for _ in range(2):
        bench.key(Qt.Key.Key_Z, CONTROL)
    draw(bench, DrawingKind.RAY, place(bench, 50, 0.3), place(bench, 20, 0.5))
    assert not actions[ActionId.REDO_LINE].isEnabled(), "it would be done again over a newer change"


def test_a_redone_change_can_be_undone_again(bench: ToolBench) -> None:
    drawing = draw(bench, DrawingKind.FIBONACCI, place(bench, 40, 0.6), place(bench, 15, 0.9))
    bench.key(Qt.Key.Key_Delete)
    for _ in range(2):
        bench.key(Qt.Key.Key_Z, CONTROL)
        assert drawings(bench) == (drawing,)
        bench.key(Qt.Key.Key_Z, CONTROL | Qt.KeyboardModifier.ShiftModifier)
        assert drawings(bench) == ()


def test_at_most_one_item_is_selected(bench: ToolBench) -> None:
    drawing = draw(bench, DrawingKind.TREND_LINE, place(bench, 40, 0.6), place(bench, 15, 0.9))
    tools, low = bench.tools, place(bench, 30, 0.2)
    bench.choose(low, "Alert at")
    assert tools.placed.selected in tools.lines.things
    bench.click(middle_of(bench, drawing))
    assert tools.placed.selected == drawing
    bench.click(low)
    assert tools.placed.selected in tools.lines.things
    bench.bench.shell.actions[ActionId.NEXT_LINE].trigger()
    assert tools.placed.selected == drawing
    bench.key(Qt.Key.Key_Delete)
    assert drawings(bench) == () and len(tools.lines.things) == 1


def test_starting_a_tool_cancels_the_pending_one(bench: ToolBench) -> None:
    actions, tools = bench.bench.shell.actions, bench.tools
    actions[ActionId.ADD_ALERT].trigger()
    choose(bench, DrawingKind.RAY)
    assert tools.placed.placing is DrawingKind.RAY
    actions[ActionId.MEASURE].trigger()
    assert tools.placed.placing in tools.measure.kinds.values()
    choose(bench, DrawingKind.RAY)
    bench.hover(place(bench, 30, 0.5))
    actions[ActionId.ADD_NOTE].trigger()
    assert tools.placed.placing is LineKind.NOTE


def test_placing_an_alert_does_not_move_a_drawing_under_it(bench: ToolBench) -> None:
    drawing = draw(bench, DrawingKind.TREND_LINE, place(bench, 40, 0.6), place(bench, 15, 0.6))
    at = middle_of(bench, drawing)
    bench.key(Qt.Key.Key_Escape)
    bench.hover(at)
    bench.bench.shell.actions[ActionId.ADD_ALERT].trigger()
    bench.click(at)
    assert len(bench.tools.lines.things) == 1 and the_drawing(bench) == drawing


def test_arrow_keys_move_the_selection_and_undo_as_one_change(bench: ToolBench) -> None:
    drawing = draw(bench, DrawingKind.TREND_LINE, place(bench, 40, 0.6), place(bench, 15, 0.6))
    right = bench.bench.chart.scale.right
    bench.key(Qt.Key.Key_Left)
    bench.key(Qt.Key.Key_Right, SHIFT)
    bench.key(Qt.Key.Key_Up)
    for old, new in zip(drawing.anchors, the_drawing(bench).anchors, strict=True):
        assert new.time_ms - old.time_ms == 9 * MARKET.interval.duration_ms
        assert 0.0 < new.price - old.price < bench.bench.chart.frame.prices.span / 60
    assert bench.bench.chart.scale.right == right
    bench.key(Qt.Key.Key_Z, CONTROL)
    assert the_drawing(bench) == drawing


def test_by_keys_alone(bench: ToolBench) -> None:
    """Enter at the keyboard crosshair places one end, and at another candle the other."""
    bench.key(Qt.Key.Key_Left, CONTROL | SHIFT)
    choose(bench, DrawingKind.TREND_LINE)
    bench.key(Qt.Key.Key_Return)
    bench.key(Qt.Key.Key_Left, CONTROL | SHIFT)
    preview = bench.tools.drawings.layer.shown.preview
    assert preview is not None and preview.anchors[0] != preview.anchors[1]
    bench.key(Qt.Key.Key_Return)
    start, end = the_drawing(bench).anchors
    assert (end.time_ms - start.time_ms) == -10 * MARKET.interval.duration_ms
    closes = {candle.open_time_ms: candle.close for candle in bench.candles}
    assert (start.price, end.price) == (closes[start.time_ms], closes[end.time_ms])


def test_the_menu_over_it_styles_and_removes(bench: ToolBench) -> None:
    drawing = draw(bench, DrawingKind.TREND_LINE, place(bench, 40, 0.6), place(bench, 15, 0.9))
    at = middle_of(bench, drawing)
    assert "Remove drawing" not in bench.menu_texts(place(bench, 30, 0.2))
    assert bench.menu_texts(at)[:4] == ["Edit drawing…", "Colour", "Width", "Remove drawing"]
    for menu_name, entry in (("Colour", "Orange"), ("Width", "3 px")):
        from_menu(bench, at, menu_name, entry)
    styled = the_drawing(bench)
    assert (styled.colour, styled.width_px) == ("#d9730d", 3) and styled.anchors == drawing.anchors
    bench.key(Qt.Key.Key_Z, CONTROL)
    assert (the_drawing(bench).colour, the_drawing(bench).width_px) == ("#d9730d", 1)
    bench.choose(at, "Remove drawing")
    assert drawings(bench) == ()


def from_menu(bench: ToolBench, at: QPoint, menu_name: str, text: str) -> None:
    """An entry of a submenu of the context menu."""
    chart = bench.bench.chart
    menu = bench.tools.menu.build(chart.point_at(at.toPointF()))
    (inner,) = (each for each in menu.findChildren(QMenu) if each.title().replace("&", "") == menu_name)
    next(action for action in inner.actions() if action.text() == text).trigger()
    menu.deleteLater()
    chart.flush()


@pytest.mark.parametrize("way", ["F2", "double click"])
def test_the_dialog_sets_text_colour_and_size_as_one_change(bench: ToolBench, way: str) -> None:
    drawing = draw(bench, DrawingKind.TEXT, place(bench, 30, 0.6))
    if way == "F2":
        bench.key(Qt.Key.Key_F2)
    else:
        (words,) = shape_of(bench.bench.chart.frame, bench.bench.chart.model, drawing).texts
        at = (words.ground.center() / bench.bench.chart.frame.ratio).toPoint()
        QTest.mouseDClick(bench.bench.chart.viewport(), LEFT, NONE, at)
    dialog = dialog_of(bench)
    dialog.colour.setCurrentText("Purple")
    assert dialog.width_px.text() == "1", "no text is a pixel high"
    dialog.width_px.setValue(2)
    write(bench, "<b>Resistance</b>")
    assert the_drawing(bench) == replace(drawing, text="<b>Resistance</b>", colour="#9657e0", width_px=2)
    bench.key(Qt.Key.Key_Z, CONTROL)
    assert the_drawing(bench) == drawing


def test_an_empty_or_cancelled_text_leaves_no_drawing(bench: ToolBench) -> None:
    choose(bench, DrawingKind.TEXT)
    bench.click(place(bench, 30, 0.6))
    dialog = dialog_of(bench)
    dialog.edit.setText("   ")
    dialog.accept()
    assert dialog.isVisible() and drawings(bench) == ()
    dialog.reject()
    bench.bench.chart.flush()
    assert drawings(bench) == () and bench.tools.drawings.layer.shown.preview is None


def test_switching_the_market_closes_the_dialog_and_shows_its_drawings(bench: ToolBench) -> None:
    drawing = draw(bench, DrawingKind.HORIZONTAL, place(bench, 30, 0.6))
    choose(bench, DrawingKind.TEXT)
    bench.click(place(bench, 30, 0.3))
    dialog = dialog_of(bench)
    bench.tools.show_market(OTHER, None)
    assert not dialog.isVisible() and drawings(bench) == ()
    bench.tools.show_market(MARKET, bench.newest)
    assert drawings(bench) == (drawing,)


@pytest.mark.parametrize("kind", list(DrawingKind))
def test_it_is_there_after_a_restart(make_chart_bench: MakeBench, folder: Path, kind: DrawingKind) -> None:
    with opened(make_chart_bench, folder) as first:
        end = place(first, 15, 0.9) if kind.clicks == 2 else None
        drawing = draw(first, kind, place(first, 40, 0.6), end)
    with opened(make_chart_bench, folder) as second:
        assert drawings(second) == (drawing,)
        assert len(handles(second, drawing)) >= kind.anchors


def test_it_stays_on_its_candles_with_older_history_and_another_interval(bench: ToolBench) -> None:
    chart = bench.bench.chart
    drawing = draw(bench, DrawingKind.TREND_LINE, place(bench, 40, 0.6), place(bench, 15, 0.9))
    before = handles(bench, drawing)
    step = MARKET.interval.duration_ms
    first = bench.candles[0]
    older = [replace(first, open_time_ms=first.open_time_ms - back * step) for back in range(500, 0, -1)]
    longer = CandleSeries(MARKET.interval)
    longer.extend([*older, *bench.candles])
    chart.replace_series(longer)
    chart.flush()
    assert handles(bench, drawing) == before
    coarse = CandleSeries(type(MARKET.interval).parse("5m"))
    coarse.extend(joined(bench.candles, 5))
    chart.set_series(coarse, "BTC/USDT", is_same_market=True)
    chart.flush()
    frame = chart.frame
    for anchor, handle in zip(drawing.anchors, handles(bench, drawing), strict=True):
        held_by = coarse[frame.index_at(round(handle.x() * frame.ratio))]
        assert held_by.open_time_ms <= anchor.time_ms < held_by.open_time_ms + 5 * step
        assert handle.y() * frame.ratio == pytest.approx(frame.y(anchor.price), abs=frame.ratio + 1)


def test_the_number_of_drawings_is_limited(bench: ToolBench) -> None:
    store = bench.tools.placed_store
    for _ in range(MOST_DRAWINGS):
        store.put(Drawing(DrawingKind.HORIZONTAL, (Anchor(0, 1.0),)))
    choose(bench, DrawingKind.RAY)
    assert bench.tools.placed.placing is None
    banner = bench.bench.window.banner
    assert banner.shown is not None and str(MOST_DRAWINGS) in banner.shown.text


def test_an_unstorable_drawing_is_reported_and_not_shown(make_bench: MakeBench, folder: Path) -> None:
    """In the complete window, which reports it."""
    with opened(make_bench, folder) as whole:
        whole.tools.placed_store._database.db.conn.execute("PRAGMA query_only = ON")
        choose(whole, DrawingKind.HORIZONTAL)
        whole.click(place(whole, 30, 0.6))
        assert drawings(whole) == () and whole.tools.placed.selected is None
        assert whole.tools.drawings.layer.shown.preview is None
        assert whole.bench.window.banner.shown is not None


def test_ticks_and_drags_repaint_no_closed_candle(bench: ToolBench) -> None:
    chart = bench.bench.chart
    drawing = draw(bench, DrawingKind.RECTANGLE, place(bench, 40, 0.6), place(bench, 15, 0.9))
    ahead = replace(bench.newest, open_time_ms=bench.newest.open_time_ms + MARKET.interval.duration_ms)
    chart.set_forming(ahead)
    chart.flush()
    chart.grab()
    painted = chart.closed_paints
    bench.drag(handles(bench, drawing)[0], place(bench, 28, 0.4))
    for at in (middle_of(bench, the_drawing(bench)), place(bench, 30, 0.2)):
        bench.hover(at)
        chart.grab()
    chart.set_forming(replace(ahead, close=ahead.low))
    chart.flush()
    chart.grab()
    assert chart.closed_paints == painted


def is_in_view(bench: ToolBench, drawing: Drawing) -> bool:
    frame = bench.bench.chart.frame
    area = shape_of(frame, bench.bench.chart.model, drawing).area
    return area is not None and area.intersects(frame.price_pane.rect)


@pytest.mark.parametrize("scale", [ScaleKind.LINEAR, ScaleKind.LOG])
def test_keys_scroll_to_the_selected_drawing_before_changing_it(bench: ToolBench, scale: ScaleKind) -> None:
    chart, tools = bench.bench.chart, bench.tools
    chart.restyle(scale=scale)
    far, low = place(bench, 40, 0.6), place(bench, 20, 0.3)
    line, level = draw(bench, DrawingKind.TREND_LINE, far, low), draw(bench, DrawingKind.HORIZONTAL, low)
    bench.key(Qt.Key.Key_Escape)
    above = chart.frame.prices.between(4.0, 5.0)
    for drawing in (line, level):
        chart.go_to_oldest()
        chart.hold_prices(above)
        chart.flush()
        assert not is_in_view(bench, drawing)
        bench.act(Qt.Key.Key_L)
        assert tools.placed.selected == drawing and is_in_view(bench, drawing)
    chart.go_to_oldest()
    chart.hold_prices(above)
    bench.key(Qt.Key.Key_Delete)
    assert level in drawings(bench) and is_in_view(bench, level), "shown first"
    bench.key(Qt.Key.Key_Delete)
    assert level not in drawings(bench)


def test_a_width_is_in_pixels(bench: ToolBench) -> None:
    bench.tools.drawings.edit(draw(bench, DrawingKind.HORIZONTAL, place(bench, 30, 0.8)))
    dialog = dialog_of(bench)
    assert dialog.width_px.text() == "1 px"
    dialog.reject()

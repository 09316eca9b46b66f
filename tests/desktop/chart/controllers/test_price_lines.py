"""Alerts and notes by mouse, keyboard and menu, and after a restart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.alerts.service import Alert
from core.domain.candle import Candle, Market
from core.domain.events import Severity
from core.domain.price_lines import LineKind, PriceLine
from desktop.actions import ActionId
from desktop.chart.axes.price_scale import PriceRange, ScaleKind
from desktop.dialogs.drawings import LineTextDialog
from desktop.ui.formatting import format_time
from tests.desktop.chart.controllers.tools import LEFT, MARKET, OTHER, ToolBench, opened, send_move
from tests.desktop.conftest import MakeBench

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def lines(bench: ToolBench) -> tuple[PriceLine, ...]:
    return bench.tools.lines.things


def the_line(bench: ToolBench) -> PriceLine:
    (line,) = lines(bench)
    return line


def set_alert(bench: ToolBench, at: QPoint) -> PriceLine:
    bench.hover(at)
    bench.act(Qt.Key.Key_A)
    bench.click(at)
    return lines(bench)[-1]


def write(bench: ToolBench, text: str) -> None:
    """Type into the open dialog and accept it."""
    (dialog,) = bench.bench.window.findChildren(LineTextDialog)
    dialog.edit.setText(text)
    dialog.accept()
    QApplication.sendPostedEvents(dialog, 52)  # QEvent.DeferredDelete
    bench.bench.chart.flush()


def tick(bench: ToolBench, price: float, minute: int = 1) -> None:
    opens = bench.newest.open_time_ms + minute * MARKET.interval.duration_ms
    bench.tools.lines.see((Candle(opens, price, price, price, price, 1.0),))


def test_a_click_sets_an_alert_at_the_price_under_the_mouse(bench: ToolBench) -> None:
    at = bench.middle()
    line = set_alert(bench, at)
    assert line.kind is LineKind.ALERT and line.is_armed
    assert line.price == pytest.approx(bench.price_at(at), abs=0.01)
    assert line.price == round(line.price, 2), "in the market's decimals"
    assert bench.tools.placed.placing is None and bench.tools.placed.selected == line


def test_a_drag_moves_it_and_the_view_stays(bench: ToolBench) -> None:
    line = set_alert(bench, bench.middle(0.6))
    right = bench.bench.chart.scale.right
    bench.drag(bench.middle(0.6), bench.middle(0.4))
    moved = the_line(bench)
    assert moved.number == line.number
    assert moved.price == pytest.approx(bench.price_at(bench.middle(0.4)), abs=0.01)
    assert bench.bench.chart.scale.right == right


def test_beside_a_line_a_drag_pans_and_a_double_click_resets(bench: ToolBench) -> None:
    set_alert(bench, bench.middle(0.6))
    chart = bench.bench.chart
    rested = chart.scale.right
    place = bench.middle(0.3)
    bench.drag(place, place + QPoint(120, 0))
    assert chart.scale.right < rested
    QTest.mouseDClick(chart.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, bench.middle(0.3))
    assert chart.scale.right == rested
    assert bench.tools.placed.selected is None, "a click elsewhere deselects it"


def test_a_double_click_on_a_line_edits_its_text_and_keeps_the_view(bench: ToolBench) -> None:
    at = bench.middle()
    set_alert(bench, at)
    bench.bench.chart.zoom(2.0)
    bench.bench.chart.flush()
    spacing = bench.bench.chart.scale.spacing
    frame = bench.bench.chart.frame
    on_line = QPoint(at.x(), round(frame.y(the_line(bench).price) / frame.ratio))
    QTest.mouseDClick(bench.bench.chart.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, on_line)
    write(bench, "  Take profit ")
    assert the_line(bench).text == "Take profit"
    assert bench.bench.chart.scale.spacing == spacing


def test_delete_removes_and_undo_brings_back(bench: ToolBench) -> None:
    line = set_alert(bench, bench.middle())
    bench.key(Qt.Key.Key_Delete)
    assert lines(bench) == ()
    bench.key(Qt.Key.Key_Z, CONTROL)
    assert (the_line(bench).price, the_line(bench).number) == (line.price, line.number)
    bench.drag(bench.middle(), bench.middle(0.3))
    bench.key(Qt.Key.Key_Z, CONTROL)
    assert the_line(bench).price == line.price
    bench.key(Qt.Key.Key_Z, CONTROL)
    assert lines(bench) == (), "at last the line that was set"
    assert not bench.bench.shell.actions[ActionId.UNDO_LINE].isEnabled()


def test_by_keys_alone(bench: ToolBench) -> None:
    """No mouse over the plot: place at the last price, move with the arrows, edit the text, select another, remove."""
    bench.act(Qt.Key.Key_A)
    assert the_line(bench).price == bench.newest.close
    for _ in range(3):
        bench.key(Qt.Key.Key_Up, CONTROL)
    bench.key(Qt.Key.Key_Down, CONTROL)
    assert the_line(bench).price == pytest.approx(bench.newest.close + 0.02)
    bench.key(Qt.Key.Key_F2)
    write(bench, "Stop")
    assert the_line(bench).text == "Stop"
    bench.act(Qt.Key.Key_N)
    write(bench, "Note")
    assert [line.kind for line in lines(bench)] == [LineKind.ALERT, LineKind.NOTE]
    bench.act(Qt.Key.Key_L)
    bench.key(Qt.Key.Key_Delete)
    assert [line.text for line in lines(bench)] == ["Note"]
    spacing = bench.bench.chart.scale.spacing
    bench.key(Qt.Key.Key_Escape)
    bench.key(Qt.Key.Key_Up)
    assert bench.bench.chart.scale.spacing > spacing, "with nothing selected the arrows are the view's"


def test_a_line_out_of_view_that_the_keys_select_is_shown(bench: ToolBench) -> None:
    far = 2 * bench.newest.close
    bench.tools.lines.add(LineKind.ALERT, far)
    bench.key(Qt.Key.Key_Escape)
    assert "above" not in readout(bench)
    bench.act(Qt.Key.Key_L)
    assert f"{far:,.2f}" in readout(bench) and "above" in readout(bench)
    bench.key(Qt.Key.Key_Up, CONTROL)
    assert f"{far + 0.01:,.2f}" in readout(bench), "and where the arrows move it"
    bench.key(Qt.Key.Key_Delete)
    assert "above" not in readout(bench)


@pytest.mark.parametrize("scale", list(ScaleKind))
def test_arrow_keys_move_a_line_by_a_visible_step(bench: ToolBench, scale: ScaleKind) -> None:
    """About a 200th of the height, whatever the price; ten such steps with Shift."""
    chart = bench.bench.chart
    chart.restyle(scale=scale)
    chart.flush()
    bench.act(Qt.Key.Key_A)
    start = the_line(bench).price
    bench.key(Qt.Key.Key_Up)
    step = the_line(bench).price - start
    assert chart.frame.prices.span / 210 <= step <= chart.frame.prices.span / 60
    assert f"{step:.2e}"[0] in "125", "a round step"
    bench.key(Qt.Key.Key_Down, SHIFT)
    assert the_line(bench).price == pytest.approx(start - 9 * step, abs=0.01)
    chart.zoom(30.0)
    chart.flush()
    before = the_line(bench).price
    bench.key(Qt.Key.Key_Up)
    assert 0.01 <= the_line(bench).price - before < step, "less where less is in view"


def dialog_of(bench: ToolBench) -> LineTextDialog:
    (dialog,) = (each for each in bench.bench.window.findChildren(LineTextDialog) if each.isVisible())
    return dialog


@pytest.mark.parametrize("opener", [Qt.Key.Key_F2, Qt.Key.Key_Return])
def test_a_price_can_be_typed(bench: ToolBench, opener: Qt.Key) -> None:
    bench.act(Qt.Key.Key_A)
    bench.key(opener)
    dialog = dialog_of(bench)
    dialog.price_edit.selectAll()
    QTest.keyClicks(dialog.price_edit, "65,432.1")
    QTest.keyClicks(dialog.edit, "Sell")
    QTest.keyClick(dialog.edit, Qt.Key.Key_Return)
    assert not dialog.isVisible()
    line = the_line(bench)
    assert (line.price, line.text, line.is_armed) == (65_432.1, "Sell", True)
    bench.key(Qt.Key.Key_Z, CONTROL)
    assert (the_line(bench).price, the_line(bench).text) == (bench.newest.close, ""), "one change"


def test_typing_edits_the_price_of_a_line_and_the_text_of_a_new_note(bench: ToolBench) -> None:
    """Regression: the text field had focus, so a typed price became the text."""
    bench.act(Qt.Key.Key_A)
    bench.key(Qt.Key.Key_F2)
    dialog = dialog_of(bench)
    QTest.keyClicks(dialog.focusWidget(), "65432.1")
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Return)
    assert (the_line(bench).price, the_line(bench).text) == (65_432.1, "")
    bench.act(Qt.Key.Key_N)
    dialog = dialog_of(bench)
    price = dialog.price_edit.text()
    QTest.keyClicks(dialog.focusWidget(), "Support")
    assert (dialog.price_edit.text(), dialog.edit.text()) == (price, "Support")
    dialog.reject()


@pytest.mark.parametrize("typed", ["", "abc", "0", "-5", "nan", "inf", "1.234", "1,23,4", "."])
def test_an_invalid_price_is_refused_in_the_dialog(bench: ToolBench, typed: str) -> None:
    bench.act(Qt.Key.Key_A)
    before = the_line(bench)
    bench.key(Qt.Key.Key_F2)
    dialog = dialog_of(bench)
    dialog.price_edit.selectAll()
    QTest.keyClick(dialog.price_edit, Qt.Key.Key_Delete)
    QTest.keyClicks(dialog.price_edit, typed)
    QTest.keyClick(dialog.price_edit, Qt.Key.Key_Return)
    assert dialog.isVisible() and dialog.message.isVisible() and dialog.message.text().endswith(".")
    assert the_line(bench) == before
    dialog.reject()


def test_editing_only_the_text_keeps_a_price_moved_meanwhile(bench: ToolBench) -> None:
    bench.act(Qt.Key.Key_A)
    bench.key(Qt.Key.Key_F2)
    dialog = dialog_of(bench)
    bench.key(Qt.Key.Key_Up)
    moved = the_line(bench)
    dialog.edit.setText("Stop")
    dialog.accept()
    assert the_line(bench) == replace(moved, text="Stop")


@pytest.mark.parametrize("key", [Qt.Key.Key_A, Qt.Key.Key_N])
def test_at_the_keyboard_crosshair_a_line_is_placed_at_the_close(bench: ToolBench, key: Qt.Key) -> None:
    bench.hover(bench.middle())
    for _ in range(7):
        bench.key(Qt.Key.Key_Left, CONTROL)
    bench.key(Qt.Key.Key_Left, CONTROL | SHIFT)
    chart = bench.bench.chart
    cross = chart.overlay.cross
    assert cross is not None
    pointed_at = bench.candles[chart.frame.index_at(cross.x())]
    assert pointed_at.close != bench.newest.close
    bench.act(key)
    if key == Qt.Key.Key_N:
        write(bench, "Here")
    assert the_line(bench).price == pointed_at.close


def test_the_menu_key_opens_at_the_keyboard_crosshair(bench: ToolBench) -> None:
    bench.key(Qt.Key.Key_Left, CONTROL | SHIFT)
    bench.key(Qt.Key.Key_Left, CONTROL | SHIFT)
    pointed_at = bench.candles[-11]
    chart, place = bench.bench.chart, bench.middle()
    reason = QContextMenuEvent.Reason.Keyboard
    QApplication.sendEvent(chart.viewport(), QContextMenuEvent(reason, place, chart.mapToGlobal(place)))
    menu = QApplication.activePopupWidget()
    assert menu is not None
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert the_line(bench).price == pointed_at.close


def test_no_line_gets_to_zero_or_below(bench: ToolBench) -> None:
    chart = bench.bench.chart
    bench.tools.lines.add(LineKind.ALERT, 0.05)
    chart.hold_prices(PriceRange(-1_000.0, 1_000.0))
    bench.key(Qt.Key.Key_Down, SHIFT)
    assert the_line(bench).price == 0.01
    bench.key(Qt.Key.Key_Down, CONTROL)
    assert the_line(bench).price == 0.01
    at = bench.point(len(bench.candles) - 30, the_line(bench).price)
    bench.drag(at, at + QPoint(0, 60))
    assert the_line(bench).price == 0.01
    bench.hover(at + QPoint(0, 60))
    bench.act(Qt.Key.Key_A)
    bench.click(at + QPoint(0, 60))
    assert {line.price for line in lines(bench)} == {0.01}


def test_two_alerts_at_one_price_are_reported_once(bench: ToolBench) -> None:
    price = bench.newest.close + 3
    for text in ("First", "Second"):
        bench.tools.lines.add(LineKind.ALERT, price)
        bench.key(Qt.Key.Key_F2)
        write(bench, text)
    bench.tools.lines.add(LineKind.ALERT, price + 1)
    sent: list[Alert] = []
    bench.bench.window.messages.alerted.connect(sent.append)
    tick(bench, price + 5)
    assert all(line.crossed_at_ms is not None for line in lines(bench))
    assert [alert.market for alert in sent] == ["BTC/USDT (binance)"] * 2
    banner, said = bench.bench.window.banner, []
    while banner.shown is not None:
        said.append(banner.shown.text)
        banner.dismiss()
    assert len(said) == 2 and len(set(said)) == 2
    (both,) = (text for text in said if "2 alerts" in text)
    assert "First" in both and "Second" in both


def readout(bench: ToolBench) -> str:
    return " ".join(span.text for row in bench.bench.chart.overlay.readout.rows for span in row)


def test_letters_go_to_a_focused_text_field(make_bench: MakeBench, folder: Path) -> None:
    """In the complete window: keys that the chart does not use reach typing."""
    with opened(make_bench, folder) as whole:
        browser = whole.bench.window.panels.checkpoints
        browser.table.setFocus()
        QTest.keyClick(browser.table, Qt.Key.Key_A)
        QTest.keyClick(browser.filter, Qt.Key.Key_A)
        assert lines(whole) == () and browser.filter.text() == "a"


def test_switching_the_market_closes_the_note_dialog(bench: ToolBench) -> None:
    """The market may change while the dialog is open: the line would land on the new one, at a price of the previous
    one."""
    bench.act(Qt.Key.Key_N)
    bench.click(bench.middle())
    (dialog,) = bench.bench.window.findChildren(LineTextDialog)
    bench.tools.show_market(OTHER, None)
    assert not dialog.isVisible()
    assert lines(bench) == () and bench.tools.lines.layer.shown.preview is None
    bench.tools.show_market(MARKET, bench.newest)
    assert lines(bench) == ()


def test_switching_the_market_closes_the_context_menu(bench: ToolBench) -> None:
    chart, at = bench.bench.chart, bench.middle()
    reason = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(chart.viewport(), QContextMenuEvent(reason, at, chart.mapToGlobal(at)))
    assert QApplication.activePopupWidget() is not None
    bench.tools.show_market(OTHER, None)
    assert QApplication.activePopupWidget() is None


def test_a_cancelled_note_leaves_nothing(bench: ToolBench) -> None:
    bench.act(Qt.Key.Key_N)
    (dialog,) = bench.bench.window.findChildren(LineTextDialog)
    dialog.reject()
    assert lines(bench) == ()


def test_the_menu_sets_switches_off_arms_and_removes(bench: ToolBench) -> None:
    at = bench.middle()
    assert [text.split(" at ")[0] for text in bench.menu_texts(at)] == ["Alert", "Note", "Measure from here"]
    bench.choose(at, "Alert at")
    assert the_line(bench).is_armed
    bench.choose(at, "Switch off")
    assert not the_line(bench).is_armed
    bench.choose(at, "Arm again")
    assert the_line(bench).is_armed
    bench.choose(at, "Remove")
    assert lines(bench) == ()


def test_the_lines_of_a_symbol_survive_a_restart_and_are_shared_by_its_intervals(
    make_chart_bench: MakeBench, folder: Path
) -> None:
    with opened(make_chart_bench, folder) as first:
        line = set_alert(first, first.middle())
        first.tools.show_market(OTHER, None)
        assert lines(first) == ()
    with opened(make_chart_bench, folder) as second:
        assert lines(second) == (line,)
        hourly = Market(MARKET.venue, MARKET.symbol, type(MARKET.interval).parse("1h"))
        second.tools.show_market(hourly, second.newest)
        assert lines(second) == (line,)


def test_a_tick_over_the_line_is_reported_once_and_remembered(make_chart_bench: MakeBench, folder: Path) -> None:
    with opened(make_chart_bench, folder) as bench:
        banner = bench.bench.window.banner
        bench.act(Qt.Key.Key_A)
        bench.key(Qt.Key.Key_Up, SHIFT)
        price = the_line(bench).price
        tick(bench, price - 0.05)
        assert the_line(bench).is_armed and banner.shown is None
        tick(bench, price + 3)
        assert not the_line(bench).is_armed and the_line(bench).crossed_at_ms is not None
        assert banner.shown is not None and "rose to" in banner.shown.text and "BTC/USDT" in banner.shown.text
        banner.dismiss()
        tick(bench, price - 3, 2)
        tick(bench, price + 3, 3)
        assert banner.shown is None
        crossed = the_line(bench)
    with opened(make_chart_bench, folder) as again:
        assert the_line(again) == crossed


@pytest.mark.parametrize(("minutes_ago", "is_late"), [(40, True), (0, False)])
def test_a_crossing_that_is_found_late_is_reported_with_its_time(
    bench: ToolBench, minutes_ago: int, *, is_late: bool
) -> None:
    """As if another market was on the chart in between."""
    price, minute_ms = bench.newest.close, MARKET.interval.duration_ms
    bench.tools.lines.see((forming(bench, price, price),))
    bench.tools.lines.add(LineKind.ALERT, price + 4)
    closed = replace(forming(bench, price + 5, price), open_time_ms=bench.newest.open_time_ms + 2 * minute_ms)
    ends_ms = closed.open_time_ms + minute_ms
    bench.bench.clock.advance_ms(ends_ms + minutes_ago * minute_ms - bench.bench.clock.now_ms())
    bench.tools.lines.see([closed])
    shown = bench.bench.window.banner.shown
    assert shown is not None and "rose to" in shown.text
    when = format_time(closed.open_time_ms, bench.bench.chart.frame.time_zone)
    assert (f", crossed in the 1m candle of {when}." in shown.text) is is_late
    assert ("crossed" in shown.text) is is_late


def forming(bench: ToolBench, high: float, close: float) -> Candle:
    opens = bench.newest.open_time_ms + MARKET.interval.duration_ms
    return Candle(opens, bench.newest.close, high, bench.newest.close, close, 1.0)


def test_nothing_is_reported_when_switched_off(bench: ToolBench) -> None:
    window = bench.bench.window
    notifications = replace(window.shell.settings.current.notifications, price_alerts=False)
    window.shell.settings.change(replace(window.shell.settings.current, notifications=notifications))
    bench.act(Qt.Key.Key_A)
    bench.key(Qt.Key.Key_Up, SHIFT)
    tick(bench, the_line(bench).price)
    assert not the_line(bench).is_armed and window.banner.shown is None


def test_placing_a_note_lets_the_chart_follow_the_newest_candle(bench: ToolBench) -> None:
    """The dialog opens over the chart, which never receives the button's release."""
    chart, where = bench.bench.chart, bench.middle()
    assert chart.scale.is_newest_in_view
    ahead = chart.scale.right - chart.scale.count
    bench.hover(where)
    bench.act(Qt.Key.Key_N)
    QTest.mousePress(chart.viewport(), LEFT, pos=where)
    held_by = next(iter(bench.bench.window.findChildren(LineTextDialog)), chart.viewport())
    QTest.mouseRelease(held_by, LEFT)
    write(bench, "Here")
    assert the_line(bench).text == "Here"
    series, newest = chart.model.series, bench.newest
    assert series is not None
    for number in range(1, 4):
        series.add(replace(newest, open_time_ms=newest.open_time_ms + number * 60_000))
        chart.refresh()
        chart.flush()
    assert chart.scale.right - chart.scale.count == ahead


@pytest.mark.parametrize("has_sound", [True, False])
def test_an_alert_is_shown_before_all_other_banners_with_a_sound(bench: ToolBench, has_sound: bool) -> None:
    window, sounds, sent = bench.bench.window, list[None](), list[Alert]()
    window.messages.sounded.connect(lambda: sounds.append(None))
    window.messages.alerted.connect(sent.append)
    notifications = replace(window.shell.settings.current.notifications, alert_sound=has_sound)
    window.shell.settings.change(replace(window.shell.settings.current, notifications=notifications))
    window.banner.notify("The exchange does not answer.", Severity.ERROR, key="feed", is_answer=True)
    bench.act(Qt.Key.Key_A)
    bench.key(Qt.Key.Key_Up, SHIFT)
    tick(bench, the_line(bench).price)
    assert window.banner.text.text().startswith("Alert: BTC/USDT rose to ")
    assert [(each.title, each.text.partition(" rose")[0]) for each in sent] == [("Price alert", "BTC/USDT")], (
        "said once"
    )
    assert len(sounds) == has_sound
    window.banner.dismiss()
    assert window.banner.text.text() == "The exchange does not answer."


def test_a_crossed_line_that_is_moved_is_watched_again(bench: ToolBench) -> None:
    bench.act(Qt.Key.Key_A)
    bench.key(Qt.Key.Key_Up)
    tick(bench, the_line(bench).price)
    assert not the_line(bench).is_armed
    bench.key(Qt.Key.Key_Up, SHIFT)
    assert the_line(bench).is_armed and the_line(bench).crossed_at_ms is None


def cross(bench: ToolBench, line: PriceLine, minute: int = 1) -> None:
    """By a tick far beyond it, on the side that it is watched from."""
    tick(bench, line.price + 5 if line.price > bench.newest.close else line.price - 5, minute)


def test_undo_restores_a_line_with_its_crossing(bench: ToolBench) -> None:
    """Moved, crossed, removed: undoing both moves it back, and it is still crossed."""
    bench.act(Qt.Key.Key_A)
    for _ in range(2):
        bench.key(Qt.Key.Key_Up, SHIFT)
    set_at = bench.newest.close
    moved = the_line(bench)
    cross(bench, moved)
    crossed = the_line(bench)
    assert crossed.crossed_at_ms is not None and not crossed.is_armed
    bench.key(Qt.Key.Key_Delete)
    bench.key(Qt.Key.Key_Z, CONTROL)
    assert the_line(bench) == crossed
    bench.key(Qt.Key.Key_Z, CONTROL)
    assert the_line(bench) == replace(crossed, price=set_at)
    tick(bench, set_at, 2)
    assert the_line(bench).crossed_at_ms == crossed.crossed_at_ms, "nothing watches it"


def test_a_restored_line_is_watched_from_now_on(bench: ToolBench) -> None:
    """Crossings while it was removed are not reported when it is restored."""
    bench.act(Qt.Key.Key_A)
    bench.key(Qt.Key.Key_Up, SHIFT)
    line = the_line(bench)
    bench.key(Qt.Key.Key_Delete)
    cross(bench, line)
    bench.key(Qt.Key.Key_Z, CONTROL)
    assert the_line(bench).is_armed and the_line(bench).crossed_at_ms is None
    tick(bench, line.price + 1)
    assert the_line(bench).is_armed, "it is watched from above now"
    tick(bench, line.price)
    assert the_line(bench).crossed_at_ms is not None


def test_a_line_removed_during_a_drag_stays_removed(bench: ToolBench) -> None:
    line = set_alert(bench, bench.middle(0.6))
    bench.drag(bench.middle(0.6), bench.middle(0.4), release=False)
    bench.key(Qt.Key.Key_Delete)
    send_move(bench.bench.chart, bench.middle(0.3), LEFT, Qt.KeyboardModifier.NoModifier)
    QTest.mouseRelease(bench.bench.chart.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, bench.middle(0.3))
    assert lines(bench) == ()
    bench.bench.chart.flush()
    assert bench.bench.chart.overlay.axis_tags == ()
    bench.key(Qt.Key.Key_Z, CONTROL)
    assert the_line(bench).price == line.price, "where it was before the drag"


def test_an_open_menu_acts_on_the_current_line(bench: ToolBench) -> None:
    bench.act(Qt.Key.Key_A)
    bench.key(Qt.Key.Key_Up, SHIFT)
    old = the_line(bench)
    cross(bench, old)
    crossed = the_line(bench)
    bench.tools.lines.arm(old, is_armed=False)
    assert the_line(bench) == crossed, "switched off it is already, and when it was crossed is kept"
    bench.tools.placed.select(crossed)
    bench.key(Qt.Key.Key_Up, SHIFT)
    moved = the_line(bench)
    bench.tools.lines.arm(crossed, is_armed=False)
    assert the_line(bench) == replace(moved, is_armed=False)
    bench.tools.lines.arm(crossed, is_armed=True)
    assert the_line(bench).is_armed and the_line(bench).price == moved.price
    bench.key(Qt.Key.Key_Delete)
    bench.tools.lines.arm(moved, is_armed=True)
    bench.tools.lines.arm(moved, is_armed=False)
    assert lines(bench) == (), "a line that was removed does not come back"


def test_a_tick_and_a_mouse_move_paint_no_closed_candle_and_dragging_a_line_neither(bench: ToolBench) -> None:
    for share in (0.2, 0.4, 0.6):
        set_alert(bench, bench.middle(share))
    chart = bench.bench.chart
    chart.grab()
    painted = chart.closed_paints
    bench.hover(bench.middle(0.5))
    bench.hover(bench.middle(0.4))
    bench.drag(bench.middle(0.4), bench.middle(0.5))
    chart.set_forming(Candle(bench.newest.open_time_ms + 60_000, *[bench.newest.close] * 4, 1.0))
    chart.flush()
    chart.grab()
    assert chart.closed_paints == painted


def test_the_line_is_on_the_plot_and_its_price_on_the_axis(bench: ToolBench) -> None:
    at = bench.middle()
    bench.key(Qt.Key.Key_Escape)
    before = bench.bench.chart.grab().toImage()
    line = set_alert(bench, at)
    bench.key(Qt.Key.Key_Escape)
    bench.hover(bench.middle(0.2))
    chart = bench.bench.chart
    after, frame = chart.grab().toImage(), chart.frame
    row, colour = frame.y(line.price), frame.palette.warning
    columns = range(frame.layout.plot_right // 2, frame.layout.plot_right)
    hits = sum(after.pixelColor(x, row) == colour for x in columns)
    assert hits > 0.9 * len(columns)
    assert after.pixelColor(frame.layout.width - 2, row) == colour != before.pixelColor(frame.layout.width - 2, row)
    (tag,) = chart.overlay.axis_tags
    assert tag.rows[0][0].text == frame.price_text(line.price)

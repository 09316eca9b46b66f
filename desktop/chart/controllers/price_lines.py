"""Behaviour specific to alerts and notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QMenu

from core.alerts.price import AlertMonitor
from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.domain.drawings import Anchor
from core.domain.price_lines import LineKind, PriceLine
from core.market.shown_names import shown_symbol
from desktop.actions import ActionId
from desktop.chart.controllers.placed_kind import Placeable
from desktop.chart.controllers.placed_store import PlacedStore
from desktop.chart.items.placed import Grip
from desktop.chart.items.price_lines import PriceLinesLayer
from desktop.chart.tools.places import ARROWS, TEN_AT_ONCE, anchor_at, price_step, tick_of
from desktop.chart.tools.tool import ChartPoint
from desktop.chart.widget import ChartWidget
from desktop.dialogs.drawings import LineTextDialog
from desktop.dialogs.messages import open_dialog
from desktop.notifications.messages import AlertMessages, DesktopMessages, late_time
from desktop.state.shell import Shell
from desktop.ui import formatting
from desktop.ui.translation import translate

_KINDS = {ActionId.ADD_ALERT: LineKind.ALERT, ActionId.ADD_NOTE: LineKind.NOTE}


class ChartPriceLines(Placeable[PriceLine]):
    """A line at a price; an alert is watched."""

    layer: PriceLinesLayer
    thing_type = PriceLine
    kinds = _KINDS
    is_level = True

    def __init__(
        self, shell: Shell, chart: ChartWidget, store: PlacedStore, clock: Clock, messages: DesktopMessages
    ) -> None:
        super().__init__(shell, chart, store, PriceLinesLayer())
        self._clock = clock
        self._alerts = AlertMonitor(lambda: self.things, store.note, clock, self._on_crossed)
        self._messages = AlertMessages(shell, messages, translate("Chart", "Show on the chart"), self._show_moment)
        self._symbol = self._venue = ""

    def show_market(self, market: Market, newest: Candle | None) -> None:
        """Watch another market; `newest` is its newest stored candle."""
        self._symbol, self._venue = shown_symbol(market.venue, market.symbol), market.venue
        self._alerts.open(market, newest)

    def see(self, candles: Sequence[Candle]) -> None:
        """Check candles of the watched market, forming or closed, as they arrive."""
        if self._alerts.update(candles, self._tick):
            self.placement.show()

    def add(self, kind: LineKind, price: float) -> None:
        """Place a line; a note's text is asked for first."""
        self.placement.set(self, kind, (Anchor(0, price),))

    def arm(self, line: PriceLine, *, is_armed: bool) -> None:
        now = self._store.now(line)  # the market, a drag or a key may have changed it since the menu opened
        if now is not None and now.is_armed is not is_armed:
            self.placement.change(self._alerts.armed(now, is_again=True) if is_armed else replace(now, is_armed=False))

    def selection_order(self) -> list[PriceLine]:
        return sorted(self.things, key=lambda line: -line.price)

    def begun(self, kind: LineKind) -> None:
        """With the keyboard crosshair, place the line there immediately; with the mouse off the chart, at the last
        price, for the arrow keys to move."""
        at_keys, at_mouse, newest = self._chart.key_mark, self.placement.at_mouse, self._model.newest
        if at_keys is not None:
            self.placement.put(at_keys)
        elif at_mouse is not None:
            self.placement.stretch(at_mouse)
        elif newest is not None:
            self.add(kind, newest.close)

    def hint(self, kind: LineKind) -> str:
        if kind is LineKind.ALERT:
            return translate("Chart", "Click to set the alert  ·  Ctrl snaps to a candle  ·  Esc cancels")
        return translate("Chart", "Click to set the note  ·  Ctrl snaps to a candle  ·  Esc cancels")

    def made(self, kind: LineKind, anchors: tuple[Anchor, ...]) -> PriceLine:
        is_alert = kind is LineKind.ALERT
        return PriceLine(anchors[0].price, kind, created_at_ms=self._clock.now_ms(), is_armed=is_alert)

    def ask(self, thing: PriceLine, on_done: Callable[[PriceLine], object]) -> QDialog | None:
        def put(typed: float | None, text: str) -> None:
            on_done(replace(thing, price=thing.price if typed is None else typed, text=text))

        return None if thing.kind is LineKind.ALERT else self._ask(thing, put, is_new=True)

    def before_storing(self, thing: PriceLine) -> PriceLine:
        """A moved alert is armed again: its trigger belonged to the old price."""
        there = replace(thing, price=max(thing.price, self._tick))
        return self._alerts.armed(there) if thing.kind is LineKind.ALERT else there

    def restored(self, thing: PriceLine) -> PriceLine:
        return self._alerts.armed(thing) if thing.is_watched else thing

    def grip_at(self, at: ChartPoint) -> Grip[PriceLine] | None:
        overlay = self._chart.overlay
        line = self.layer.line_at(at.frame, at.pixel, overlay.taken, overlay.taken_of_axis)
        return None if line is None else Grip(line, Qt.CursorShape.SizeVerCursor)

    def dragged(self, grip: Grip[PriceLine], at: ChartPoint, grabbed: Anchor) -> PriceLine:
        return replace(grip.thing, price=anchor_at(at, self._model).price)

    def stepped(self, thing: PriceLine, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> PriceLine | None:
        """An arrow key moves a line by the smallest step visible in this view, with Ctrl by the market's tick."""
        _candles, direction = ARROWS.get(key, (0, 0))
        is_least = modifiers == Qt.KeyboardModifier.ControlModifier
        if not direction or not (is_least or modifiers in TEN_AT_ONCE):
            return None
        step = self._tick
        if not is_least:
            step = TEN_AT_ONCE[modifiers] * price_step(self._chart.frame.prices, thing.price, step)
        return self.before_storing(replace(thing, price=round(thing.price + direction * step, self._model.decimals())))

    def edit(self, thing: PriceLine) -> QDialog:
        return self._ask(thing, lambda typed, text: self._rewrite(thing, typed, text))

    def add_to_menu(self, menu: QMenu, thing: PriceLine) -> None:
        self.offer(menu, "pencil-outline", translate("Chart", "&Edit price and text…"), lambda: self.edit(thing))
        if thing.is_watched:
            switch_off = translate("Chart", "&Switch off")
            self.offer(menu, "bell-off-outline", switch_off, lambda: self.arm(thing, is_armed=False))
        elif thing.kind is LineKind.ALERT:
            arm = translate("Chart", "A&rm again")
            self.offer(menu, "bell-ring-outline", arm, lambda: self.arm(thing, is_armed=True))
        self.offer(menu, "delete-outline", translate("Chart", "&Remove"), lambda: self.placement.remove(thing))

    def add_new_to_menu(self, menu: QMenu, at: ChartPoint) -> None:
        if not at.is_on_prices or not self._store.is_open or self.grip_at(at) is not None:
            return
        price = anchor_at(at, self._model).price
        text = formatting.format_price(price, self._model.decimals())
        alert, note = translate("Chart", "&Alert at {0}"), translate("Chart", "&Note at {0}…")
        self.offer(menu, "bell-plus-outline", alert.format(text), lambda: self.add(LineKind.ALERT, price))
        self.offer(menu, "note-plus-outline", note.format(text), lambda: self.add(LineKind.NOTE, price))

    @property
    def _tick(self) -> float:
        return tick_of(self._model)

    def _ask(self, line: PriceLine, on_done: Callable[[float | None, str], object], *, is_new: bool = False) -> QDialog:
        is_alert, decimals = line.kind is LineKind.ALERT, self._model.decimals()
        text = translate("Chart", "Alert on {0} at {1}") if is_alert else translate("Chart", "Note on {0} at {1}")
        title = text.format(self._symbol, formatting.format_price(line.price, decimals))
        window = self._shell.window
        return open_dialog(
            LineTextDialog(title, line.price, decimals, line.text, on_done, window, asks_for_label=is_new)
        )

    def _rewrite(self, line: PriceLine, typed: float | None, text: str) -> None:
        """Change its text, and its price if one was `typed`, as one change."""
        now = self._store.now(line)
        if now is None:
            return
        if typed is not None and typed != now.price:
            self.placement.change(self.before_storing(replace(now, price=typed, text=text)))
        elif now.text != text:
            self.placement.change(replace(now, text=text))

    def _on_crossed(self, lines: Sequence[PriceLine]) -> None:
        zone = self._chart.frame.time_zone
        time = "" if self._alerts.is_timeless else late_time(lines, self._clock.now_ms(), zone)
        self._messages.show(self._symbol, self._venue, lines, self._model.decimals(), time)

    def _show_moment(self, time_ms: int | None) -> None:
        if time_ms is not None:
            self._chart.go_to_time(self._model.series.interval.open_time_ms(time_ms))

"""Alerts and notes on the chart: set, moved, edited and removed by mouse, keys and menu."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QEnterEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu

from core.clock import Clock
from core.market.candle import Candle, Market
from core.market.price_lines import LineKind, PriceLine
from core.market.shown_names import shown_symbol
from desktop import formatting
from desktop.actions import ActionId
from desktop.chart.controllers.alert_messages import AlertMessages, late_time
from desktop.chart.controllers.alerts import AlertDesk
from desktop.chart.controllers.line_book import LineBook
from desktop.chart.items.price_lines import LinesShown, PriceLinesLayer
from desktop.chart.tools.line_tool import LineTool, snapped_price
from desktop.chart.tools.price_steps import floored, price_step
from desktop.chart.tools.tool import ChartPoint
from desktop.chart.widget import ChartWidget
from desktop.database import WindowDatabase
from desktop.dialogs.line_text import LineTextDialog, open_line_text
from desktop.icons import icon
from desktop.translation import translate
from desktop.window import MainWindow

_DIRECTIONS = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}
_STEPS_AT_ONCE = {
    Qt.KeyboardModifier.NoModifier: 1,
    Qt.KeyboardModifier.ShiftModifier: 10,
    Qt.KeyboardModifier.ControlModifier: None,
}
"""None: the market's smallest step."""


class ChartLines(QObject):
    """The owner of the watched symbol's lines and of what is selected among them."""

    changed = Signal()

    def __init__(
        self, window: MainWindow, chart: ChartWidget, database: WindowDatabase, clock: Clock, order: Iterator[int]
    ) -> None:
        """order: see `Book`."""
        super().__init__(chart)
        self._window, self._chart, self._clock = window, chart, clock
        self.book = LineBook(lambda: database.lines, order, lambda sentence: window.notices.storage_trouble(sentence))
        self._alerts = AlertDesk(self.book, clock, self._on_crossed)
        self._messages = AlertMessages(window, translate("Chart", "Show on chart"), self._show_moment)
        self._symbol = ""
        self._layer = PriceLinesLayer()
        self._tool = LineTool(self, chart.model)
        self._placing: LineKind | None = None
        self._dragged: PriceLine | None = None
        self._preview: PriceLine | None = None
        self._selected: int | None = None
        self._hovered: int | None = None
        self._cursor: QPointF | None = None
        chart.add_layer(self._layer)
        chart.add_tool(self._tool)
        chart.show_events_to(self)
        self._wire()
        self._show()

    @property
    def selected(self) -> PriceLine | None:
        """The line that the keys are for."""
        return self.book.get(self._selected)

    @property
    def is_placing(self) -> bool:
        return self._placing is not None

    def show_market(self, market: Market, newest: Candle | None) -> None:
        """Another market; `newest` is its newest stored candle."""
        for dialog in self._window.findChildren(LineTextDialog):
            dialog.reject()  # its words would land on this market, at a price of the former one
        self.end()
        self._symbol = shown_symbol(market.venue, market.symbol)
        self._selected = self._hovered = None
        self.book.open(market.venue, market.symbol)
        self._alerts.open(market, newest)
        self._show()

    def see(self, candles: Sequence[Candle]) -> None:
        """Candles of the watched market, forming or closed, as they come."""
        if self._alerts.see(candles, self._tick):
            self._show()

    def begin(self, kind: LineKind) -> None:
        """The next click sets a line. At the keys' crosshair one is set at once, and so it is at the last price while
        the mouse is elsewhere, for the arrows to move."""
        if self._chart.model.newest is None or not self.book.is_open:
            return
        pointed_at = self._chart.key_mark
        if pointed_at is not None:
            self.add(kind, pointed_at.price)
            return
        if self._cursor is None or not self._point(self._cursor).is_on_prices:
            self.add(kind, self._chart.model.newest.close)
            return
        self._placing = kind
        self._preview_at(self._point(self._cursor))

    def add(self, kind: LineKind, price: float) -> None:
        """Set a line; a note is asked for its words first."""
        self._placing = None
        line = PriceLine(price, kind, created_at_ms=self._clock.now_ms())
        if kind is LineKind.ALERT:
            self._add(self._alerts.armed(line))
            return
        self._preview = line
        self._show()
        home = self.book.market

        def put(typed: float | None, text: str) -> None:
            self._add(replace(line, price=line.price if typed is None else typed, text=text), home)

        dialog = self._ask(line, put, is_new=True)
        dialog.rejected.connect(self._end_preview)

    def end(self) -> None:
        """No line is being set any more."""
        self._placing = self._preview = None
        self._show()

    def place(self, price: float) -> None:
        if self._placing is not None:
            self.add(self._placing, price)

    def line_at(self, at: ChartPoint) -> PriceLine | None:
        overlay = self._chart.overlay
        return self._layer.line_at(at.frame, at.pixel, overlay.taken, overlay.taken_of_axis)

    def select(self, line: PriceLine | None) -> None:
        self._selected = None if line is None else line.line_id
        self._show()

    def drag(self, line: PriceLine, price: float) -> None:
        self._dragged = replace(line, price=floored(price, self._tick))
        self._show()

    def drop(self, line: PriceLine) -> None:
        dragged, self._dragged = self._dragged, None
        if dragged is not None and self._current(line) is not None:  # it may have been taken away in the hand
            self._move(line, dragged.price)

    def _current(self, line: PriceLine) -> PriceLine | None:
        return self.book.get(line.line_id)

    def take_back(self, line: PriceLine) -> None:
        self._dragged = None
        self._show()

    def edit(self, line: PriceLine) -> None:
        home = self.book.market
        self._ask(line, lambda typed, text: self._rewrite(line, typed, text, home))

    def arm(self, line: PriceLine, *, is_armed: bool) -> None:
        """Watch an alert again, or no longer."""
        now = self._current(line)  # a menu may be older than what the market, a drag or a key has done since
        if now is None or now.is_armed is is_armed:
            return
        self.book.put(self._alerts.armed(now, is_again=True) if is_armed else replace(now, is_armed=False))
        self._show()

    def remove(self, line: PriceLine) -> None:
        """Take a line away; Ctrl+Z brings it back."""
        if line.line_id is not None:
            self.book.remove(line.line_id)
        self._show()

    def undo(self) -> None:
        """Take the last change back."""
        self._show_changed(self.book.undo(self._as_it_comes_back))

    def redo(self) -> None:
        """Do again what was taken back last."""
        self._show_changed(self.book.redo(self._as_it_comes_back))

    def _as_it_comes_back(self, line: PriceLine) -> PriceLine:
        return self._alerts.armed(line) if line.is_watched else line

    def _show_changed(self, line: PriceLine | None) -> None:
        self._selected = None if line is None else line.line_id
        self._show()

    def add_to_menu(self, menu: QMenu, at: ChartPoint) -> None:
        """What can be done with lines at a place."""
        line = self.line_at(at)
        if line is not None:
            self._add_line_to_menu(menu, line)
        elif at.is_on_prices and self.book.is_open:
            price = snapped_price(at, self._chart.model)
            text, ink = self._price_text(price), self._chart.style_shown.palette.text
            alert = menu.addAction(icon("bell-plus-outline", ink), translate("Chart", "&Alert at {0}").format(text))
            alert.triggered.connect(lambda: self.add(LineKind.ALERT, price))
            note = menu.addAction(icon("note-plus-outline", ink), translate("Chart", "&Note at {0}…").format(text))
            note.triggered.connect(lambda: self.add(LineKind.NOTE, price))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.MouseMove and isinstance(event, QMouseEvent):
            self._on_mouse(event)
        elif isinstance(event, QEnterEvent):
            self._cursor = event.position()
        elif kind == QEvent.Type.Leave:
            self._cursor = None
            self._hover(None)
            if self._placing is not None:
                self._preview = None
                self._show()
        elif kind == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._on_key(event)
        return False

    def _wire(self) -> None:
        self._window.actions_of_window.wire(
            {
                ActionId.ADD_ALERT: lambda: self.begin(LineKind.ALERT),
                ActionId.ADD_NOTE: lambda: self.begin(LineKind.NOTE),
            }
        )

    def _point(self, position: QPointF, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> ChartPoint:
        return self._chart.point_at(position, modifiers)

    @property
    def _tick(self) -> float:
        """The smallest step of the market's prices."""
        return float(10.0 ** -self._chart.model.decimals())

    def _price_text(self, price: float) -> str:
        return formatting.format_price(price, self._chart.model.decimals())

    def _title(self, line: PriceLine) -> str:
        is_alert = line.kind is LineKind.ALERT
        text = translate("Chart", "Alert on {0} at {1}") if is_alert else translate("Chart", "Note on {0} at {1}")
        return text.format(self._symbol, self._price_text(line.price))

    def _ask(
        self, line: PriceLine, on_done: Callable[[float | None, str], object], *, is_new: bool = False
    ) -> LineTextDialog:
        title, decimals = self._title(line), self._chart.model.decimals()
        return open_line_text(self._window, title, line.price, decimals, line.text, on_done, asks_for_words=is_new)

    def _end_preview(self) -> None:
        """The words of a note were not given. Another line may be being set by now."""
        if self._placing is None:
            self.end()

    def _add(self, line: PriceLine, home: tuple[str, str] | None = None) -> None:
        """home: the market that it was drawn on, where that may be another than the one that is shown now."""
        if home is not None and home != self.book.market:
            self.book.put_elsewhere(home, line)
            return
        self._preview = None
        stored = self.book.put(line)
        self._selected = None if stored is None else stored.line_id
        self._show()

    def _move(self, line: PriceLine, price: float, *, merges: bool = False) -> None:
        """An alert is armed anew where it is put: what it went off at is not there any more."""
        there = replace(line, price=floored(price, self._tick))
        self.book.put(self._alerts.armed(there) if line.kind is LineKind.ALERT else there, merges=merges)
        self._show()

    def _rewrite(self, line: PriceLine, typed: float | None, text: str, home: tuple[str, str] | None) -> None:
        """Other words, and another price where one was `typed`: as one change."""
        if home is not None and home != self.book.market and line.line_id is not None:
            self.book.reword_elsewhere(home, line.line_id, text)
            return
        now = self.book.get(line.line_id)
        if now is None:
            return
        if typed is not None and typed != now.price:
            self._move(replace(now, text=text), typed)
        elif now.text != text:
            self.book.put(replace(now, text=text))
            self._show()

    def _on_mouse(self, event: QMouseEvent) -> None:
        self._cursor = event.position()
        if self._chart.model.is_empty or event.buttons():
            return
        at = self._point(event.position(), event.modifiers())
        if self._placing is not None:
            self._preview_at(at)
        else:
            self._hover(self.line_at(at))

    def _preview_at(self, at: ChartPoint) -> None:
        assert self._placing is not None
        self._preview = PriceLine(snapped_price(at, self._chart.model), self._placing, is_armed=True)
        self._show()

    def _hover(self, line: PriceLine | None) -> None:
        hovered = None if line is None else line.line_id
        if hovered != self._hovered:
            self._hovered = hovered
            self._show()

    def _on_key(self, event: QKeyEvent) -> bool:
        if event.key() == Qt.Key.Key_Escape:
            return self._on_escape()
        if self.is_placing and self._preview is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.place(self._preview.price)
            return True
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        line = self.selected
        if line is None or self._tool.is_held or modifiers not in _STEPS_AT_ONCE:
            return False
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.edit(line)
            return True
        direction = _DIRECTIONS.get(Qt.Key(event.key()))
        if direction is None:
            return False
        self._step(line, direction, modifiers)
        return True

    def _step(self, line: PriceLine, direction: int, modifiers: Qt.KeyboardModifier) -> None:
        """By what can be told in this view, or by the market's smallest step."""
        times = _STEPS_AT_ONCE[modifiers]
        step = self._tick if times is None else times * price_step(self._chart.frame.prices, line.price, self._tick)
        self._move(line, round(line.price + direction * step, self._chart.model.decimals()), merges=True)

    def _on_escape(self) -> bool:
        """Ends what is under way; a line in the hand is let go by the chart itself."""
        if self._tool.is_held:
            return False
        if self.is_placing:
            self.end()
            return True
        if self._selected is not None:
            self.select(None)
            return True
        return False

    def _add_line_to_menu(self, menu: QMenu, line: PriceLine) -> None:
        ink = self._chart.style_shown.palette.text
        self.select(line)
        menu.addAction(icon("pencil-outline", ink), translate("Chart", "&Edit price and text…")).triggered.connect(
            lambda: self.edit(line)
        )
        if line.kind is LineKind.ALERT and line.is_armed:
            entry = menu.addAction(icon("bell-off-outline", ink), translate("Chart", "&Switch off"))
            entry.triggered.connect(lambda: self.arm(line, is_armed=False))
        elif line.kind is LineKind.ALERT:
            entry = menu.addAction(icon("bell-ring-outline", ink), translate("Chart", "A&rm again"))
            entry.triggered.connect(lambda: self.arm(line, is_armed=True))
        menu.addAction(icon("delete-outline", ink), translate("Chart", "&Remove")).triggered.connect(
            lambda: self.remove(line)
        )

    def _on_crossed(self, lines: Sequence[PriceLine]) -> None:
        zone = self._chart.frame.time_zone
        time = "" if self._alerts.is_timeless else late_time(lines, self._clock.now_ms(), zone)
        self._messages.tell(self._symbol, lines, self._chart.model.decimals(), time)

    def _show_moment(self, time_ms: int | None) -> None:
        series = self._chart.model.series
        if series is not None and time_ms is not None:
            self._chart.go_to_time(series.interval.open_time_ms(time_ms))

    def _show(self) -> None:
        """Let chart and actions agree with what is kept here."""
        if self._selected is not None and self.selected is None:
            self._selected = None
        dragged = self._dragged
        lines = tuple(
            dragged if dragged is not None and dragged.line_id == line.line_id else line for line in self.book.lines
        )
        self._layer.shown = LinesShown(lines, self._selected, self._hovered, self._preview, self._hint())
        self._chart.layers_changed()
        self.changed.emit()

    def _hint(self) -> str:
        if self._placing is None:
            return ""
        if self._placing is LineKind.ALERT:
            return translate("Chart", "Click to set the alert  ·  Ctrl snaps to a candle  ·  Esc ends")
        return translate("Chart", "Click to set the note  ·  Ctrl snaps to a candle  ·  Esc ends")

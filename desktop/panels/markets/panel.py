"""The Markets panel: prices of the markets that the user keeps an eye on. A click shows one on the chart."""

from __future__ import annotations

from collections import deque

from pydantic import ValidationError
from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolBar, QVBoxLayout, QWidget

from core.domain.candle import Market
from core.domain.venue_names import venue_name
from core.domain.watchlist import WatchedMarket, Watchlist, added, moved, without
from core.market.feeds.base import FeedState
from core.market.feeds.tickers import Quote
from core.market.symbols import SymbolList
from desktop.actions import ActionId, ActionRegistry
from desktop.actions.panel_table import markets_actions
from desktop.panels.markets.adder import MarketAdder
from desktop.panels.markets.model import MarketsModel, Row
from desktop.panels.markets.table import MarketsTable
from desktop.state.quotes import STALE_AFTER_MS, QuoteState, Standing
from desktop.state.run_state import RunState
from desktop.ui.formatting import format_age, format_count, format_duration
from desktop.ui.interface_size import enlarge_icons
from desktop.ui.panel_base import EmptyState, Panel, colour_text, set_text
from desktop.ui.plain_text import Label
from desktop.ui.theme import Palette, Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_CHANGES_KEPT = 50
_MESSAGE_SHOWN_MS = 8_000
_MINUTE_S = 60
_EMPTY = QT_TRANSLATE_NOOP("Panels", "There are no markets yet.\nType a few letters of a symbol above and press Enter.")


class MarketsPanel(Panel):
    """`market_requested` carries a WatchedMarket for the chart, `markets_changed` the list as it is to be kept,
    `prices_wanted` whether prices are to be asked for now."""

    market_requested = Signal(object)
    markets_changed = Signal(object)
    prices_wanted = Signal(bool)

    def __init__(self, state: RunState, theme: Theme, markets: Watchlist, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._record, self._quotes, self._clock = state.feed_record, state.quotes, state.clock
        self._markets: Watchlist = ()
        self._former: deque[Watchlist] = deque(maxlen=_CHANGES_KEPT)
        self._message = self._search_message = ""
        self._message_until_ms = 0
        self._is_seen = self._is_needed = self._is_wanted = False
        self._window: QWidget | None = None
        self.model = MarketsModel(theme, self)
        self.table = MarketsTable(self.model, theme)
        self.adder = MarketAdder()
        self.note = Label()
        self.actions_of_panel = ActionRegistry(markets_actions(), self.table)
        self._build_layout()
        self._empty = EmptyState(translate("Panels", _EMPTY), self.table.viewport())
        self._connect()
        self.apply_palette(theme.palette)
        self.show_markets(markets)

    @property
    def wants_prices(self) -> bool:
        """Only where somebody looks or an alert waits for them, and the chart shows an exchange's market."""
        return self._is_wanted

    def need_prices(self, *, is_needed: bool) -> None:
        """Whether an alert of a listed market needs its price, even if the panel is hidden."""
        self._is_needed = is_needed
        self._update_wanted()

    def show_markets(self, markets: Watchlist) -> None:
        """The list as the settings have it."""
        if markets == self._markets:
            return
        current = self.current()
        self._markets = markets
        self._quotes.keep_only({(market.venue, market.symbol) for market in markets})
        self.adder.offer_venues([market.venue for market in markets])
        self.refresh()
        if current in markets:
            self._select(markets.index(current))

    def show_symbols(self, listed: SymbolList) -> None:
        """The markets of an exchange, for the search."""
        self.adder.take_symbols(listed)
        age = format_age(listed.fetched_at_ms, self._clock.now_ms())
        text = translate("Panels", "{0} markets of {1}, updated {2}.")
        self._show_search_message(text.format(format_count(len(listed.symbols)), venue_name(listed.venue), age))

    def show_fetching(self, venue: str) -> None:
        """The markets of an exchange are on their way."""
        self._show_search_message(translate("Panels", "Loading the markets of {0}…").format(venue_name(venue)))

    def show_no_symbols(self, venue: str, sentence: str) -> None:
        """They cannot be had now."""
        advice = translate("Panels", "You can also type a full symbol, such as BTC/USDT.")
        self._show_search_message(f"{sentence} {advice}")

    def set_seen(self, is_seen: bool) -> None:
        """Whether the dock is open, and before those that share its place."""
        self._is_seen = is_seen
        self._update_wanted()

    def current(self) -> WatchedMarket | None:
        """The row that keys and buttons are about."""
        row = self.table.currentIndex().row()
        return self._markets[row] if 0 <= row < len(self._markets) else None

    def refresh(self) -> None:
        self._update_wanted()
        now_ms, market = self._clock.now_ms(), self._record.market
        self.model.show([self._row(each, market, now_ms) for each in self._markets])
        self._empty.update_state(is_empty=not self._markets, is_loading=False)
        self._show_note()
        self._update_actions()

    def tick(self) -> None:
        self.refresh()

    def apply_palette(self, palette: Palette) -> None:
        self.actions_of_panel.apply_palette(palette)
        self.adder.apply_palette(palette)
        self.model.repaint()
        for label in (self.note, self._empty):
            colour_text(label, palette.muted_text)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._window is not self.window():  # a floating dock is a separate window
            self._window = self.window()
            self._window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.WindowStateChange and watched is self._window:
            self._update_wanted()
        return False

    def _row(self, each: WatchedMarket, on_chart: Market | None, now_ms: int) -> Row:
        standing = self._standing(each, now_ms)
        status, is_on_chart = self._record.status, each.market == on_chart
        if is_on_chart:
            standing = self._of_chart(standing, now_ms)
        age_s = None if standing.quote is None else max(0, (now_ms - standing.quote.at_ms) // 10_000 * 10)
        if not is_on_chart:
            return Row(each, standing, age_s)
        return Row(each, standing, age_s, True, None if status is None else status.state)

    def _on_price(self) -> None:
        """At once, as the chart has it, so that no picture shows two last prices; one row costs a quarter of a
        millisecond."""
        if not self.is_on_screen:
            self.mark_stale()
            return
        now_ms, market = self._clock.now_ms(), self._record.market
        for number, each in enumerate(self._markets):
            if each.market == market:
                self.model.show_one(number, self._row(each, market, now_ms))

    def _standing(self, each: WatchedMarket, now_ms: int) -> Standing:
        return self._quotes.standing((each.venue, each.symbol), now_ms, is_polled=self._is_wanted)

    def _of_chart(self, polled: Standing, now_ms: int) -> Standing:
        """With the chart's own last price: two numbers for one thing make two things of it. While its feed is live the
        price holds, however long nobody has traded."""
        last, status = self._record.last_price, self._record.status
        if last is None:
            return polled
        day = None if polled.quote is None else polled.quote.day
        is_live = status is not None and status.state is FeedState.LIVE
        is_old = not is_live and now_ms - last.at_ms > STALE_AFTER_MS
        return Standing(QuoteState.OLD if is_old else QuoteState.FRESH, Quote(last.price, last.at_ms, day))

    def _update_wanted(self) -> None:
        is_of_use = self._is_needed or (self._is_seen and not self.window().isMinimized())
        is_wanted = is_of_use and self._record.is_exchange and bool(self._markets)
        if is_wanted != self._is_wanted:
            self._is_wanted = is_wanted
            self.prices_wanted.emit(is_wanted)
            self.mark_stale()

    def _show_note(self) -> None:
        """The last action, then the state of a search, then a problem."""
        is_new = self._clock.now_ms() < self._message_until_ms
        message = self._message if is_new else ""
        search = self._search_message if is_new or self.adder.is_searching else ""
        set_text(self.note, message or search or self._trouble() or self._pause_reason())

    def _trouble(self) -> str:
        """The first exchange that does not answer, and when it is asked again."""
        for venue in dict.fromkeys(market.venue for market in self._markets):
            trouble = self._quotes.trouble(venue)
            if trouble is not None and self._is_wanted:
                left_s = round((trouble.next_try_ms - self._clock.now_ms()) / 1000)
                return f"{trouble.sentence} {_retry_text(left_s)}"
        return ""

    def _pause_reason(self) -> str:
        if not self._markets or self._record.is_exchange or self._record.market is None:
            return ""
        if self._record.market.is_simulated:
            return translate("Panels", "Prices are paused while the chart shows a simulated market.")
        return translate("Panels", "Prices are paused while the chart shows a replay.")

    def _show_message(self, message: str) -> None:
        self._message, self._message_until_ms = message, self._clock.now_ms() + _MESSAGE_SHOWN_MS
        self._show_note()

    def _show_search_message(self, message: str) -> None:
        self._message, self._search_message = "", message
        self._message_until_ms = self._clock.now_ms() + _MESSAGE_SHOWN_MS
        self._show_note()

    def _add(self, venue: str, symbol: str, interval: str) -> None:
        try:
            market = WatchedMarket(venue, symbol, interval)
            markets = added(self._markets, market)
        except ValidationError:
            self._show_message(translate("Panels", "Enter the symbol as BASE/QUOTE, for example BTC/USDT."))
            return
        except ValueError as error:
            self._show_message(str(error))
            return
        self.adder.search.clear()
        self.keep(markets)
        self._select(len(markets) - 1)
        self._show_message(translate("Panels", "Added {0} ({1}).").format(market.symbol, venue_name(venue)))

    def _remove(self) -> None:
        market = self.current()
        if market is None:
            return
        row = self._markets.index(market)
        self.keep(without(self._markets, market))
        self._select(min(row, len(self._markets) - 1))
        undo = self.actions_of_panel[ActionId.WATCH_UNDO].shortcut().toString()
        text = translate("Panels", "Removed {0} ({1}). {2} restores it.")
        self._show_message(text.format(market.symbol, venue_name(market.venue), undo))

    def _move(self, row: int, place: int) -> None:
        if 0 <= row < len(self._markets) and 0 <= place < len(self._markets):
            self.keep(moved(self._markets, self._markets[row], place))
            self._select(place)

    def _move_by(self, step: int) -> None:
        row = self.table.currentIndex().row()
        self._move(row, row + step)

    def _undo(self) -> None:
        if self._former:
            markets = self._former.pop()
            self._take(markets)
            self._show_message(translate("Panels", "The last change to the list was undone."))

    def keep(self, markets: Watchlist) -> None:
        """Another list; the former one can be had back."""
        if markets != self._markets:
            self._former.append(self._markets)
            self._take(markets)

    def _take(self, markets: Watchlist) -> None:
        self.show_markets(markets)
        self.markets_changed.emit(markets)

    def _select(self, row: int) -> None:
        if row >= 0:
            self.table.selectRow(row)

    def _open(self, row: int) -> None:
        """Show it on the chart, unless it is there, or is known not to exist."""
        if not 0 <= row < len(self._markets):
            return
        market = self._markets[row]
        standing = self._standing(market, self._clock.now_ms())
        if standing.state is QuoteState.NO_MARKET:
            consequence = translate("Panels", "The market cannot be opened.")
            self._show_message(f"{standing.sentence} {consequence}")
        elif market.market not in (self._record.market, self._record.opening_market):
            self.market_requested.emit(market)

    def _update_actions(self) -> None:
        actions, row, count = self.actions_of_panel, self.table.currentIndex().row(), len(self._markets)
        is_row = 0 <= row < count
        can = {
            ActionId.WATCH_OPEN: is_row and self._markets[row].market != self._record.market,
            ActionId.WATCH_UP: is_row and row > 0,
            ActionId.WATCH_DOWN: is_row and row < count - 1,
            ActionId.WATCH_REMOVE: is_row,
            ActionId.WATCH_UNDO: bool(self._former),
        }
        for action_id, is_possible in can.items():
            actions[action_id].setEnabled(is_possible)

    def _open_menu(self, position: QPoint) -> None:
        if not self.table.indexAt(position).isValid():
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions(self.actions_of_panel.actions())
        menu.popup(self.table.viewport().mapToGlobal(position))

    def _connect(self) -> None:
        for signal in (self._quotes.changed, self._record.changed):
            signal.connect(self.mark_stale)
        self._record.price_changed.connect(self._on_price)
        self._record.changed.connect(self._update_wanted)
        self.table.opened.connect(self._open)
        self.table.dropped.connect(self._move)
        self.table.customContextMenuRequested.connect(self._open_menu)
        self.table.selectionModel().currentRowChanged.connect(lambda _new, _old: self._update_actions())
        self.adder.chosen.connect(self._add)
        self.adder.hint_changed.connect(self._show_message)
        self.actions_of_panel.wire(
            {
                ActionId.WATCH_OPEN: lambda: self._open(self.table.currentIndex().row()),
                ActionId.WATCH_UP: lambda: self._move_by(-1),
                ActionId.WATCH_DOWN: lambda: self._move_by(1),
                ActionId.WATCH_REMOVE: self._remove,
                ActionId.WATCH_UNDO: self._undo,
            }
        )

    def _build_layout(self) -> None:
        self.note.setWordWrap(True)
        buttons = QToolBar(translate("Panels", "Actions on markets"))
        enlarge_icons(buttons, 15)
        self.actions_of_panel.fill_tool_bar(buttons)
        foot = QHBoxLayout()
        foot.setSpacing(6)
        foot.addWidget(self.note, 1)
        foot.addWidget(buttons, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 4, 6, 4)
        layout.setSpacing(4)
        layout.addWidget(self.adder)
        layout.addWidget(self.table, 1)
        layout.addLayout(foot)


def _retry_text(seconds: int) -> str:
    """When: now, in 7 s, in 4 min."""
    if seconds <= 0:
        return translate("Panels", "Retrying now.")
    if seconds < _MINUTE_S:
        wait = translate("Units", "{0} s").format(seconds)  # without tenths
    else:
        wait = format_duration(seconds // _MINUTE_S * _MINUTE_S)
    return translate("Panels", "Retrying in {0}.").format(wait)

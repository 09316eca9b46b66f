"""The Markets panel: what each market of the list and of the run is doing. A click shows one on the chart."""

from __future__ import annotations

from collections import deque

from pydantic import ValidationError
from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from core.domain.candle import Market
from core.domain.venue_names import venue_name
from core.domain.watchlist import WatchedMarket, Watchlist, added, moved, with_learning, without
from core.market.symbols import SymbolList
from desktop.actions import ActionId, ActionRegistry, panel_actions
from desktop.panels.markets.adder import MarketAdder
from desktop.panels.markets.model import SORTABLE, Column, MarketsModel, arranged
from desktop.panels.markets.row import Row, RowReader
from desktop.panels.markets.table import FilterLine, MarketsTable
from desktop.state.quotes import QuoteState
from desktop.state.run_state import RunState
from desktop.ui.formatting import format_age, format_count, format_duration
from desktop.ui.panel_base import EmptyState, Panel, mute, set_text
from desktop.ui.plain_text import Label
from desktop.ui.stacks import beside, stacked
from desktop.ui.theme import Theme
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_CHANGES_KEPT = 50
_MESSAGE_SHOWN_MS = 8_000
_MINUTE_S = 60
_ROWS_AT_ONCE = 5
"""At a close each row costs half a millisecond and a repaint, and the chart is redrawn in the same frame: fifty at once
would be seen as a halt."""
_EMPTY = QT_TRANSLATE_NOOP("Panels", "There are no markets yet.\nType a few letters of a symbol below and press Enter.")


class MarketsPanel(Panel):
    """`market_requested` carries a Market for the chart, `markets_changed` the list to be stored, `prices_wanted`
    whether prices are needed now."""

    market_requested = Signal(object)
    markets_changed = Signal(object)
    prices_wanted = Signal(bool)

    def __init__(self, state: RunState, theme: Theme, markets: Watchlist) -> None:
        super().__init__(theme)
        self._record, self._quotes, self._clock = state.feed_record, state.quotes, state.clock
        self._known = state.markets
        self._reader = RowReader(state)
        self._watched: dict[Market, WatchedMarket] = {}
        self._former: deque[Watchlist] = deque(maxlen=_CHANGES_KEPT)
        self._changed: dict[Market, None] = {}
        """Markets with outdated rows, the oldest change first, while `_is_all_stale` is false."""
        self._is_all_stale = True
        self._is_tick_put_off = False
        self._message = self._search_message = ""
        self._message_until_ms = 0
        self._is_seen = self._is_needed = False
        self.wants_prices = False
        """True only if the panel is seen or an alert needs prices, and the chart shows an exchange's market."""
        self._window: QWidget | None = None
        self.model = MarketsModel(self)
        self.table = MarketsTable(self.model, theme)
        self.filter = FilterLine(theme)
        self.adder = MarketAdder(theme)
        self.note = Label(wraps=True)
        mute(self.note)
        self.actions_of_panel = ActionRegistry(panel_actions("Markets"), self.table, theme)
        self._build_layout()
        self._empty = EmptyState(translate("Panels", _EMPTY), self.table.viewport())
        self._connect()
        self.show_markets(markets)

    def need_prices(self, *, is_needed: bool) -> None:
        """Whether an alert of a listed market needs its price, even if the panel is hidden."""
        self._is_needed = is_needed
        self._update_wanted()

    def show_markets(self, markets: Watchlist) -> None:
        if _entries(markets) == _entries(self._list):
            return
        self._watched = {each.market: each for each in markets}
        self._quotes.forget_others({(each.venue, each.symbol) for each in markets})
        self._known.set_list(self._watched)
        self.adder.offer_venues([each.venue for each in markets if not each.market.is_simulated])
        self.refresh()

    def show_symbols(self, listed: SymbolList) -> None:
        """The markets of an exchange, for the search."""
        self.adder.set_symbols(listed)
        age = format_age(listed.fetched_at_ms, self._clock.now_ms())
        text = translate("Panels", "{0} markets of {1}, updated {2}.")
        self._show_search_message(text.format(format_count(len(listed.symbols)), venue_name(listed.venue), age))

    def show_fetching(self, venue: str) -> None:
        """Show that the markets of an exchange are being requested."""
        self._show_search_message(translate("Panels", "Loading the markets of {0}…").format(venue_name(venue)))

    def show_no_symbols(self, venue: str, sentence: str) -> None:
        """Show that the exchange's markets are not available now."""
        advice = translate("Panels", "You can also type a full symbol, such as BTC/USDT.")
        self._show_search_message(f"{sentence} {advice}")

    def set_seen(self, is_seen: bool) -> None:
        """Whether the dock is open, and before those that share its place."""
        self._is_seen = is_seen
        self._update_wanted()

    def current(self) -> Market | None:
        """The row that keys and buttons act on."""
        number = self.table.currentIndex().row()
        return self.model.rows[number].market if 0 <= number < len(self.model.rows) else None

    def mark_stale(self) -> None:
        self._is_all_stale = True
        super().mark_stale()

    def refresh_if_seen(self) -> None:
        """Refresh only the rows that changed, a few per call; sorting happens with the next second."""
        if not self.is_stale or not self.is_on_screen or self._is_all_stale:
            super().refresh_if_seen()
            return
        self.is_stale = False
        for market in tuple(self._changed)[:_ROWS_AT_ONCE]:
            del self._changed[market]
            self.model.show_one(self._row(market))
        if self._changed:
            super().mark_stale()

    def refresh(self) -> None:
        self._is_all_stale = False
        self._changed.clear()
        self._update_wanted()
        self._show_rows()
        self._show_note()
        self._update_actions()

    def tick(self) -> None:
        """Update the age and order of all rows. When many markets close at once, this waits for the next second."""
        self._is_tick_put_off = len(self._changed) > _ROWS_AT_ONCE and not self._is_tick_put_off
        if not self._is_tick_put_off:
            self.refresh()

    def _show_rows(self) -> None:
        text = self.filter.box.text()
        header = self.table.horizontalHeader()
        section = header.sortIndicatorSection()
        column = Column(section) if section in SORTABLE else None  # None: the list's order
        is_descending = header.sortIndicatorOrder() is Qt.SortOrder.DescendingOrder
        rows = [self._row(known.market) for known in self._known.rows()]
        self.model.show(arranged(rows, text, column, is_descending=is_descending))
        self.table.can_be_moved = column is None and not text.strip()
        no_match = translate("Panels", "No market matches “{0}”.\nClear the filter, or add a market below.")
        no_match = no_match.format(text.strip())
        is_filtered = bool(rows) and not self.model.rows
        words = no_match if is_filtered else translate("Panels", _EMPTY)
        self._empty.update_state(is_empty=not self.model.rows, is_loading=False, text=words)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._window is not self.window():  # a floating dock is a separate window
            self._window = self.window()
            self._window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.WindowStateChange and watched is self._window:
            self._update_wanted()
        return False

    @property
    def _list(self) -> Watchlist:
        return tuple(self._watched.values())

    def _row(self, market: Market) -> Row:
        return self._reader.row(market, self._watched.get(market), is_polled=self.wants_prices)

    def _on_price(self) -> None:
        """Update the row at once, like the chart, so that no frame shows two last prices; one row costs a quarter of a
        millisecond."""
        if not self.is_on_screen:
            self.mark_stale()
        elif self._record.market is not None and self.model.place_of(self._record.market) >= 0:
            self.model.show_one(self._row(self._record.market))

    def _on_market(self, market: Market) -> None:
        self._changed[market] = None
        super().mark_stale()

    def _update_wanted(self) -> None:
        is_of_use = self._is_needed or (self._is_seen and not self.window().isMinimized())
        is_wanted = is_of_use and self._record.is_exchange and bool(self._watched)
        if is_wanted != self.wants_prices:
            self.wants_prices = is_wanted
            self.prices_wanted.emit(is_wanted)
            self.mark_stale()

    def _show_note(self) -> None:
        """Show the last action, else the state of a search, else a problem. An empty note is hidden."""
        is_new = self._clock.now_ms() < self._message_until_ms
        message = self._message if is_new else ""
        search = self._search_message if is_new or self.adder.search.text() else ""
        text = message or search or self._trouble() or self._pause_reason()
        set_text(self.note, text)
        self.note.setVisible(bool(text))

    def _trouble(self) -> str:
        """The first exchange that does not answer, and when it is asked again."""
        for venue in dict.fromkeys(market.venue for market in self._watched):
            trouble = self._quotes.trouble(venue)
            if trouble is not None and self.wants_prices:
                left_s = round((trouble.next_try_ms - self._clock.now_ms()) / 1000)
                shown = left_s if left_s < _MINUTE_S else left_s // _MINUTE_S * _MINUTE_S
                retry = translate("Panels", "Retrying now.")
                if left_s > 0:
                    retry = translate("Panels", "Retrying in {0}.").format(format_duration(shown, has_tenths=False))
                return f"{trouble.sentence} {retry}"
        return ""

    def _pause_reason(self) -> str:
        is_polled_elsewhere = any(not (each.is_simulated or self._known.row(each).is_in_run) for each in self._watched)
        if not is_polled_elsewhere or self._record.is_exchange or self._record.market is None:
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
            markets = added(self._list, market)
        except ValidationError:
            self._show_message(translate("Panels", "Enter the symbol as BASE/QUOTE, for example BTC/USDT."))
            return
        except ValueError as error:
            self._show_message(str(error))
            return
        self.adder.search.clear()
        self.filter.box.clear()
        self.change_list(markets)
        self._select(market.market)
        self._show_message(translate("Panels", "Added {0} ({1}).").format(market.symbol, venue_name(venue)))

    def _remove(self) -> None:
        number, market = self.table.currentIndex().row(), self.current()
        watched = None if market is None else self._watched.get(market)
        if watched is None:
            return
        self.change_list(without(self._list, watched))
        if self.model.rows:
            self._select(self.model.rows[min(number, len(self.model.rows) - 1)].market)
        undo = self.actions_of_panel[ActionId.WATCH_UNDO].shortcut().toString()
        text = translate("Panels", "Removed {0} ({1}). {2} restores it.")
        self._show_message(text.format(watched.symbol, venue_name(watched.venue), undo))

    def _move(self, row: int, place: int) -> None:
        """Move a row within the list: markets that only the run has stay above it."""
        markets, place_in_list = self._list, row - self._above
        if self.table.can_be_moved and 0 <= place_in_list < len(markets):
            market = markets[place_in_list]
            self.change_list(moved(markets, market, place - self._above))
            self._select(market.market)

    @property
    def _above(self) -> int:
        """The number of rows above the list's."""
        return len(self.model.rows) - len(self._watched)

    def _move_by(self, step: int) -> None:
        row = self.table.currentIndex().row()
        self._move(row, row + step)

    def _switch(self, row: int) -> None:
        """Switch learning from this market on or off."""
        if not 0 <= row < len(self.model.rows):
            return
        shown = self.model.rows[row]
        watched = self._watched.get(shown.market)
        if watched is None:
            text = translate("Panels", "{0}: {1} Only listed markets have a switch.")
            self._show_message(text.format(shown.symbol, shown.learning_words))
            return
        self.change_list(with_learning(self._list, watched, is_learned=not watched.is_learned))
        now = self.model.place_of(shown.market)
        if now >= 0:
            self._show_message(f"{shown.symbol}: {self.model.rows[now].learning_words}")

    def _undo(self) -> None:
        if self._former:
            markets = self._former.pop()
            self._apply(markets)
            self._show_message(translate("Panels", "The last change to the list was undone."))

    def change_list(self, markets: Watchlist) -> None:
        """Replace the list; the former one can be restored."""
        if _entries(markets) != _entries(self._list):
            self._former.append(self._list)
            self._apply(markets)

    def _apply(self, markets: Watchlist) -> None:
        self.show_markets(markets)
        self.markets_changed.emit(markets)

    def _select(self, market: Market | None) -> None:
        row = self.model.place_of(market)
        if row >= 0:
            self.table.selectRow(row)

    def _open(self, row: int) -> None:
        """Request the market on the chart, unless it is known not to exist."""
        if not 0 <= row < len(self.model.rows):
            return
        market = self.model.rows[row].market
        standing = self._reader.standing(market, is_polled=self.wants_prices)
        if standing.state is QuoteState.NO_MARKET:
            consequence = translate("Panels", "The market cannot be opened.")
            self._show_message(f"{standing.sentence} {consequence}")
        else:
            self.market_requested.emit(market)

    def _sort_by(self, section: int) -> None:
        """Sort by this column; choosing it again reverses the order."""
        header = self.table.horizontalHeader()
        order = header.sortIndicatorOrder()
        is_again = section == header.sortIndicatorSection() and order is Qt.SortOrder.AscendingOrder
        header.setSortIndicator(section, Qt.SortOrder.DescendingOrder if is_again else Qt.SortOrder.AscendingOrder)

    def _on_sorting(self, section: int) -> None:
        if section != -1 and section not in SORTABLE:
            self.table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
            return
        self.filter.show_sorting(section)
        self.refresh()

    def _focus_table(self) -> None:
        self.table.setFocus()
        if self.current() is None and self.model.rows:
            self._select(self.model.rows[0].market)

    def _update_actions(self) -> None:
        actions, row, current = self.actions_of_panel, self.table.currentIndex().row(), self.current()
        is_listed = current in self._watched
        can_be_moved = is_listed and self.table.can_be_moved
        can = {
            ActionId.WATCH_OPEN: current is not None and current != self._record.market,
            ActionId.WATCH_LEARN: current is not None,
            ActionId.WATCH_UP: can_be_moved and row > self._above,
            ActionId.WATCH_DOWN: can_be_moved and row < len(self.model.rows) - 1,
            ActionId.WATCH_REMOVE: is_listed,
            ActionId.WATCH_UNDO: bool(self._former),
        }
        for action_id, is_possible in can.items():
            actions[action_id].setEnabled(is_possible)

    def _connect(self) -> None:
        self.follow(self._quotes.changed, self._record.changed, self._known.listed)
        self._known.changed.connect(self._on_market)
        self._record.price_changed.connect(self._on_price)
        self._record.changed.connect(self._update_wanted)
        self.table.opened.connect(self._open)
        self.table.switched.connect(self._switch)
        self.table.dropped.connect(self._move)
        self.actions_of_panel.offer_menu(self.table)
        self.table.selectionModel().currentRowChanged.connect(lambda _new, _old: self._update_actions())
        self.table.horizontalHeader().sortIndicatorChanged.connect(lambda section, _order: self._on_sorting(section))
        self.filter.sort_chosen.connect(self._sort_by)
        self.filter.box.textChanged.connect(lambda _text: self.refresh())
        self.filter.box.left.connect(self._focus_table)
        self.adder.chosen.connect(self._add)
        self.adder.hint_changed.connect(self._show_message)
        self.actions_of_panel.wire(
            {
                ActionId.WATCH_OPEN: lambda: self._open(self.table.currentIndex().row()),
                ActionId.WATCH_LEARN: lambda: self._switch(self.table.currentIndex().row()),
                ActionId.WATCH_UP: lambda: self._move_by(-1),
                ActionId.WATCH_DOWN: lambda: self._move_by(1),
                ActionId.WATCH_REMOVE: self._remove,
                ActionId.WATCH_UNDO: self._undo,
            }
        )

    def _build_layout(self) -> None:
        buttons = self.actions_of_panel.tool_bar(translate("Panels", "Actions on markets"), has_texts=False)
        head = beside(None, self.filter, buttons, stretched=self.filter, spacing=6)
        parts = (head, self.table, self.note, self.adder)  # the input stays in place
        stacked(self, *parts, stretched=self.table, margins=(6, 4, 6, 4), spacing=4)


def _entries(markets: Watchlist) -> list[tuple[WatchedMarket, bool]]:
    """Everything that makes two lists differ. Entries of a market compare equal whether or not it is learned from."""
    return [(each, each.is_learned) for each in markets]

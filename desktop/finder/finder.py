"""Opens the finder's box over a window: it searches actions, settings, checkpoints, indicators and markets."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import fields
from functools import partial
from itertools import chain

from pydantic import ValidationError
from PySide6.QtCore import QObject, Signal

from core.checkpoints.best import proven_gain
from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Market
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.watchlist import WatchedMarket
from core.indicators.registry import INDICATORS
from core.market.shown_names import symbols_apart
from core.settings.group import SECRET
from core.settings.tree import Settings
from desktop.actions import ActionId, ActionRegistry, translated
from desktop.dialogs.forms import field_infos
from desktop.dialogs.messages import open_dialog
from desktop.dialogs.preferences import OWN_DIALOG_GROUPS
from desktop.dialogs.setting_texts import description, title
from desktop.dialogs.usual_markets import USUAL_SYMBOLS
from desktop.finder.dialog import MARKET, FinderDialog
from desktop.finder.search import Entry, EntryKind
from desktop.services.market_check import EXCHANGE_FEEDS
from desktop.services.market_choice import MarketChoice
from desktop.state.checkpoint_source import CheckpointSource, adds_text
from desktop.state.shell import Shell
from desktop.ui import formatting
from desktop.ui.theme import Theme
from desktop.ui.translation import translate
from desktop.ui.words import with_venue

Symbols = Callable[[str], Iterable[str]]
"""The known symbols of an exchange, without a request."""


_NEWEST_CHECKPOINTS = 1_000
"""Older checkpoints are found in the browser, which is made for many."""
INTERVALS = {
    ActionId.INTERVAL_1M: "1 1m",
    ActionId.INTERVAL_5M: "5 5m",
    ActionId.INTERVAL_15M: "15 15m",
    ActionId.INTERVAL_1H: "60 60m 1h",
    ActionId.INTERVAL_4H: "240 240m 4h",
    ActionId.INTERVAL_1D: "1440 24h 1d",
    ActionId.INTERVAL_MARKET: "0",
}
"""Additional search words of the intervals."""


class Finder(QObject):
    """The entries are gathered each time the box is opened."""

    checkpoint_chosen = Signal(str)
    """A checkpoint's id."""
    setting_chosen = Signal(str, str)
    """The setting's group and name."""
    indicator_chosen = Signal(str)
    """The kind of an indicator that is to be added."""

    def __init__(
        self,
        shell: Shell,
        theme: Theme,
        source: CheckpointSource,
        market_choice: MarketChoice,
        symbols: Symbols,
        stored: Callable[[], Iterable[Market]] = tuple,
        ask: Callable[[str], object] = lambda _venue: None,
    ) -> None:
        """stored: the markets of which candles are stored. Raises StorageError. ask: requests an exchange's symbols,
        which arrive by `update_symbols`."""
        super().__init__(shell.window)
        self._shell, self._theme, self._symbols, self._stored, self._ask = shell, theme, symbols, stored, ask
        self._source, self._market_choice = source, market_choice
        shell.actions.wire({ActionId.FIND: self.open})

    def open(self) -> FinderDialog:
        dialog = FinderDialog(self._entries(), self._theme, self._shell.window)
        return open_dialog(dialog)

    def open_markets(self, typed: str = "") -> FinderDialog:
        """Show the box with markets and intervals alone, and the text typed so far."""
        if boxes := self._market_boxes():
            boxes[0].line.insert(typed)
            return boxes[0]
        dialog = FinderDialog(self._of_chart(typed), self._theme, self._shell.window, MARKET)
        dialog.open_for_typing(typed)
        market = self._shell.settings.current.market
        if market.feed in EXCHANGE_FEEDS:  # it is being asked for candles anyway
            self._ask(market.venue)
        return dialog

    def update_symbols(self) -> None:
        """Offer an exchange's symbols, which have arrived."""
        for dialog in self._market_boxes():
            dialog.offer(self._of_chart(dialog.line.text()))

    def _market_boxes(self) -> list[FinderDialog]:
        boxes = self._shell.window.findChildren(FinderDialog)
        return [box for box in boxes if box.question is MARKET and box.isVisible()]

    def _entries(self) -> Iterator[Entry]:
        yield from action_entries(self._shell.actions, but=frozenset({ActionId.FIND}))
        yield from self._markets(self._of_this_exchange())
        yield from checkpoint_entries(self._source.checkpoints()[:_NEWEST_CHECKPOINTS], self.checkpoint_chosen.emit)
        yield from setting_entries(self._shell.settings.current, self.setting_chosen.emit)
        yield from indicator_entries(self.indicator_chosen.emit)

    def _of_chart(self, typed: str) -> Iterator[Entry]:
        """Entries in the order of choice among equal matches: after a digit, intervals first; otherwise markets first,
        led by those in the chart's quote currency."""
        intervals = interval_entries(self._shell.actions)
        _, _, quote = self._shell.settings.current.market.symbol.partition("/")
        known = sorted(self._of_this_exchange(), key=lambda market: not market.symbol.endswith(f"/{quote}"))
        markets = self._markets(known)
        yield from chain(intervals, markets) if typed[:1].isdigit() else chain(markets, intervals)

    def _markets(self, more: Iterable[WatchedMarket]) -> Iterator[Entry]:
        """The markets of the watchlist, of the exchange, and with stored candles."""
        more = tuple(more)
        watched = self._shell.settings.current.watchlist.markets
        yield from market_entries(watched, more, self._market_choice.watch)
        listed = frozenset(each.market for each in (*watched, *more))
        stored: Iterable[Market] = ()
        with self._shell.banner.storage_errors_shown():
            stored = self._stored()
        yield from stored_entries(stored, listed, self._market_choice.open_stored)

    def _of_this_exchange(self) -> Iterator[WatchedMarket]:
        market = self._shell.settings.current.market
        if market.venue in (FILE_VENUE, SIMULATED_VENUE):
            return  # a file has no markets but its own, which are stored
        for symbol in self._symbols(market.venue) or USUAL_SYMBOLS:
            with contextlib.suppress(ValidationError):  # a symbol that is invalid in a list
                yield WatchedMarket(market.venue, symbol, market.interval)


def action_entries(registry: ActionRegistry, but: Container[ActionId] = ()) -> Iterator[Entry]:
    """Actions with their names in the menus, and the menu's name among the details."""
    for action_id in registry.ids():
        if action_id in but:
            continue
        info, action = translated(action_id.info), registry[action_id]
        place = " › ".join(part.replace("&", "") for part in info.menu)
        text = action.text().replace("&", "")
        keys = action.shortcut().toString(action.shortcut().SequenceFormat.NativeText)
        is_on = action.isCheckable() and action.isChecked()
        shown = translate("Finder", "{0}, on. {1}") if is_on else "{0}. {1}"
        details = shown.format(place, info.tooltip)
        yield Entry(EntryKind.ACTION, text, action.trigger, details, keys, action.isEnabled())


def market_entries(
    markets: Iterable[WatchedMarket], more: Iterable[WatchedMarket], watch: Callable[[WatchedMarket], object]
) -> Iterator[Entry]:
    """Markets of the list, then `more` that are not in it; `watch` gets the chosen one."""
    listed = tuple(markets)
    for market in (*listed, *(each for each in more if each not in listed)):
        details = with_venue(str(market.interval), market.venue)
        if market in listed:
            details = " · ".join((details, translate("Finder", "listed in Markets")))
        yield Entry(EntryKind.MARKET, market.symbol, partial(watch, market), details, more=_joined(market.symbol))


def stored_entries(
    markets: Iterable[Market], listed: Container[Market], open_stored: Callable[[Market], object]
) -> Iterator[Entry]:
    """Markets with stored candles, except the `listed` ones; `open_stored` gets the chosen one."""
    for market, symbol in symbols_apart(markets).items():
        if market not in listed:
            details = translate("Finder", "{0}, stored").format(with_venue(str(market.interval), market.venue))
            more = f"{market.symbol} {_joined(market.symbol)}"
            yield Entry(EntryKind.MARKET, symbol, partial(open_stored, market), details, more=more)


def _joined(symbol: str) -> str:
    """The symbol without its slash, as some type it: ethusdt."""
    return symbol.replace("/", "")


def interval_entries(registry: ActionRegistry) -> Iterator[Entry]:
    """The chart's intervals: found by their minutes, by a short name such as 4h, and by their words."""
    for action_id, more in INTERVALS.items():
        action = registry[action_id]
        text = action.text().replace("&", "")
        details = translated(action_id.info).tooltip
        reason = translate("Finder", "{0}: the candles on the chart cannot be merged to this interval.").format(text)
        yield Entry(EntryKind.INTERVAL, text, action.trigger, details, "", action.isEnabled(), more, reason)


def indicator_entries(add: Callable[[str], object]) -> Iterator[Entry]:
    """An entry for each kind of indicator, which `add` gets."""
    for kind, info in INDICATORS.items():
        details = translate("Finder", "{0}. {1}").format(info.short, info.description)
        yield Entry(EntryKind.INDICATOR, info.title, partial(add, kind), details, more=info.short)


def setting_entries(settings: Settings, open_setting: Callable[[str, str], object]) -> Iterator[Entry]:
    """An entry for each field of the Preferences; `open_setting` gets its group and its name."""
    for group in fields(settings):
        if group.name in OWN_DIALOG_GROUPS:
            continue
        branch = getattr(settings, group.name)
        for name, info in field_infos(type(branch)).items():
            value = getattr(branch, name)
            shown = translate("Finder", "not set") if value is None else str(value)
            if isinstance(value, bool):
                shown = translate("Finder", "on") if value else translate("Finder", "off")
            elif value and info.json_schema_extra == SECRET:
                shown = translate("Finder", "set")
            now = translate("Finder", "{0}, now {1}.").format(title(group.name), shown)
            details = f"{now} {description(info)}"
            yield Entry(EntryKind.SETTING, title(name), partial(open_setting, group.name, name), details)


def checkpoint_entries(infos: Iterable[CheckpointInfo], show: Callable[[str], object]) -> Iterator[Entry]:
    """An entry for each checkpoint, in this order; `show` gets the id."""
    for info in infos:
        marks = (
            (info.is_best, translate("Finder", "best")),
            (info.is_pinned, translate("Finder", "pinned")),
            (info.is_in_use, translate("Finder", "in use")),
        )
        named = ", ".join(name for is_so, name in marks if is_so)
        candle = formatting.format_time(info.candle_open_time_ms)
        adds = "" if proven_gain(info) is None else translate("Finder", "adds {0}").format(adds_text(info))
        parts = (info.name, named, adds, candle, ", ".join(info.tags), info.note)
        details = " · ".join(part for part in parts if part)
        text = translate("Finder", "Step {0}").format(formatting.format_count(info.step))
        yield Entry(EntryKind.CHECKPOINT, text, partial(show, info.checkpoint_id), details, more=str(info.step))

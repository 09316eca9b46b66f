"""Alerts of the markets that are not on the chart, from the prices of the listed markets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from PySide6.QtCore import QObject

from core.alerts.price import judge_price
from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Market
from core.domain.events import Severity
from core.domain.price_lines import PriceLine
from core.domain.watchlist import WatchedMarket, added
from core.market.feeds.ticker_poller import MarketKey, Quoted
from core.market.shown_names import shown_symbol
from core.settings.tree import Settings
from desktop.notifications.messages import AlertMessages, DesktopMessages
from desktop.panels.markets.panel import MarketsPanel
from desktop.state.database import WindowDatabase
from desktop.state.run_state import RunState
from desktop.state.shell import Shell
from desktop.ui import formatting
from desktop.ui.banner import Notice
from desktop.ui.translation import translate

_UNWATCHED = "alerts elsewhere"


class AlertsElsewhere(QObject):
    """Knows the armed lines of all markets but the one on the chart, which is followed by its candles. While the
    list has a market with such lines, prices are requested even if it is hidden."""

    def __init__(
        self,
        shell: Shell,
        state: RunState,
        database: WindowDatabase,
        messages: DesktopMessages,
        markets: MarketsPanel,
        watch: Callable[[WatchedMarket], object],
    ) -> None:
        """watch: puts a market on the chart."""
        super().__init__(shell.window)
        self._shell, self._database, self._clock = shell, database, state.clock
        self._messages, self._markets, self._watch = messages, markets, watch
        self._shown: Market | None = None
        self._shown_since_ms = 0
        self._armed: dict[MarketKey, tuple[PriceLine, ...]] = {}
        self._listed: dict[MarketKey, Market] = {}
        state.quotes.quoted.connect(self._on_quoted)
        shell.settings.changed.connect(self._on_settings)

    def show_market(self, market: Market) -> None:
        """Another market is on the chart, and its candles are followed. Warns if alerts of the former one are no longer
        watched."""
        former, self._shown, self._shown_since_ms = self._shown, market, self._clock.now_ms()
        self._shell.banner.withdraw(_UNWATCHED)
        self._read()
        self._on_settings(self._shell.settings.current)
        if former is not None and _key(former) in self._armed:
            self._warn_if_unwatched(former, market)

    def _read(self) -> None:
        self._armed = {}
        with self._shell.banner.storage_errors_shown():
            self._armed = self._database.lines.armed()
        if self._shown is not None:
            self._armed.pop(_key(self._shown), None)

    def _on_settings(self, settings: Settings) -> None:
        listed = {(each.venue, each.symbol): each.market for each in settings.watchlist.markets}
        removed = [market for key, market in self._listed.items() if key not in listed and key in self._armed]
        self._listed = listed
        self._markets.need_prices(is_needed=not self._armed.keys().isdisjoint(listed))
        if removed and self._shown is not None:
            self._warn_if_unwatched(removed[0], self._shown)

    def _on_quoted(self, quoted: Quoted) -> None:
        if not any(self._judged(quoted)):
            return
        self._read()  # their texts may have changed since
        crossed: dict[MarketKey, list[PriceLine]] = {}
        for key, line in list(self._judged(quoted)):
            self._store(key, line)
            if line.crossed_at_ms is not None:
                crossed.setdefault(key, []).append(line)
        for (venue, symbol), lines in crossed.items():
            quote = quoted.quotes[symbol]
            decimals = formatting.decimals_of_prices((quote.last, *(line.price for line in lines)))
            show = partial(self._open, (venue, symbol))
            messages = AlertMessages(self._shell, self._messages, translate("Chart", "Show market"), show)
            messages.show(symbol, venue, lines, decimals)
        self._on_settings(self._shell.settings.current)

    def _judged(self, quoted: Quoted) -> Iterator[tuple[MarketKey, PriceLine]]:
        """The lines that these prices change, with the change. Quotes of the time when the market was on the chart are
        skipped: its candles were followed."""
        for symbol, quote in quoted.quotes.items():
            key = (quoted.venue, symbol)
            for line in self._armed.get(key, ()) if quote.at_ms >= self._shown_since_ms else ():
                after = judge_price(line, quote.last, quote.at_ms)
                if after is not line:
                    yield key, after

    def _store(self, key: MarketKey, line: PriceLine) -> None:
        """Apply the line's change even if it cannot be stored: it has happened."""
        kept = (line if each.number == line.number else each for each in self._armed[key])
        self._armed[key] = tuple(each for each in kept if each.is_watched)
        if not self._armed[key]:
            del self._armed[key]
        with self._shell.banner.storage_errors_shown():
            self._database.lines.put(*key, line)

    def _open(self, key: MarketKey, _at_ms: int | None) -> None:
        """Put it on the chart, at its interval in the list."""
        listed = self._shell.settings.current.watchlist.markets
        market = next((each for each in listed if (each.venue, each.symbol) == key), WatchedMarket(*key))
        self._watch(market)

    def _warn_if_unwatched(self, former: Market, shown: Market) -> None:
        is_listed = any(_key(each.market) == _key(former) for each in self._shell.settings.current.watchlist.markets)
        is_exchange = shown.venue not in (FILE_VENUE, SIMULATED_VENUE)
        if is_listed and is_exchange:
            return
        count = len(self._armed[_key(former)])
        if count == 1:
            words = translate("Chart", "1 alert on {0} is not watched while {1} is shown.")
        else:
            words = translate("Chart", "{2} alerts on {0} are not watched while {1} is shown.")
        text = words.format(*(shown_symbol(each.venue, each.symbol) for each in (former, shown)), count)
        can_be_listed = is_exchange and former.venue not in (FILE_VENUE, SIMULATED_VENUE)
        self._shell.banner.show_notice(
            Notice(
                _UNWATCHED,
                Severity.WARNING,
                text,
                action=translate("Chart", "Add to Markets") if can_be_listed else "",
                on_action=(lambda: self._add_to_list(former)) if can_be_listed else None,
                is_answer=True,
                passes=True,
            )
        )

    def _add_to_list(self, market: Market) -> None:
        """Add the market to the list, so that its prices are requested."""
        wanted = WatchedMarket(market.venue, market.symbol, str(market.interval))
        try:
            markets = added(self._shell.settings.current.watchlist.markets, wanted)
        except ValueError as error:  # the list is full
            self._shell.banner.notify(str(error), Severity.WARNING, key=_UNWATCHED, is_answer=True)
        else:
            self._markets.change_list(markets)


def _key(market: Market) -> MarketKey:
    return market.venue, market.symbol

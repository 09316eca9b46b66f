"""The newest prices of the listed markets, and how old they are: one owner; the panel only reads it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QObject, Signal

from core.market.feeds.ticker_poller import MarketKey, PollEvent, PollTrouble, Quoted
from core.market.feeds.tickers import Quote
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

STALE_AFTER_MS = 30_000
"""Six rounds of polling: an older price is shown with its age."""


class QuoteState(StrEnum):
    """The reliability of a row's price, in a word."""

    FRESH = QT_TRANSLATE_NOOP("Watch", "live")
    OLD = QT_TRANSLATE_NOOP("Watch", "outdated")
    NO_ANSWER = QT_TRANSLATE_NOOP("Watch", "offline")
    WAITING = QT_TRANSLATE_NOOP("Watch", "waiting")
    NOT_ASKED = QT_TRANSLATE_NOOP("Watch", "paused")
    NOT_RUNNING = QT_TRANSLATE_NOOP("Watch", "not running")
    """Simulated, and not in the run: it has no source of candles."""
    NO_MARKET = QT_TRANSLATE_NOOP("Watch", "no such market")

    @property
    def shown(self) -> str:
        """The word in the user's language."""
        return translate("Watch", self.value)


@dataclass(frozen=True, slots=True)
class Standing:
    """A row's state, its price if there is one, and the message about a fault."""

    state: QuoteState
    quote: Quote | None
    sentence: str = ""


class QuoteBook(QObject):
    """Stores the poller's quotes of the watched markets only. Lives in the window's thread."""

    changed = Signal()
    quoted = Signal(object)
    """Quoted: new prices."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._quotes: dict[MarketKey, Quote] = {}
        self._unknown: dict[MarketKey, str] = {}
        self._troubles: dict[str, PollTrouble] = {}

    def apply(self, event: PollEvent) -> None:
        match event:
            case Quoted():
                self._troubles.pop(event.venue, None)
                for symbol, quote in event.quotes.items():
                    key = (event.venue, symbol)
                    self._quotes[key] = quote
                    self._unknown.pop(key, None)
                for symbol, sentence in event.unknown.items():
                    self._unknown[event.venue, symbol] = sentence
                self.quoted.emit(event)
            case PollTrouble():
                self._troubles[event.venue] = event
        self.changed.emit()

    def forget_others(self, keys: set[MarketKey]) -> None:
        """keys: the markets that are still watched."""
        self._quotes = {key: quote for key, quote in self._quotes.items() if key in keys}
        self._unknown = {key: sentence for key, sentence in self._unknown.items() if key in keys}
        venues = {venue for venue, _ in keys}
        self._troubles = {venue: trouble for venue, trouble in self._troubles.items() if venue in venues}

    def trouble(self, venue: str) -> PollTrouble | None:
        """The reason why this exchange returns no prices; None if it does."""
        return self._troubles.get(venue)

    def standing(self, key: MarketKey, now_ms: int, *, is_polled: bool) -> Standing:
        """The current standing of a market. is_polled: prices are being requested."""
        quote, trouble = self._quotes.get(key), self._troubles.get(key[0])
        if key in self._unknown:
            return Standing(QuoteState.NO_MARKET, None, self._unknown[key])
        if is_polled and trouble is not None:
            return Standing(QuoteState.NO_ANSWER, quote, trouble.sentence)
        if quote is None:
            return Standing(QuoteState.WAITING if is_polled else QuoteState.NOT_ASKED, None)
        is_old = now_ms - quote.at_ms > STALE_AFTER_MS
        return Standing(QuoteState.OLD if is_old else QuoteState.FRESH, quote)

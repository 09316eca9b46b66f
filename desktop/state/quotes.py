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
    """How much a row's price can be believed, in a word."""

    FRESH = QT_TRANSLATE_NOOP("Watch", "live")
    OLD = QT_TRANSLATE_NOOP("Watch", "outdated")
    NO_ANSWER = QT_TRANSLATE_NOOP("Watch", "offline")
    WAITING = QT_TRANSLATE_NOOP("Watch", "waiting")
    NOT_ASKED = QT_TRANSLATE_NOOP("Watch", "paused")
    NOT_RUNNING = QT_TRANSLATE_NOOP("Watch", "not running")
    """Simulated, and not in the run: nobody makes its candles, and no exchange can be asked for them."""
    NO_MARKET = QT_TRANSLATE_NOOP("Watch", "no such market")

    @property
    def shown(self) -> str:
        """In the user's language."""
        return translate("Watch", self.value)


@dataclass(frozen=True, slots=True)
class Standing:
    """A row's state, its price where there is one, and the sentence where something is wrong."""

    state: QuoteState
    quote: Quote | None
    sentence: str = ""


class QuoteBook(QObject):
    """Takes what the poller tells. Lives in the window's thread; holds what is watched and nothing else."""

    changed = Signal()
    quoted = Signal(object)
    """Quoted: new prices, as they come."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._quotes: dict[MarketKey, Quote] = {}
        self._unknown: dict[MarketKey, str] = {}
        self._troubles: dict[str, PollTrouble] = {}

    def take(self, event: PollEvent) -> None:
        """Prices, or why there are none."""
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

    def keep_only(self, keys: set[MarketKey]) -> None:
        """Forget what is not watched any more."""
        self._quotes = {key: quote for key, quote in self._quotes.items() if key in keys}
        self._unknown = {key: sentence for key, sentence in self._unknown.items() if key in keys}
        venues = {venue for venue, _ in keys}
        self._troubles = {venue: trouble for venue, trouble in self._troubles.items() if venue in venues}

    def trouble(self, venue: str) -> PollTrouble | None:
        """Why this exchange gives no prices; None where it does."""
        return self._troubles.get(venue)

    def standing(self, key: MarketKey, now_ms: int, *, is_polled: bool) -> Standing:
        """What to show of one market now."""
        quote, trouble = self._quotes.get(key), self._troubles.get(key[0])
        if key in self._unknown:
            return Standing(QuoteState.NO_MARKET, None, self._unknown[key])
        if is_polled and trouble is not None:
            return Standing(QuoteState.NO_ANSWER, quote, trouble.sentence)
        if quote is None:
            return Standing(QuoteState.WAITING if is_polled else QuoteState.NOT_ASKED, None)
        is_old = now_ms - quote.at_ms > STALE_AFTER_MS
        return Standing(QuoteState.OLD if is_old else QuoteState.FRESH, quote)

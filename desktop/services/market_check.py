"""Asks an exchange, on a thread, whether it has a market, before the one on the chart is given up for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal, Slot

from core.domain.candle import Interval, Market
from core.domain.clock import Clock
from core.domain.venue_names import venue_name
from core.market.feeds.market_check import Objection, check_market
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.urls import ExchangeUrls
from core.market.symbols import SymbolCache
from core.settings.tree import MarketSettings
from desktop.services.loop_thread import LoopThread
from desktop.ui.translation import translate

EXCHANGE_FEEDS = ("auto", "live")
"""Feeds whose market is an exchange's."""


class MarketQuestion(QObject):
    """One question. `answered` is emitted once, also if it is cancelled, and never within the call that asked."""

    asking = Signal(str)
    """A sentence: the exchange is being asked."""
    answered = Signal(object)
    """Objection, or None: the market may be opened."""
    began = Signal()
    """The exchange is being asked now; emitted from any thread."""
    found = Signal(object)
    """Objection, or None; emitted from any thread."""

    def __init__(self, market: MarketSettings, parent: QObject) -> None:
        super().__init__(parent)
        words = translate("Watch", "Checking {0} for {1}…")
        self.words = words.format(venue_name(market.venue), market.symbol)
        self.work: Future[None] | None = None
        """Asks the exchange; None where it need not be asked."""
        self._is_answered = False
        self.began.connect(self._on_asking, Qt.ConnectionType.QueuedConnection)
        self.found.connect(self._on_found, Qt.ConnectionType.QueuedConnection)

    def cancel(self) -> None:
        """Give up the question: it is answered as cancelled."""
        if self.work is not None:
            self.work.cancel()
        self._answer(_cancelled())

    async def answer(self) -> Objection | None:
        """Wait for it."""
        came: asyncio.Future[Objection | None] = asyncio.get_running_loop().create_future()
        self.answered.connect(lambda objection: None if came.done() else came.set_result(objection))
        return await came

    @Slot()
    def _on_asking(self) -> None:
        if not self._is_answered:
            self.asking.emit(self.words)

    @Slot(object)
    def _on_found(self, objection: Objection | None) -> None:
        self._answer(objection)
        self.deleteLater()

    def _answer(self, objection: Objection | None) -> None:
        if not self._is_answered:
            self._is_answered = True
            self.answered.emit(objection)


class MarketCheck(QObject):
    """Makes the questions."""

    def __init__(
        self,
        cache: SymbolCache,
        clock: Clock,
        urls: ExchangeUrls | None,
        thread: LoopThread,
        holds: RateLimitHolds,
        is_stored: Callable[[Market], bool],
        parent: QObject | None = None,
    ) -> None:
        """thread: asks the exchanges. is_stored: whether candles of a market are stored. It can be shown then, whatever
        the exchange says now."""
        super().__init__(parent)
        self._cache, self._clock, self._urls, self._thread, self._holds = cache, clock, urls, thread, holds
        self._is_stored = is_stored
        self.is_watching: Callable[[], bool] = lambda: False
        """Whether a market is running that would end. If none is, an exchange that cannot be reached is waited for."""

    def ask(self, market: MarketSettings) -> MarketQuestion:
        """May this market be opened? Keep the question until it is answered."""
        question = MarketQuestion(market, self)
        try:
            asked = Market(market.venue, market.symbol, Interval.parse(market.interval))
        except ValueError as error:
            question.found.emit(Objection(str(error), is_certain=True))
            return question
        if market.feed not in EXCHANGE_FEEDS or self._is_stored(asked):
            question.found.emit(None)
            return question
        question.work = self._thread.submit(partial(self._work, asked, question, must_be_known=self.is_watching()))
        if question.work is None:
            question.found.emit(_cancelled())
        return question

    async def _work(self, market: Market, question: MarketQuestion, *, must_be_known: bool) -> None:
        """Ask. Runs on the thread."""
        found: Objection | None = _cancelled()
        try:
            hold = self._holds.of(market.venue)
            found = await check_market(market, self._cache, self._urls, self._clock, hold, question.began.emit)
            if found is not None and not found.is_certain and not must_be_known:
                found = None  # it is waited for
        except Exception as error:
            words = translate("Watch", "The check failed ({0}: {1}).").format(type(error).__name__, error)
            found = Objection(words, is_certain=False)
            raise
        finally:
            question.found.emit(found)


def _cancelled() -> Objection:
    return Objection(translate("Watch", "Cancelled."), is_certain=False)

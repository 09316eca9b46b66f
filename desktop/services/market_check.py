"""Asks an exchange, on a thread, whether it has a market before that market replaces the one on the chart."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal

from core.domain.candle import Interval, Market
from core.domain.clock import Clock
from core.domain.venue_names import venue_name
from core.market.feeds.market_check import Objection, check_market
from core.market.feeds.rate_limits import RateLimitHolds
from core.market.feeds.venue import ExchangeUrls
from core.market.symbols import SymbolCache
from core.settings.tree import MarketSettings
from desktop.services.loop_thread import LoopThread
from desktop.ui.translation import translate

EXCHANGE_FEEDS = ("auto", "live")
"""Feeds from an exchange."""


class MarketQuestion(QObject):
    """One question. `answered` is emitted once, also if it is cancelled, and never within the call that asked."""

    asking = Signal(str)
    """A sentence: the exchange is being asked."""
    answered = Signal(object)
    """Objection, or None: the market may be opened."""

    def __init__(self, market: MarketSettings, parent: QObject) -> None:
        super().__init__(parent)
        words = translate("Watch", "Checking {0} for {1}…")
        self.words = words.format(venue_name(market.venue), market.symbol)
        self.work: Future[None] | None = None
        """Asks the exchange; None if it need not be asked."""
        self._is_answered = False

    def cancel(self) -> None:
        """Cancel the question: it is answered as cancelled."""
        if self.work is not None:
            self.work.cancel()
        self.end(_cancelled())

    async def answer(self) -> Objection | None:
        """Wait for the answer."""
        came: asyncio.Future[Objection | None] = asyncio.get_running_loop().create_future()
        self.answered.connect(lambda objection: None if came.done() else came.set_result(objection))
        return await came

    def begin(self) -> None:
        """Report that the exchange is being asked now."""
        if not self._is_answered:
            self.asking.emit(self.words)

    def end(self, objection: Objection | None) -> None:
        """Answer, and delete it. Does nothing if it was answered before."""
        if not self._is_answered:
            self._is_answered = True
            self.answered.emit(objection)
            self.deleteLater()


class MarketCheck(QObject):
    """Creates a `MarketQuestion` for each market and has it answered on the thread."""

    # Not the question's own: one that was cancelled may be deleted while the thread still works on it.
    _began = Signal(object)
    _found = Signal(object, object)

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
        """thread: asks the exchanges. is_stored: whether candles of a market are stored. Then it can be shown whatever
        the exchange answers."""
        super().__init__(parent)
        self._cache, self._clock, self._urls, self._thread, self._holds = cache, clock, urls, thread, holds
        self._is_stored = is_stored
        self.is_watching: Callable[[], bool] = lambda: False
        """Whether a running market would end. If none would, an unreachable exchange is awaited. With "auto" none is
        refused for want of an answer: the sample is shown instead."""
        self._began.connect(MarketQuestion.begin, Qt.ConnectionType.QueuedConnection)
        self._found.connect(MarketQuestion.end, Qt.ConnectionType.QueuedConnection)

    def ask(self, market: MarketSettings) -> MarketQuestion:
        """Ask whether this market may be opened. Hold the question until it is answered."""
        question = MarketQuestion(market, self)
        try:
            asked = Market(market.venue, market.symbol, Interval.parse(market.interval))
        except ValueError as error:
            self._found.emit(question, Objection(str(error), is_certain=True))
            return question
        if market.feed not in EXCHANGE_FEEDS or self._is_stored(asked):
            self._found.emit(question, None)
            return question
        must_be_known = market.feed == "live" and self.is_watching()
        question.work = self._thread.submit(partial(self._work, asked, question, must_be_known=must_be_known))
        if question.work is None:
            self._found.emit(question, _cancelled())
        return question

    async def _work(self, market: Market, question: MarketQuestion, *, must_be_known: bool) -> None:
        """Runs on the thread."""
        found: Objection | None = _cancelled()
        try:
            hold = self._holds.of(market.venue)
            found = await check_market(
                market, self._cache, self._urls, self._clock, hold, partial(self._began.emit, question)
            )
            if found is not None and not found.is_certain and not must_be_known:
                found = None  # it is waited for
        except Exception as error:
            words = translate("Watch", "The check failed ({0}: {1}).").format(type(error).__name__, error)
            found = Objection(words, is_certain=False)
            raise
        finally:
            self._found.emit(question, found)


def _cancelled() -> Objection:
    return Objection(translate("Watch", "Cancelled."), is_certain=False)

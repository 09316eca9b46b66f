"""Makes the panel's rows from what the window knows."""

from __future__ import annotations

from dataclasses import replace

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Market
from core.domain.watchlist import WatchedMarket
from core.market.feeds.base import FeedState
from core.market.feeds.tickers import Quote
from desktop.panels.markets.row import Row
from desktop.services.universe import fits
from desktop.state.markets import MarketRow
from desktop.state.quotes import STALE_AFTER_MS, QuoteState, Standing
from desktop.state.run_state import RunState
from desktop.ui.translation import translate

_COMING = frozenset({FeedState.LIVE, FeedState.SIMULATED, FeedState.REPLAYING})
_AGE_STEP_S = 10


class RowReader:
    """Prices of the chart's market are the chart's, of others of the run their feed's, and of all others polled: two
    numbers for one thing make two things of it."""

    def __init__(self, state: RunState) -> None:
        self._record, self._quotes, self._known, self._clock = (
            state.feed_record,
            state.quotes,
            state.markets,
            state.clock,
        )

    def row(self, market: Market, watched: WatchedMarket | None, *, is_polled: bool) -> Row:
        """watched: its entry in the list; None: it is in the run only."""
        known, status, now_ms = self._known.row(market), self._record.status, self._clock.now_ms()
        is_on_chart = market == self._record.market
        standing = self.standing(market, is_polled=is_polled)
        chart_feed = None if status is None else status.state
        return Row(
            known,
            standing,
            None if standing.quote is None else _age_s(now_ms - standing.quote.at_ms),
            chart_feed if is_on_chart else known.feed,
            is_on_chart,
            watched is not None,
            watched is not None and watched.is_learned,
            "" if watched is None else self._joining(watched),
        )

    def _joining(self, watched: WatchedMarket) -> str:
        """As the run controller decides it."""
        opened, asked = self._record.market, self._record.asked
        if opened is None or asked is None:
            return ""
        if opened.venue == FILE_VENUE or asked.feed == "stored":
            return translate("Panels", "While the chart shows a replay, the model learns from no listed market.")
        if watched.market.is_simulated is not opened.is_simulated:
            return translate("Panels", "A model learns exchanges' markets or simulated ones, not both together.")
        return translate("Panels", "It joins the model now.") if fits(watched, asked) else ""

    def standing(self, market: Market, *, is_polled: bool) -> Standing:
        """Its price, and how far to believe it. is_polled: whether exchanges are asked for prices now."""
        now_ms, known, last = self._clock.now_ms(), self._known.row(market), self._record.last_price
        is_exchange = market.venue not in (FILE_VENUE, SIMULATED_VENUE)
        polled = self._quotes.standing((market.venue, market.symbol), now_ms, is_polled=is_polled and is_exchange)
        if market == self._record.market and last is not None:
            return self._of_chart(last, polled, now_ms)
        outside = _not_running() if market.is_simulated else polled
        return _of_run(known, polled, now_ms) if known.is_in_run else outside

    def _of_chart(self, last: Quote, polled: Standing, now_ms: int) -> Standing:
        """While its feed is live the price holds, however long nobody has traded."""
        status = self._record.status
        is_live = status is not None and status.state is FeedState.LIVE
        is_old = not is_live and now_ms - last.at_ms > STALE_AFTER_MS
        return _standing(last.last, last.at_ms, polled, is_old=is_old)


def _of_run(known: MarketRow, polled: Standing, now_ms: int) -> Standing:
    newest = known.newest
    if newest is None:
        return replace(polled, state=QuoteState.WAITING) if polled.state is QuoteState.NOT_ASKED else polled
    closes_ms = known.market.interval.close_time_ms(newest.open_time_ms)
    is_old = known.feed not in _COMING and now_ms - closes_ms > STALE_AFTER_MS
    return _standing(newest.close, min(now_ms, closes_ms), polled, is_old=is_old)


def _not_running() -> Standing:
    sentence = translate("Panels", "A simulated market has prices only while it is open or learned from.")
    return Standing(QuoteState.NOT_RUNNING, None, sentence)


def _standing(price: float, at_ms: int, polled: Standing, *, is_old: bool) -> Standing:
    """With the polled day."""
    day = None if polled.quote is None else polled.quote.day
    return Standing(QuoteState.OLD if is_old else QuoteState.FRESH, Quote(price, at_ms, day))


def _age_s(age_ms: int) -> int:
    """In steps: a row is not to change each second."""
    return max(0, age_ms // (1000 * _AGE_STEP_S) * _AGE_STEP_S)

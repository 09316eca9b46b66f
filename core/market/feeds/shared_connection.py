"""One connection to an exchange for several markets, whose requests go through it one at a time."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.candle import Market
from core.market.feeds.ccxt_session import CcxtSession
from core.market.feeds.ccxt_venue import CcxtVenue
from core.market.feeds.rate_limits import RateLimitHold, RequestQueue
from core.market.feeds.timing import ExchangeTimes
from core.market.feeds.trouble import VenueError
from core.market.feeds.urls import ExchangeUrls

_RENEWED_AFTER_S = 600.0
"""A connection that brings nothing of one market, but of others, is replaced if it is older than this, and than twice
as much each time after: that interrupts the others, and may not help."""


class SharedConnection(RequestQueue):
    """Each market's `ExchangeFeed` has it as its `gate`, and `connect` as its `open_venue`.

    A market that fails alone comes back to the same session. What ends the session ends it for all, and the first feed
    that connects again opens the next one.
    """

    def __init__(
        self, markets: Sequence[Market], hold: RateLimitHold, urls: ExchangeUrls | None, times: ExchangeTimes
    ) -> None:
        """markets: of one exchange and one interval."""
        super().__init__(hold)
        self._markets = markets
        self._urls = urls
        self._times = times
        self._session: CcxtSession | None = None
        self._renewed_after_s = _RENEWED_AFTER_S

    def connect(self, market: Market) -> CcxtVenue:
        """The venue of one of the markets, on the current session or on a new one. Raises VenueError."""
        if self._session is None or self._session.is_over:
            absent = set() if self._session is None else self._session.absent
            symbols = [each.symbol for each in self._markets if each == market or each.symbol not in absent]
            self._session = CcxtSession(market.venue, symbols, market.interval, self._urls, self._times.request_s)
            self._session.absent |= absent
        return CcxtVenue(market, self._urls, self._times.request_s, self._session)

    def record(self, trouble: VenueError) -> None:
        """Take note of an error that ended a market's venue, and end the others' if it concerns their socket."""
        super().record(trouble)
        session = self._session
        if session is None or session.is_over:
            return
        is_dead = trouble.is_silence and session.quiet_s >= self._times.silence_s / 2.0
        if is_dead or (trouble.is_of_socket and session.age_s >= self._times.steady_s):
            session.fail(trouble)
        elif trouble.is_silence and session.age_s >= self._renewed_after_s:
            self._renewed_after_s *= 2.0
            sentence = f"The connection to {session.name} is being renewed, as it brings nothing of one market."
            session.fail(VenueError(sentence, is_planned=True))

"""The newest that was reported of each watched market: for a trainer that starts, and a market that is shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.candle import Candle, Market
from core.market.feeds.base import CatchUpProgress, FeedState, FeedStatus, FeedVitals
from core.market.pipeline import FeedReport

_BEFORE_THE_PRESENT = (FeedState.CONNECTING, FeedState.CATCHING_UP)


@dataclass(slots=True)
class MarketReport:
    """Of one market; None where there was none yet."""

    status: FeedStatus | None = None
    catch_up: CatchUpProgress | None = None
    vitals: FeedVitals | None = None
    forming: Candle | None = None

    @property
    def feed_events(self) -> tuple[FeedStatus | CatchUpProgress, ...]:
        return tuple(event for event in (self.status, self.catch_up) if event is not None)


class MarketReports:
    """Takes what the feeds report, until they begin again."""

    def __init__(self) -> None:
        self.learned: dict[Market, bool] = {}
        """Whether the trainer learns from each of its markets, as it was last asked to."""
        self.begin()

    def begin(self) -> None:
        self._reports: defaultdict[Market, MarketReport] = defaultdict(MarketReport)
        self.caught_up: set[Market] = set()
        """Markets whose past candles are stored, or cannot be had for now."""
        self.ended: set[Market] = set()
        """Markets of which no more candles come."""

    def of(self, market: Market) -> MarketReport:
        return self._reports[market]

    def take_event(self, market: Market, event: FeedStatus | CatchUpProgress) -> bool:
        """Whether the market has caught up with this."""
        if isinstance(event, CatchUpProgress):
            self._reports[market].catch_up = event if event.done < event.total else None
            return False
        self._reports[market].status = event
        if event.state in _BEFORE_THE_PRESENT:
            return False
        self.caught_up.add(market)
        return True

    def take_report(self, market: Market, report: FeedReport) -> None:
        if isinstance(report, FeedVitals):
            self._reports[market].vitals = report

    def take_closed(self, market: Market, candles: Sequence[Candle]) -> None:
        """The forming candle is over with these."""
        forming = self._reports[market].forming
        if forming is not None and candles and forming.open_time_ms <= candles[-1].open_time_ms:
            self._reports[market].forming = None

    def take_forming(self, market: Market, candle: Candle) -> None:
        self._reports[market].forming = candle

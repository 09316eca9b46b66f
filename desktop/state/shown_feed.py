"""The feed of the market on the chart: its status, its record, and the job of its catch-up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal, Slot

from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.domain.events import JobProgress
from core.market.feeds.base import CatchUpProgress, FeedStatus
from core.market.pipeline import FeedReport
from core.settings.tree import MarketSettings
from desktop.state.feed_record import FeedRecord
from desktop.state.job_list import JobList
from desktop.state.markets import MarketsState
from desktop.ui.translation import translate

_CATCH_UP_JOB = "feed catch-up"


class ShownFeed(QObject):
    """Follows `MarketsState`, and reads the part of the market on the chart."""

    changed = Signal()
    """The status has changed, or belongs to another market."""
    jobs_changed = Signal()

    def __init__(
        self, clock: Clock, jobs: JobList, markets: MarketsState, shown: Callable[[], Market | None], parent: QObject
    ) -> None:
        """shown: the market on the chart."""
        super().__init__(parent)
        self.record = FeedRecord(clock, self)
        self._jobs, self._markets, self._shown = jobs, markets, shown
        self._opening: FeedStatus | None = None
        """The status of the market that is being opened."""
        markets.feed_changed.connect(self._on_feed_event)
        # Bound methods alone: a partial would hold this object, and with it the state, for as long as Qt does.
        markets.closed.connect(self._on_closed)
        markets.forming_changed.connect(self._on_forming)
        markets.corrected.connect(self._on_corrected)
        markets.reported.connect(self._on_report)

    @property
    def status(self) -> FeedStatus | None:
        """The status of the market that is being opened, else of the one on the chart."""
        market = self._shown()
        if self._opening is not None or market is None:
            return self._opening
        return self._markets.row(market).feed_status

    def open(self, market: Market | None) -> None:
        """Follow this market, now on the chart with a new feed."""
        self._opening = None
        self._jobs.end(_CATCH_UP_JOB)
        if market is not None:
            self.record.opened(market)
        self.changed.emit()
        self.jobs_changed.emit()

    def show(self, market: Market, asked: MarketSettings) -> None:
        """Follow another market of the same model, now on the chart, whose feed is already running."""
        self._opening = None
        row = self._markets.row(market)
        self._jobs.drop(_CATCH_UP_JOB)
        self.record.show(asked, row)
        self.changed.emit()
        if row.catch_up is not None:
            self._add_progress(row.catch_up)
        self.jobs_changed.emit()

    @Slot(object, object)
    def _on_feed_event(self, market: Market | None, event: FeedStatus | CatchUpProgress) -> None:
        if market not in (None, self._shown()):
            return
        if isinstance(event, CatchUpProgress):
            self._add_progress(event)
            self.jobs_changed.emit()
            return
        self._opening = event if market is None else None
        self.record.add_status(event)
        self.changed.emit()
        if event.state.is_over:
            self._jobs.end(_CATCH_UP_JOB)
            self.jobs_changed.emit()

    def _add_progress(self, progress: CatchUpProgress) -> None:
        title = translate("Window", "Fetching candles")
        self._jobs.apply(JobProgress(_CATCH_UP_JOB, title, progress.done, progress.total))

    @Slot(object, object)
    def _on_closed(self, market: Market, candles: Sequence[Candle]) -> None:
        if market == self._shown():
            self.record.add_closed(candles)

    @Slot(object, object)
    def _on_forming(self, market: Market, candle: Candle) -> None:
        if market == self._shown():
            self.record.add_forming(candle)

    @Slot(object, object)
    def _on_corrected(self, market: Market, candle: Candle) -> None:
        if market == self._shown():
            self.record.add_corrected(candle)

    @Slot(object, object)
    def _on_report(self, market: Market, report: FeedReport) -> None:
        if market == self._shown():
            self.record.add_report(report)

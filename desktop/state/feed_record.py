"""The feed's reports since the market was chosen: one owner, bounded; the Events panel only reads it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Candle, Interval, Market
from core.domain.clock import Clock
from core.market.feeds.base import FeedState, FeedStatus, FeedVitals, MissingCandles, RejectedMessage
from core.market.feeds.tickers import Quote
from core.market.pipeline import FeedReport
from core.settings.tree import MarketSettings
from desktop.state.markets import MarketRow

REJECTED_KEPT = 100
CHANGES_KEPT = 200
HOLES_KEPT = 50
CORRECTIONS_KEPT = 50
REASONS_KEPT = 40
OTHER_REASONS = "other reasons"
"""Counts all reasons after the first `REASONS_KEPT`."""

_LONGEST_RAW = 2_000
_TROUBLED = frozenset({FeedState.FAILED, FeedState.RECONNECTING})


@dataclass(frozen=True, slots=True)
class Hole:
    """Candles that the source does not have, and the time of that report."""

    at_ms: int
    missing: MissingCandles


@dataclass(frozen=True, slots=True)
class Correction:
    """A stored candle that was replaced by this one, and when."""

    at_ms: int
    candle: Candle


def exchange_market(asked: MarketSettings) -> Market | None:
    """The requested market of an exchange; None if candles come from elsewhere, or the source is unknown."""
    if asked.feed not in ("auto", "live"):
        return None
    try:
        return Market(asked.venue, asked.symbol, Interval.parse(asked.interval))
    except ValueError:
        return None  # the feed is about to say so


def _is_break(status: FeedStatus) -> bool:
    """Whether a connection was lost or refused, not merely silent so far."""
    return status.state is FeedState.RECONNECTING and not status.awaits_message


class FeedRecord(QObject):
    """The feed's reports. Lives in the window's thread; nothing in it grows without bound."""

    changed = Signal()
    price_changed = Signal()
    """The last price has changed, perhaps many times a second."""

    def __init__(self, clock: Clock, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clock = clock
        self._forget()

    def _forget(self) -> None:
        self.asked: MarketSettings | None = None
        """The market that the user asked for; another may be shown, then `notice` says why."""
        self.market: Market | None = None
        """The market that is shown; None until the feed has been built."""
        self.notice = ""
        self.vitals: FeedVitals | None = None
        self.status: FeedStatus | None = None
        self.since_ms: int | None = None
        """Time of the last change of state."""
        self.rejected_count = 0
        self._newest: Candle | None = None
        self._newest_at_ms = 0
        self.newest_closed_ms: int | None = None
        """Opening time of the newest closed candle from the feed; None before the first."""
        self._breaks = 0
        self._corrected = self._missing = self._closed = 0
        self.changes: deque[FeedStatus] = deque(maxlen=CHANGES_KEPT)
        """The newest first, as in the following three."""
        self.rejected: deque[RejectedMessage] = deque(maxlen=REJECTED_KEPT)
        self.holes: deque[Hole] = deque(maxlen=HOLES_KEPT)
        self.corrections: deque[Correction] = deque(maxlen=CORRECTIONS_KEPT)
        self._reasons: Counter[str] = Counter()

    @property
    def is_exchange(self) -> bool:
        """Whether the candles on the chart come from an exchange, not from a file or a simulation."""
        return self.market is not None and self.market.venue not in (FILE_VENUE, SIMULATED_VENUE)

    @property
    def exchange_time_ms(self) -> int | None:
        """The time now by the exchange's clock, as far as it is known; None if the candles come from no exchange."""
        if not self.is_exchange:
            return None
        offset_ms = None if self.vitals is None else self.vitals.clock_offset_ms
        return self._clock.now_ms() + round(offset_ms or 0.0)

    @property
    def is_in_trouble(self) -> bool:
        """Whether the requested exchange does not deliver: it failed, is unreachable, or something else is shown."""
        return bool(self.notice) or (self.status is not None and self.status.state in _TROUBLED)

    @property
    def is_silent(self) -> bool:
        """Whether the exchange of the candles on the chart sends no more: it failed, or the connection is lost."""
        return self.is_exchange and self.status is not None and self.status.state in _TROUBLED

    @property
    def next_venue(self) -> str | None:
        """The exchange to offer instead; None without trouble, if none is left, or if no exchange was requested."""
        asked = self.asked
        if asked is None or asked.feed not in ("auto", "live") or not self.is_in_trouble:
            return None
        return asked.next_venue()

    @property
    def rejected_by_reason(self) -> tuple[tuple[str, int], ...]:
        """Each of core's reasons with its count, the most frequent first; one may be `OTHER_REASONS`."""
        return tuple(self._reasons.most_common())

    @property
    def last_price(self) -> Quote | None:
        """The chart's last price: the close of the forming candle, else of the newest closed one. None before the first
        candle."""
        return None if self._newest is None else Quote(self._newest.close, self._newest_at_ms)

    @property
    def tries(self) -> int | None:
        """Number of reconnections after a break, including failed ones; None before the first connection or break.
        Vitals arrive only over a connection. Without one, each reported break announces an attempt, and the newest is
        still to come."""
        begun = self._breaks - (self.status is not None and _is_break(self.status))
        if self.vitals is None:
            return begun if self._breaks else None
        return max(begun, self.vitals.reconnects)

    @property
    def corrected_count(self) -> int:
        """Vitals come once a second, corrections at once: the larger of both counts is the newer."""
        return max(self._corrected, 0 if self.vitals is None else self.vitals.corrected)

    @property
    def missing_count(self) -> int:
        """Candles that the source does not have."""
        return max(self._missing, 0 if self.vitals is None else self.vitals.missing)

    @property
    def candle_share(self) -> float:
        """The share of intervals for which the source had a candle, above 0; 1 before it has reported any."""
        return (self._closed + 1) / (self._closed + self.missing_count + 1)

    def begin(self, asked: MarketSettings) -> None:
        """Reset for another requested market."""
        self._forget()
        self.asked = asked
        self.changed.emit()

    def opened(self, market: Market) -> None:
        self.market = market
        self.changed.emit()

    def show(self, asked: MarketSettings, row: MarketRow) -> None:
        """Another market of the same model is shown, whose feed has been running."""
        self._forget()
        self.asked, self.market, self.vitals = asked, row.market, row.vitals
        if row.forming is not None:
            self.add_forming(row.forming)
        if row.feed_status is not None:
            self.add_status(row.feed_status)
        self.changed.emit()

    def fell_back(self, sentence: str) -> None:
        """Set the reason why another market than the requested one is shown, or only stored candles."""
        self.notice = sentence
        self.changed.emit()

    def add_status(self, status: FeedStatus) -> None:
        """Record a change of the feed's state, or a new message about it."""
        if self.status is None or self.status.state is not status.state:
            self.since_ms = status.at_ms
        if status.state is FeedState.LIVE and self.is_exchange:
            self.notice = ""  # it answers after all
        self.status = status
        self._breaks += _is_break(status)
        self.changes.appendleft(status)
        self.changed.emit()

    def add_report(self, report: FeedReport) -> None:
        match report:
            case FeedVitals():
                self.vitals = report
            case MissingCandles():
                self._missing += report.count
                self.holes.appendleft(Hole(self._clock.now_ms(), report))
            case RejectedMessage(reason=reason):
                self.rejected_count += 1
                is_known = reason in self._reasons or len(self._reasons) < REASONS_KEPT
                self._reasons[reason if is_known else OTHER_REASONS] += 1
                self.rejected.appendleft(RejectedMessage(report.at_ms, reason, report.raw[:_LONGEST_RAW]))
        self.changed.emit()

    def add_forming(self, candle: Candle) -> None:
        self._set_newest(candle, self._clock.now_ms())

    def add_closed(self, candles: Sequence[Candle]) -> None:
        """Record closed candles, the newest last; they may be old ones from history."""
        self._closed += len(candles)
        if candles and self.market is not None:
            newest = candles[-1]
            if self.newest_closed_ms is None or newest.open_time_ms > self.newest_closed_ms:
                self.newest_closed_ms = newest.open_time_ms
            self._set_newest(newest, min(self._clock.now_ms(), self.market.interval.close_time_ms(newest.open_time_ms)))

    def _set_newest(self, candle: Candle, at_ms: int) -> None:
        if self._newest is None or candle.open_time_ms >= self._newest.open_time_ms:
            self._newest, self._newest_at_ms = candle, at_ms
            self.price_changed.emit()

    def add_corrected(self, candle: Candle) -> None:
        if self._newest is not None and candle.open_time_ms == self._newest.open_time_ms:
            self._set_newest(candle, self._newest_at_ms)
        self._corrected += 1
        self.corrections.appendleft(Correction(self._clock.now_ms(), candle))
        self.changed.emit()

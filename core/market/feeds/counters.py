"""The counters of the Feed panel, over all connections since the market was chosen."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from core.market.feeds.base import FeedVitals
from core.market.feeds.forming import FormingCandles
from core.market.feeds.ledger import Ledger
from core.market.feeds.server_clock import ServerClock
from core.market.feeds.venue import Updates


@dataclass(slots=True)
class Tally:
    """Counters of one feed, by the names that `FeedVitals` has for them."""

    messages: int = 0
    trades: int = 0
    rejected: int = 0
    reconnects: int = 0
    back_filled: int = 0
    late_trades: int = 0
    lost_trades: int = 0
    last_message_ms: int | None = None
    last_trade_ms: int | None = None
    request_ms: float | None = None
    close_delay_ms: float | None = None

    def count(self, updates: Updates, now_ms: int) -> None:
        """Count a batch from the stream."""
        self.messages += updates.messages
        self.trades += len(updates.trades)
        if updates.messages:
            self.last_message_ms = now_ms
        if updates.trades:
            self.last_trade_ms = now_ms

    def end(self, forming: FormingCandles) -> None:
        """Add the trade counts of a closed connection to the totals."""
        self.late_trades += forming.late_trades
        self.lost_trades += forming.lost_trades

    def vitals(
        self, venue: str, now_ms: int, clock: ServerClock, ledger: Ledger, forming: FormingCandles
    ) -> FeedVitals:
        counted = replace(self)
        counted.end(forming)
        missing, corrected, offset_ms = ledger.missing, ledger.corrected, clock.offset_ms
        return FeedVitals(
            now_ms, venue, missing=missing, corrected=corrected, clock_offset_ms=offset_ms, **asdict(counted)
        )

"""The contract of a feed. `tests/core/market/feeds/test_contract.py` holds every feed to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from core.domain.candle import Candle, Market
from core.domain.counts import in_words
from core.domain.passing_faults import PassingFault
from core.domain.venue_names import venue_name


class FeedKind(StrEnum):
    """The source of candles. Only EXCHANGE can make a forecast `live`."""

    EXCHANGE = "exchange"
    REPLAY = "replay"
    SIMULATED = "simulated"


class FeedState(StrEnum):
    """The feed's state as the status bar names it; `FeedStatus.sentence` has the details."""

    CONNECTING = "connecting"
    CATCHING_UP = "catching up"
    LIVE = "live"
    REPLAYING = "replaying"
    SIMULATED = "simulated"
    RECONNECTING = "reconnecting"
    ENDED = "ended"
    STORED = "stored"
    """Only stored candles are shown: no new ones were requested."""
    FAILED = "failed"

    @property
    def is_loading_history(self) -> bool:
        """Whether past candles may still come."""
        return self in (FeedState.CONNECTING, FeedState.CATCHING_UP)

    @property
    def has_ended(self) -> bool:
        """Whether all candles have come that there are."""
        return self in (FeedState.ENDED, FeedState.STORED)

    @property
    def is_over(self) -> bool:
        return self.has_ended or self is FeedState.FAILED


@dataclass(frozen=True, slots=True)
class FeedStatus:
    """A change of the feed's state, for the user.

    text: the event, without the state, the wait and the offer.
    next_venue: if this venue has failed, the next one in the user's order. It is offered, never switched to.
    retry_at_ms: the end of the wait before `retry`.
    awaits_message: the next connection is open, but has no message yet.
    passing: why candles cannot be stored at present; the feed continues once it has passed.
    """

    state: FeedState
    text: str
    at_ms: int
    next_venue: str | None = None
    retry_at_ms: int | None = None
    passing: PassingFault | None = None
    retry: str = "Next try"
    awaits_message: bool = False

    @property
    def sentence(self) -> str:
        return self.sentence_at(self.at_ms)

    def sentence_at(self, now_ms: int) -> str:
        """All of it, with the wait that is left at `now_ms`."""
        sentence = self.text
        if self.retry_at_ms is not None:
            left_ms = self.retry_at_ms - max(now_ms, self.at_ms)
            sentence += f" {self.retry} {'now' if left_ms <= 0 else f'in {in_words(left_ms / 1000.0)}'}."
        if self.next_venue is not None:
            sentence += f" Next in your order of exchanges is {venue_name(self.next_venue)}."
        return sentence


@dataclass(frozen=True, slots=True)
class ClosedCandle:
    """A final candle. `is_live` is false for history and back-filled candles."""

    candle: Candle
    is_live: bool


@dataclass(frozen=True, slots=True)
class FormingCandle:
    """The current state of the open candle. Never stored, never trained on."""

    candle: Candle


@dataclass(frozen=True, slots=True)
class CatchUpProgress:
    """How much of the start-up history has been loaded."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class CorrectedCandle:
    """A new version of a candle that was passed on as closed. Stored and redrawn, not trained on.

    was_missing: it fills a hole, so nothing was passed on before; `before` is then the candle itself.
    """

    candle: Candle
    before: Candle
    was_missing: bool = False


@dataclass(frozen=True, slots=True)
class MissingCandles:
    """`count` candles from `first_ms` on that the source does not have. They stay a hole; nothing is invented."""

    first_ms: int
    count: int


@dataclass(frozen=True, slots=True)
class RejectedMessage:
    """A message or row that was rejected: the reason, by which it is counted, and its text (at most 2,000
    characters)."""

    at_ms: int
    reason: str
    raw: str


@dataclass(frozen=True, slots=True)
class FeedVitals:
    """The connection's statistics, about once a second while it is open. Counts are since the market was chosen; None:
    unknown.

    clock_offset_ms: the source's clock minus this computer's. request_ms: how long the newest request took.
    close_delay_ms: from the newest candle's end until it was passed on. late_trades: those that came after their candle
    had closed. lost_trades: those missing from the sequence of trade ids.
    """

    at_ms: int
    venue: str
    messages: int = 0
    trades: int = 0
    rejected: int = 0
    reconnects: int = 0
    back_filled: int = 0
    corrected: int = 0
    missing: int = 0
    last_message_ms: int | None = None
    last_trade_ms: int | None = None
    clock_offset_ms: float | None = None
    request_ms: float | None = None
    close_delay_ms: float | None = None
    late_trades: int = 0
    lost_trades: int = 0


FeedEvent = (
    FeedStatus
    | ClosedCandle
    | FormingCandle
    | CatchUpProgress
    | CorrectedCandle
    | MissingCandles
    | RejectedMessage
    | FeedVitals
)


@dataclass(frozen=True, slots=True)
class StoredCandles:
    """The candles that are stored when a feed starts: the newest ones, and the opening times among them for which the
    source has no candle. Both ascend."""

    candles: Sequence[Candle] = ()
    missing_ms: Sequence[int] = ()


class FeedError(Exception):
    """A feed cannot continue. The message is a sentence for the user: the problem, its cause, the next step.

    next_venue: as in FeedStatus.
    """

    def __init__(self, sentence: str, next_venue: str | None = None) -> None:
        super().__init__(sentence)
        self.next_venue = next_venue


class Feed(Protocol):
    """A source of candles for one market.

    `events()` first yields history (closed candles, ascending, `is_live` false), then live candles until the
    feed ends, fails (FeedError) or is closed. Closed candles come in strictly ascending order, each once; a
    candle that the source does not have is missing, never invented. `events()` may be iterated once.
    """

    @property
    def market(self) -> Market: ...

    @property
    def kind(self) -> FeedKind: ...

    @property
    def has_insides(self) -> bool:
        """Whether its candles come with what is known of their inside."""
        ...

    def events(self, after_ms: int | None = None, known: StoredCandles | None = None) -> AsyncIterator[FeedEvent]:
        """Iterate. Closed candles that opened at or before `after_ms` may be omitted: they are stored already.

        known: stored candles that the source has changed since come as corrections, if the source can change them.
        """
        ...

    async def aclose(self) -> None:
        """Release sockets and files. Safe to call twice, and while `events()` is being iterated."""
        ...

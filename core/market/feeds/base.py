"""The contract of a feed. `tests/core/market/feeds/test_contract.py` holds every feed to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from core.domain.candle import Candle, Market
from core.market.feeds.words import wait_in_words


class FeedKind(StrEnum):
    """Where candles come from. Only EXCHANGE can make a forecast `live`."""

    EXCHANGE = "exchange"
    REPLAY = "replay"
    SIMULATED = "simulated"


class FeedState(StrEnum):
    """What the status bar says of the feed, one word; `FeedStatus.sentence` says it in full."""

    CONNECTING = "connecting"
    CATCHING_UP = "catching up"
    LIVE = "live"
    REPLAYING = "replaying"
    SIMULATED = "simulated"
    RECONNECTING = "reconnecting"
    ENDED = "ended"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class FeedStatus:
    """A change of the feed's state, in words a user understands.

    next_venue: where this venue is the trouble, the one that is next in the user's order. It is offered, never taken.
    until_ms: the end of the wait that the sentence tells of, as `in_words` has it.
    needs_room: the disk that candles are stored on is full; it can go on once there is room.
    """

    state: FeedState
    sentence: str
    at_ms: int
    next_venue: str | None = None
    until_ms: int | None = None
    needs_room: bool = False

    def sentence_at(self, now_ms: int) -> str:
        """The sentence with as much of the wait as is left then."""
        if self.until_ms is None:
            return self.sentence
        before, told, after = self.sentence.rpartition(f" in {wait_in_words(self.until_ms - self.at_ms)}.")
        left_ms = self.until_ms - max(now_ms, self.at_ms)
        left = " now." if left_ms <= 0 else f" in {wait_in_words(left_ms)}."
        return f"{before}{left}{after}" if told else self.sentence


@dataclass(frozen=True, slots=True)
class ClosedCandle:
    """A candle that will not change any more. `is_live` is false for history and back-filled candles."""

    candle: Candle
    is_live: bool


@dataclass(frozen=True, slots=True)
class FormingCandle:
    """The candle that is still open, as it stands now. Never stored, never trained on."""

    candle: Candle


@dataclass(frozen=True, slots=True)
class CatchUpProgress:
    """How much of the start-up history has come."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class CorrectedCandle:
    """A candle that was passed on as closed, as the source tells it now. Stored and drawn anew, not trained on.

    was_missing: there was a hole in its place, so nothing was passed on; `before` is the candle itself then.
    """

    candle: Candle
    before: Candle
    was_missing: bool = False


@dataclass(frozen=True, slots=True)
class MissingCandles:
    """The source was asked and has none: `count` candles from `first_ms` on. They stay a hole; nothing is invented."""

    first_ms: int
    count: int


@dataclass(frozen=True, slots=True)
class RejectedMessage:
    """Something that came and was not believed: why, in a word that is counted, and what it was (at most 2,000
    characters)."""

    at_ms: int
    reason: str
    raw: str


@dataclass(frozen=True, slots=True)
class FeedVitals:
    """How the connection does, about once a second while it stands. Counts are since the market was chosen; None: not
    known, or not yet.

    clock_offset_ms: the source's clock minus this computer's. request_ms: how long the newest request took.
    close_delay_ms: from the newest candle's end to its being passed on. late_trades: those that came after their candle
    had closed. lost_trades: those that the numbering of trades says were never told.
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
class Known:
    """What is stored of a market when its feed begins: the newest candles, and the opening times among them of which
    the source has said that it has no candle. Both ascend."""

    candles: Sequence[Candle] = ()
    missing_ms: Sequence[int] = ()


class FeedError(Exception):
    """A feed cannot go on. The message is a sentence for the user: what, why, what to do.

    next_venue: as in FeedStatus.
    """

    def __init__(self, sentence: str, next_venue: str | None = None) -> None:
        super().__init__(sentence)
        self.next_venue = next_venue


class Feed(Protocol):
    """A source of candles for one market.

    `events()` first yields history (closed candles, ascending, `is_live` false), then goes on live until the
    feed ends, fails (FeedError) or is closed. Closed candles come in strictly ascending order, each once; a
    candle that the source does not have is missing, never invented. It may be iterated once.
    """

    @property
    def market(self) -> Market: ...

    @property
    def kind(self) -> FeedKind: ...

    def events(self, after_ms: int | None = None, known: Known | None = None) -> AsyncIterator[FeedEvent]:
        """Iterate. Closed candles that opened at or before `after_ms` may be left out: they are stored already.

        known: what the source tells differently by now comes as a correction, where the source can change its mind.
        """
        ...

    async def aclose(self) -> None:
        """Let go of sockets and files. Safe to call twice, and while `events()` is being iterated."""
        ...
